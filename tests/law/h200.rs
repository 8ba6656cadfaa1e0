//! Logs of real servers (tests/data/h200/README.md) against the laws that wrote them.

use std::path::Path;

use accsim::evidence::{Input, Reader, Record};
use accsim::law::{AcceptanceLaw, LineValues};

use crate::support::{chi_square_p, match_expected, setting};

const LEVEL: f64 = 0.001;

/// Printed hundredths and running requests of every decode line with an accept length.
fn lines(name: &str) -> Vec<(u32, u64)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/h200").join(format!("{name}.log"));
    let mut lines = Vec::new();
    let errors = Reader::default().read(&Input::from(path.as_path()), &mut |_, record| {
        if let Record::Decode(line) = record
            && let Some(value) = line.accept_len
        {
            lines.push((value.count(), u64::from(line.running_req)));
        }
    });
    assert!(errors.is_empty(), "{errors:?}");
    lines
}

/// Values of the lines whose batch is that of the line before.
fn steady(name: &str) -> Vec<u32> {
    let lines = lines(name);
    lines.windows(2).filter(|pair| pair[0].1 == pair[1].1).map(|pair| pair[1].0).collect()
}

fn fits(values: &[u32], law: &AcceptanceLaw, interval: u32) -> f64 {
    let line = LineValues::new(law, interval, 1);
    let count = |value: u32| values.iter().filter(|found| **found == value).count() as u64;
    chi_square_p((100..=600).map(|value| (count(value), line.probability(value))))
}

/// With an interval of 1 the log is the sequence of draws.
#[test]
fn every_step_is_three_or_four() {
    let values: Vec<u32> = lines("e3k5_al351_int1").into_iter().map(|(value, _)| value).collect();
    assert_eq!(values.iter().filter(|value| **value == 300).count(), 294);
    assert_eq!(values.iter().filter(|value| **value == 400).count(), 299);
    let law = match_expected(3.51, 6);
    assert!(fits(&values, &law, 1) > 0.1);
    // Power: neighbouring cells, one digit off, do not fit.
    assert!(fits(&values, &match_expected(3.61, 6), 1) < LEVEL);
}

#[test]
fn match_expected_wrote_its_log_and_multinomial_another() {
    let two_point = match_expected(3.51, 6);
    let normal = AcceptanceLaw::multinomial(setting(3.51, 6));
    let (expected, biased) = (steady("e3k5_al351"), steady("e3k5_multinomial351"));
    assert!(expected.len() > 40 && biased.len() > 40);
    // Either log as its own law's lines; spread over few lines each, so compare standard scores too.
    let score = |values: &[u32], law: &AcceptanceLaw| -> f64 {
        let sd = law.line_sd(40, 1);
        values.iter().map(|value| ((f64::from(*value) / 100.0 - law.mean()) / sd).powi(2)).sum::<f64>()
            / values.len() as f64
    };
    assert!((0.6..1.5).contains(&score(&expected, &two_point)), "{}", score(&expected, &two_point));
    assert!((0.6..1.5).contains(&score(&biased, &normal)), "{}", score(&biased, &normal));
    assert!(score(&biased, &two_point) > 3.0);
    assert!(score(&expected, &normal) < 0.4);
    assert!(fits(&expected, &two_point, 40) > LEVEL);
    assert!(fits(&biased, &normal, 40) > LEVEL);
    // Every steady value can be printed under its law.
    let line = LineValues::new(&two_point, 40, 1);
    assert!(expected.iter().all(|value| line.probability(*value) > 0.0));
}

/// The last request of `e3k5_multinomial351` counted its steps by accepted drafts: 3, 18, 51, 58, 15, 2.
#[test]
fn a_requests_histogram_is_the_rounded_normal() {
    let histogram = [3_u64, 18, 51, 58, 15, 2];
    let normal = AcceptanceLaw::multinomial(setting(3.51, 6)).pmf();
    let p =
        chi_square_p(histogram.iter().zip(1..).map(|(count, length)| (*count, normal.probability(length))));
    assert!(p > 0.05, "{p}");
}

/// DSPARK of 0.5.16 rounds 3.51 to 4.
#[test]
fn dspark_rounds() {
    let values = lines("dspark_k5_al351");
    assert_eq!(values.len(), 52);
    let line = LineValues::new(&AcceptanceLaw::rounded(setting(3.51, 6)), 40, 1);
    for (value, _) in values {
        assert!((line.probability(value) - 1.0).abs() < 1e-12, "{value}");
    }
}

/// A whole target has no spread.
#[test]
fn a_whole_target_is_constant() {
    let law = match_expected(2.0, 6);
    let line = LineValues::new(&law, 40, 1);
    assert!(lines("e3k5_al200").iter().all(|(value, _)| line.probability(*value) > 0.99));
}
