//! What people read.

use std::fs;

use crate::support::{FORMATS, GOLDEN, SEVERAL, folder, logs, program, run, snapshot, stdout};

#[test]
fn one_point_of_a_golden_cell() {
    for (format, ending) in FORMATS {
        let output = run(&format!("{GOLDEN} --format {format}"));
        assert_eq!(output.status.code(), Some(0), "{format}");
        snapshot(&format!("golden.{ending}"), stdout(&output));
    }
}

#[test]
fn several_points() {
    for (format, ending) in FORMATS {
        let output = run(&format!("{SEVERAL} --format {format}"));
        assert_eq!(output.status.code(), Some(1), "{format}");
        snapshot(&format!("several.{ending}"), stdout(&output));
    }
}

#[test]
fn several_points_in_full_and_in_colour() {
    snapshot("several.verbose.txt", stdout(&run(&format!("{SEVERAL} -v"))));
    snapshot("several.colour.txt", stdout(&run(&format!("{SEVERAL} --color always"))));
}

/// The trace of the shell that started the server stands before its log, as a launcher leaves it.
#[test]
fn injected_settings_are_shown_with_their_lines() {
    let folder = folder("injected");
    let mut log = b"+ set -x\n\
        + export SGLANG_SIMULATE_ACC_LEN=3.51\n\
        + SGLANG_SIMULATE_ACC_LEN=3.51\n\
        + export SGLANG_SIMULATE_ACC_METHOD=match-expected\n\
        + export SGLANG_SIMULATE_ACC_TOKEN_MODE=real-draft-token\n\
        + unset SGLANG_SIMULATE_ACC_GREEDY\n"
        .to_vec();
    log.extend(fs::read(logs().join("e3k5_al351.log")).unwrap());
    fs::write(folder.join("c32.log"), log).unwrap();
    for (format, ending) in FORMATS {
        let line = format!("audit c32.log --accept-length 3.51 --format {format}");
        let output = program(&folder, &line).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{format}");
        snapshot(&format!("injected.{ending}"), stdout(&output));
    }
}

/// Windows of vLLM with what it was told, and TensorRT-LLM, whose log never shows acceptance.
#[test]
fn other_engines() {
    let folder = folder("engines");
    let emit =
        "simulate --accept-length 3.51 --max-accept-length 6 --engine vllm --lines 30 --seed 7 -q --emit-log";
    assert!(program(&folder, &format!("{emit} vllm.log")).status().unwrap().success());
    let mut log = b"+ vllm serve m --speculative-config '{\"num_speculative_tokens\":5,\"rejection_sample_method\":\"synthetic\",\
        \"synthetic_acceptance_length\":3.51}'\n"
        .to_vec();
    log.extend(fs::read(folder.join("vllm.log")).unwrap());
    fs::write(folder.join("vllm.log"), log).unwrap();
    let line = "[04/28/2025-09:56:44] [TRT-LLM] [I] iter = 198, global_rank = 0, rank = 0, currank_total_requests = 4/4, \
        elapsed_time = 0.005s, timestamp = 2025-04-28 09:56:44, states = {'num_ctx_requests': 0, 'num_ctx_tokens': 0, \
        'num_generation_tokens': 16}\n";
    fs::write(folder.join("trtllm.log"), line.repeat(3)).unwrap();
    for (format, ending) in FORMATS {
        for engine in ["vllm", "trtllm"] {
            let output =
                program(&folder, &format!("audit {engine}.log -v --format {format}")).output().unwrap();
            assert_eq!(output.status.code(), Some(if engine == "vllm" { 0 } else { 3 }), "{format}");
            snapshot(&format!("{engine}.{ending}"), stdout(&output));
        }
    }
}

/// Points of several servers and targets, judged by what was asked for.
#[test]
fn several_targets_with_another_margin() {
    let line = "audit e3k3_al299.log e3k5_al351.log --accept-length 2.99 --margin 0.05 --confidence 0.99 \
                --decode-log-interval 40";
    for (format, ending) in [("text", "txt"), ("markdown", "md")] {
        let output = run(&format!("{line} --format {format}"));
        assert_eq!(output.status.code(), Some(1), "{format}");
        snapshot(&format!("targets.{ending}"), stdout(&output));
    }
}
