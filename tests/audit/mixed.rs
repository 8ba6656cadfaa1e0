//! A law that changes within the log.

use super::*;

/// Lines of a batch of four under a two-point law about 3.51, 40 draws each.
const DRAWN: [&str; 8] = ["3.50", "3.52", "3.42", "3.60", "3.48", "3.55", "3.45", "3.58"];

fn half(values: &[&str], day: u32) -> String {
    let values: Vec<&str> = values.iter().copied().cycle().take(24).collect();
    lines("", &values).replace("2026-10-12", &format!("2026-10-{day}"))
}

#[test]
fn a_target_that_is_rounded_halfway_is_a_change_with_its_line() {
    let log = half(&DRAWN, 12) + &half(&["4.00"], 13);
    let (code, document) = audit("rounded.log", &log, "--accept-length 3.51 --max-accept-length 6");
    assert_eq!(code, 1);
    assert_eq!(document["points"][0]["mechanism"]["best"], "mixed");
    let change = finding(&document, "config-changed-mid-run");
    assert_eq!((&change["severity"], &change["evidence"]["line"]), (&"error".into(), &25.into()));
    let message = change["message"].as_str().unwrap();
    assert!(
        message.contains("24 lines before it like a simulated 3.51, from it on at 4.00 throughout"),
        "{message}"
    );
}

#[test]
fn one_law_throughout_is_no_change() {
    for log in [
        "e3k5_al351",
        "e3k3_al299",
        "var_k5_al351",
        "flush_k5_al278",
        "ngram_al351",
        "dp2_k5_al351",
        "e3k5_al351_int1",
    ] {
        let target = match log {
            "e3k3_al299" => "--accept-length 2.99 --max-accept-length 4",
            "flush_k5_al278" => "--accept-length 2.78 --max-accept-length 6",
            _ => "--accept-length 3.51 --max-accept-length 6",
        };
        let document = json(&run(&format!("audit {log}.log {target} --json")));
        assert_ne!(document["points"][0]["mechanism"]["best"], "mixed", "{log}");
    }
}
