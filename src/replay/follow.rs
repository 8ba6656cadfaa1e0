//! Follows one rank's lines along one sequence of draws.

use std::collections::VecDeque;
use std::sync::Arc;

use super::law::DrawLaw;
use super::line::{Judgement, Line, Printer, WindowKind};
use super::odds::{Odds, log10_tried};
use super::resync::{self, Found};
use super::sequence::{Sampler, Sequence};
use super::tally::{Slip, Tally};

/// Lines looked ahead where 16 are plenty, and at most.
const LEAST_AHEAD: f64 = 32.0;
const MOST_AHEAD: f64 = 512.0;

/// Draws looked ahead at most.
const MOST_DRAWS_AHEAD: usize = 1 << 20;

/// Lines before a slip that may belong to the other side of it.
const TAIL: usize = 32;

/// Steady lines in a row that are exact by no accident: what stands before them is settled.
const SETTLING: u32 = 4;

/// Lines that may fail before it matters how many fit.
const FREE_FAILURES: u64 = 5;

/// Of so many exact lines one may fail: more, and the sequence is given up.
const EXACT_PER_FAILURE: u64 = 5;

/// Slips that any log may have, and lines for each further one.
const FREE_SLIPS: u64 = 4;
const LINES_PER_SLIP: u64 = 50;

/// Decimal logarithm of the chance at which a sequence is so well borne out that any slip is looked for.
const BORNE_OUT: f64 = -3.0;

/// Searches for a slip before any line fits, and exact lines that earn another one.
const FREE_SEARCHES: u64 = 2;
const LINES_PER_SEARCH: u64 = 6;

/// What all followers of one law in one run share.
#[derive(Clone, Debug)]
pub(super) struct Script {
    pub(super) law: DrawLaw,
    pub(super) seed: u64,
    pub(super) sampler: Arc<Sampler>,
    pub(super) printer: Printer,
    pub(super) odds: Odds,
    /// Draws of a line.
    pub(super) interval: usize,
    /// Lines to wait for before a line that fails is decided about.
    ahead: usize,
}

impl Script {
    pub(super) fn new(law: DrawLaw, seed: u64, interval: u32) -> Self {
        let odds = Odds::new(&law, interval);
        let steps = usize::try_from(interval.max(1)).unwrap_or(usize::MAX);
        // Twice the lines that a multiple of the interval takes to be believed.
        let needed = 2.0 * -resync::BELIEVED_AT / (-odds.log10_line()).max(1e-3);
        let ahead = crate::law::whole32(needed.clamp(LEAST_AHEAD, MOST_AHEAD).ceil());
        let ahead = usize::try_from(ahead).unwrap_or(32).min((MOST_DRAWS_AHEAD / steps).max(2));
        let support = law.acceptance().support();
        Self {
            law,
            seed,
            sampler: Arc::new(Sampler::new(&law)),
            printer: Printer::new(interval, *support.start(), *support.end()),
            odds,
            interval: steps,
            ahead,
        }
    }

    pub(super) fn sequence(&self) -> Sequence {
        Sequence::with(self.seed, Arc::clone(&self.sampler))
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
}

/// One rank's lines along one sequence.
#[derive(Clone, Debug)]
pub(super) struct Follower {
    pub(super) script: Arc<Script>,
    sequence: Sequence,
    /// The draw that the next line begins with.
    next: u64,
    /// Lines that wait for those after them, the first of which fails or follows a flush.
    pending: VecDeque<Line>,
    /// Lines since the last certain one that differ within reach, and their first draws.
    tail: VecDeque<(Line, u64)>,
    /// Steady lines that were exact since then.
    settled: u32,
    searches: u64,
    pub(super) tally: Tally,
    pub(super) given_up: Option<GivenUp>,
}

impl Follower {
    /// Begins with draw number `first`; `charge` is the decimal logarithm of the places tried for it.
    pub(super) fn new(script: Arc<Script>, first: u64, charge: f64) -> Self {
        Self {
            sequence: script.sequence(),
            script,
            next: first,
            pending: VecDeque::new(),
            tail: VecDeque::new(),
            settled: 0,
            searches: 0,
            tally: Tally { charge, ..Tally::default() },
            given_up: None,
        }
    }

    /// The next line.
    pub(super) fn follow(&mut self, line: Line) {
        if self.given_up.is_some() || (self.pending.is_empty() && !line.flushed && self.take(&line)) {
            return;
        }
        self.pending.push_back(line);
        if self.pending.len() >= self.script.ahead {
            self.resolve();
        }
    }

    /// Stops following; what was counted stays.
    pub(super) fn give_up(&mut self) {
        self.given_up.get_or_insert(GivenUp::Failures);
        self.pending = VecDeque::new();
        self.tail = VecDeque::new();
    }

    /// No line follows.
    pub(super) fn finish(&mut self) {
        while self.given_up.is_none() && !self.pending.is_empty() {
            self.resolve();
        }
        self.pending = VecDeque::new();
        self.tail = VecDeque::new();
    }

    /// Counts the line unless it fails.
    fn take(&mut self, line: &Line) -> bool {
        let draws = self.sequence.window(self.next, self.script.interval);
        let (judgement, expected) = self.script.printer.judge(line, draws);
        match judgement {
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
        self.count(line, judgement, expected);
        true
    }

    fn count(&mut self, line: &Line, judgement: Judgement, expected: u32) {
        self.tally.add(line, judgement, expected, self.script.steps());
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

    /// Decides about the first waiting line, and takes those after it that need no decision.
    fn resolve(&mut self) {
        let Some(mut first) = self.pending.front().copied() else { return };
        if first.flushed {
            self.realign(&first);
            first.window = WindowKind::Unknown;
        } else if let Some(found) = self.find_slip() {
            self.slip(&first, found);
            first.window = WindowKind::Unknown;
        }
        self.pending.pop_front();
        self.take_anyway(&first);
        while let Some(line) = self.pending.front().copied() {
            if self.given_up.is_some() || line.flushed || !self.take(&line) {
                return;
            }
            self.pending.pop_front();
        }
    }

    fn find_slip(&mut self) -> Option<Found> {
        let earned = FREE_SEARCHES + self.tally.exact / LINES_PER_SEARCH;
        if self.searches >= earned {
            return None;
        }
        self.searches += 1;
        let lines: Vec<Line> = following(&self.pending);
        let is_borne_out = self.tally.log10_tail(self.script.odds) <= BORNE_OUT;
        resync::find_slip(&self.script, &mut self.sequence, self.next, &lines, is_borne_out)
    }

    /// Goes on at other draws. Lines before that were not certain may belong to them too.
    fn slip(&mut self, first: &Line, found: Found) {
        self.tally.charge += log10_tried(found.tried);
        let mut place = first.place;
        for (line, at) in std::mem::take(&mut self.tail).into_iter().rev() {
            let Some(at) = at.checked_add_signed(found.draws) else { continue };
            let draws = self.sequence.ahead(at, self.script.interval);
            if draws.len() == self.script.interval
                && self.script.printer.judge(&line, draws).0 == Judgement::Exact
            {
                self.tally.correct();
                place = line.place;
            }
        }
        self.tally.slip(Slip { place, draws: found.draws });
        self.next = self.next.saturating_add_signed(found.draws);
        if self.tally.slip_count > FREE_SLIPS + self.tally.checked / LINES_PER_SLIP {
            self.given_up = Some(GivenUp::Slips);
        }
    }

    /// After a flush the next window begins up to an interval later.
    fn realign(&mut self, first: &Line) {
        let lines: Vec<Line> = following(&self.pending);
        let found = resync::find_phase(&self.script, &mut self.sequence, self.next, &lines);
        self.tally.charge += log10_tried(found.tried);
        self.tail.clear();
        if found.draws != 0 {
            // No slip that anybody has to explain: it counts for nothing.
            self.tally.slip(Slip { place: first.place, draws: found.draws });
            self.tally.slip_count -= 1;
        }
        self.next = self.next.saturating_add_signed(found.draws);
    }
}

/// The waiting lines up to the next flush.
fn following(pending: &VecDeque<Line>) -> Vec<Line> {
    let first = pending.front().into_iter().copied();
    first.chain(pending.iter().skip(1).take_while(|line| !line.flushed).copied()).collect()
}

#[cfg(test)]
mod tests;
