//! Follows one rank's lines along one sequence of draws.

mod decide;

use std::collections::VecDeque;
use std::sync::Arc;

use super::effort::Effort;
use super::line::{Judgement, Line, WindowKind};
use super::odds::log10_tried;
use super::resync;
use super::script::Script;
use super::sequence::Sequence;
use super::tally::Tally;

/// Lines before a slip that may belong to the other side of it.
const TAIL: usize = 32;

/// Steady lines in a row that are exact by no accident: what stands before them is settled.
const SETTLING: u32 = 4;

/// Lines that may fail before it matters how many fit.
const FREE_FAILURES: u64 = 5;

/// Of so many exact lines one may fail: more, and the sequence is given up.
const EXACT_PER_FAILURE: u64 = 5;

/// Lines whose place cannot be told before it matters how many fit.
const FREE_ADRIFT: u64 = 24;

/// Lines that are remembered as standing together.
const JOINED: usize = 16;

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
    /// The least draw that it can begin with: no generator goes back behind what a line at a certain place has used.
    least: u64,
    /// Exact lines since another log began: before a few of them its place among the draws is not known.
    since_joined: u64,
    /// When the last line was printed behind which no line is in doubt.
    settled_at: Option<u64>,
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
    /// Whether another place was borne out nearly as well.
    is_doubtful: bool,
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
            least: first,
            since_joined: u64::MAX,
            settled_at: None,
            pending: VecDeque::new(),
            tail: VecDeque::new(),
            settled: 0,
            rivals: Vec::new(),
            joined: VecDeque::new(),
            searches: 0,
            since: [0; 3],
            price: f64::NEG_INFINITY,
            is_doubtful: false,
            effort,
            tally: Tally { charge, ..Tally::default() },
            given_up: None,
        }
    }

    /// The next line.
    pub(super) fn follow(&mut self, line: Line) {
        if line.joined {
            (self.least, self.since_joined, self.settled_at) = (0, 0, None);
        }
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
            // A log that has lost lines may have lost one that told of requests that came.
            let judgement = match line.belied {
                Some(path) if judgement == Judgement::Failed && self.is_lossy() => {
                    let window = WindowKind::Changing(path);
                    let draws = self.sequence.window(self.next, self.script.interval);
                    self.script.printer.judge(&Line { window, ..*line }, draws).0
                }
                _ => judgement,
            };
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
            if self.tail.is_empty() && judgement == Judgement::Exact {
                self.settled_at = line.millis;
            }
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

    /// Whether lines are known to be missing.
    fn is_lossy(&self) -> bool {
        self.tally.slip_count > 0 || self.tally.adrift > 0
    }

    /// Goes over to another offset at which the line and all since the last search fit, the likeliest of them.
    fn exchange(&mut self, line: &Line) -> bool {
        let (script, sequence, next) = (&self.script, &mut self.sequence, self.next);
        let least = self.least;
        self.rivals.retain(|rival| {
            if next.saturating_add_signed(rival.draws) < least {
                return false;
            }
            let judged = judge_at(script, sequence, next, rival.draws, line);
            judged.is_some_and(|judged| judged != Judgement::Failed)
        });
        let best = self.rivals.iter().copied().max_by_key(|rival| (rival.exact, -rival.draws.abs()));
        let Some(best) = best else { return false };
        self.next = self.next.saturating_add_signed(best.draws);
        self.tally.exchange(best.exact, best.draws, line);
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
        if !line.follows() {
            self.joined.clear();
        } else if self.joined.len() >= JOINED {
            self.joined.pop_front();
        }
        self.joined.push_back(*line);
        self.tally.add(line, judgement, expected, self.script.steps());
        if judgement == Judgement::Exact {
            self.effort.earn(self.script.steps());
            self.since_joined = self.since_joined.saturating_add(1);
        }
        self.step();
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

    /// A line's draws are used.
    fn step(&mut self) {
        self.next = self.next.saturating_add(self.script.steps());
        self.least = self.least.saturating_add(self.script.steps());
    }

    /// Leaves out the first waiting lines: where they belong cannot be told.
    fn leave_out(&mut self, count: usize) {
        for _ in 0..count {
            let Some(line) = self.pending.pop_front() else { break };
            self.tally.adrift += u64::from(line.hundredths.is_some());
            self.step();
        }
        self.joined.clear();
        self.tail.clear();
        // Nobody knows where the lines behind them stand.
        (self.since, self.price) = ([0; 3], log10_tried(resync::PLACES));
        self.settled_at = None;
        if self.tally.adrift > FREE_ADRIFT && self.tally.adrift > self.tally.exact {
            self.given_up.get_or_insert(GivenUp::Adrift);
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

#[cfg(test)]
mod tests;
