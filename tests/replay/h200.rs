//! The table of the specification, by `audit --json` on logs of real servers.

use std::process::{Command, Stdio};

use serde_json::Value;

use super::support::path;

/// Audits a log; the exit code and its only point.
fn audit(name: &str, length: &str, max: &str, more: &[&str]) -> (i32, Value) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_accsim"));
    command.arg("audit").arg(path(name)).args([
        "--accept-length",
        length,
        "--max-accept-length",
        max,
        "--json",
    ]);
    let output = command.args(more).stdin(Stdio::null()).env_remove("ACCSIM_GOLDEN_DIR").output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    (output.status.code().unwrap(), document["points"][0].clone())
}

fn codes(point: &Value) -> Vec<&str> {
    let findings = point["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["code"].as_str().unwrap()).collect()
}

/// Decode lines, exact ones, steady ones; every steady line is exact, and every other one within reach.
#[test]
fn the_table_of_the_specification() {
    for (name, length, max, [lines, exact, steady]) in [
        ("e3k5_al351_int1", "3.51", "6", [593, 593, 587]),
        ("e3k5_al351", "3.51", "6", [73, 71, 53]),
        ("e3k3_al299", "2.99", "4", [86, 86, 66]),
        ("var_k5_al351", "3.51", "6", [119, 95, 47]),
        // Both ranks: 61 and 62 lines, 45 and 46 exact, 16 and 17 steady.
        ("dp2_k5_al351", "3.51", "6", [123, 91, 33]),
        ("ngram_al351", "3.51", "6", [32, 19, 7]),
        ("flush_k5_al278", "2.78", "6", [114, 94, 48]),
    ] {
        let (code, point) = audit(name, length, max, &["--replay", "require"]);
        let replay = &point["replay"];
        assert_eq!(replay["status"], "proved", "{name}: {replay}");
        assert_eq!((code, &point["verdict"]), (0, &Value::from("consistent")), "{name}");
        assert_eq!(replay["target"].as_f64().unwrap().to_string(), length);
        assert_eq!(replay["method"], "match-expected");
        assert_eq!(replay["max_accept_length"].to_string(), max);
        assert_eq!(replay["lines_checked"], lines, "{name}");
        assert_eq!(replay["lines_exact"], exact, "{name}");
        assert_eq!(replay["lines_bounded"], lines - exact, "{name}");
        assert_eq!(replay["steady_lines"], steady, "{name}");
        assert_eq!(replay["steady_exact"], steady, "{name}");
        assert!(replay["first_mismatch"].is_null() && replay["reason"].is_null());
        assert!(replay["log10_chance"].as_f64().unwrap() <= -9.0);
        let is_flushed = name.starts_with("flush");
        assert_eq!(replay["slips"].as_array().unwrap().len(), usize::from(is_flushed), "{name}");
    }
}

#[test]
fn the_flush_moves_windows_by_four_draws() {
    let (_, point) = audit("flush_k5_al278", "2.78", "6", &[]);
    let slip = &point["replay"]["slips"][0];
    assert_eq!(slip["draws"], 4);
    let text = std::fs::read_to_string(path("flush_k5_al278")).unwrap();
    let flush = text.lines().position(|line| line.contains("Cache flushed successfully!")).unwrap();
    let next = text.lines().skip(flush).position(|line| line.contains("] Decode batch")).unwrap();
    assert_eq!(slip["line"], flush + next + 1);
}

/// 53 steady lines at 0.089 each: 10^-55.7, and the others as a group.
#[test]
fn odds_and_draws_of_a_log() {
    let (_, point) = audit("e3k5_al351", "3.51", "6", &[]);
    let replay = &point["replay"];
    assert_eq!((&replay["seed"], &replay["draws"]), (&Value::from(320_846_001), &Value::from(2920)));
    let chance = replay["log10_chance"].as_f64().unwrap();
    // 18 exact of 20: C(20, 18) 0.089^18 and more.
    assert!((-73.0..-72.0).contains(&chance), "{chance}");
    let first = |of: &str| -> Vec<f64> {
        replay["first_lines"].as_array().unwrap().iter().map(|line| line[of].as_f64().unwrap()).collect()
    };
    // The fourth and the fifth value of the specification are those of a steady log.
    assert_eq!(first("expected"), [3.62, 3.52, 3.55, 3.6, 3.42, 3.58, 3.45, 3.48]);
    assert_eq!(first("printed").len(), 8);
}

#[test]
fn a_run_by_multinomial_is_another_target() {
    let (code, point) = audit("e3k5_multinomial351", "3.51", "6", &[]);
    let replay = &point["replay"];
    assert_eq!((code, &point["verdict"]), (1, &Value::from("inconsistent")));
    assert_eq!(
        (&replay["status"], &replay["method"]),
        (&Value::from("other-target"), &Value::from("multinomial"))
    );
    assert_eq!((&replay["target"], &replay["max_accept_length"]), (&Value::from(3.51), &Value::from(6)));
    for (count, expected) in
        [("lines_checked", 65), ("lines_exact", 62), ("steady_lines", 47), ("steady_exact", 47)]
    {
        assert_eq!(replay[count], expected, "{count}");
    }
    assert_eq!(codes(&point).iter().filter(|code| **code == "multinomial-bias").count(), 1);
    assert_eq!(point["mechanism"]["best"], "multinomial");
}

/// Two lines tell 3.50 from 3.51, where statistics need 860.
#[test]
fn neighbouring_targets_are_named() {
    for (claimed, code_expected) in [
        ("3.5", "other-golden-cell"),
        ("3.52", "other-golden-cell"),
        ("3.46", "other-golden-cell"),
        ("3.61", "other-golden-cell"),
    ] {
        let (code, point) = audit("e3k5_al351", claimed, "6", &[]);
        assert_eq!((code, &point["replay"]["status"]), (1, &Value::from("other-target")), "{claimed}");
        assert_eq!(point["replay"]["target"], 3.51);
        assert!(codes(&point).contains(&code_expected), "{claimed}: {:?}", codes(&point));
    }
}

#[test]
fn what_has_no_spread_or_no_acceptance_is_unavailable() {
    for (name, length, reason) in [
        ("e3k5_al200", "2", "same whole number"),
        ("dspark_k5_al351", "3.51", "same whole number"),
        ("base", "3.51", "no line shows an accept length"),
    ] {
        let (_, point) = audit(name, length, "6", &[]);
        let replay = &point["replay"];
        assert_eq!(replay["status"], "unavailable", "{name}");
        assert!(replay["reason"].as_str().unwrap().contains(reason), "{replay}");
        assert!(replay["target"].is_null() && replay["log10_chance"].is_null());
    }
    // Statistics decide about the constant log, unless a proof is required.
    assert_eq!(audit("e3k5_al200", "2", "6", &[]).0, 0);
    let (code, point) = audit("e3k5_al200", "2", "6", &["--replay", "require"]);
    assert_eq!((code, &point["verdict"]), (3, &Value::from("insufficient")));
}

#[test]
fn replay_can_be_left_out() {
    let (code, point) = audit("e3k5_al351", "3.51", "6", &["--replay", "off"]);
    assert_eq!(code, 0);
    assert!(point.get("replay").is_none());
}

/// Without a target a found one is reported, and the verdict stays open.
#[test]
fn a_target_is_found_where_none_is_named() {
    let output = Command::new(env!("CARGO_BIN_EXE_accsim"))
        .arg("audit")
        .arg(path("e3k5_al351"))
        .arg("--json")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let point = &document["points"][0];
    assert_eq!(point["verdict"], "insufficient");
    assert_eq!(
        (&point["replay"]["status"], &point["replay"]["target"]),
        (&Value::from("proved"), &Value::from(3.51))
    );
}
