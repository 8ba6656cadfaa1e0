//! The first audit on real logs: SGLang 0.5.16 on H200, with what was injected known (tests/data/h200/README.md).

// Helpers outside `#[test]` functions may do what tests may do: a failed assumption is a failed test.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::path::{Path, PathBuf};

use accsim::audit::{
    FindingCode, Mechanism, Options, PointBuilder, PointReport, Reason, RivalCell, Severity, Verdict, judge,
};
use accsim::evidence::{Input, Reader, Record};
use accsim::golden::{AcceptLength, Catalogue, Query, Target, Thinking};
use accsim::law::{AcceptanceLaw, Lattice, LineLaw, Setting, Window};

fn log(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/h200").join(format!("{name}.log"))
}

fn audit_against(name: &str, target: Option<&Target>, cells: Vec<RivalCell>) -> PointReport {
    let mut point = PointBuilder::new(name);
    let input = Input::from(log(name).as_path());
    let errors = Reader::default().read(&input, &mut |place, record| point.add(place, record));
    assert!(errors.is_empty(), "{errors:?}");
    judge(&point.finish(), target, &Options { cells, ..Options::default() })
}

fn audit(name: &str, length: f64, max: u32) -> PointReport {
    audit_against(name, Some(&Target::explicit(length, max).unwrap()), Vec::new())
}

fn golden(prefix: &str, method: &str, draft_length: u32) -> Target {
    Catalogue::builtin().lookup(&Query::new(prefix, method, draft_length)).unwrap().target
}

fn cells(values: &[f64]) -> Vec<RivalCell> {
    let cell = |value: &f64| RivalCell {
        curve: format!("curve_{value}"),
        thinking: Thinking::On,
        draft_length: 5,
        accept_length: AcceptLength::new(*value).unwrap(),
    };
    values.iter().map(cell).collect()
}

fn best(report: &PointReport) -> Option<Mechanism> {
    report.mechanisms.as_ref().and_then(|mechanisms| mechanisms.best)
}

fn log_likelihood(report: &PointReport, mechanism: Mechanism) -> f64 {
    let all = &report.mechanisms.as_ref().unwrap().log_likelihood;
    all.iter().find(|(name, _)| *name == mechanism).unwrap().1
}

fn severity(report: &PointReport, code: FindingCode) -> Option<Severity> {
    report.findings.iter().find(|finding| finding.code == code).map(|finding| finding.severity)
}

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
}

/// Every log that was run as it should be, against what was injected.
#[test]
fn honest_runs_are_consistent() {
    for (name, length, max) in [
        ("e3k5_al351", 3.51, 6),
        ("var_k5_al351", 3.51, 6),
        ("dp2_k5_al351", 3.51, 6),
        ("e3k3_al299", 2.99, 4),
        ("e3k5_al200", 2.0, 6),
        ("e3k5_al351_int1", 3.51, 6),
        ("flush_k5_al278", 2.78, 6),
        ("ngram_al351", 3.51, 6),
    ] {
        let report = audit(name, length, max);
        assert_eq!(report.verdict, Verdict::Consistent, "{name}: {}", report.reason);
        assert_eq!(best(&report), Some(Mechanism::MatchExpected), "{name}");
        let worst = report.findings.iter().map(|finding| finding.severity).max();
        assert_eq!(worst, Some(Severity::Note), "{name}: {:?}", report.findings);
    }
}

/// Value 9, by the rules of sections 3 and 8.
#[test]
fn e3k5_to_every_digit() {
    let report = audit("e3k5_al351", 3.51, 6);
    assert_eq!((report.decode_lines, report.spec_lines, report.steps), (73, 73, 2920));
    close(report.independent_steps, 2894.82, 0.005);
    assert_eq!(report.rank_correlation, None);

    let accept_len = report.accept_len.unwrap();
    close(accept_len.mean, 3.5173, 5e-5);
    close(accept_len.weighted, 3.5236, 5e-5);
    close(accept_len.min, 3.40, 1e-12);
    close(accept_len.max, 3.75, 1e-12);
    let interval = accept_len.interval.unwrap();
    close(interval.low, 3.4998, 5e-5);
    close(interval.high, 3.5366, 5e-5);

    let lattice = report.lattice.unwrap();
    assert_eq!((lattice.lines, lattice.misses), (53, 0));
    let scatter = report.mechanisms.as_ref().unwrap().dispersion.unwrap();
    assert_eq!(scatter.lines, 53);
    close(scatter.d, 51.99, 0.005);
    close(scatter.upper_tail, 0.51, 0.005);
    assert_eq!(report.running_req, Some((1, 32)));
    assert_eq!(report.graphs, (73, 0));

    // The 99.9 % interval, [3.4875, 3.5489].
    let point = {
        let mut point = PointBuilder::new("e3k5_al351");
        let input = Input::from(log("e3k5_al351").as_path());
        Reader::default().read(&input, &mut |place, record| point.add(place, record));
        point.finish()
    };
    let options = Options { confidence: "0.999".parse().unwrap(), ..Options::default() };
    let interval = judge(&point, None, &options).accept_len.unwrap().interval.unwrap();
    close(interval.low, 3.4875, 5e-5);
    close(interval.high, 3.5489, 5e-5);
}

/// Value 9 and 10, every line taken as steady: sums and log-likelihoods of all 73 lines as binomial.
#[test]
fn e3k5_line_by_line() {
    let mut lines = Vec::new();
    Reader::default().read(&Input::from(log("e3k5_al351").as_path()), &mut |_, record| {
        if let Record::Decode(line) = record {
            lines.push(line.accept_len.unwrap().count());
        }
    });
    let lattice = Lattice::new(3, 40);
    assert!(lines.iter().all(|line| lattice.contains(*line)));
    let draws: Vec<f64> = lines.iter().map(|line| lattice.draws(*line)).collect();
    close(draws.iter().sum(), 1512.0, 0.0);
    let d: f64 = draws.iter().map(|k| (k - 20.4).powi(2) / (40.0 * 0.2499)).sum();
    close(d, 70.64, 0.005);

    let sum = |law: &AcceptanceLaw| -> f64 {
        let line = LineLaw::new(law, 40);
        lines.iter().map(|x| line.ln_probability(*x, Window::Steady { batch: 1 })).sum()
    };
    let setting = |length| Setting::new(length, 6).unwrap();
    for (length, expected) in
        [(3.51, -186.47), (3.50, -187.96), (3.54, -189.00), (3.46, -205.68), (3.61, -237.14)]
    {
        close(sum(&AcceptanceLaw::match_expected(setting(length))), expected, 0.005);
    }
    close(sum(&AcceptanceLaw::multinomial(setting(3.51))), -212.38, 0.005);
}

/// Value 10: cells that the lines cannot tell from the target, and a neighbour that they can.
#[test]
fn cells_not_told_apart_are_named() {
    let values = [3.41, 3.46, 3.47, 3.52, 3.53, 3.54, 3.57, 3.61, 2.78, 4.7];
    let target = Target::explicit(3.51, 6).unwrap();
    let report = audit_against("e3k5_al351", Some(&target), cells(&values));
    let mechanisms = report.mechanisms.unwrap();
    let alike: Vec<f64> = mechanisms.cells_alike.iter().map(|cell| cell.accept_length.get()).collect();
    assert_eq!(alike, [3.52, 3.53, 3.54]);
    assert_eq!(mechanisms.best, Some(Mechanism::MatchExpected));
    assert_eq!(report.verdict, Verdict::Consistent);

    let wrong = audit_against("e3k5_al351", Some(&Target::explicit(3.61, 6).unwrap()), cells(&[3.46, 3.51]));
    assert_eq!(wrong.verdict, Verdict::Inconsistent);
    assert_eq!(best(&wrong), Some(Mechanism::OtherCell));
    assert_eq!(severity(&wrong, FindingCode::OtherGoldenCell), Some(Severity::Error));
}

/// Two ranks that drew the same sequence are one sample.
#[test]
fn dp2_is_one_sample() {
    let report = audit("dp2_k5_al351", 3.51, 6);
    assert_eq!(report.ranks.iter().map(|rank| rank.lines).collect::<Vec<_>>(), [61, 62]);
    close(report.rank_correlation.unwrap(), 0.967, 5e-4);
    assert_eq!(severity(&report, FindingCode::RanksShareDraws), Some(Severity::Note));
    assert_eq!(report.steps, 4920);
    // One rank's steps, not two: 4804 effective ones over 1.967.
    close(report.independent_steps, 4804.5 / 1.9674, 1.0);
    let interval = report.accept_len.unwrap().interval.unwrap();
    let half_width = (interval.high - interval.low) / 2.0;
    close(half_width, 1.96 * (0.2499_f64 / 2420.0).sqrt(), 0.0008);
}

/// Value 11: the server logged the rounded target on every line.
#[test]
fn dspark_rounds_the_target() {
    let target = golden("dsv41flash", "dspark", 5);
    let report = audit_against("dspark_k5_al351", Some(&target), cells(&[4.0, 4.07]));
    assert_eq!(report.verdict, Verdict::Inconsistent);
    assert_eq!(best(&report), Some(Mechanism::Rounded));
    let finding = report.findings.iter().find(|finding| finding.code == FindingCode::TargetRounded).unwrap();
    assert!(finding.message.contains("4.00 exactly") && finding.message.contains("0.5.18"), "{finding:?}");
    assert!(report.reason.to_string().contains("exactly 4.00"), "{}", report.reason);
    assert_eq!(severity(&report, FindingCode::MethodMismatch), None);
    assert!(report.mechanisms.unwrap().dispersion.unwrap().rejects());
}

/// Value 12: the support does not catch it, the scatter does.
#[test]
fn multinomial_is_named() {
    let report = audit("e3k5_multinomial351", 3.51, 6);
    assert_eq!(report.verdict, Verdict::Inconsistent);
    assert_eq!(best(&report), Some(Mechanism::Multinomial));
    assert_eq!(severity(&report, FindingCode::MultinomialBias), Some(Severity::Error));
    let accept_len = report.accept_len.unwrap();
    close(accept_len.mean, 3.545, 5e-4);
    close(accept_len.weighted, 3.515, 5e-4);
    assert!(accept_len.min > 3.0 && accept_len.max < 4.0);
    let rejected = &report.mechanisms.as_ref().unwrap().rejected;
    assert!(rejected.contains(&Mechanism::MatchExpected));
    // Scatter far beyond what one draw a step between 3 and 4 gives: the interval is wider than the binomial one.
    let interval = accept_len.interval.unwrap();
    assert!(interval.high - interval.low > 0.08);
    assert!(
        log_likelihood(&report, Mechanism::Multinomial) > log_likelihood(&report, Mechanism::Real) + 20.0
    );
}

#[test]
fn another_value_is_inconsistent() {
    let report = audit("e3k5_al200", 3.51, 6);
    assert_eq!(report.verdict, Verdict::Inconsistent);
    assert_eq!(best(&report), Some(Mechanism::Constant));
    assert!(report.reason.to_string().contains("exactly 2.00"), "{}", report.reason);

    let off_by_one = audit("e3k5_al351", 2.51, 6);
    assert_eq!(severity(&off_by_one, FindingCode::OffByOne), Some(Severity::Error));
    let lower = audit("e3k5_al351", 4.51, 6);
    assert_eq!(severity(&lower, FindingCode::OffByOne), Some(Severity::Error));

    // No law that is named explains it, and none is invented.
    let nobody = audit("var_k5_al351", 2.78, 6);
    assert_eq!((nobody.verdict, best(&nobody)), (Verdict::Inconsistent, None));
    assert!(matches!(nobody.reason, Reason::ImpossibleLine { hundredths: 368, place: Some(_), .. }));
}

#[test]
fn no_speculation_cannot_be_audited() {
    for target in [None, Some(Target::explicit(3.51, 6).unwrap())] {
        let report = audit_against("base", target.as_ref(), Vec::new());
        assert_eq!(report.verdict, Verdict::Unauditable);
        assert_eq!((report.decode_lines, report.spec_lines), (179, 0));
        assert_eq!(severity(&report, FindingCode::NoSpeculativeFields), Some(Severity::Warning));
        assert_eq!(report.accept_len, None);
        assert!(report.median_tps.is_some());
    }
}

/// EAGLE, EAGLE3, NEXTN and MTP are one family: a note. DSpark is another: an error.
#[test]
fn methods_of_one_family_are_a_note() {
    let mtp = golden("glm5.2", "mtp", 3);
    let report = audit_against("e3k3_al299", Some(&mtp), Vec::new());
    assert_eq!(report.verdict, Verdict::Consistent, "{}", report.reason);
    assert_eq!(severity(&report, FindingCode::MethodMismatch), Some(Severity::Note));

    let dspark = golden("dsv41flash", "dspark", 5);
    let report = audit_against("e3k5_al351", Some(&dspark), Vec::new());
    assert_eq!(report.verdict, Verdict::Inconsistent);
    assert_eq!(severity(&report, FindingCode::MethodMismatch), Some(Severity::Error));
    assert_eq!(report.reason, Reason::OtherServer(FindingCode::MethodMismatch));

    let short = golden("glm5.2", "mtp", 2);
    let report = audit_against("e3k3_al299", Some(&short), Vec::new());
    assert_eq!(report.reason, Reason::OtherServer(FindingCode::DraftLengthMismatch));
}

/// Without a target the lines still say which kind of law wrote them.
#[test]
fn no_target_is_measured_and_insufficient() {
    for (name, kind) in [
        ("e3k5_al351", Some(Mechanism::MatchExpected)),
        ("e3k5_multinomial351", Some(Mechanism::Multinomial)),
        ("dspark_k5_al351", Some(Mechanism::Constant)),
    ] {
        let report = audit_against(name, None, Vec::new());
        assert_eq!((report.verdict, &report.reason), (Verdict::Insufficient, &Reason::NoTarget), "{name}");
        assert_eq!(best(&report), kind, "{name}");
    }
}

/// Idle time says nothing about speed: the first line after the start and after a pause.
#[test]
fn idle_windows_are_named_and_left_out() {
    let report = audit("e3k5_al351", 3.51, 6);
    let finding = report.findings.iter().find(|finding| finding.code == FindingCode::IdleWindow).unwrap();
    assert_eq!(finding.evidence.unwrap().line, 258);
    assert!(report.steady_mean_tps.unwrap() > 2800.0);
}
