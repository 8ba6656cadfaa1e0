use super::*;
use crate::evidence::Place;
use crate::law::Setting;
use crate::replay::effort::Pool;
use crate::replay::line::{Succession, WindowKind};
use crate::replay::reach::BatchPath;
use crate::replay::resync::Search;
use crate::replay::search::find_start;
use crate::replay::{DrawLaw, DrawMethod};

const SEED: u64 = 320_846_001;

fn script(length: f64, interval: u32) -> Arc<Script> {
    let law = DrawLaw::new(DrawMethod::MatchExpected, Setting::new(length, 6).unwrap()).unwrap();
    Arc::new(Script::new(law, SEED, interval))
}

/// Steady lines that begin with these draws.
fn lines(script: &Script, starts: impl IntoIterator<Item = u64>) -> Vec<Line> {
    let mut sequence = script.sequence();
    let mut before = None;
    let line = |(number, first): (u64, u64)| Line {
        number,
        place: Place { file: 0, line: number },
        hundredths: Some(script.printer.print(sequence.sum(first, script.interval).unwrap())),
        window: if number == 1 { WindowKind::Unknown } else { WindowKind::Steady },
        flushed: false,
        gap: false,
        joined: false,
        millis: None,
        draws_per_milli: 0.0,
        belied: None,
        succession: if before.replace(first + script.steps()) == Some(first) {
            Succession::Next
        } else {
            Succession::Unknown
        },
        gained: None,
    };
    (1..).zip(starts).map(line).collect()
}

fn steady(script: &Script, count: u64) -> Vec<Line> {
    lines(script, (0..count).map(|line| line * script.steps()))
}

fn follow(script: &Arc<Script>, lines: &[Line]) -> Follower {
    let mut follower = Follower::new(Arc::clone(script), 0, 0.0, Effort::new(script.steps()));
    for line in lines {
        follower.follow(*line);
    }
    follower.finish();
    follower
}

/// Lines, exact ones, failures, slips.
fn counts(follower: &Follower) -> (u64, u64, u64, Vec<(u64, i64)>) {
    let tally = &follower.tally;
    let slips = tally.slips.iter().map(|(_, slip)| (slip.place.line, slip.draws)).collect();
    (tally.checked, tally.exact, tally.failed(), slips)
}

#[test]
fn an_honest_log_is_exact() {
    for interval in [1, 20, 40, 100] {
        let script = script(3.51, interval);
        let follower = follow(&script, &steady(&script, 300));
        assert_eq!(counts(&follower), (300, 300, 0, vec![]));
        assert_eq!(follower.tally.steady, 299);
    }
}

#[test]
fn one_altered_line_is_a_contradiction_and_never_two_slips() {
    for at in [1, 5, 60, 98, 99] {
        let script = script(3.51, 40);
        let mut lines = steady(&script, 100);
        lines[at].hundredths = lines[at].hundredths.map(|value| value + 10);
        let follower = follow(&script, &lines);
        assert_eq!(counts(&follower), (100, 99, 1, vec![]), "{at}");
        assert_eq!(follower.tally.first_mismatch.map(|(_, line)| line.place), Some(lines[at].place));
    }
}

/// The logs of a rotation begin at line 1 again, each under the same name.
#[test]
fn lines_of_rotated_logs_share_their_places() {
    let script = script(3.51, 40);
    for at in [0, 4, 8, 9, 60] {
        let mut lines = steady(&script, 100);
        for line in &mut lines {
            line.place.line = if line.number < 10 { 1 } else { line.number - 9 };
        }
        lines[at].hundredths = lines[at].hundredths.map(|value| value + 10);
        let follower = follow(&script, &lines);
        let failed = u64::from(at > 0);
        assert_eq!(follower.tally.failed(), failed, "{at}");
        if failed > 0 {
            assert_eq!(follower.tally.first_mismatch.map(|(number, _)| number), Some(lines[at].number));
        }
    }
}

#[test]
fn missing_lines_and_uncounted_steps_are_slips() {
    for (script, count) in [(script(3.51, 40), 60), (script(2.99, 40), 150), (script(3.51, 1), 300)] {
        let steps = script.steps();
        let gap = |at: u64, draws: u64| {
            let starts = (0..count).map(move |line| line * steps + if line < at { 0 } else { draws });
            follow(&script, &lines(&script, starts))
        };
        for at in [0, 7, 30] {
            let draws = 10 * steps;
            let follower = gap(at, draws);
            let (checked, exact, failed, slips) = counts(&follower);
            assert_eq!((checked, failed), (count, 0), "{at}");
            assert_eq!(
                slips.iter().map(|slip| slip.1).sum::<i64>(),
                i64::try_from(draws).unwrap(),
                "{at} {slips:?}"
            );
            assert!(exact + 2 >= count, "{exact}");
            assert!(follower.tally.charge > 0.0);
        }
        // 2.99 reads much the same a draw earlier.
        if steps == 40 && count == 60 {
            let (checked, _, failed, slips) = counts(&gap(20, 7));
            assert_eq!((checked, failed, slips.iter().map(|slip| slip.1).sum::<i64>()), (count, 0, 7));
        }
    }
}

#[test]
fn after_a_flush_the_phase_is_found() {
    let script = script(3.51, 40);
    for phase in [0, 4, 39] {
        let starts = (0..40).map(|line| line * 40 + if line < 15 { 0 } else { phase });
        let mut lines = lines(&script, starts);
        lines[15].flushed = true;
        lines[15].window = WindowKind::Unknown;
        let (checked, exact, failed, slips) = counts(&follow(&script, &lines));
        assert_eq!((checked, exact, failed), (40, 40, 0));
        let expected = if phase == 0 { vec![] } else { vec![(16, i64::try_from(phase).unwrap())] };
        assert_eq!(slips, expected);
    }
}

/// The slip stays at the flush: an altered line behind it fails, wherever it stands.
#[test]
fn a_line_altered_behind_a_flush_is_a_contradiction() {
    let script = script(3.51, 20);
    for phase in [0, 4, 19] {
        for at in [16, 17, 18, 20, 24] {
            let starts = (0..60).map(|line| line * 20 + if line < 15 { 0 } else { phase });
            let mut lines = lines(&script, starts);
            lines[15].flushed = true;
            lines[15].window = WindowKind::Unknown;
            lines[at].hundredths = lines[at].hundredths.map(|value| value + 3);
            let follower = follow(&script, &lines);
            assert_eq!((follower.tally.failed(), follower.given_up), (1, None), "{phase} {at}");
            assert_eq!(follower.tally.first_mismatch.map(|(number, _)| number), Some(lines[at].number));
            let expected = if phase == 0 { vec![] } else { vec![(16, i64::try_from(phase).unwrap())] };
            assert_eq!(counts(&follower).3, expected);
        }
    }
}

#[test]
fn another_sequence_is_given_up() {
    let own = script(3.51, 40);
    let other = steady(&script(3.52, 40), 200);
    let follower = follow(&own, &other);
    assert_eq!(follower.given_up, Some(GivenUp::Failures));
    let setting = Setting::new(3.51, 6).unwrap();
    let law = DrawLaw::new(DrawMethod::MatchExpected, setting).unwrap();
    let foreign = steady(&Script::new(law, 1, 40), 200);
    let follower = follow(&own, &foreign);
    assert_eq!(follower.given_up, Some(GivenUp::Failures));
    assert!(follower.tally.checked < 20 && follower.tally.slip_count == 0);
}

/// Lines that differ within reach and stand around a slip are judged at either offset.
#[test]
fn uncertain_lines_before_a_slip_are_judged_again() {
    let script = script(3.51, 40);
    let starts = (0..50).map(|line| line * 40 + if line < 20 { 0 } else { 400 });
    let mut lines = lines(&script, starts);
    for line in lines.iter_mut().skip(17).take(6) {
        line.window = WindowKind::Changing(BatchPath { before: 16, batch: 16, arrivals: 16 });
    }
    let follower = follow(&script, &lines);
    let (checked, exact, failed, slips) = counts(&follower);
    assert_eq!((checked, exact, failed, slips), (50, 50, 0, vec![(21, 400)]));
}

/// Lines of anybody's, each behind a gap and none with a known batch: looking for their places ends soon.
#[test]
fn a_search_for_places_is_bounded() {
    for (length, interval) in [(3.51, 40), (2.99, 40), (3.51, 1), (3.51, 4096)] {
        let own = script(length, interval);
        let law = DrawLaw::new(DrawMethod::MatchExpected, Setting::new(length, 6).unwrap()).unwrap();
        let foreign = steady(&Script::new(law, 1, interval), if interval > 40 { 100 } else { 1500 });
        let kinds: [fn(&Line) -> Line; 4] = [
            |line| Line { gap: true, window: WindowKind::Unknown, ..*line },
            |line| Line { gap: line.place.line.is_multiple_of(3), ..*line },
            |line| Line { flushed: true, window: WindowKind::Unknown, ..*line },
            |line| Line {
                window: WindowKind::Changing(BatchPath { before: 3, batch: 9, arrivals: 12 }),
                ..*line
            },
        ];
        for kind in kinds {
            let lines: Vec<Line> = foreign.iter().map(kind).collect();
            let follower = follow(&own, &lines);
            // What one search takes beyond the bound, at most: it ends at the line at which that is found out.
            let free = (1 << 20) + 64 * own.steps();
            let earned = follower.tally.exact * (2048 + own.steps());
            assert!(
                follower.spent() <= free + earned + (1 << 21),
                "{length} {interval}: {}",
                follower.spent()
            );
        }
    }
}

#[test]
fn a_lost_start_is_found_within_a_million_draws() {
    let script = script(3.51, 40);
    let lost = lines(&script, (0..40).map(|line| 765_432 + line * 40));
    let start = find_start(&script, &mut script.sequence(), &lost, 1_000_000, &mut Pool::default()).unwrap();
    assert_eq!((start.line, start.first), (0, 765_432));
    // Beyond the limit, of another seed, too short.
    assert_eq!(find_start(&script, &mut script.sequence(), &lost, 700_000, &mut Pool::default()), None);
    let other = Script::new(script.law, 5, 40);
    assert_eq!(find_start(&other, &mut other.sequence(), &lost, 1_000_000, &mut Pool::default()), None);
    assert_eq!(
        find_start(&script, &mut script.sequence(), &lost[..12], 1_000_000, &mut Pool::default()),
        None
    );
}

/// A line before a slip that neither side prints to the digit stays on its own.
#[test]
fn lines_before_a_slip_that_fit_no_better_behind_it_stay() {
    let script = script(3.51, 40);
    let starts = (0..50).map(|line| line * 40 + if line < 20 { 0 } else { 400 });
    let mut lines = lines(&script, starts);
    // A hundredth beside what 40 draws print.
    lines[18].hundredths = lines[18].hundredths.map(|value| value + 1);
    lines[18].window = WindowKind::Changing(BatchPath { before: 16, batch: 16, arrivals: 16 });
    let (checked, exact, failed, slips) = counts(&follow(&script, &lines));
    assert_eq!((checked, exact, failed, slips), (50, 49, 0, vec![(21, 400)]));
}

/// Ten lines are missing, and behind two lines five more.
#[test]
fn lines_behind_two_gaps_are_found_where_they_go_on() {
    let script = script(3.51, 40);
    let (mut sequence, mut effort) = (script.sequence(), Effort::new(script.steps()));
    let lines = lines(&script, (0..30).map(|line| line * 40 + if line < 2 { 400 } else { 600 }));
    let found = Search::new(&script, &mut sequence, &mut effort, 0, &lines).later().unwrap();
    // The second line may be read behind either gap.
    assert!((1..=2).contains(&found.line), "{found:?}");
    assert_eq!(found.draws, 600);
}

/// Something could not be read, and nothing is missing: no other place is asked for.
#[test]
fn lines_that_go_on_behind_a_gap_stay() {
    let script = script(3.51, 40);
    let (mut sequence, mut effort) = (script.sequence(), Effort::new(script.steps()));
    let lines = steady(&script, 12);
    let found = Search::new(&script, &mut sequence, &mut effort, 0, &lines).after_gap().unwrap();
    assert_eq!((found.line, found.draws, found.tried), (0, 0, 1));
}
