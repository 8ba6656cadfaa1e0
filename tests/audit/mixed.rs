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

/// A log with another one behind it: what the server's own draws prove of a part says nothing about the rest.
fn joined(name: &str, parts: [&str; 2], flags: &str) -> (i32, Value) {
    let log: String = parts.map(|part| fs::read_to_string(Path::new(LOGS).join(part)).unwrap()).concat();
    audit(name, &log, flags)
}

#[test]
fn a_proof_of_some_lines_is_none_of_all() {
    let target = "--accept-length 3.51 --max-accept-length 6";
    for (name, parts) in [
        ("joined-200.log", ["e3k5_al351.log", "e3k5_al200.log"]),
        ("joined-351.log", ["e3k5_al200.log", "e3k5_al351.log"]),
        ("joined-dspark.log", ["e3k5_al351.log", "dspark_k5_al351.log"]),
    ] {
        let (code, document) = joined(name, parts, target);
        let point = &document["points"][0];
        assert_eq!((code, point["verdict"].as_str()), (1, Some("inconsistent")), "{name}");
        assert_ne!(point["replay"]["status"], "proved", "{name}");
    }
}

#[test]
fn changed_lines_and_ranks_are_not_passed_over() {
    let log = |name: &str| fs::read_to_string(Path::new(LOGS).join(name)).unwrap();
    let target = "--accept-length 3.51 --max-accept-length 6";
    // The first thirty lines, and a whole rank.
    let mut seen = 0;
    let start: String = log("e3k5_al351.log")
        .lines()
        .map(|line| {
            let is_early = line.contains("Decode batch") && seen < 30;
            seen += usize::from(is_early);
            (if is_early { set_length(line, "1.00") } else { line.to_owned() }) + "\n"
        })
        .collect();
    let rank: String = log("dp2_k5_al351.log")
        .lines()
        .map(|line| (if line.contains("DP1") { set_length(line, "2.00") } else { line.to_owned() }) + "\n")
        .collect();
    for (name, log) in [("start.log", start), ("rank.log", rank)] {
        let (code, document) = audit(name, &log, target);
        assert_eq!((code, document["verdict"].as_str()), (1, Some("inconsistent")), "{name}");
    }
}

/// The line with another accept length.
fn set_length(line: &str, length: &str) -> String {
    match line.split_once("accept len: ") {
        Some((before, after)) => format!("{before}accept len: {length}{}", &after[4..]),
        None => line.to_owned(),
    }
}

/// Workers of different settings in one folder: whatever their draws prove, they are no one sample.
#[test]
fn workers_of_different_settings_are_not_consistent() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("audit-workers");
    fs::remove_dir_all(&folder).ok();
    fs::create_dir_all(&folder).unwrap();
    fs::copy(Path::new(LOGS).join("base.log"), folder.join("n0.log")).unwrap();
    fs::copy(Path::new(LOGS).join("e3k5_al351.log"), folder.join("n1.log")).unwrap();
    fs::copy(Path::new(LOGS).join("var_k5_al351.log"), folder.join("n2.log")).unwrap();
    let output = program("audit . --json --point-by dir --accept-length 3.51 --max-accept-length 6")
        .current_dir(&folder)
        .output()
        .unwrap();
    let document = json(&output);
    assert_eq!((output.status.code(), document["points"].as_array().unwrap().len()), (Some(3), 1));
    assert_eq!(document["points"][0]["verdict"], "insufficient");
    assert_eq!(finding(&document, "multiple-servers")["severity"], "error");
}

/// Two servers at the same time: a line shows the throughput of one of them. A log that was cut in two is one server's.
#[test]
fn servers_side_by_side_have_no_throughput_as_one() {
    let folder = |name: &str| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::remove_dir_all(&folder).ok();
        fs::create_dir_all(&folder).unwrap();
        folder
    };
    let target = "--accept-length 3.51 --max-accept-length 6";
    let beside = folder("audit-beside");
    for seed in [1, 2] {
        let log = beside.join(format!("w{seed}.log"));
        let output = run(&format!(
            "simulate {target} --random-seed {seed} --lines 60 --batch 8 --steps 100 --emit-log {}",
            log.display()
        ));
        assert!(output.status.success(), "{output:?}");
    }
    let document = json(&run(&format!("audit {} --json --point-by dir {target}", beside.display())));
    let point = &document["points"][0];
    assert_eq!(point["gen_throughput_tps"]["median"], Value::Null, "{point:#}");
    let findings = point["findings"].as_array().unwrap();
    let said = findings.iter().any(|finding| finding["message"].as_str().unwrap().contains("side by side"));
    assert!(said, "{findings:#?}");

    let log = fs::read_to_string(beside.join("w1.log")).unwrap();
    let lines: Vec<&str> = log.split_inclusive('\n').collect();
    let (first, second) = lines.split_at(lines.len() / 2);
    let rotated = folder("audit-rotated");
    fs::write(rotated.join("1.log"), first.concat()).unwrap();
    fs::write(rotated.join("2.log"), second.concat()).unwrap();
    let document = json(&run(&format!("audit {} --json --point-by dir {target}", rotated.display())));
    let whole = json(&run(&format!("audit {} --json {target}", beside.join("w1.log").display())));
    let median = |document: &Value| document["points"][0]["gen_throughput_tps"]["median"].as_f64().unwrap();
    assert!((median(&document) / median(&whole) - 1.0).abs() < 0.02, "{document:#}");
}

/// The accept rate is that of the server at hand.
#[test]
fn servers_of_different_draft_lengths_have_rates_of_their_own() {
    let log = |name: &str| fs::read_to_string(Path::new(LOGS).join(name)).unwrap();
    let both = log("e3k5_al351.log") + &log("e3k3_al299.log");
    let (_, document) = audit("rates.log", &both, "--accept-length 3.51 --max-accept-length 6");
    let findings = document["points"][0]["findings"].as_array().unwrap();
    assert!(findings.iter().all(|finding| finding["code"] != "accept-rate-disagrees"), "{findings:#?}");
}
