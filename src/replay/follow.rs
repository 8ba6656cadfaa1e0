//! Follows one rank's lines along one sequence of draws.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use super::effort::Effort;
use super::law::DrawLaw;
use super::line::{Judgement, Line, Printer, WindowKind};
use super::odds::{Odds, Tails, log10_tried};
use super::resync::{self, Found, MOST_DRAWS_AHEAD, Search};
use super::sequence::{Sampler, Sequence};
use super::tally::{Slip, Tally};

/// Lines looked ahead where 16 are plenty, and at most.
const LEAST_AHEAD: f64 = 32.0;
const MOST_AHEAD: f64 = 512.0;

/// Lines before a slip that may belong to the other side of it.
const TAIL: usize = 32;

/// Steady lines in a row that are exact by no accident: what stands before them is settled.
const SETTLING: u32 = 4;

/// Lines that may fail before it matters how many fit.
const FREE_FAILURES: u64 = 5;

/// Of so many exact lines one may fail: more, and the sequence is given up.
const EXACT_PER_FAILURE: u64 = 5;

/// Lines whose place cannot be told before it matters how many fit.
const FREE_ADRIFT: u64 = 64;

/// Slips that any log may have, and lines for each further one.
const FREE_SLIPS: u64 = 4;
const LINES_PER_SLIP: u64 = 50;

/// Decimal logarithm of the chance at which a sequence is so well borne out that any slip is looked for.
const BORNE_OUT: f64 = -3.0;

/// Searches for a slip before any line fits, and exact lines that earn another one.
const FREE_SEARCHES: u64 = 2;
const LINES_PER_SEARCH: u64 = 6;

/// Lines that are waited for at most, where few of them are steady.
const MOST_AWAITED: usize = 512;

/// Lines that are remembered as standing together.
const JOINED: usize = 16;

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
}

/// What all followers of one law in one run share.
#[derive(Clone, Debug)]
pub(super) struct Script {
    pub(super) law: DrawLaw,
    pub(super) seed: u64,
    pub(super) sampler: Arc<Sampler>,
    pub(super) printer: Printer,
    pub(super) odds: Odds,
    /// The same as a table, once a search asks for it.
    tails: OnceLock<Tails>,
    /// Draws of a line.
    pub(super) interval: usize,
    /// Lines to wait for before a line that fails is decided about, and at most.
    ahead: usize,
    most_awaited: usize,
}

impl Script {
    pub(super) fn new(law: DrawLaw, seed: u64, interval: u32) -> Self {
        let odds = Odds::new(&law, interval);
        let steps = usize::try_from(interval.max(1)).unwrap_or(usize::MAX);
        // Twice the lines that a multiple of the interval takes to be believed.
        let needed = 2.0 * -resync::BELIEVED_AT / (-odds.log10_line()).max(1e-3);
        let ahead = crate::law::whole32(needed.clamp(LEAST_AHEAD, MOST_AHEAD).ceil());
        let most_awaited = MOST_AWAITED.min((MOST_DRAWS_AHEAD / steps).max(2));
        let ahead = usize::try_from(ahead).unwrap_or(32).min(most_awaited);
        let support = law.acceptance().support();
        Self {
            law,
            seed,
            sampler: Arc::new(Sampler::new(&law)),
            printer: Printer::new(interval, *support.start(), *support.end()),
            odds,
            tails: OnceLock::new(),
            interval: steps,
            ahead,
            most_awaited,
        }
    }

    pub(super) fn sequence(&self) -> Sequence {
        Sequence::with(self.seed, Arc::clone(&self.sampler))
    }

    /// [`Odds::log10_tail`] for those who ask often.
    pub(super) fn log10_tail(&self, exact: u64, lines: u64) -> f64 {
        self.tails.get_or_init(|| Tails::new(self.odds)).log10(exact, lines)
    }

    pub(super) fn steps(&self) -> u64 {
        u64::try_from(self.interval).unwrap_or(u64::MAX)
    }
}

/// Why a sequence was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GivenUp {
    /// Too many lines fail.
    Failures,
    /// Too many slips.
    Slips,
    /// Most lines belong to draws that cannot be told.
    Adrift,
    /// Finding places for the lines takes too long.
    Effort,
}

/// Another offset, from the one that is followed.
#[derive(Clone, Copy, Debug)]
struct Rival {
    draws: i64,
    /// So many more lines are exact there.
    exact: i64,
}

/// One rank's lines along one sequence.
#[derive(Clone, Debug)]
pub(super) struct Follower {
    pub(super) script: Arc<Script>,
    sequence: Sequence,
    /// The draw that the next line begins with.
    next: u64,
    /// Lines that wait for those after them, the first of which fails, or follows a flush or a gap.
    pending: VecDeque<Line>,
    /// So many lines are waited for.
    awaited: usize,
    /// Lines since the last certain one that differ within reach, and their first draws.
    tail: VecDeque<(Line, u64)>,
    /// Steady lines that were exact since then.
    settled: u32,
    /// Other offsets at which every line since the last search fits as well.
    rivals: Vec<Rival>,
    /// The last lines that are known to have none missing between them, up to now.
    joined: VecDeque<Line>,
    searches: u64,
    /// Lines since the place was last searched: exact steady ones, others, exact others; and the price of that search.
    since: [u64; 3],
    price: f64,
    effort: Effort,
    pub(super) tally: Tally,
    pub(super) given_up: Option<GivenUp>,
}

impl Follower {
    /// Begins with draw number `first`; `charge` is the decimal logarithm of the places tried for it.
    pub(super) fn new(script: Arc<Script>, first: u64, charge: f64, effort: Effort) -> Self {
        Self {
            sequence: script.sequence(),
            awaited: script.ahead,
            script,
            next: first,
            pending: VecDeque::new(),
            tail: VecDeque::new(),
            settled: 0,
            rivals: Vec::new(),
            joined: VecDeque::new(),
            searches: 0,
            since: [0; 3],
            price: f64::NEG_INFINITY,
            effort,
            tally: Tally { charge, ..Tally::default() },
            given_up: None,
        }
    }

    /// The next line.
    pub(super) fn follow(&mut self, line: Line) {
        let is_plain = !line.flushed && !line.gap;
        if self.given_up.is_some() || (is_plain && self.pending.is_empty() && self.take(&line)) {
            return;
        }
        self.pending.push_back(line);
        if self.pending.len() >= self.awaited {
            self.resolve(false);
        }
    }

    /// What looking for places took.
    pub(super) fn spent(&self) -> u64 {
        self.effort.spent()
    }

    /// Stops following; what was counted stays.
    pub(super) fn give_up(&mut self) {
        self.given_up.get_or_insert(GivenUp::Failures);
        self.pending = VecDeque::new();
        self.tail = VecDeque::new();
        self.rivals = Vec::new();
    }

    /// No line follows.
    pub(super) fn finish(&mut self) {
        while self.given_up.is_none() && !self.pending.is_empty() {
            self.resolve(true);
        }
        self.pending = VecDeque::new();
        self.tail = VecDeque::new();
        self.rivals = Vec::new();
    }

    /// Counts the line unless it fails.
    fn take(&mut self, line: &Line) -> bool {
        loop {
            let draws = self.sequence.window(self.next, self.script.interval);
            let (judgement, expected) = self.script.printer.judge(line, draws);
            match judgement {
                Judgement::Failed if self.exchange(line) => continue,
                Judgement::Failed => return false,
                Judgement::Exact if line.window.is_steady() && !self.tail.is_empty() => {
                    self.settled += 1;
                    if self.settled >= SETTLING {
                        self.tail.clear();
                    }
                }
                Judgement::Exact | Judgement::Silent => {}
                Judgement::Reached => {
                    self.settled = 0;
                    self.tail.push_back((*line, self.next));
                    if self.tail.len() > TAIL {
                        self.tail.pop_front();
                    }
                }
            }
            if !self.rivals.is_empty() {
                self.keep_rivals(line, judgement);
            }
            self.count(line, judgement, expected);
            return true;
        }
    }

    /// Forgets the other offsets at which the line does not fit.
    fn keep_rivals(&mut self, line: &Line, judgement: Judgement) {
        let is_exact = i64::from(judgement == Judgement::Exact);
        let rivals = u64::try_from(self.rivals.len()).unwrap_or(u64::MAX);
        self.effort.spend(rivals.saturating_mul(1 + self.script.steps() / 16));
        if self.effort.is_used_up() {
            self.given_up = Some(GivenUp::Effort);
            return;
        }
        let (script, sequence, next) = (&self.script, &mut self.sequence, self.next);
        self.rivals.retain_mut(|rival| {
            let Some(judged) = judge_at(script, sequence, next, rival.draws, line) else { return false };
            rival.exact += i64::from(judged == Judgement::Exact) - is_exact;
            judged != Judgement::Failed
        });
    }

    /// Goes over to another offset at which the line and all since the last search fit, the likeliest of them.
    fn exchange(&mut self, line: &Line) -> bool {
        let (script, sequence, next) = (&self.script, &mut self.sequence, self.next);
        self.rivals.retain(|rival| {
            let judged = judge_at(script, sequence, next, rival.draws, line);
            judged.is_some_and(|judged| judged != Judgement::Failed)
        });
        let best = self.rivals.iter().copied().max_by_key(|rival| (rival.exact, -rival.draws.abs()));
        let Some(best) = best else { return false };
        self.next = self.next.saturating_add_signed(best.draws);
        self.tally.exchange(best.exact, best.draws, line.place);
        self.tail.clear();
        self.rivals.retain_mut(|rival| {
            rival.draws -= best.draws;
            rival.exact -= best.exact;
            rival.draws != 0
        });
        true
    }

    fn count(&mut self, line: &Line, judgement: Judgement, expected: u32) {
        let (is_exact, is_steady) = (u64::from(judgement == Judgement::Exact), line.window.is_steady());
        let [steady, others, others_exact] = self.since;
        self.since = if is_steady {
            [steady + is_exact, others, others_exact]
        } else {
            [steady, others + 1, others_exact + is_exact]
        };
        if !line.follows {
            self.joined.clear();
        } else if self.joined.len() >= JOINED {
            self.joined.pop_front();
        }
        self.joined.push_back(*line);
        self.tally.add(line, judgement, expected, self.script.steps());
        if judgement == Judgement::Exact {
            self.effort.earn(self.script.steps());
        }
        self.next = self.next.saturating_add(self.script.steps());
    }

    /// Takes it whether it fails or not.
    fn take_anyway(&mut self, line: &Line) {
        if !self.take(line) {
            let draws = self.sequence.window(self.next, self.script.interval);
            let (judgement, expected) = self.script.printer.judge(line, draws);
            self.count(line, judgement, expected);
            let failed = self.tally.failed();
            if failed > FREE_FAILURES && failed * EXACT_PER_FAILURE > self.tally.exact {
                self.given_up = Some(GivenUp::Failures);
            }
        }
    }

    /// Takes the first waiting lines whether they fail or not.
    fn take_first(&mut self, count: usize) {
        for _ in 0..count {
            let Some(line) = self.pending.pop_front() else { return };
            self.take_anyway(&Line { flushed: false, ..line });
        }
    }

    /// Leaves out the first waiting lines: where they belong cannot be told.
    fn leave_out(&mut self, count: usize) {
        for _ in 0..count {
            let Some(line) = self.pending.pop_front() else { break };
            self.tally.adrift += u64::from(line.hundredths.is_some());
            self.next = self.next.saturating_add(self.script.steps());
        }
        self.joined.clear();
        self.tail.clear();
        if self.tally.adrift > FREE_ADRIFT && self.tally.adrift > self.tally.exact {
            self.given_up.get_or_insert(GivenUp::Adrift);
        }
    }

    /// Decides about the first waiting lines, and takes those after them that need no decision. `is_over` says that no
    /// line follows.
    fn resolve(&mut self, is_over: bool) {
        let lines = following(&self.pending);
        let Some(first) = lines.first().copied() else { return };
        let is_closed = is_over || lines.len() < self.pending.len();
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
            // Where the place is not certain, a line that fails there says nothing.
            Decision::Fail(count) if !self.is_placed() => self.leave_out(count),
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
        }
        self.awaited = self.script.ahead;
        debug_assert!(self.pending.front().is_none_or(|line| line.place != first.place));
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
        self.rivals.is_empty() && chance + self.price < resync::CHANCE
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
        let mut search =
            Search::new(&self.script, &mut self.sequence, &mut self.effort, self.next, lines);
        if first.flushed {
            return Decision::Go(search.phase());
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
        if let Some(found) = search.multiples() {
            return Decision::Go(found);
        }
        if let Some(count) = search.same_again() {
            return Decision::Fail(count);
        }
        let has_gaps = lines.iter().any(|line| line.gap);
        if is_ample && !has_gaps && !is_borne_out {
            return Decision::Fail(1);
        }
        if let Some(found) = is_borne_out.then(|| search.odd_draws()).flatten() {
            return Decision::Go(found);
        }
        if !self.is_explained_elsewhere(lines) {
            return Decision::Fail(1);
        }
        let mut search = Search::new(&self.script, &mut self.sequence, &mut self.effort, self.next, lines);
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
            None if is_ample => Decision::LeaveOut(1),
            None => Decision::LeaveOut(lines.len()),
        }
    }

    /// Whether missing lines can be why the first waiting line fails: the lines that are known to stand together with it,
    /// before and after, fit elsewhere, and do not speak for the place at hand.
    fn is_explained_elsewhere(&mut self, lines: &[Line]) -> bool {
        let is_joined = lines.first().is_some_and(|first| first.follows);
        let before = if is_joined { self.joined.len() } else { 0 };
        let Some((first, behind)) = lines.split_first() else { return false };
        let mut block: Vec<Line> = self.joined.iter().skip(self.joined.len() - before).copied().collect();
        block.push(*first);
        block.extend(behind.iter().take_while(|line| line.follows).take(JOINED));
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

    /// Goes on at other draws with the first waiting line. Lines before that were not certain may belong to them too.
    fn go(&mut self, found: &Found) {
        let Some(first) = self.pending.pop_front() else { return };
        self.tally.charge += log10_tried(found.tried);
        let mut place = first.place;
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
                place = line.place;
            }
        }
        if found.draws != 0 {
            self.tally.slip(Slip { place, draws: found.draws });
            // What the log itself tells of is no slip that anybody has to explain.
            self.tally.slip_count -= u64::from(first.flushed || first.gap);
        }
        self.next = self.next.saturating_add_signed(found.draws);
        self.rivals.clear();
        self.joined.clear();
        if found.tried > 1 {
            self.since = [0; 3];
            self.price = log10_tried(found.tried);
        }
        self.take_anyway(&Line { window: WindowKind::Unknown, ..first });
        self.rivals = found.rivals.iter().map(|draws| Rival { draws: *draws, exact: 0 }).collect();
        if self.tally.slip_count > FREE_SLIPS + self.tally.checked / LINES_PER_SLIP {
            self.given_up.get_or_insert(GivenUp::Slips);
        }
    }
}

/// What a line is at another offset; `None` where its draws are no longer kept.
fn judge_at(
    script: &Script,
    sequence: &mut Sequence,
    next: u64,
    draws: i64,
    line: &Line,
) -> Option<Judgement> {
    let at = next.checked_add_signed(draws)?;
    let lengths = sequence.ahead(at, script.interval);
    (lengths.len() == script.interval).then(|| script.printer.judge(line, lengths).0)
}

/// The waiting lines up to the next flush.
fn following(pending: &VecDeque<Line>) -> Vec<Line> {
    let first = pending.front().into_iter().copied();
    first.chain(pending.iter().skip(1).take_while(|line| !line.flushed).copied()).collect()
}

#[cfg(test)]
mod tests;
