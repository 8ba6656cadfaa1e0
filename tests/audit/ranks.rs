//! Ranks that lost some of their lines: their k-th lines are other draws, and they are one sample all the same.

use std::fs;

use serde_json::Value;

use super::{audit, file, run};

/// A simulated log without one decode line in twenty, at places that differ from rank to rank.
fn losing_lines(name: &str, flags: &str) -> String {
    let path = file(&format!("whole-{name}.log"), "");
    let output = run(&format!("simulate {flags} --emit-log {}", path.display()));
    assert!(output.status.success(), "{output:?}");
    let log = fs::read_to_string(path).unwrap();
    let mut number = 0_u64;
    let mut is_kept = |line: &str| {
        number += u64::from(line.contains("Decode batch"));
        // A multiplier spreads the places.
        !line.contains("Decode batch")
            || number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32 & 0xffff > 0xffff / 20
    };
    log.split_inclusive('\n').filter(|line| is_kept(line)).collect()
}

fn point(name: &str, flags: &str, target: &str) -> Value {
    let log = losing_lines(name, flags);
    audit(&format!("losing-{name}.log"), &log, &format!("{target} --replay off")).1["points"][0].clone()
}

#[test]
fn ranks_with_lost_lines_are_one_sample() {
    for seed in [5, 6, 7, 8] {
        let target = "--accept-length 2.78 --max-accept-length 4";
        let flags = format!(
            "{target} --lines 60 --ranks 8 --running-req 8 --output-tokens 3000 --decode-log-interval 10 \
             --random-seed {seed}"
        );
        let point = point(&format!("shared-{seed}"), &flags, target);
        assert_ne!(point["verdict"], "inconsistent", "{point:#}");
        assert!(point["rank_correlation"].as_f64().unwrap() > 0.8, "{point:#}");
        // 8 ranks of some 57 lines of 10 steps count as little more than one of them.
        assert!(point["independent_steps"].as_f64().unwrap() < 800.0, "{point:#}");
        let has_finding =
            |code: &str| point["findings"].as_array().unwrap().iter().any(|finding| finding["code"] == code);
        assert!(has_finding("ranks-share-draws"), "{point:#}");
    }
}

/// Ranks with draws of their own are told from the others, and count in full.
#[test]
fn ranks_with_their_own_draws_still_count_in_full() {
    let target = "--accept-length 3.51 --max-accept-length 6";
    let flags = format!(
        "{target} --lines 60 --ranks 4 --running-req 8 --output-tokens 3000 --ranks-share-draws false --seed 3"
    );
    let point = point("own", &flags, target);
    assert_eq!(point["verdict"], "consistent", "{point:#}");
    assert!(point["rank_correlation"].as_f64().unwrap() < 0.3, "{point:#}");
    assert!(point["independent_steps"].as_f64().unwrap() > 6000.0, "{point:#}");
}
