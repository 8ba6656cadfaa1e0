//! Logs written with the engine's own draws: steady, ramping, flushed, of several ranks, restarted, with a lost start.

use accsim::audit::{FindingCode, Verdict};
use accsim::engine::EngineVersion;
use accsim::law::Setting;
use accsim::replay::{DrawLaw, DrawMethod, Replay, ReplayReason, ReplayStatus};
use accsim::simulate::log::{
    LogPlan, NEWEST, Parallel, Pause, Run, SeededSource, SglangLog, SglangPlan, write_log,
};

use super::support::{audit, audit_with, decode_lines, options, replay};

const SEED: u64 = 426_559_321;

fn law(method: DrawMethod, length: f64) -> DrawLaw {
    DrawLaw::new(method, Setting::new(length, 6).unwrap()).unwrap()
}

fn run(seed: u64, lines: u64) -> Run {
    Run { random_seed: Some(seed), ..Run::new(lines) }
}

fn ramping(seed: u64, lines: u64) -> Run {
    let mut run = run(seed, lines);
    run.load.running = 1..=24;
    run.load.cycle_lines = 40;
    run.load.output = 64..=1024;
    run
}

fn write(runs: Vec<Run>, ranks: u32, source: &SeededSource) -> String {
    let version: EngineVersion = NEWEST.into();
    let mut log = SglangLog::new(version, "2026-10-12T01:02:03".parse().unwrap(), runs);
    log.parallel = Parallel { tp: ranks, dp: ranks, dp_attention: ranks > 1, ..Parallel::ONE };
    let mut text = Vec::new();
    write_log(&LogPlan::Sglang(SglangPlan::new(log).unwrap()), source, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn source(method: DrawMethod, length: f64) -> SeededSource {
    SeededSource::new(law(method, length), SEED)
}

/// Proved, every steady line exact and every other one within reach.
fn proved(text: &str, length: f64) -> Replay {
    let report = audit(text.as_bytes(), length, 6);
    let replay = report.replay.unwrap();
    assert_eq!(replay.status, ReplayStatus::Proved, "{replay}: {replay:?}");
    assert_eq!(report.verdict, Verdict::Consistent);
    assert_eq!(replay.steady_lines, replay.steady_exact);
    assert_eq!(replay.lines_checked, replay.lines_exact + replay.lines_bounded);
    replay
}

#[test]
fn steady_and_ramping_logs() {
    for length in [3.51, 2.78, 1.79] {
        let source = source(DrawMethod::MatchExpected, length);
        let steady = proved(&write(vec![run(SEED, 120)], 1, &source), length);
        assert_eq!((steady.lines_checked, steady.lines_exact, steady.draws), (120, 120, 4800));
        let ramping = proved(&write(vec![ramping(SEED, 300)], 1, &source), length);
        assert_eq!(ramping.lines_checked, 300);
        assert!(ramping.lines_bounded > 50 && ramping.steady_lines > 5, "{ramping:?}");
    }
}

#[test]
fn any_interval() {
    for interval in [1, 7, 20, 100] {
        let source = source(DrawMethod::MatchExpected, 3.51);
        let steady = Run { decode_log_interval: interval, ..run(SEED, 300) };
        let replay = proved(&write(vec![steady], 1, &source), 3.51);
        assert_eq!(replay.lines_exact, 300, "{interval}");
    }
}

#[test]
fn thirteen_steady_lines_are_enough() {
    let source = source(DrawMethod::MatchExpected, 3.51);
    let text = write(vec![run(SEED, 40)], 1, &source);
    let lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let decode = decode_lines(&lines);
    let mut first = None;
    for count in 3..40 {
        let part = lines[..=decode[count - 1]].concat();
        let report = audit(part.as_bytes(), 3.51, 6);
        let replay = report.replay.unwrap();
        match (replay.status, first) {
            (ReplayStatus::Proved, None) => first = Some(count),
            (ReplayStatus::Unavailable, None) => assert!(
                matches!(replay.reason, Some(ReplayReason::TooFewLines { .. } | ReplayReason::NotAlone(_))),
                "{count}: {:?}",
                replay.reason
            ),
            // Once proved it stays so.
            (status, _) => {
                assert_eq!((status, report.verdict), (ReplayStatus::Proved, Verdict::Consistent), "{count}");
            }
        }
    }
    assert!((9..=25).contains(&first.unwrap()), "{first:?}");
}

#[test]
fn flushed_logs_go_on_at_another_phase() {
    let source = source(DrawMethod::MatchExpected, 3.51);
    for after_lines in [20, 35, 61] {
        let pauses = vec![Pause { after_lines, seconds: 60, flush_cache: true }];
        let flushed = Run { pauses, ..ramping(SEED, 150) };
        let text = write(vec![flushed], 1, &source);
        assert_eq!(text.matches("Cache flushed successfully!").count(), 1);
        let replay = proved(&text, 3.51);
        assert!(
            replay.slips.len() <= 1 && replay.slips.iter().all(|slip| (1..40).contains(&slip.draws)),
            "{:?}",
            replay.slips
        );
    }
}

/// Ranks hold one seed and count their own steps: one sample, however many.
#[test]
fn several_ranks_are_one_sample() {
    let source = source(DrawMethod::MatchExpected, 3.51);
    let chance = |ranks: u32| {
        let replay = proved(&write(vec![ramping(SEED, 100)], ranks, &source), 3.51);
        assert_eq!(replay.lines_checked, 100 * u64::from(ranks));
        replay.log10_chance.unwrap()
    };
    let (one, four) = (chance(1), chance(4));
    // The best of four is no better than the best that one could be.
    assert!(four > 2.0 * one, "{one} {four}");
}

#[test]
fn restarted_servers_begin_new_sequences() {
    let source = source(DrawMethod::MatchExpected, 3.51).then(99);
    let text = write(vec![run(SEED, 60), run(99, 60)], 1, &source);
    assert_eq!(text.matches("server_args=").count(), 2);
    let both = proved(&text, 3.51);
    assert_eq!((both.lines_checked, both.seed), (120, Some(SEED)));
    // A second start with the same seed draws the same again, and is no second sample.
    let source = self::source(DrawMethod::MatchExpected, 3.51);
    let again = proved(&write(vec![run(SEED, 60), run(SEED, 60)], 1, &source), 3.51);
    assert!(again.log10_chance.unwrap() > both.log10_chance.unwrap() + 40.0);
    // Another seed than the log says.
    let text = text.replace("random_seed=99", "random_seed=98");
    let text = text.replace("'random_seed': 99", "'random_seed': 98");
    let contradicted = replay(text.as_bytes(), 3.51, 6);
    assert_eq!(contradicted.status, ReplayStatus::Contradicted, "{contradicted:?}");
}

#[test]
fn a_lost_start_is_searched() {
    let source = source(DrawMethod::MatchExpected, 3.51);
    let text = write(vec![run(SEED, 3000)], 1, &source);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    // A rotated log: no arguments, no first lines.
    let late = lines[lines.len() - 300..].concat();
    let mut options = options(3.51, 6);
    options.seed = Some(SEED);
    options.search_limit = 150_000;
    let report = audit_with(late.as_bytes(), 3.51, 6, options.clone());
    let replay = report.replay.unwrap();
    assert_eq!(replay.status, ReplayStatus::Proved, "{replay} {replay:?}");
    assert!(replay.slips[0].draws > 80_000, "{:?}", replay.slips);
    // Without the search nothing is found, and the seed may be another server's.
    options.search_limit = 0;
    let replay = audit_with(late.as_bytes(), 3.51, 6, options).replay.unwrap();
    assert_eq!((replay.status, replay.reason), (ReplayStatus::Unavailable, Some(ReplayReason::GivenSeed)));
}

#[test]
fn a_value_on_no_curve_is_another_target() {
    let text = write(vec![run(SEED, 100)], 1, &source(DrawMethod::MatchExpected, 3.47));
    let report = audit(text.as_bytes(), 3.51, 6);
    let replay = report.replay.unwrap();
    assert_eq!(replay.status, ReplayStatus::OtherTarget, "{replay}");
    assert!((replay.law.unwrap().accept_length() - 3.47).abs() < 1e-9);
    assert_eq!(report.verdict, Verdict::Inconsistent);
    assert!(report.findings.iter().any(|finding| finding.code == FindingCode::OtherTarget));
}

#[test]
fn multinomial_draws_are_named_at_their_own_target() {
    for length in [3.51, 5.9] {
        let text = write(vec![ramping(SEED, 200)], 1, &source(DrawMethod::Multinomial, length));
        let report = audit(text.as_bytes(), 3.51, 6);
        let replay = report.replay.unwrap();
        assert_eq!(replay.status, ReplayStatus::OtherTarget, "{length}: {replay} {:?}", replay.reason);
        let law = replay.law.unwrap();
        assert_eq!(law.method(), DrawMethod::Multinomial);
        assert!((law.accept_length() - length).abs() < 1e-9);
    }
}

/// A log of any length: only its first lines are held, and all of them are checked.
#[test]
fn long_logs_are_followed_to_their_end() {
    let source = source(DrawMethod::MatchExpected, 3.51);
    let text = write(vec![run(SEED, 12_000)], 1, &source);
    let replay_whole = proved(&text, 3.51);
    assert_eq!((replay_whole.lines_checked, replay_whole.lines_exact), (12_000, 12_000));
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let decode = decode_lines(&lines);
    // Ten lines missing and, far behind, one altered.
    let at = decode[11_000];
    let shown = lines[at].split("accept len: ").nth(1).unwrap()[..4].to_owned();
    let other = if shown == "3.50" { "3.52" } else { "3.50" };
    for index in &decode[9_000..9_010] {
        lines[*index].clear();
    }
    let slipped = replay(lines.concat().as_bytes(), 3.51, 6);
    assert_eq!(slipped.status, ReplayStatus::Proved, "{slipped}");
    assert_eq!(slipped.slips.iter().map(|slip| slip.draws).sum::<i64>(), 400);
    lines[at] = lines[at].replace(&format!("accept len: {shown}"), &format!("accept len: {other}"));
    let altered = replay(lines.concat().as_bytes(), 3.51, 6);
    assert_eq!(altered.status, ReplayStatus::Contradicted);
    assert_eq!(altered.first_mismatch.unwrap().place.line, u64::try_from(at + 1 - 10).unwrap());
}
