//! Tells a decode line from a copy of one, in bounded memory and a few nanoseconds.

use std::cmp::Ordering;

use crate::evidence::batch::{Batch, CompactLine};
use crate::evidence::{DecodeLine, Tags};

use super::fingerprint::fingerprint;
use super::older::Older;
use super::ranks::Ranks;
use super::source::Source;
use super::table::{Entry, Table};
use super::time::Time;
use super::waiting::{self, Key, Line, Waiting};

/// Recent lines that are remembered once they were hashed, at least.
const RECENT: usize = 2048;

/// Slots for recent lines: at most three quarters of them are used.
const RECENT_SLOTS: usize = 4096;

/// Lines of one time that are compared as they are; more of them are hashed.
const COMPARED: usize = 16;

/// What a line turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Novelty {
    /// Not seen before.
    New,
    /// The same line again, from the same tags.
    Again,
    /// The line that these other tags printed first.
    CopyOf(Tags),
}

/// Recognises decode lines that were printed before, among the lines of one point.
///
/// Two lines are one when time, DP tag and all values agree. With the same tags that is a log that
/// was joined twice; with another TP, EP or PP tag it is another rank's copy of one scheduler's line. Copies are compared
/// without the throughput and the figures printed behind it, because each rank measures those by its own clock. A line
/// without a time is never a copy: nothing tells it from an honest repetition.
///
/// The copy seen first is kept. Which rank that is can change from line to line, so do not take ranks apart that
/// [`Novelty::CopyOf`] brought together.
///
/// # Memory and odds
///
/// Lines are remembered as hashes, at most 400,000 of them: 6.3 MB, and 12.5 MB more from where time first jumps back. A line later than
/// all before it cannot be a copy and is not looked up, so a single log of any length costs no precision. Where time
/// jumps back behind a longer log, copies of lines beyond those (but for the latest 32) are taken for new lines.
/// Two different lines share a hash of 64 bits with a probability below 1e-13 per line looked up. The hash has no
/// secret: whoever writes a log so that its lines collide loses his own lines.
///
/// ```
/// use accsim::evidence::{Deduplicator, Record, Scanner};
///
/// let line = "[2026-10-12 01:02:03 TP0] Decode batch, #running-req: 16, accept len: 3.52, #queue-req: 0\n";
/// let log = format!("{line}{}", line.replace("TP0", "TP1"));
/// let (mut dedup, mut kept) = (Deduplicator::default(), 0);
/// Scanner::new(0).lines(log.as_bytes(), &mut |_, record| {
///     if let Record::Decode(line) = record {
///         kept += usize::from(!dedup.is_duplicate(line));
///     }
/// });
/// assert_eq!(kept, 1);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Deduplicator {
    ranks: Ranks,
    /// The latest time so far: times of one format sort as texts.
    latest: Time,
    /// Lines of that time.
    at_latest: usize,
    waiting: Waiting,
    /// Once `older` is full: the lines since the last turn, at most [`RECENT`], and as many before them.
    young: Table,
    old: Table,
    older: Older,
    /// No line of `old` is later than this, and none of `older` than that: later lines are not looked up there.
    old_latest: Time,
    older_latest: Time,
    full: bool,
}

impl Deduplicator {
    /// Whether `line` was seen before; a new line is remembered.
    pub fn is_duplicate(&mut self, line: &DecodeLine<'_>) -> bool {
        self.check(line) != Novelty::New
    }

    /// Compares a line with those before it; a new line is remembered.
    pub fn check(&mut self, line: &DecodeLine<'_>) -> Novelty {
        let rank = self.voice(&line.tags);
        let source = Source::Line(line);
        let numbers = CompactLine::of(line);
        self.check_line(0, &Line { numbers: &numbers, source, rank }, source.time(&numbers))
    }

    /// The number of a set of tags, in the order of their first line; the surplus of a hostile log shares one.
    pub(crate) fn voice(&mut self, tags: &Tags) -> usize {
        self.ranks.number(tags)
    }

    /// The set of tags with this number.
    pub(crate) fn tags(&self, voice: usize) -> Tags {
        self.ranks.tags(voice)
    }

    /// As [`check`](Self::check), for line `index` of a batch, or one whose numbers are known, of this rank and time.
    /// When a batch's lines are done, [`end_batch`](Self::end_batch) must follow.
    #[inline]
    pub(crate) fn check_compact(
        &mut self,
        rank: usize,
        index: u32,
        numbers: &CompactLine,
        source: Source<'_>,
        time: Option<Time>,
    ) -> Novelty {
        self.check_line(index, &Line { numbers, source, rank }, time)
    }

    #[inline]
    fn check_line(&mut self, index: u32, line: &Line<'_>, time: Option<Time>) -> Novelty {
        let Some(time) = time else { return Novelty::New };
        match time.cmp(&self.latest) {
            Ordering::Greater => {
                self.latest = time;
                self.at_latest = 0;
            }
            // Where all lines of this time wait, they can be compared as they are.
            Ordering::Equal if self.at_latest <= COMPARED.min(self.waiting.len()) => {
                let dp = |rank| self.ranks.dp(rank);
                if let Some(seen) = self.waiting.find(line, time, self.at_latest, dp) {
                    return self.duplicate(seen, line.rank);
                }
            }
            Ordering::Equal | Ordering::Less => return self.look_back(line, time),
        }
        // Once nothing more can be remembered for good, the oldest is forgotten without being hashed.
        if !self.full && self.waiting.is_full() {
            // What is of the latest time still waits, if it is to be compared.
            self.settle(COMPARED, line.source);
        }
        self.at_latest += 1;
        match line.source {
            Source::Batch(_) => self.waiting.mark(index, line.rank),
            Source::Line(_) => self.waiting.hold(line, time),
        }
        Novelty::New
    }

    /// Lines of the batch at hand that follow on each other and are of one rank, the first of which comes next; `None`
    /// until as many lines are remembered as there is room for, when a new one costs nothing.
    pub(crate) fn run<'a>(
        &'a self,
        rank: usize,
        lines: &'a [CompactLine],
        batch: &'a Batch<'a>,
    ) -> Option<NewRun<'a>> {
        let run = NewRun {
            duplicates: self,
            batch,
            lines,
            rank,
            latest: self.latest,
            before: self.at_latest,
            since: 0,
        };
        self.full.then_some(run)
    }

    /// Remembers the first `count` lines of a run, which begins with line `index` of the batch at hand.
    pub(crate) fn end_run(&mut self, rank: usize, index: u32, count: usize, end: &RunEnd) {
        (self.latest, self.at_latest) = (end.latest, end.before + count.saturating_sub(end.since));
        // Of more lines the earlier ones would not wait any more.
        let from = count.saturating_sub(waiting::ROOM);
        for number in from..count {
            self.waiting.mark(index.saturating_add(u32::try_from(number).unwrap_or(u32::MAX)), rank);
        }
    }

    /// The batch at hand ends.
    pub(crate) fn end_batch(&mut self, batch: &Batch<'_>) {
        self.waiting.end_batch(batch);
    }

    /// Compares a line with all that are remembered.
    #[inline(never)]
    fn look_back(&mut self, line: &Line<'_>, time: Time) -> Novelty {
        self.settle(0, line.source);
        let entry = entry(line.key(time), self.ranks.dp(line.rank));
        let Some(seen) = self.find(&entry, time) else {
            self.remember(entry);
            return Novelty::New;
        };
        self.duplicate(usize::try_from(seen.rank).unwrap_or(line.rank), line.rank)
    }

    /// Hashes the lines that wait, but for the latest `kept`.
    #[inline(never)]
    fn settle(&mut self, kept: usize, source: Source<'_>) {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.take(kept, source, |key| {
            let entry = entry(key, self.ranks.dp(key.rank));
            self.remember(entry);
        });
        self.waiting = waiting;
    }

    fn duplicate(&self, original: usize, rank: usize) -> Novelty {
        if original == rank { Novelty::Again } else { Novelty::CopyOf(self.ranks.tags(original)) }
    }

    fn find(&mut self, entry: &Entry, time: Time) -> Option<Entry> {
        let in_old = || (time <= self.old_latest).then(|| self.old.find(entry)).flatten();
        let recent = self.young.find(entry).or_else(in_old);
        recent.or_else(|| (time <= self.older_latest).then(|| self.older.find(entry)).flatten())
    }

    fn remember(&mut self, entry: Entry) {
        if !self.full && self.older.add(entry) {
            self.older_latest = self.latest;
            return;
        }
        self.full = true;
        if self.young.len() >= RECENT {
            std::mem::swap(&mut self.young, &mut self.old);
            self.young.clear();
            self.old_latest = self.latest;
        }
        // Half as many lines as slots: only lines made to collide find no room.
        self.young.add(entry, RECENT_SLOTS);
    }
}

/// Lines that follow on each other in one batch, asked about one after the other while none is like another of its time.
pub(crate) struct NewRun<'a> {
    duplicates: &'a Deduplicator,
    batch: &'a Batch<'a>,
    lines: &'a [CompactLine],
    rank: usize,
    latest: Time,
    /// Lines of the latest time before the run.
    before: usize,
    /// The first line of the run that has the latest time.
    since: usize,
}

/// Where a run of new lines ended, for [`Deduplicator::end_run`].
pub(crate) struct RunEnd {
    latest: Time,
    before: usize,
    since: usize,
}

impl NewRun<'_> {
    /// Whether the line with this number in the run certainly is new, where all before it were. If it is not taken after
    /// all, it is to be [checked](Deduplicator::check_compact) next.
    #[inline]
    pub(crate) fn is_new(&mut self, number: usize, line: &CompactLine, time: Time) -> bool {
        if time != self.latest {
            let is_later = time > self.latest;
            if is_later {
                (self.latest, self.before, self.since) = (time, 0, number);
            }
            return is_later;
        }
        let own = self.lines.get(self.since..number).unwrap_or(&[]);
        self.before + own.len() <= COMPARED
            && own.iter().all(|other| other.differs(line))
            && (self.before == 0 || self.differs_from_earlier(line))
    }

    /// Whether a line differs from all those of its time before the run.
    #[inline(never)]
    fn differs_from_earlier(&self, line: &CompactLine) -> bool {
        let dp = |rank| self.duplicates.ranks.dp(rank);
        self.duplicates.waiting.has_no_like(self.rank, line, self.batch, self.before, dp)
    }

    pub(crate) fn end(self) -> RunEnd {
        RunEnd { latest: self.latest, before: self.before, since: self.since }
    }
}

fn entry(key: Key<'_>, dp: Option<u32>) -> Entry {
    let (values, own) = key.values();
    let numbers = u64::from(key.queue_req) << 32 | u64::from(dp.unwrap_or(u32::MAX));
    let mut seed = fingerprint(numbers, &key.time.bytes());
    if let Some(iteration) = key.iteration {
        seed = fingerprint(seed, &iteration.to_le_bytes());
    }
    let own = u32::try_from(fingerprint(0, own) >> 32).unwrap_or(0);
    let rank = u32::try_from(key.rank).unwrap_or(u32::MAX);
    Entry::new(fingerprint(seed, values), own, rank)
}

#[cfg(test)]
mod tests {
    use crate::evidence::{Record, Scanner};

    use super::*;

    /// Several lines of each second, as real logs have: they are compared as they are, and no table is built.
    #[test]
    fn a_log_in_order_looks_nothing_up() {
        let mut dedup = Deduplicator::default();
        for number in 0..2000 {
            let (hour, minute, second) = (number / 10_800, number / 180 % 60, number / 3 % 60);
            let line = format!(
                "[2026-10-12 {hour:02}:{minute:02}:{second:02}] Decode batch, #running-req: 4, #token: {number}, #queue-req: 0\n"
            );
            Scanner::new(0).lines(line.as_bytes(), &mut |_, record| {
                if let Record::Decode(line) = record {
                    assert!(!dedup.is_duplicate(line), "{number}");
                }
            });
        }
        assert_eq!(dedup.older.found(), 0);
    }
}
