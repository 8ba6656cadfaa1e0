//! `simulate --emit-log` as users type it.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::support::read;

fn run(line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_accsim"));
    command.args(line.split_whitespace()).stdin(Stdio::null()).env_remove("ACCSIM_GOLDEN_DIR");
    command.output().unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

const TARGET: &str = "simulate --accept-length 3.51 --max-accept-length 6";

#[test]
fn a_log_goes_to_its_file_and_the_answer_to_stdout() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("server.log");
    let line = format!(
        "simulate dsv41flash dspark 5 --engine sglang --engine-version 0.5.18 --lines 50 --running-req 1-8 \
         --decode-log-interval 20 --start 2027-01-31T23:59:59 --emit-log {}",
        file.display()
    );
    let output = run(&line);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(
        String::from_utf8(output.stdout).unwrap().starts_with("SGLang 0.5.18 with DSPARK would log 3.51\n")
    );
    let text = std::fs::read(&file).unwrap();
    let found = read(&text);
    assert_eq!((found.decode.len(), found.starts.len()), (50, 1));
    let start = &found.starts[0];
    assert_eq!(start.speculative_algorithm.as_deref(), Some("DSPARK"));
    assert_eq!((start.block_size, start.decode_log_interval), (Some(5), Some(20)));
    // The draws are ours: a seed in the log would promise those of the engine.
    assert_eq!(start.random_seed, None);
    assert!(text.starts_with(b"[2027-01-31 23:59:59] server_args="));
    // Nothing is left beside it.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let audit = run(&format!("audit {} --model dsv41flash --method dspark --draft-length 5", file.display()));
    assert_eq!(code(&audit), 0, "{}", String::from_utf8_lossy(&audit.stdout));
}

#[test]
fn a_printed_log_is_alone_and_the_same_on_any_number_of_threads() {
    let line =
        format!("{TARGET} --engine sglang --emit-log - --lines 5000 --ranks 2 --seed 4 --damage glued=5%");
    let one = run(&format!("{line} --threads 1"));
    let two = run(&format!("--threads 2 {line}"));
    assert_eq!((code(&one), code(&two)), (0, 0));
    assert!(one.stdout == two.stdout);
    assert_eq!(read(&one.stdout).decode.len(), 10_000);
    let other = run(&line.replace("--seed 4", "--seed 5"));
    assert!(one.stdout != other.stdout);
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_accsim"))
        .args(format!("{TARGET} --emit-log - --lines 1000000 --quiet").split_whitespace())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((code(&output), stderr(&output)), (0, String::new()));
}

#[test]
fn other_engines_write_their_own_lines() {
    let vllm = run(&format!("{TARGET} --engine vllm --engine-version 0.9.2 --emit-log - --lines 3"));
    let text = String::from_utf8(vllm.stdout).unwrap();
    assert_eq!(text.matches("] SpecDecoding metrics: Draft acceptance rate: ").count(), 3);
    let atom = run(&format!("{TARGET} --engine atom --emit-log - --lines 3"));
    let text = String::from_utf8(atom.stdout).unwrap();
    assert_eq!(text.matches("[MTP Stats Interval] ").count(), 3);
    assert!(
        text.contains(
            "Forced speculative acceptance ON: mean acceptance length 3.5100 over 5 draft positions"
        )
    );
}

#[test]
fn what_cannot_be_written_is_said() {
    for (flags, message) in [
        ("--engine trtllm --emit-log -", "error: TensorRT-LLM writes no accept length to its log"),
        ("--engine vllm --emit-log - --log-ms", "error: --log-ms is about SGLang, not vLLM"),
        ("--engine vllm --emit-log - --damage glued=1", "error: only SGLang's lines can be cut"),
        ("--engine atom --emit-log - --pause 3:4", "error: --pause changes nothing in a log of ATOM"),
        ("--emit-log - --json", "error: --emit-log - and --json would both print"),
        (
            "--emit-log - --damage shred=1",
            "error: invalid value 'shred=1' for '--damage <DAMAGE>': unknown damage",
        ),
        (
            "--emit-log - --running-req 5-4",
            "error: invalid value '5-4' for '--running-req <A[-B]>': 5 is above 4",
        ),
        (
            "--emit-log - --pause 5",
            "error: invalid value '5' for '--pause <LINES:SECONDS>': '5' is not a pause",
        ),
        (
            "--emit-log - --decode-share 0",
            "error: invalid value '0' for '--decode-share <PERCENT>': '0' is not a share",
        ),
        ("--emit-log - --start now", "error: invalid value 'now' for '--start <TIME>': 'now' is not a time"),
        ("--engine sglang --engine-version 0.3.5 --emit-log -", "error: there is no law to draw a log from"),
        (
            "--engine vllm --emit-log - --change-at 3:accept-length=2",
            "error: --change-at is about SGLang, not vLLM",
        ),
        (
            "--emit-log - --lines 20 --change-at 20:accept-length=2",
            "error: --change-at: a change after 20 lines leaves none",
        ),
        (
            "--emit-log - --change-at 9:accept-length=2 --change-at 5:accept-length=3",
            "error: --change-at: a change after 9 lines leaves none",
        ),
        ("--emit-log - --change-at 9:accept-length=0.5", "error: an accept length is at least 1, found 0.5"),
        (
            "--emit-log - --change-at 9",
            "error: invalid value '9' for '--change-at <LINE:KEY=VALUE,..>': '9' is not a change",
        ),
        ("--change-at 9:accept-length=2", "error: the following required arguments were not provided"),
        ("--log-ms", "error: the following required arguments were not provided"),
    ] {
        let output = run(&format!("{TARGET} {flags}"));
        assert_eq!(code(&output), 2, "{flags}");
        assert!(stderr(&output).starts_with(message), "{flags}: {}", stderr(&output));
    }
    let missing = run(&format!("{TARGET} --emit-log {}", Path::new("/no/such/folder/x.log").display()));
    assert_eq!(code(&missing), 2);
    assert!(stderr(&missing).contains("cannot write /no/such/folder/x.log"), "{}", stderr(&missing));
}

/// A change in the middle is a second start with other arguments and other draws; the audit finds it.
#[test]
fn a_change_in_the_middle_is_a_second_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("server.log");
    let line = format!(
        "{TARGET} --algorithm eagle3 --engine sglang --engine-version 0.5.18 --lines 100 --running-req 4 \
         --change-at 30:accept-length=2.5,num-steps=3 --change-at 70:accept-length=3.51,num-steps=5 --emit-log {}",
        file.display()
    );
    let output = run(&line);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let found = read(&std::fs::read(&file).unwrap());
    assert_eq!(found.decode.len(), 100);
    let steps: Vec<_> = found.starts.iter().map(|start| start.num_steps).collect();
    assert_eq!(steps, [Some(5), Some(3), Some(5)]);
    let mean = |from: usize, to: usize| {
        let lengths = found.decode[from..to].iter().map(|line| line.accept_len.unwrap().count());
        f64::from(lengths.sum::<u32>()) / f64::from(u32::try_from(to - from).unwrap()) / 100.0
    };
    for (from, to, expected) in [(0, 30, 3.51), (30, 70, 2.5), (70, 100, 3.51)] {
        // Five standard errors of 1200 steps.
        assert!((mean(from, to) - expected).abs() < 0.075, "{from}: {}", mean(from, to));
    }
    let audit = run(&format!("audit {} --accept-length 3.51 --max-accept-length 6 --json", file.display()));
    assert_eq!(code(&audit), 1, "{}", String::from_utf8_lossy(&audit.stdout));
    let document: serde_json::Value = serde_json::from_slice(&audit.stdout).unwrap();
    let findings = document["points"][0]["findings"].as_array().unwrap();
    let codes: Vec<_> = findings.iter().map(|finding| finding["code"].as_str().unwrap()).collect();
    assert!(codes.contains(&"config-changed-mid-run"), "{codes:?}");
}
