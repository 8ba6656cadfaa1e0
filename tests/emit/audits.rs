//! Audits of emitted logs: an honest log is consistent, a wrong one is not.

use accsim::audit::{FindingCode, Options, PointBuilder, PointReport, Verdict, judge};
use accsim::evidence::Scanner;
use accsim::golden::Target;
use accsim::law::{AcceptanceLaw, Setting};
use accsim::simulate::log::{LawSource, Load, Parallel, Run, SglangLog, Speculation};

use super::support::{Written, log, match_expected, write_sglang};

fn audit(written: &Written, length: f64) -> PointReport {
    let mut point = PointBuilder::new("emitted.log");
    Scanner::new(0).lines(&written.text, &mut |place, record| point.add(place, record));
    judge(&point.finish(), Some(&Target::explicit(length, 6).unwrap()), &Options::default())
}

fn run(lines: u64) -> Run {
    let mut run = Run::new(lines);
    run.load = Load { running: 1..=16, cycle_lines: 60, output: 300..=1500, ..Load::constant(1) };
    run
}

fn codes(report: &PointReport) -> Vec<FindingCode> {
    report.findings.iter().map(|finding| finding.code).collect()
}

#[test]
fn an_honest_log_is_consistent() {
    for version in ["0.4.9", "0.5.3.post2", "0.5.6", "0.5.12", "0.5.23"] {
        let report = audit(&write_sglang(log(version, vec![run(300)]), &match_expected(3.51)), 3.51);
        assert_eq!(
            report.verdict,
            Verdict::Consistent,
            "{version} {:?} {:?}",
            report.reason,
            report.findings
        );
        assert_eq!((report.decode_lines, report.spec_lines), (300, 300));
        assert!(!codes(&report).contains(&FindingCode::AcceptRateDisagrees), "{version}");
    }
}

#[test]
fn a_log_of_another_length_or_law_is_not() {
    let plan = || log("0.5.18", vec![run(300)]);
    let setting = Setting::new(3.51, 6).unwrap();
    for law in [
        AcceptanceLaw::match_expected(Setting::new(3.24, 6).unwrap()),
        AcceptanceLaw::multinomial(setting),
        AcceptanceLaw::rounded(setting),
        AcceptanceLaw::Constant(3),
    ] {
        let report = audit(&write_sglang(plan(), &LawSource::new(law.clone(), 3)), 3.51);
        assert_eq!(report.verdict, Verdict::Inconsistent, "{law:?} {:?}", report.reason);
    }
}

#[test]
fn copies_are_counted_once() {
    let mut plan = log("0.5.8", vec![run(200)]);
    plan.parallel.tp = 4;
    plan.all_schedulers = true;
    let report = audit(&write_sglang(plan, &match_expected(3.51)), 3.51);
    assert_eq!((report.decode_lines, report.skipped.duplicate), (200, 600));
    assert_eq!(report.verdict, Verdict::Consistent, "{:?}", report.reason);
}

#[test]
fn lines_written_twice_are_counted_once() {
    let mut plan = log("0.5.18", vec![run(1000)]);
    plan.damage = "duplicated=0.2,truncated=0.05".parse().unwrap();
    let written = write_sglang(plan, &match_expected(3.51));
    let report = audit(&written, 3.51);
    let damage = written.summary.damage;
    assert!(damage.duplicated > 100);
    assert_eq!(report.skipped.duplicate, damage.duplicated);
    assert_eq!(report.skipped.truncated, damage.unreadable);
    assert_eq!(report.decode_lines, 1000 - damage.unreadable);
    assert_eq!(report.verdict, Verdict::Consistent, "{:?}", report.reason);
}

#[test]
fn a_config_change_in_the_middle_is_found() {
    let other = Run { speculation: Some(Speculation::eagle(3)), ..run(100) };
    let source = match_expected(3.51).then(AcceptanceLaw::match_expected(Setting::new(2.99, 4).unwrap()));
    let report = audit(&write_sglang(log("0.5.18", vec![run(100), other]), &source), 3.51);
    assert!(codes(&report).contains(&FindingCode::ConfigChangedMidRun), "{:?}", report.findings);
    assert_ne!(report.verdict, Verdict::Consistent);
}

#[test]
fn ranks_that_share_their_draws_are_one_sample() {
    let plan = |share| {
        let mut plan: SglangLog = log("0.5.18", vec![run(200)]);
        plan.parallel = Parallel { tp: 2, dp: 2, ep: 1, pp: 1, dp_attention: true };
        plan.ranks_share_draws = share;
        plan
    };
    let shared = audit(&write_sglang(plan(true), &match_expected(3.51)), 3.51);
    let apart = audit(&write_sglang(plan(false), &match_expected(3.51)), 3.51);
    assert!(codes(&shared).contains(&FindingCode::RanksShareDraws), "{:?}", shared.findings);
    assert!(!codes(&apart).contains(&FindingCode::RanksShareDraws), "{:?}", apart.findings);
    assert!(shared.rank_correlation.unwrap() > 0.7, "{:?}", shared.rank_correlation);
    assert!(apart.rank_correlation.unwrap() < 0.3, "{:?}", apart.rank_correlation);
}

#[test]
fn a_log_without_speculation_cannot_be_audited() {
    let plain = Run { speculation: None, ..run(50) };
    let report = audit(&write_sglang(log("0.5.18", vec![plain]), &match_expected(3.51)), 3.51);
    assert_eq!(report.spec_lines, 0);
    assert_ne!(report.verdict, Verdict::Consistent);
}
