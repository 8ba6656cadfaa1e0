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
