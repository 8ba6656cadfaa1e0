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
use super::waiting::{Key, Line, Waiting};

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
/// jumps back behind a longer log, copies of lines beyond those (but for the latest 64) are taken for new lines.
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
            self.settle(line.source);
        }
        self.at_latest += 1;
        match line.source {
            Source::Batch(_) => self.waiting.mark(index, line.rank),
            Source::Line(_) => self.waiting.hold(line, time),
        }
        Novelty::New
    }

    /// Whether as many lines are remembered as there is room for: then the memory of a new one costs nothing.
    pub(crate) fn is_full(&self) -> bool {
        self.full
    }

    /// Whether a line of the batch at hand is later than all before it, when it certainly is new. If it is to be
    /// remembered, [`remember_new`](Self::remember_new) must follow; only where [`is_full`](Self::is_full).
    #[inline]
    pub(crate) fn is_new(
        &self,
        rank: usize,
        line: &CompactLine,
        batch: &Batch<'_>,
        time: Time,
    ) -> Option<bool> {
        if time != self.latest {
            return (time > self.latest).then_some(true);
        }
        let dp = |rank| self.ranks.dp(rank);
        let is_new =
            self.at_latest <= COMPARED && self.waiting.has_no_like(rank, line, batch, self.at_latest, dp);
        is_new.then_some(false)
    }

    /// Remembers a line of the batch at hand, which [`is_new`](Self::is_new).
    #[inline]
    pub(crate) fn remember_new(&mut self, rank: usize, index: u32, time: Time, is_later: bool) {
        self.latest = time;
        self.at_latest = if is_later { 1 } else { self.at_latest + 1 };
        self.waiting.mark(index, rank);
    }

    /// The batch at hand ends.
    pub(crate) fn end_batch(&mut self, batch: &Batch<'_>) {
        self.waiting.end_batch(batch);
    }

    /// Compares a line with all that are remembered.
    #[inline(never)]
    fn look_back(&mut self, line: &Line<'_>, time: Time) -> Novelty {
        self.settle(line.source);
        let entry = entry(line.key(time), self.ranks.dp(line.rank));
        let Some(seen) = self.find(&entry, time) else {
            self.remember(entry);
            return Novelty::New;
        };
        self.duplicate(usize::try_from(seen.rank).unwrap_or(line.rank), line.rank)
    }

    /// Hashes the lines that wait.
    #[inline(never)]
    fn settle(&mut self, source: Source<'_>) {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.take_all(source, |key| {
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
