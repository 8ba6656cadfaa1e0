//! Evaluation runs must not be simulated.

use super::*;

/// Steady lines of a batch of four, as real acceptance scatters them: off the lattice of forty draws.
const REAL: [&str; 24] = [
    "3.31", "3.47", "3.39", "3.56", "3.24", "3.44", "3.61", "3.37", "3.51", "3.29", "3.43", "3.66", "3.18",
    "3.41", "3.54", "3.36", "3.49", "3.33", "3.59", "3.26", "3.46", "3.38", "3.53", "3.41",
];

fn verdict(document: &Value) -> (&str, &str) {
    let point = &document["points"][0];
    (point["verdict"].as_str().unwrap(), point["reason"].as_str().unwrap())
}

#[test]
fn every_simulated_log_is_found() {
    for log in
        ["e3k5_al351", "e3k5_al200", "e3k5_multinomial351", "dspark_k5_al351", "var_k5_al351", "dp2_k5_al351"]
    {
        let output = run(&format!("audit {log}.log --expect-real --json"));
        let document = json(&output);
        assert_eq!((output.status.code(), verdict(&document).0), (Some(1), "inconsistent"), "{log}");
        assert_eq!(finding(&document, "simulation-in-eval")["severity"], "error");
        assert_eq!(document["target"], Value::Null);
    }
}

#[test]
fn real_acceptance_is_what_an_evaluation_shows() {
    let log = |values: &[&str]| server("EAGLE", 3, 4) + &lines("", values);
    let (code, document) = audit("real.log", &log(&REAL), "--expect-real");
    assert_eq!(
        (code, verdict(&document)),
        (0, ("consistent", "no simulation gives these lines: the drafts were really judged"))
    );
    let (code, document) = audit("short.log", &log(&REAL[..4]), "--expect-real");
    assert_eq!((code, verdict(&document).0), (3, "insufficient"));
    // Without the server's arguments a line may be of 100 steps, and then `multinomial` scatters so too.
    let (code, document) = audit("bare.log", &lines("", &REAL), "--expect-real");
    assert_eq!((code, verdict(&document).0), (3, "insufficient"));
}

#[test]
fn nothing_accepted_is_real_and_cannot_be_told_from_a_simulated_one() {
    let (code, document) = audit("ones.log", &lines("", &["1.00"; 8]), "--expect-real");
    assert_eq!((code, verdict(&document).0), (0, "consistent"));
    assert!(verdict(&document).1.contains("cannot be told from"));
    assert_eq!(audit("one.log", &lines("", &["1.00"; 4]), "--expect-real").0, 3);
    assert_eq!(audit("twos.log", &lines("", &["2.00"; 2]), "--expect-real").0, 1);
}

#[test]
fn an_evaluation_has_no_target() {
    for flags in ["--accept-length 3.51", "--margin 1%"] {
        let refused = run(&format!("audit e3k5_al351.log --expect-real {flags}"));
        assert_eq!(refused.status.code(), Some(2), "{flags}");
        assert!(text(&refused.stderr).contains("--expect-real"), "{flags}");
    }
}

#[test]
fn an_evaluation_that_was_simulated_in_part_is_found() {
    let real = server("EAGLE3", 5, 6) + &lines("", &REAL);
    let simulated = fs::read_to_string(Path::new(LOGS).join("e3k5_al351.log")).unwrap();
    for (name, log) in [("behind.log", real.clone() + &simulated), ("before.log", simulated + &real)] {
        let (code, document) = audit(name, &log, "--expect-real");
        assert_eq!((code, verdict(&document).0), (1, "inconsistent"), "{name}: {}", verdict(&document).1);
    }
}

#[test]
fn every_fault_has_a_finding() {
    for log in ["e3k5_al200", "dspark_k5_al351"] {
        let output = run(&format!("audit {log}.log --accept-length 3.51 --max-accept-length 6 --json"));
        let document = json(&output);
        let findings = document["points"][0]["findings"].as_array().unwrap();
        assert!(findings.iter().any(|finding| finding["severity"] == "error"), "{log}");
    }
}
