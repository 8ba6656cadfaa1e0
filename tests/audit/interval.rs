//! Logs that do not say how many verify steps a line stands for.

use std::fs;

use serde_json::Value;

use super::{LOGS, audit, file, run};

const TARGET: &str = "--accept-length 3.51 --max-accept-length 6";

/// A simulated log without its server's arguments, and its audit.
fn without_arguments(interval: u32, lines: u32) -> Value {
    let path = file(&format!("interval-{interval}-{lines}.log"), "");
    let output = run(&format!(
        "simulate {TARGET} --random-seed 11 --lines {lines} --batch 8 --steps 100 --decode-log-interval {interval} \
         --emit-log {}",
        path.display()
    ));
    assert!(output.status.success(), "{output:?}");
    audit(&format!("bare-{interval}-{lines}.log"), &bare(&fs::read_to_string(path).unwrap()), TARGET).1
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
    for interval in [1, 2, 5, 8, 10, 20, 40] {
        // A handful of single steps may all show one value, which says nothing of a lattice.
        let all = [3, 6, 10, 14];
        for lines in all.into_iter().filter(|lines| interval > 2 || *lines > 10) {
            let report = without_arguments(interval, lines);
            assert_ne!(report["points"][0]["verdict"], "inconsistent", "{interval} {lines}: {report:#}");
        }
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
