//! Honest logs with lines missing, unreadable or flushed away at any place: proved or undecided, never contradicted.

use accsim::audit::PointReport;
use accsim::engine::EngineVersion;
use accsim::law::Setting;
use accsim::replay::{DrawLaw, DrawMethod, ReplayReason, ReplayStatus};
use accsim::simulate::log::{
    LogPlan, NEWEST, Parallel, Pause, Run, SeededSource, SglangLog, SglangPlan, write_log,
};

use super::support::{Chance, audit, decode_lines, log};

/// What it came to, if that is allowed; the place in words otherwise.
fn is_proved(report: &PointReport, place: &str) -> bool {
    let replay = report.replay.as_ref().unwrap();
    match (replay.status, &replay.reason) {
        (ReplayStatus::Proved, None) => {
            // All lines are laid against draws, and none fails.
            assert_eq!(replay.lines_checked, replay.lines_exact + replay.lines_bounded, "{place}");
            assert_eq!(replay.lines_checked, report.spec_lines, "{place}");
            true
        }
        (
            ReplayStatus::Unavailable,
            Some(
                ReplayReason::Partial { .. }
                | ReplayReason::TooFewLines { .. }
                | ReplayReason::NotAlone(_)
                | ReplayReason::TooManySlips
                | ReplayReason::Unplaced
                | ReplayReason::TooEntangled,
            ),
        ) => false,
        other => panic!("{place}: {other:?}: {replay}: {replay:?}"),
    }
}

/// Removes ten decode lines at each of the places; at how many the rest is proved.
fn without_ten(name: &str, length: f64, max: u32, places: impl IntoIterator<Item = usize>) -> (usize, usize) {
    let lines = log(name);
    let decode = decode_lines(&lines);
    let (mut proved, mut all) = (0, 0);
    for from in places.into_iter().filter(|from| from + 10 <= decode.len()) {
        let missing = &decode[from..from + 10];
        let kept = lines.iter().enumerate().filter(|(index, _)| missing.binary_search(index).is_err());
        let text: String = kept.map(|(_, line)| line.as_str()).collect();
        let report = audit(text.as_bytes(), length, max);
        let is_proved = is_proved(&report, &format!("{name} without ten lines from {from} on"));
        all += 1;
        proved += usize::from(is_proved);
        // A slip is reported unless hardly a line is left that could show it.
        let behind = decode.len() - from - 10;
        let slips = report.replay.as_ref().unwrap().slips.len();
        assert!(!is_proved || slips > 0 || behind < 5, "{name} from {from}: {slips}");
    }
    (proved, all)
}

/// Every place where a log of few lines behind the gap was once contradicted, and some of the others.
#[test]
fn ten_lines_at_many_places() {
    for (name, length, max, hard, step, least) in [
        ("e3k5_al351", 3.51, 6, &[(55, 64)][..], 9, 0.6),
        ("e3k3_al299", 2.99, 4, &[(56, 77)], 13, 0.6),
        ("var_k5_al351", 3.51, 6, &[(89, 110)], 17, 0.5),
        ("flush_k5_al278", 2.78, 6, &[(12, 23), (93, 105)], 17, 0.4),
        ("e3k5_al351_int1", 3.51, 6, &[(567, 568), (575, 584)], 149, 0.4),
    ] {
        let places = (0..1000).step_by(step).chain(hard.iter().flat_map(|&(from, to)| from..to));
        let (proved, all) = without_ten(name, length, max, places);
        assert!(share(proved, all) >= least, "{name}: {proved} of {all}");
    }
}

/// Without prefill lines nobody sees when requests come and go, and no line is known to be steady.
#[test]
fn logs_without_prefill_lines_are_not_contradicted() {
    for (name, length) in [("var_k5_al351", 3.51), ("flush_k5_al278", 2.78), ("e3k5_al351", 3.51)] {
        let text: String = log(name).into_iter().filter(|line| !line.contains("Prefill")).collect();
        let report = audit(text.as_bytes(), length, 6);
        assert!(is_proved(&report, name), "{:?}", report.replay);
    }
}

/// Run by hand: `cargo test --release --test replay every_place -- --ignored`.
#[test]
#[ignore = "a minute on optimised code"]
fn ten_lines_at_every_place() {
    for (name, length, max, least) in [
        ("e3k5_al351", 3.51, 6, 0.93),
        ("e3k3_al299", 2.99, 4, 0.9),
        ("var_k5_al351", 3.51, 6, 0.9),
        ("flush_k5_al278", 2.78, 6, 0.89),
        ("e3k5_al351_int1", 3.51, 6, 0.95),
    ] {
        let (proved, all) = without_ten(name, length, max, 0..1000);
        println!("{name}: proved at {proved} of {all} places, undecided at the others");
        assert!(share(proved, all) >= least, "{name}: {proved} of {all}");
    }
}

fn share(part: usize, all: usize) -> f64 {
    f64::from(u32::try_from(part).unwrap()) / f64::from(u32::try_from(all).unwrap())
}

/// An honest server's log: flushes, ranks and ramps by chance; then lines cut, and blocks taken out.
fn honest(number: u64, length: f64) -> String {
    let mut chance = Chance(number);
    let seed = chance.below(1 << 30);
    let law = DrawLaw::new(DrawMethod::MatchExpected, Setting::new(length, 6).unwrap()).unwrap();
    let lines = 60 + chance.below(120);
    let mut run = Run { random_seed: Some(seed), ..Run::new(lines) };
    if chance.below(2) == 0 {
        run.load.running = 1..=24;
        run.load.cycle_lines = 40;
        run.load.output = 64..=1024;
    }
    if chance.below(2) == 0 {
        run.pauses = (1..=1 + chance.below(2))
            .map(|pause| Pause {
                after_lines: pause * (15 + chance.below(15)),
                seconds: 60,
                flush_cache: true,
            })
            .collect();
    }
    let ranks = if chance.below(4) == 0 { 2 } else { 1 };
    let version: EngineVersion = NEWEST.into();
    let mut log = SglangLog::new(version, "2026-10-12T01:02:03".parse().unwrap(), vec![run]);
    log.parallel = Parallel { tp: ranks, dp: ranks, dp_attention: ranks > 1, ..Parallel::ONE };
    let mut text = Vec::new();
    let source = SeededSource::new(law, seed);
    write_log(&LogPlan::Sglang(SglangPlan::new(log).unwrap()), &source, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();

    let decode = decode_lines(&lines);
    if chance.below(2) == 0 {
        let (from, count) = (chance.below(u64::try_from(decode.len()).unwrap()), 1 + chance.below(15));
        let (from, count) = (usize::try_from(from).unwrap(), usize::try_from(count).unwrap());
        decode.iter().skip(from).take(count).for_each(|index| lines[*index].clear());
    }
    let percent = [0, 0, 1, 2, 5][usize::try_from(chance.below(5)).unwrap()];
    for index in &decode {
        if chance.below(100) < percent && !lines[*index].is_empty() {
            let end = 1 + chance.below(u64::try_from(lines[*index].len() - 1).unwrap());
            lines[*index].truncate(usize::try_from(end).unwrap());
            lines[*index].push('\n');
        }
    }
    lines.concat()
}

/// So many honest logs of each target; how many are proved.
fn honest_logs(first: u64, each: u64, lengths: &[f64]) -> (u64, u64) {
    let (mut proved, mut all) = (0, 0);
    for length in lengths {
        for number in first..first + each {
            let report = audit(honest(number, *length).as_bytes(), *length, 6);
            proved += u64::from(is_proved(&report, &format!("{length}, log {number}")));
            all += 1;
        }
    }
    (proved, all)
}

#[test]
fn honest_damaged_logs_are_never_contradicted() {
    let (proved, all) = honest_logs(0, 12, &[3.51, 2.99, 1.79]);
    assert!(2 * proved > all, "{proved} of {all}");
}

/// Run by hand: `cargo test --release --test replay honest_logs_by_the_hundred -- --ignored --nocapture`.
#[test]
#[ignore = "a minute on optimised code"]
fn honest_logs_by_the_hundred() {
    for length in [3.51, 2.99, 2.78, 1.79] {
        let (proved, all) = honest_logs(1000, 300, &[length]);
        println!("{length}: {proved} of {all} proved, the others undecided");
        assert!(2 * proved > all, "{length}: {proved} of {all}");
    }
}
