//! What the lines leave open is said.

use std::fs;

use serde_json::Value;

use super::{LOGS, audit, file, run, text};

const TARGET: &str = "--accept-length 3.51 --max-accept-length 6";

fn simulated(name: &str, flags: &str) -> String {
    let path = file(&format!("open-{name}.log"), "");
    let output = run(&format!("simulate {flags} --emit-log {}", path.display()));
    assert!(output.status.success(), "{output:?}");
    fs::read_to_string(path).unwrap()
}

/// The message of the warning with this code, if there is one.
fn warning(point: &Value, code: &str) -> Option<String> {
    let findings = point["findings"].as_array().unwrap().iter();
    let mut with_code =
        findings.filter(|finding| finding["severity"] == "warning" && finding["code"] == code);
    with_code.next().map(|finding| finding["message"].as_str().unwrap().to_owned())
}

/// Judged drafts with the mean of the target, on a batch that changes: the mean is right, and nothing tells more. A batch
/// that does not change tells it at once.
#[test]
fn real_acceptance_with_the_mean_of_the_target_is_not_passed_over_in_silence() {
    let real = "--method real --conditional-rates 0.778544,0.778544,0.778544,0.778544,0.778544 --max-accept-length 6";
    let log = simulated("real", &format!("{real} --lines 30 --running-req 1-64 --seed 1"));
    let (code, report) = audit("open-real-audited.log", &log, TARGET);
    let point = &report["points"][0];
    assert_eq!((code, &point["verdict"]), (0, &Value::from("consistent")), "{point:#}");
    let said = warning(point, "short-run").unwrap();
    assert!(said.contains("do not tell a simulated 3.51 from real acceptance"), "{said}");
    assert!(said.contains("about 10 lines of a batch that does not change"), "{said}");

    let steady = "--lines 15 --running-req 16 --output-tokens 3000 --seed 1";
    let log = simulated("real-steady", &format!("{real} {steady}"));
    let (_, report) = audit("open-real-steady.log", &log, TARGET);
    assert_eq!(report["points"][0]["verdict"], "inconsistent", "{report:#}");
    let log = simulated("simulated-steady", &format!("{TARGET} {steady}"));
    let (_, report) = audit("open-simulated-steady.log", &log, TARGET);
    let point = &report["points"][0];
    assert_ne!(point["verdict"], "inconsistent", "{point:#}");
    assert!(point["mechanism"]["rejected"].as_array().unwrap().contains(&Value::from("real")), "{point:#}");
    assert_eq!(warning(point, "short-run").filter(|said| said.contains("real acceptance")), None);
}

/// The first half of one server's log and the second half of another's, under the name of the first.
#[test]
fn halves_of_two_servers_are_no_one_servers_draws() {
    let of = |seed: u32| {
        simulated(
            &format!("half-{seed}"),
            &format!("{TARGET} --lines 60 --running-req 8 --random-seed {seed}"),
        )
    };
    let (own, other) = (of(11), of(12));
    let mut decoded = 0;
    let mut half = |log: &str, wanted: fn(u32) -> bool| -> String {
        decoded = 0;
        let mut is_wanted = |line: &&str| {
            decoded += u32::from(line.contains("Decode batch"));
            wanted(decoded)
        };
        log.split_inclusive('\n').filter(&mut is_wanted).collect()
    };
    let log = half(&own, |line| line <= 30) + &half(&other, |line| line > 30);
    let (_, report) = audit("open-halves.log", &log, TARGET);
    let point = &report["points"][0];
    assert_ne!(point["replay"]["status"], "proved", "{point:#}");
    assert!(warning(point, "replay-contradicted").is_some(), "{point:#}");
}

#[test]
fn two_servers_are_two_seeds_in_the_sentence() {
    let read = |name: &str| fs::read_to_string(format!("{LOGS}/{name}.log")).unwrap();
    let path = file("open-two.log", &(read("e3k5_al351") + &read("var_k5_al351")));
    let said = text(&run(&format!("audit {} {TARGET}", path.display())).stdout);
    assert!(said.contains("two servers with the seeds 320846001 and 538191001"), "{said}");
}

#[test]
fn lines_that_were_not_asked_for_are_there() {
    let output = run(&format!("audit e3k5_al351.log {TARGET} --skip-lines 1000"));
    let said = text(&output.stdout);
    assert!(said.contains("none of 73 decode lines lies within what was asked for"), "{said}");
    assert!(!said.contains("holds no decode line"), "{said}");
}

/// The mean of `multinomial` at 3.51 and 6 is 3.5099: it is the spread that differs.
#[test]
fn multinomial_is_told_by_its_spread() {
    let said = text(&run(&format!("audit e3k5_multinomial351.log {TARGET} --replay off")).stdout);
    assert!(said.contains("scatter as method `multinomial` does, more widely than the target's"), "{said}");
    assert!(!said.contains("whose mean is not the target"), "{said}");
}

/// A growing log is decided by its mean: what the spread says of it is a warning, which says so, and no error beside
/// `insufficient`.
#[test]
fn a_log_that_is_followed_does_not_contradict_itself() {
    let line = format!("audit e3k5_multinomial351.log {TARGET} --replay off --follow --idle-exit 0.2 --json");
    let report: Value = serde_json::from_slice(&run(&line).stdout).unwrap();
    let point = &report["points"][0];
    assert_eq!(point["verdict"], "insufficient", "{point:#}");
    let said = warning(point, "multinomial-bias").unwrap();
    assert!(said.contains("decides where a log is looked at once"), "{said}");
}
