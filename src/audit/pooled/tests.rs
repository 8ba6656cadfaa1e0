//! Sums made by hand, judged.

use super::super::*;
use super::judge::other_length;
use super::mark::Mark;
use crate::engine::Engine;
use crate::evidence::{Pool, Scanner, Window};
use crate::golden::Target;

/// Windows of 2000 steps at 3.51, five drafts.
fn forced(windows: usize) -> Pool {
    let mut pool = Pool::default();
    // 1020 on average, as scattered as draws are.
    for hits in [1020_u32, 998, 1032, 985, 1023, 1020, 1042, 1040].into_iter().cycle().take(windows) {
        let share = (f64::from(hits) / 2.0).round() / 1000.0;
        pool.add(&Window {
            drafted: Some(10_000),
            draft_length: Some(5),
            reached: vec![1.0, 1.0, share, 0.0, 0.0],
            resolution: 0.0005,
            ..Window::counted(4000 + u64::from(hits), 2000)
        });
    }
    pool
}

fn judged(engine: Engine, pool: Pool, (length, max): (f64, u32)) -> PointReport {
    let target = Target::explicit(length, max).unwrap();
    let mut seen = PointBuilder::new("p").finish();
    let rank = PooledRank { lines: pool.windows, pool, ..PooledRank::default() };
    seen.add_pooled(PooledEvidence::new(engine, PooledSource::Counters).with_rank(rank));
    judge(&seen, Some(&target), &Options::default())
}

#[test]
fn a_forced_length_has_its_mark_and_is_consistent() {
    let pool = forced(8);
    assert_eq!(Mark::of(&pool), Mark::TwoPoint { lo: 3, is_exact: true });
    let report = judged(Engine::Vllm, pool.clone(), (3.51, 6));
    assert_eq!(
        (report.verdict, report.mechanisms.unwrap().best),
        (Verdict::Consistent, Some(Mechanism::MatchExpected))
    );
    let off = judged(Engine::Vllm, pool.clone(), (2.51, 6));
    assert_eq!(off.verdict, Verdict::Inconsistent);
    assert_eq!(off.findings[0].code, FindingCode::OffByOne);
    let other = judged(Engine::Vllm, pool, (3.61, 6));
    assert_eq!(other.verdict, Verdict::Inconsistent);
}

#[test]
fn judged_drafts_have_none() {
    let mut pool = Pool::default();
    for _ in 0..8 {
        pool.add(&Window {
            drafted: Some(600),
            draft_length: Some(3),
            reached: vec![0.6, 0.4, 0.2],
            resolution: 0.0005,
            ..Window::counted(240, 200)
        });
    }
    assert_eq!(Mark::of(&pool), Mark::Falling);
    let report = judged(Engine::Vllm, pool.clone(), (2.49, 4));
    assert_eq!(
        (report.verdict, report.findings[0].code),
        (Verdict::Inconsistent, FindingCode::RealAcceptance)
    );
    // The mean that fits excuses nothing.
    for engine in [Engine::Vllm, Engine::Atom, Engine::Trtllm] {
        let report = judged(engine, pool.clone(), (2.2, 4));
        assert_eq!(
            (report.verdict, report.findings[0].code),
            (Verdict::Inconsistent, FindingCode::RealAcceptance)
        );
    }
}

/// Few steps of a forced length look like nothing yet.
#[test]
fn a_fraction_that_was_hardly_reached_is_no_judged_draft() {
    let pool = |steps: u64, reached: [f64; 3]| {
        let mut pool = Pool::default();
        let accepted = reached.iter().sum::<f64>() * crate::law::float(steps);
        let counted = Window::counted(crate::law::whole(accepted.round()), steps);
        pool.add(&Window { reached: reached.to_vec(), resolution: 0.0005, ..counted });
        pool
    };
    assert_eq!(Mark::of(&pool(30, [1.0, 0.5, 0.0])), Mark::Unknown);
    assert_eq!(Mark::of(&pool(1000, [1.0, 0.01, 0.0])), Mark::Unknown);
    assert_eq!(Mark::of(&pool(1000, [1.0, 0.5, 0.0])), Mark::TwoPoint { lo: 2, is_exact: true });
    assert_eq!(Mark::of(&pool(1000, [0.9, 0.5, 0.2])), Mark::Falling);
}

/// Windows without positions: judged drafts lie to both sides of two neighbouring lengths, or scatter far more.
#[test]
fn windows_without_positions_tell_by_their_scatter() {
    let pool = |accepted: &[u64], steps: u64| {
        let mut pool = Pool::default();
        (0..40).for_each(|index| pool.add(&Window::counted(accepted[index % accepted.len()], steps)));
        pool
    };
    // 3.5 in windows of 8 and of 1000 request-steps.
    assert_eq!(Mark::of(&pool(&[19, 20, 21, 22, 18, 20], 8)), Mark::Unknown);
    assert_eq!(Mark::of(&pool(&[10, 30, 20, 22, 18, 20], 8)), Mark::Falling);
    assert_eq!(Mark::of(&pool(&[2490, 2510, 2520, 2480], 1000)), Mark::Unknown);
    assert_eq!(Mark::of(&pool(&[2400, 2600, 2560, 2440], 1000)), Mark::Falling);
    // Cut short now and then, to one side alone.
    let mut cut = vec![20; 39];
    cut.push(12);
    assert_eq!(Mark::of(&pool(&cut, 8)), Mark::Unknown);
}

/// A few steps below two neighbouring lengths were cut short; behind them nothing was ever accepted.
#[test]
fn a_histogram_with_steps_that_were_cut_short_is_still_forced() {
    let of = |bins: Vec<u64>| {
        let mut pool = Pool::default();
        let steps: u64 = bins.iter().sum();
        pool.add(&Window { draft_length: Some(5), drafted: Some(5 * steps), ..Window::of_histogram(bins) });
        Mark::of(&pool)
    };
    assert_eq!(of(vec![3, 5, 490, 502]), Mark::TwoPoint { lo: 3, is_exact: false });
    assert_eq!(of(vec![103, 95, 390, 412]), Mark::Broken);
    assert_eq!(of(vec![160, 0, 0, 840]), Mark::Broken);
    assert_eq!(of(vec![700, 240, 58, 2]), Mark::Falling);
    assert_eq!(of(vec![0, 3, 5, 0, 490, 502]), Mark::Falling);
}

/// Zeros behind drafts that are seldom accepted are chance; behind drafts that are often accepted they are neither judged
/// nor of a forced length, unless nearly every step accepted the drafts before.
#[test]
fn zeros_are_no_mark_by_themselves() {
    let of = |reached: [f64; 5]| {
        let mut pool = Pool::default();
        let accepted = reached.iter().sum::<f64>() * 10_000.0;
        let counted = Window::counted(crate::law::whole(accepted.round()), 10_000);
        pool.add(&Window { reached: reached.to_vec(), resolution: 0.0005, draft_length: Some(5), ..counted });
        let mark = Mark::of(&pool);
        (mark, judged(Engine::Vllm, pool, (3.51, 6)).mechanisms.unwrap().best)
    };
    assert_eq!(of([0.3, 0.05, 0.004, 0.0, 0.0]).0, Mark::Falling);
    for reached in [[0.84, 0.84, 0.83, 0.0, 0.0], [1.0, 1.0, 0.5, 0.5, 0.0], [0.84, 0.84, 0.84, 0.0, 0.0]] {
        assert_eq!(of(reached), (Mark::Broken, Some(Mechanism::Real)), "{reached:?}");
    }
    assert_eq!(of([0.96, 0.96, 0.49, 0.0, 0.0]).0, Mark::TwoPoint { lo: 3, is_exact: false });
}

/// The steps that were not cut short show what was forced: no other cell is to blame.
#[test]
fn steps_that_were_cut_short_are_named() {
    let mut pool = Pool::default();
    let bins = vec![1000, 0, 9310, 9690];
    pool.add(&Window { draft_length: Some(5), drafted: Some(100_000), ..Window::of_histogram(bins) });
    let report = judged(Engine::Vllm, pool, (3.51, 6));
    assert_eq!((report.verdict, report.mechanisms.unwrap().best), (Verdict::Inconsistent, None));
    let codes: Vec<FindingCode> = report.findings.iter().map(|finding| finding.code).collect();
    assert!(codes.contains(&FindingCode::NotVerifyAll), "{codes:?}");
    assert!(!codes.contains(&FindingCode::OtherGoldenCell), "{codes:?}");
}

#[test]
fn a_whole_number_for_a_fraction_is_an_ignored_fraction() {
    let pool = |accepted: u64| {
        let mut pool = Pool::default();
        for _ in 0..6 {
            pool.add(&Window { draft_length: Some(5), ..Window::counted(accepted * 500, 500) });
        }
        pool
    };
    for (engine, accepted, target, max, code) in [
        (Engine::Trtllm, 2, 3.51, 6, Some(FindingCode::TargetRounded)),
        (Engine::Vllm, 3, 3.51, 6, Some(FindingCode::TargetRounded)),
        (Engine::Trtllm, 5, 7.5, 6, Some(FindingCode::Clamped)),
        (Engine::Trtllm, 2, 4.0, 6, Some(FindingCode::OffByOne)),
        (Engine::Trtllm, 0, 3.51, 6, Some(FindingCode::RealAcceptance)),
        (Engine::Trtllm, 3, 4.0, 6, None),
    ] {
        let report = judged(engine, pool(accepted), (target, max));
        let expected = if code.is_some() { Verdict::Inconsistent } else { Verdict::Consistent };
        assert_eq!(report.verdict, expected, "{engine} {accepted} {target}: {}", report.reason);
        assert_eq!(report.findings.first().map(|finding| finding.code), code, "{engine} {accepted} {target}");
    }
}

/// 3.7699 over 200,000 steps is what an honest ATOM server showed at 3.78.
#[test]
fn an_honest_atom_server_passes() {
    let mut pool = Pool::default();
    pool.add(&Window { draft_length: Some(7), ..Window::of_histogram(vec![0, 0, 46_020, 153_980]) });
    let report = judged(Engine::Atom, pool.clone(), (3.78, 8));
    assert_eq!(report.verdict, Verdict::Consistent, "{}", report.reason);
    // Of an engine that draws afresh it is a proof against.
    assert_eq!(judged(Engine::Vllm, pool, (3.80, 8)).verdict, Verdict::Inconsistent);
}

#[test]
fn evidence_that_disagrees_is_found() {
    let mut seen = PointBuilder::new("p").finish();
    for (source, accepted) in [(PooledSource::Counters, 50_200), (PooledSource::Requests, 40_000)] {
        let mut pool = Pool::default();
        (0..10).for_each(|_| pool.add(&Window::counted(accepted / 10, 2000)));
        let rank = PooledRank { lines: 10, pool, ..PooledRank::default() };
        seen.add_pooled(PooledEvidence::new(Engine::Vllm, source).with_rank(rank));
    }
    let report = judge(&seen, Target::explicit(3.51, 6).ok().as_ref(), &Options::default());
    assert!(report.findings.iter().any(|finding| finding.code == FindingCode::EvidenceDisagrees));
    assert_ne!(report.verdict, Verdict::Consistent);
}

/// Nothing behind the first draft: a forced length where it is accepted often enough for a second one to show.
#[test]
fn a_first_draft_alone_is_a_mark_where_others_would_show() {
    let pool = |accepted: u32| {
        let mut pool = Pool::default();
        for hits in [accepted, accepted + 6, accepted - 6, accepted].into_iter().cycle().take(8) {
            pool.add(&Window {
                drafted: Some(6000),
                draft_length: Some(3),
                reached: vec![f64::from(hits) / 2000.0, 0.0, 0.0],
                resolution: 0.0005,
                ..Window::counted(2000 + u64::from(hits), 2000)
            });
        }
        pool
    };
    assert_eq!(Mark::of(&pool(1020)), Mark::TwoPoint { lo: 1, is_exact: true });
    assert_eq!(Mark::of(&pool(60)), Mark::Unknown);
}

/// vLLM does not print what it was told: its judged drafts look real, others' are.
#[test]
fn an_evaluation_with_judged_drafts_is_consistent() {
    let mut pool = Pool::default();
    for _ in 0..8 {
        pool.add(&Window {
            drafted: Some(6000),
            draft_length: Some(3),
            reached: vec![0.6, 0.4, 0.2],
            resolution: 0.0005,
            ..Window::counted(2400, 2000)
        });
    }
    let options = Options { expect_real: true, ..Options::default() };
    for (engine, reason) in [(Engine::Vllm, Reason::LooksReal), (Engine::Atom, Reason::RealAsExpected)] {
        let mut seen = PointBuilder::new("p").finish();
        let rank = PooledRank { lines: pool.windows, pool: pool.clone(), ..PooledRank::default() };
        seen.add_pooled(PooledEvidence::new(engine, PooledSource::Counters).with_rank(rank));
        let report = judge(&seen, None, &options);
        assert_eq!((report.verdict, report.reason), (Verdict::Consistent, reason), "{engine}");
    }
}

/// Another finding says so: that there is nothing to judge would be untrue.
#[test]
fn a_log_of_lines_that_contradict_themselves_is_not_called_empty() {
    let log = "(APIServer pid=7) INFO 10-12 00:00:10 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 3.50, Accepted \
               throughput: 5.00 tokens/s, Drafted throughput: 10.00 tokens/s, Accepted: 50 tokens, Drafted: 100 tokens, \
               Per-position acceptance rate: 0.800, 0.500, 0.200, Avg Draft acceptance rate: 50.0%\n";
    let mut point = PointBuilder::new("p");
    Scanner::new(0).lines(log.as_bytes(), &mut |place, record| point.add(place, record));
    let target = Target::explicit(2.5, 4).unwrap();
    let report = judge(&point.finish(), Some(&target), &Options::default());
    let codes: Vec<FindingCode> = report.findings.iter().map(|finding| finding.code).collect();
    assert_eq!((report.verdict, codes), (Verdict::Unauditable, vec![FindingCode::CountsContradict]));
}

/// As vLLM prints it where some steps drafted fewer tokens than others.
#[test]
fn windows_whose_steps_are_only_bounded_are_counted() {
    let mut builder = PointBuilder::new("p");
    for second in [10, 20, 30] {
        let line = format!(
            "(APIServer pid=7) INFO 10-12 00:00:{second} [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 3.51, Accepted \
             throughput: 1004.00 tokens/s, Drafted throughput: 1987.00 tokens/s, Accepted: 10040 tokens, Drafted: 19870 tokens, \
             Per-position acceptance rate: 1.000, 1.000, 0.510, 0.000, 0.000, Avg Draft acceptance rate: 50.5%\n"
        );
        Scanner::new(0).lines(line.as_bytes(), &mut |place, record| builder.add(place, record));
    }
    let log = builder.finish().line_log;
    assert_eq!((log.spec_lines, log.varied, log.bounded), (3, 3, 3));
}

/// Three windows whose mean lies off the target: what is missing of the margin's rest, by the root of the steps.
#[test]
fn a_mean_beside_the_target_takes_more_windows() {
    let (target, margin) = (Target::explicit(3.493, 6).unwrap(), 0.02);
    let pool = forced(3);
    let mut seen = PointBuilder::new("p").finish();
    let rank = PooledRank { lines: pool.windows, pool, ..PooledRank::default() };
    seen.add_pooled(PooledEvidence::new(Engine::Vllm, PooledSource::Counters).with_rank(rank));
    let options = Options { margin: Margin::Tokens(margin), ..Options::default() };
    let report = judge(&seen, Some(&target), &options);
    let Reason::ShortRun(shortfall) = report.reason else { panic!("{:?}", report.reason) };
    // 3050 of 6000 steps accepted a third draft.
    let (mean, interval) = (3.0 + 3050.0 / 6000.0, shortfall.interval.unwrap());
    let reach = (interval.high - mean).max(mean - interval.low);
    let room = margin - (mean - 3.493);
    assert!(reach > 2.0 * room, "{reach} {room}");
    let more = (3.0 * (reach / room).powi(2) - 3.0).ceil();
    assert_eq!(shortfall.more_lines.map(crate::law::float), Some(more));
}

#[test]
fn servers_with_other_draft_lengths_are_told_apart() {
    let rank = |length: u32| {
        let mut pool = Pool::default();
        pool.add(&Window {
            drafted: Some(u64::from(length) * 1000),
            draft_length: Some(length),
            ..Window::counted(1500, 1000)
        });
        PooledRank { lines: 1, pool, ..PooledRank::default() }
    };
    let of = |lengths: [u32; 2]| {
        let evidence = PooledEvidence::new(Engine::Vllm, PooledSource::Counters);
        other_length(&lengths.into_iter().fold(evidence, |evidence, length| evidence.with_rank(rank(length))))
    };
    assert_eq!((of([3, 5]), of([3, 3])), (Some((3, 5)), None));
}
