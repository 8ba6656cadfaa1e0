//! Tells a decode line from a copy of one, in bounded memory and a few nanoseconds.

use std::cmp::Ordering;

use crate::evidence::{DecodeLine, Tags};

use super::fingerprint::fingerprint;
use super::ranks::Ranks;
use super::table::{Entry, Table};
use super::waiting::{Key, Waiting};

/// Recent lines that are remembered once they were hashed, at least.
const RECENT: usize = 2048;

/// Slots for recent lines: at most three quarters of them are used.
const RECENT_SLOTS: usize = 4096;

/// Slots for older lines.
const OLDER_SLOTS: usize = 1 << 19;

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
/// Lines are remembered as hashes, at most 400,000 of them in 8.5 MB (12.5 MB while the table grows). A line later than
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
    /// The latest time so far, as printed: times of one format sort as texts.
    latest: Vec<u8>,
    /// Lines of that time, and the latest time of a line that waits no more.
    at_latest: usize,
    gone: Vec<u8>,
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
        let rank = self.voice(&line.tags);
        self.check_voice(rank, line)
    }

    /// The number of a set of tags, in the order of their first line; the surplus of a hostile log shares one.
    pub(crate) fn voice(&mut self, tags: &Tags) -> usize {
        self.ranks.number(tags)
    }

    /// The set of tags with this number.
    pub(crate) fn tags(&self, voice: usize) -> Tags {
        self.ranks.tags(voice)
    }

    /// As [`check`](Self::check), where the number of the line's tags is known.
    pub(crate) fn check_voice(&mut self, rank: usize, line: &DecodeLine<'_>) -> Novelty {
        let Some(time) = line.timestamp else { return Novelty::New };
        let time = time.as_bytes();
        let key = Key::new(time, line, rank);
        match time.cmp(self.latest.as_slice()) {
            Ordering::Greater => {
                replace(&mut self.latest, time);
                self.at_latest = 0;
                self.wait(key);
                return Novelty::New;
            }
            // All lines of this time wait: they can be compared as they are.
            Ordering::Equal if time > self.gone.as_slice() && self.at_latest <= COMPARED => {
                let Some(seen) = self.find_waiting(&key) else {
                    self.wait(key);
                    return Novelty::New;
                };
                return self.duplicate(seen, rank);
            }
            Ordering::Equal | Ordering::Less => {}
        }
        self.settle();
        let entry = entry(key, self.ranks.dp(rank));
        let Some(seen) = self.find(&entry, time) else {
            self.remember(entry);
            return Novelty::New;
        };
        self.duplicate(usize::try_from(seen.rank).unwrap_or(rank), rank)
    }

    /// The rank of the same line among those of the latest time, all of which wait.
    fn find_waiting(&self, key: &Key<'_>) -> Option<usize> {
        let dp = self.ranks.dp(key.rank);
        let mut same_time = self.waiting.latest().take(self.at_latest);
        let seen = same_time.find(|other| self.ranks.dp(other.rank) == dp && key.is_same_line(other))?;
        Some(seen.rank)
    }

    fn duplicate(&self, original: usize, rank: usize) -> Novelty {
        if original == rank { Novelty::Again } else { Novelty::CopyOf(self.ranks.tags(original)) }
    }

    /// Keeps a line that is as late as any before it.
    fn wait(&mut self, key: Key<'_>) {
        // Once nothing more can be remembered for good, the oldest is forgotten without being hashed. But lines of the
        // present time may still be asked about.
        if self.waiting.is_full() {
            let oldest = self.waiting.oldest().map_or(&[][..], |oldest| oldest.time);
            if self.full && oldest < key.time {
                replace(&mut self.gone, oldest);
            } else {
                self.settle();
            }
        }
        self.at_latest += 1;
        self.waiting.add(key);
    }

    /// Hashes the lines that wait.
    fn settle(&mut self) {
        while let Some(key) = self.waiting.take() {
            replace(&mut self.gone, key.time);
            let entry = entry(key, self.ranks.dp(key.rank));
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

fn entry(key: Key<'_>, dp: Option<u32>) -> Entry {
    let (values, own) = key.values();
    let numbers = u64::from(key.queue_req) << 32 | u64::from(dp.unwrap_or(u32::MAX));
    let mut seed = fingerprint(numbers, key.time);
    if let Some(iteration) = key.iteration {
        seed = fingerprint(seed, &iteration.to_le_bytes());
    }
    let own = u32::try_from(fingerprint(0, own) >> 32).unwrap_or(0);
    let rank = u32::try_from(key.rank).unwrap_or(u32::MAX);
    Entry::new(fingerprint(seed, values), own, rank)
}
