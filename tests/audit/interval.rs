//! Logs that do not say how many verify steps a line stands for.

use std::fs;

use serde_json::Value;

use super::{LOGS, audit, file, run};

const TARGET: &str = "--accept-length 3.51 --max-accept-length 6";

/// A simulated log without its server's arguments.
fn simulated(target: &str, interval: u32, lines: u32, seed: u32) -> String {
    let path = file(&format!("interval-{interval}-{lines}-{seed}.log"), "");
    let output = run(&format!(
        "simulate {target} --random-seed {seed} --lines {lines} --batch 8 --steps 100 --decode-log-interval {interval} \
         --emit-log {}",
        path.display()
    ));
    assert!(output.status.success(), "{output:?}");
    bare(&fs::read_to_string(path).unwrap())
}

fn without_arguments(interval: u32, lines: u32) -> Value {
    audit(&format!("bare-{interval}-{lines}.log"), &simulated(TARGET, interval, lines, 11), TARGET).1
}

fn bare(log: &str) -> String {
    log.split_inclusive('\n').filter(|line| !line.contains("server_args")).collect()
}

#[test]
fn every_divisor_of_the_default_and_the_usual_others_are_found() {
    for interval in [1, 2, 4, 5, 8, 10, 20, 30, 40, 50, 100] {
        let report = without_arguments(interval, 120);
        let point = &report["points"][0];
        assert_eq!(point["line"]["interval"], interval, "{point:#}");
        assert_eq!(point["line"]["interval_source"], "inferred");
        assert_ne!(point["verdict"], "inconsistent", "{interval}: {point:#}");
    }
}

#[test]
fn few_lines_are_not_held_against_the_target() {
    for interval in [1, 2, 4, 5, 8, 10, 16, 20, 40] {
        for lines in [3, 6, 10, 14] {
            let report = without_arguments(interval, lines);
            assert_ne!(report["points"][0]["verdict"], "inconsistent", "{interval} {lines}: {report:#}");
        }
    }
}

/// The decode lines alone say nothing about requests that join, so that their tokens do not tell the interval.
#[test]
fn few_lines_of_few_steps_are_insufficient_whatever_they_read() {
    for target in ["--accept-length 2.99 --max-accept-length 4", "--accept-length 1.2 --max-accept-length 3"]
    {
        for (interval, seed) in [(1, 1), (1, 2), (1, 3), (2, 4), (2, 5), (5, 6), (10, 7)] {
            let log = simulated(target, interval, 6, seed);
            let decode: String =
                log.split_inclusive('\n').filter(|line| line.contains("Decode batch")).collect();
            for (name, log) in [("all", &log), ("decode", &decode)] {
                let (_, report) = audit(&format!("few-{interval}-{seed}-{name}.log"), log, target);
                assert_eq!(report["points"][0]["verdict"], "insufficient", "{target} {interval}: {report:#}");
                let (_, report) = audit(&format!("eval-{interval}-{seed}-{name}.log"), log, "--expect-real");
                assert_ne!(report["points"][0]["verdict"], "consistent", "{target} {interval}: {report:#}");
            }
        }
    }
}

/// Between 2.6 and 2.9 every value of 30 steps is one of 40 steps too, as two decimals print it.
#[test]
fn requests_that_grow_tell_thirty_steps_from_forty() {
    let target = "--accept-length 2.78 --max-accept-length 4";
    for interval in [16, 25, 30, 40] {
        let (code, report) =
            audit(&format!("grow-{interval}.log"), &simulated(target, interval, 60, 9), target);
        let point = &report["points"][0];
        assert_eq!((code, &point["line"]["interval"]), (0, &interval.into()), "{point:#}");
        assert_eq!(point["line"]["interval_source"], "inferred");
    }
}

/// Without its arguments a log of a server that rounds its target is found out all the same.
#[test]
fn what_is_wrong_for_every_interval_is_inconsistent() {
    for (log, code) in [("dspark_k5_al351", "target-rounded"), ("e3k5_multinomial351", "multinomial-bias")] {
        let text = bare(&fs::read_to_string(format!("{LOGS}/{log}.log")).unwrap());
        let (exit, report) = audit(&format!("{log}-bare.log"), &text, TARGET);
        let point = &report["points"][0];
        assert_eq!((exit, &point["verdict"]), (1, &"inconsistent".into()), "{log}: {point:#}");
        let findings = point["findings"].as_array().unwrap();
        assert!(findings.iter().any(|finding| finding["code"] == code), "{log}: {findings:#?}");
    }
}

/// A real server that logged every step, from its first decode line on.
#[test]
fn a_real_log_of_single_steps() {
    let log = fs::read_to_string(format!("{LOGS}/e3k5_al351_int1.log")).unwrap();
    let (code, report) = audit("int1-bare.log", &bare(&log), TARGET);
    let point = &report["points"][0];
    assert_eq!((code, &point["verdict"]), (0, &"consistent".into()), "{point:#}");
    assert_eq!(point["line"]["interval"], 1);
}

/// Decode lines alone, whole or with lines lost, do not tell which of them stand for an unchanged batch; how they scatter may
/// look like another lattice by accident. That is not held against an honest server.
#[test]
fn decode_lines_alone_are_not_held_against_an_honest_server() {
    type IsLost = fn(usize) -> bool;
    let lost: [(&str, IsLost); 4] = [
        ("none", |_| false),
        ("every second", |number| number % 2 == 1),
        ("three of ten", |number| number * 7 % 10 < 3),
        ("the first half", |number| number < 25),
    ];
    for (log, length, max) in [
        ("flush_k5_al278", 2.78, 6),
        ("dp2_k5_al351", 3.51, 6),
        ("var_k5_al351", 3.51, 6),
        ("e3k3_al299", 2.99, 4),
    ] {
        let text = fs::read_to_string(format!("{LOGS}/{log}.log")).unwrap();
        let decode: Vec<_> =
            text.split_inclusive('\n').filter(|line| line.contains("Decode batch")).collect();
        for (name, is_lost) in lost {
            let left: String = decode
                .iter()
                .enumerate()
                .filter(|(number, _)| !is_lost(*number))
                .map(|(_, line)| *line)
                .collect();
            for (target, is_honest) in [(length, true), (length + 0.3, false)] {
                let flags = format!("--accept-length {target:.2} --max-accept-length {max}");
                let (_, report) = audit(&format!("{log}-decode.log"), &left, &flags);
                let point = &report["points"][0];
                let wrong = if is_honest { "inconsistent" } else { "consistent" };
                assert_ne!(point["verdict"], wrong, "{log} at {target:.2} without {name}: {point:#}");
            }
        }
    }
}
