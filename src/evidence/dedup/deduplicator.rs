//! Tells a decode line from a copy of one, in bounded memory and a few nanoseconds.

use std::hash::{BuildHasher as _, Hasher as _};

use foldhash::fast::FixedState;

use crate::evidence::{DecodeLine, Tags};

use super::ranks::Ranks;
use super::table::{Entry, Table};
use super::waiting::{Key, Waiting};

/// Recent lines that are remembered once they were hashed, at least.
const RECENT: usize = 2048;

/// Slots for recent lines: at most three quarters of them are used.
const RECENT_SLOTS: usize = 4096;

/// Slots for older lines.
const OLDER_SLOTS: usize = 1 << 19;

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
/// Two lines are one when time, DP tag and all values agree (SGLANG.md section 5.7). With the same tags that is a log that
/// was joined twice; with another TP, EP or PP tag it is another rank's copy of one scheduler's line. Copies are compared
/// without the throughput and the figures printed behind it, because each rank measures those by its own clock. A line
/// without a time is never a copy: nothing tells it from an honest repetition.
///
/// The copy seen first is kept. Which rank that is can change from line to line, so group lines by
/// [`lowest`](Self::lowest) and not by their own tags.
///
/// # Memory and odds
///
/// Lines are remembered as hashes, at most 400,000 lines in 8.5 MB (12.5 MB while the table grows). A line later than
/// all before it cannot be a copy and is not looked up, so a single log of any length costs no precision. Where time
/// jumps back behind a longer log, copies of lines beyond those (but for the latest 64) are taken for new lines:
/// [`is_full`](Self::is_full) tells.
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
#[derive(Debug, Default)]
pub struct Deduplicator {
    ranks: Ranks,
    /// The latest time so far, as printed: times of one format sort as texts.
    latest: Vec<u8>,
    waiting: Waiting,
    /// The lines since the last turn, at most [`RECENT`], and as many before them.
    young: Table,
    old: Table,
    older: Table,
    /// No line of `old` is later than this, and none of `older` than that: later lines are not looked up there.
    old_latest: Vec<u8>,
    older_latest: Vec<u8>,
    full: bool,
}

impl Deduplicator {
    /// Whether `line` was seen before; a new line is remembered.
    pub fn is_duplicate(&mut self, line: &DecodeLine<'_>) -> bool {
        self.check(line) != Novelty::New
    }

    /// Compares a line with those before it; a new line is remembered.
    pub fn check(&mut self, line: &DecodeLine<'_>) -> Novelty {
        let Some(time) = line.timestamp else { return Novelty::New };
        let time = time.as_bytes();
        if time > self.latest.as_slice() {
            replace(&mut self.latest, time);
            self.wait(time, line);
            return Novelty::New;
        }
        self.settle();
        let key = Key { time, message: line.message, iteration: line.iteration, queue_req: line.queue_req };
        let entry = entry(key, &line.tags, &mut self.ranks);
        let Some(seen) = self.find(&entry, time) else {
            self.remember(entry);
            return Novelty::New;
        };
        if seen.rank == entry.rank {
            return Novelty::Again;
        }
        self.ranks.join(seen.rank, entry.rank);
        Novelty::CopyOf(self.ranks.tags(seen.rank).unwrap_or(line.tags))
    }

    /// The lowest tags under which the lines of `tags` were printed too, as far as copies showed it; else `tags`.
    ///
    /// Ask at the end, or group again there: a lower rank may print its first copy late.
    #[must_use]
    pub fn lowest(&self, tags: &Tags) -> Tags {
        self.ranks.lowest(tags)
    }

    /// Whether lines had to be forgotten, so that copies of them may have been taken for new lines.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// Keeps a line that is later than all before it.
    fn wait(&mut self, time: &[u8], line: &DecodeLine<'_>) {
        // Once nothing more can be remembered for good, the oldest is forgotten without being hashed.
        if self.waiting.is_full() && !self.full {
            self.settle();
        }
        self.waiting.add(time, line);
    }

    /// Hashes the lines that wait.
    fn settle(&mut self) {
        while let Some(line) = self.waiting.take() {
            let entry = entry(line.key(), &line.tags, &mut self.ranks);
            self.remember(entry);
        }
    }

    fn find(&self, entry: &Entry, time: &[u8]) -> Option<Entry> {
        let in_old = || (time <= self.old_latest.as_slice()).then(|| self.old.find(entry)).flatten();
        let in_older = || (time <= self.older_latest.as_slice()).then(|| self.older.find(entry)).flatten();
        self.young.find(entry).or_else(in_old).or_else(in_older)
    }

    fn remember(&mut self, entry: Entry) {
        if self.young.len() >= RECENT {
            std::mem::swap(&mut self.young, &mut self.old);
            for entry in self.young.drain() {
                self.full = self.full || !self.older.add(entry, OLDER_SLOTS);
            }
            std::mem::swap(&mut self.older_latest, &mut self.old_latest);
            replace(&mut self.old_latest, &self.latest);
        }
        // Half as many lines as slots: only lines made to collide find no room.
        self.full |= !self.young.add(entry, RECENT_SLOTS);
    }
}

fn replace(held: &mut Vec<u8>, by: &[u8]) {
    held.clear();
    held.extend_from_slice(by);
}

fn entry(key: Key<'_>, tags: &Tags, ranks: &mut Ranks) -> Entry {
    let rank = ranks.number(tags);
    let (values, own) = split(key.message);
    let mut hasher = FixedState::with_seed(0).build_hasher();
    hasher.write(key.time);
    hasher.write(values);
    hasher.write_u32(key.queue_req);
    hasher.write_u32(ranks.dp(rank, tags).unwrap_or(u32::MAX));
    hasher.write_u64(key.iteration.unwrap_or(u64::MAX));
    let mut own_hasher = FixedState::with_seed(1).build_hasher();
    own_hasher.write(own);
    let own = own_hasher.finish() & u64::from(u32::MAX);
    Entry::new(hasher.finish(), u32::try_from(own).unwrap_or(0), rank)
}

/// The values that all copies of a line share, and the rest: from the throughput on. Blanks and commas around them are
/// an editor's business.
fn split(message: &[u8]) -> (&[u8], &[u8]) {
    let message = message.trim_ascii_start();
    let end =
        message.iter().rposition(|byte| *byte != b',' && !byte.is_ascii_whitespace()).map_or(0, |at| at + 1);
    let message = message.get(..end).unwrap_or(message);
    let name: &[u8] = b"gen throughput (token";
    // The stroke of `token/s` is the rarest byte of the name and stands near the end.
    let start = memchr::memrchr_iter(b'/', message)
        .filter_map(|stroke| message.get(..stroke)?.strip_suffix(name))
        .map(<[u8]>::len)
        .next();
    message.split_at_checked(start.unwrap_or(message.len())).unwrap_or((message, &[]))
}
