//! What becomes of lines that do not fit their own draws: they fail, go on elsewhere, are left out, or wait for more.

use std::collections::VecDeque;

use super::super::line::{Judgement, Line, WindowKind};
use super::super::odds::log10_tried;
use super::super::resync::{self, Found, Search};
use super::super::tally::Slip;
use super::{Follower, GivenUp, JOINED, Rival};

/// Slips that any log may have, and lines for each further one.
const FREE_SLIPS: u64 = 4;
const LINES_PER_SLIP: u64 = 50;

/// Decimal logarithm of the chance at which a sequence is so well borne out that any slip is looked for.
const BORNE_OUT: f64 = -3.0;

/// Searches for a slip before any line fits, and exact lines that earn another one.
const FREE_SEARCHES: u64 = 2;
const LINES_PER_SEARCH: u64 = 6;

/// What is done with the first waiting lines.
#[derive(Clone, Debug)]
enum Decision {
    /// More lines are needed.
    Wait,
    /// So many do not fit their own draws, or are at least next to such.
    Fail(usize),
    /// So many belong to draws that cannot be told.
    LeaveOut(usize),
    /// They go on elsewhere.
    Go(Found),
    /// They go on at draws that were used before, as no server's do.
    Back(Found),
}

/// Exact lines after which the place of another log is known.
const LINES_OF_ANOTHER: u64 = 4;

impl Follower {
    /// Decides about the first waiting lines, and takes those after them that need no decision. `is_over` says that no
    /// line follows.
    pub(super) fn resolve(&mut self, is_over: bool) {
        let lines = following(&self.pending);
        if lines.is_empty() {
            return;
        }
        let waiting = self.pending.len();
        let is_closed = is_over || lines.len() < waiting;
        self.effort.spend(u64::try_from(lines.len()).unwrap_or(u64::MAX));
        let decision = self.decide(&lines, is_closed);
        if self.effort.is_used_up() {
            self.given_up = Some(GivenUp::Effort);
            return;
        }
        match decision {
            Decision::Wait => {
                self.awaited = (self.awaited * 2).min(self.script.most_awaited);
                return;
            }
            // Where the place is not certain, a line that fails there says nothing, unless it fails everywhere.
            Decision::Fail(count) if !self.is_placed() && !self.is_impossible() => self.leave_out(count),
            Decision::Fail(count) => self.take_first(count),
            Decision::LeaveOut(count) => self.leave_out(count),
            Decision::Go(found) => {
                if found.line > 0 {
                    self.bridge(&lines, &found);
                }
                if self.effort.is_used_up() {
                    self.given_up.get_or_insert(GivenUp::Effort);
                }
                if self.given_up.is_some() {
                    return;
                }
                self.go(&found);
            }
            Decision::Back(found) => self.go_back(&found),
        }
        self.awaited = self.script.ahead;
        // Every decision settles a line. Its place would not tell: the logs of a rotation share theirs.
        debug_assert!(self.pending.len() < waiting);
        while let Some(line) = self.pending.front().copied() {
            if self.given_up.is_some() || line.flushed || line.gap || !self.take(&line) {
                return;
            }
            self.pending.pop_front();
        }
    }

    /// Whether the place at hand is that of the server's start, or is borne out since it was found.
    fn is_placed(&self) -> bool {
        let [steady, others, others_exact] = self.since;
        let odds = self.script.odds;
        let chance = crate::law::float(steady) * odds.log10_line() + odds.log10_tail(others_exact, others);
        // A place one draw beside prints the same unless the draws at both ends differ.
        let beside = crate::law::float(steady) * self.script.log10_beside;
        self.rivals.is_empty()
            && chance + self.price < resync::CHANCE
            && (!self.is_doubtful || beside + self.price < resync::CHANCE)
    }

    /// Whether the first waiting line is one that no draws print.
    fn is_impossible(&self) -> bool {
        self.pending.front().is_some_and(|first| self.script.printer.is_impossible(first))
    }

    fn decide(&mut self, lines: &[Line], is_closed: bool) -> Decision {
        let Some(first) = lines.first() else { return Decision::Fail(1) };
        let is_borne_out = self.tally.log10_tail(self.script.odds) <= BORNE_OUT;
        let steady = lines.iter().skip(1).filter(|line| line.window.is_steady() && line.hundredths.is_some());
        let steady = u64::try_from(steady.count()).unwrap_or(0);
        let is_ample = crate::law::float(steady) * self.script.odds.log10_line() <= 2.0 * resync::BELIEVED_AT;
        let earned = FREE_SEARCHES + self.tally.exact / LINES_PER_SEARCH;
        let may_search = self.searches < earned;
        self.searches += u64::from(may_search);
        let most_awaited = self.script.most_awaited;
        if self.since_joined >= LINES_OF_ANOTHER && self.is_placed() {
            self.least = self.least.max(self.next);
        }
        let back = self.next.saturating_sub(self.least);
        let mut search = Search::new(&self.script, &mut self.sequence, &mut self.effort, self.next, lines);
        search.may_go_back(back);
        search.has_time_since(self.settled_at);
        if first.flushed {
            return Decision::Go(search.phase());
        }
        if self.script.printer.is_impossible(first) {
            return Decision::Fail(1);
        }
        if first.gap {
            if let Some(found) = search.after_gap() {
                return Decision::Go(found);
            }
            if !is_closed && !is_ample && lines.len() < most_awaited {
                return Decision::Wait;
            }
            if let Some(found) = search.last_lines(true) {
                return Decision::Go(found);
            }
            return search.later().map_or(Decision::LeaveOut(1), Decision::Go);
        }
        if !may_search {
            return Decision::Fail(1);
        }
        let found = search.multiples();
        let is_searched = found.is_none() && is_borne_out;
        if let Some(found) = is_searched.then(|| search.used_draws(true)).flatten() {
            return Decision::Back(found);
        }
        match (search.same_again(), found) {
            (Some(count), Some(found)) if !search.is_better_again(count, &found) => {
                return Decision::Go(found);
            }
            (Some(count), _) => return Decision::Fail(count),
            (None, Some(found)) => return Decision::Go(found),
            (None, None) => {}
        }
        let has_gaps = lines.iter().any(|line| line.gap);
        if is_ample && !has_gaps && !is_borne_out {
            return Decision::Fail(1);
        }
        if let Some(found) = is_borne_out.then(|| search.odd_draws()).flatten() {
            return Decision::Go(found);
        }
        if let Some(found) = is_borne_out.then(|| search.used_draws(false)).flatten() {
            return Decision::Back(found);
        }
        if self.is_own_by_tokens(first) || !self.is_explained_elsewhere(lines) {
            return Decision::Fail(1);
        }
        let mut search = Search::new(&self.script, &mut self.sequence, &mut self.effort, self.next, lines);
        search.may_go_back(back);
        search.has_time_since(self.settled_at);
        if is_borne_out && let Some(found) = search.later() {
            return Decision::Go(found);
        }
        if is_ample && !has_gaps {
            return Decision::Fail(1);
        }
        if !is_closed {
            return if lines.len() < most_awaited { Decision::Wait } else { Decision::LeaveOut(1) };
        }
        match search.last_lines(false) {
            Some(found) => Decision::Go(found),
            // What follows goes on where it did, as far as anybody can see, and nothing says that a line is missing.
            None if first.window.is_steady() && !first.follows() && !has_gaps && search.others_fit() => {
                Decision::Fail(1)
            }
            None if is_ample => Decision::LeaveOut(1),
            None => Decision::LeaveOut(lines.len()),
        }
    }

    /// Whether the tokens that the requests gained are those of the place at hand, and not those of the printed value: then
    /// the value is wrong, and not the place.
    fn is_own_by_tokens(&mut self, line: &Line) -> bool {
        let (Some(gained), Some(hundredths)) = (line.gained, line.hundredths) else { return false };
        let interval = self.script.interval;
        let expected = super::super::sequence::sum(self.sequence.window(self.next, interval));
        let steps = self.script.steps();
        let printed = (u64::from(hundredths).saturating_mul(steps).saturating_add(50)) / 100;
        // The tokens may be those of a window one step earlier.
        let spread = self.script.printer.spread();
        // Printing leaves out less than half a hundredth a step.
        gained.abs_diff(expected) <= spread && gained.abs_diff(printed) > spread + steps / 200
    }

    /// Whether missing lines can be why the first waiting line fails: the lines that are known to stand together with it,
    /// before and after, fit elsewhere, and do not speak for the place at hand.
    fn is_explained_elsewhere(&mut self, lines: &[Line]) -> bool {
        let is_joined = lines.first().is_some_and(Line::follows);
        let before = if is_joined { self.joined.len() } else { 0 };
        let Some((first, behind)) = lines.split_first() else { return false };
        let mut block: Vec<Line> = self.joined.iter().skip(self.joined.len() - before).copied().collect();
        block.push(*first);
        block.extend(behind.iter().take_while(|line| line.follows()).take(JOINED));
        let back = self.script.steps().saturating_mul(u64::try_from(before).unwrap_or(0));
        let Some(next) = self.next.checked_sub(back) else { return true };
        let mut search = Search::new(&self.script, &mut self.sequence, &mut self.effort, next, &block);
        search.is_explained()
    }

    /// Lines between two places where lines are missing: at the one offset at which they fit, or at none.
    fn bridge(&mut self, lines: &[Line], found: &Found) {
        let mut search = Search::new(&self.script, &mut self.sequence, &mut self.effort, self.next, lines);
        let Some(between) = search.between(found.line, found.draws) else {
            return self.leave_out(found.line);
        };
        let draws = between.draws;
        self.go(&Found { rivals: Vec::new(), ..between });
        self.take_first(found.line.saturating_sub(1));
        // The rest of the way.
        self.next = self.next.saturating_add_signed(-draws);
    }

    /// The first waiting line fails, whatever it prints: it begins with draws that lines before it have used. Those after it
    /// are followed there.
    fn go_back(&mut self, found: &Found) {
        let Some(first) = self.pending.pop_front() else { return };
        let draws = self.sequence.window(self.next, self.script.interval);
        let (_, expected) = self.script.printer.judge(&first, draws);
        self.tally.charge += log10_tried(found.tried);
        self.count(&first, Judgement::Failed, expected);
        self.tally.slip(first.number, Slip { place: first.place, draws: found.draws });
        self.next = self.next.saturating_add_signed(found.draws);
        self.least = self.next;
        self.rivals.clear();
        self.joined.clear();
        self.tail.clear();
    }

    /// Goes on at other draws with the first waiting line. Lines before that were not certain may belong to them too.
    fn go(&mut self, found: &Found) {
        let Some(first) = self.pending.pop_front() else { return };
        self.tally.charge += log10_tried(found.tried);
        let (mut number, mut place) = (first.number, first.place);
        for (line, at) in std::mem::take(&mut self.tail).into_iter().rev() {
            if first.flushed || found.draws == 0 {
                break;
            }
            let Some(at) = at.checked_add_signed(found.draws) else { continue };
            let draws = self.sequence.ahead(at, self.script.interval);
            if draws.len() == self.script.interval
                && self.script.printer.judge(&line, draws).0 == Judgement::Exact
            {
                self.tally.correct();
                (number, place) = (line.number, line.place);
            }
        }
        if found.draws != 0 {
            self.tally.slip(number, Slip { place, draws: found.draws });
            // What the log itself tells of is no slip that anybody has to explain.
            self.tally.slip_count -= u64::from(first.flushed || first.gap);
        }
        self.next = self.next.saturating_add_signed(found.draws);
        self.rivals.clear();
        self.joined.clear();
        if found.tried > 1 || first.gap {
            self.since = [0; 3];
            self.price = if found.is_certain { f64::NEG_INFINITY } else { log10_tried(found.tried) };
            self.is_doubtful = found.is_doubtful;
        }
        self.take_anyway(&Line { window: WindowKind::Unknown, ..first });
        self.rivals = found.rivals.iter().map(|draws| Rival { draws: *draws, exact: 0 }).collect();
        if self.tally.slip_count > FREE_SLIPS + self.tally.checked / LINES_PER_SLIP {
            self.given_up.get_or_insert(GivenUp::Slips);
        }
    }
}

/// The waiting lines up to the next flush.
fn following(pending: &VecDeque<Line>) -> Vec<Line> {
    let first = pending.front().into_iter().copied();
    first.chain(pending.iter().skip(1).take_while(|line| !line.flushed).copied()).collect()
}
