//! The latest lines, as they are. Hashing a line costs more than keeping it and comparing it with its neighbours, and
//! most lines of a log in order are never asked about later.

use std::collections::VecDeque;

use crate::evidence::batch::{Batch, CompactLine};

use super::fingerprint::fingerprint;
use super::source::Source;
use super::time::Time;

/// Lines that wait at most.
pub(super) const ROOM: usize = 32;

/// What identifies a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key<'a> {
    pub(super) time: Time,
    pub(super) message: &'a [u8],
    pub(super) iteration: Option<u64>,
    pub(super) queue_req: u32,
    /// Number of its tag set.
    pub(super) rank: usize,
}

impl<'a> Key<'a> {
    /// The values that all copies of a line share, and those that each rank measures by its own clock: from the
    /// throughput on.
    pub(super) fn values(&self) -> (&'a [u8], &'a [u8]) {
        let name: &[u8] = b"gen throughput (token";
        // The stroke of `token/s` is the rarest byte of the name and stands near the end.
        let start = memchr::memrchr_iter(b'/', self.message)
            .filter_map(|stroke| self.message.get(..stroke)?.strip_suffix(name))
            .map(<[u8]>::len)
            .next();
        self.message.split_at_checked(start.unwrap_or(self.message.len())).unwrap_or((self.message, &[]))
    }

    /// Whether two lines of one data-parallel rank and one time are one.
    fn is_same_line(&self, other: &Self) -> bool {
        self.queue_req == other.queue_req
            && self.iteration == other.iteration
            && if self.rank == other.rank {
                self.message == other.message
            } else {
                self.values().0 == other.values().0
            }
    }
}

/// Two numbers that stand for a message: for the values that copies of it share, and for those that each rank measures.
pub(crate) fn message_identity(message: &[u8]) -> (u64, u64) {
    let message = trim(message);
    let key = Key { time: Time::default(), message, iteration: None, queue_req: 0, rank: 0 };
    let (values, own) = key.values();
    (fingerprint(0, values), if own.is_empty() { 0 } else { fingerprint(1, own) })
}

/// Blanks and commas around a message are an editor's business.
fn trim(message: &[u8]) -> &[u8] {
    let message = message.trim_ascii_start();
    let end = message.iter().rposition(|byte| *byte != b',' && !byte.is_ascii_whitespace());
    message.get(..end.map_or(0, |last| last + 1)).unwrap_or(message)
}

/// A line that is asked about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    pub(super) numbers: &'a CompactLine,
    pub(super) source: Source<'a>,
    /// Number of its tag set.
    pub(super) rank: usize,
}

impl<'a> Line<'a> {
    /// What identifies it, at this time.
    pub(super) fn key(&self, time: Time) -> Key<'a> {
        Key {
            time,
            message: trim(self.source.message(self.numbers)),
            iteration: self.source.iteration(self.numbers),
            queue_req: self.numbers.queue_req(),
            rank: self.rank,
        }
    }
}

/// A line of the batch at hand that waits: its index there, and its rank.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    index: u32,
    rank: u32,
}

impl Mark {
    /// The line, which belongs to `source`.
    fn line(self, source: Source<'_>) -> Option<Line<'_>> {
        let rank = usize::try_from(self.rank).unwrap_or(usize::MAX);
        Some(Line { numbers: source.line(self.index)?, source, rank })
    }
}

/// A line of an earlier batch that waits, with its message.
#[derive(Clone, Debug, Default)]
struct Held {
    numbers: CompactLine,
    time: Time,
    text: Vec<u8>,
    iteration: Option<u64>,
    rank: usize,
}

impl Held {
    fn key(&self) -> Key<'_> {
        Key {
            time: self.time,
            message: trim(&self.text),
            iteration: self.iteration,
            queue_req: self.numbers.queue_req(),
            rank: self.rank,
        }
    }
}

/// The latest lines in the order of their times, at most [`ROOM`].
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    held: VecDeque<Held>,
    /// Those of the batch at hand, all of them later: a ring.
    marks: [Mark; ROOM],
    /// How many were put there, and how many of these were taken out again.
    marked: usize,
    taken: usize,
}

impl Default for Waiting {
    fn default() -> Self {
        Self { held: VecDeque::new(), marks: [Mark::default(); ROOM], marked: 0, taken: 0 }
    }
}

impl Waiting {
    /// How many lines wait.
    #[inline]
    pub(super) fn len(&self) -> usize {
        (self.marked - self.first_mark() + self.held.len()).min(ROOM)
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.len() == ROOM
    }

    /// The first line of the batch at hand that still waits.
    #[inline]
    fn first_mark(&self) -> usize {
        self.marked.saturating_sub(ROOM).max(self.taken)
    }

    /// Adds line `index` of the batch at hand. If [`ROOM`] lines wait, the oldest is forgotten.
    #[inline]
    pub(super) fn mark(&mut self, index: u32, rank: usize) {
        if let Some(slot) = self.marks.get_mut(self.marked % ROOM) {
            *slot = Mark { index, rank: u32::try_from(rank).unwrap_or(u32::MAX) };
        }
        self.marked += 1;
    }

    /// Adds a line that belongs to no batch, or whose batch ends.
    pub(super) fn hold(&mut self, line: &Line<'_>, time: Time) {
        let free = if self.held.len() >= ROOM { self.held.pop_front() } else { None };
        let mut held = free.unwrap_or_default();
        held.numbers = *line.numbers;
        held.time = time;
        held.text.clear();
        held.text.extend_from_slice(line.source.message(line.numbers));
        held.iteration = line.source.iteration(line.numbers);
        held.rank = line.rank;
        self.held.push_back(held);
    }

    /// The batch at hand ends: what still waits of it is copied.
    pub(super) fn end_batch(&mut self, batch: &Batch<'_>) {
        let source = Source::Batch(batch);
        for at in self.first_mark()..self.marked {
            if let Some(line) = self.marks.get(at % ROOM).and_then(|mark| mark.line(source)) {
                self.hold(&line, source.time(line.numbers).unwrap_or_default());
            }
        }
        (self.marked, self.taken) = (0, 0);
    }

    /// Takes out all lines but the latest `kept`, the oldest first.
    pub(super) fn take(&mut self, kept: usize, source: Source<'_>, mut take: impl FnMut(Key<'_>)) {
        let (first, held) = (self.first_mark(), self.held.len());
        let marks = self.marked - first;
        // What is in the way of later lines is forgotten.
        let forgotten = (marks + held).saturating_sub(ROOM);
        let leaving = held.saturating_sub(kept.saturating_sub(marks));
        for (number, held) in self.held.drain(..leaving).enumerate() {
            if number >= forgotten {
                take(held.key());
            }
        }
        let end = self.marked.saturating_sub(kept).max(first);
        for at in first..end {
            if let Some(line) = self.marks.get(at % ROOM).and_then(|mark| mark.line(source)) {
                take(line.key(source.time(line.numbers).unwrap_or_default()));
            }
        }
        self.taken = end;
    }

    /// The rank of the same line among the latest `count`, which are of its time; `dp` is the data-parallel rank of a
    /// rank.
    #[inline]
    pub(super) fn find(
        &self,
        line: &Line<'_>,
        time: Time,
        count: usize,
        dp: impl Fn(usize) -> Option<u32>,
    ) -> Option<usize> {
        let marked = self.marked.min(count);
        for back in 1..=marked {
            let mark = self.marks.get((self.marked - back) % ROOM)?;
            let other = mark.line(line.source)?;
            let alike = if other.rank == line.rank {
                !other.numbers.differs(line.numbers)
            } else {
                dp(other.rank) == dp(line.rank)
            };
            if alike && other.key(time).is_same_line(&line.key(time)) {
                return Some(other.rank);
            }
        }
        if count == marked {
            return None;
        }
        let mut held = self.held.iter().rev().take(count - marked);
        held.find(|held| dp(held.rank) == dp(line.rank) && held.key().is_same_line(&line.key(time)))
            .map(|held| held.rank)
    }

    /// Whether the numbers alone tell a line of the batch at hand from the latest `count`, which are of its time; `false`
    /// when they do not, or not all of them are of this batch.
    #[inline]
    pub(super) fn has_no_like(
        &self,
        rank: usize,
        line: &CompactLine,
        batch: &Batch<'_>,
        count: usize,
        dp: impl Fn(usize) -> Option<u32>,
    ) -> bool {
        count <= self.marked
            && (1..=count).all(|back| {
                let mark = self.marks.get((self.marked - back) % ROOM);
                mark.and_then(|mark| Some((mark.rank, batch.line(mark.index)?))).is_some_and(
                    |(other, numbers)| {
                        let other = usize::try_from(other).unwrap_or(usize::MAX);
                        if other == rank { numbers.differs(line) } else { dp(other) != dp(rank) }
                    },
                )
            })
    }
}

#[cfg(test)]
mod tests {
    use crate::evidence::{DecodeLine, Scanner, Tags};

    use super::*;

    fn key(message: &[u8]) -> Key<'_> {
        Key { time: Time::default(), message, iteration: None, queue_req: 0, rank: 0 }
    }

    fn whole(message: &[u8]) -> DecodeLine<'_> {
        DecodeLine {
            timestamp: None,
            tags: Tags::default(),
            iteration: None,
            running_req: 1,
            accept_len: None,
            accept_rate: None,
            graph: None,
            gen_throughput_tps: None,
            queue_req: 0,
            capped: false,
            message,
        }
    }

    fn time(second: usize) -> Time {
        Time::of(format!("12:00:{second}").as_bytes())
    }

    /// Messages of the lines that wait, the oldest first.
    fn take_all(waiting: &mut Waiting, source: Source<'_>) -> Vec<(Time, String)> {
        let mut taken = Vec::new();
        waiting.take(0, source, |key| {
            taken.push((key.time, String::from_utf8_lossy(key.message).into_owned()));
        });
        assert_eq!(waiting.len(), 0);
        taken
    }

    #[test]
    fn lines_leave_in_order_and_the_oldest_gives_way() {
        let mut waiting = Waiting::default();
        for round in 0..3 {
            for index in 0..ROOM + 5 {
                assert_eq!(waiting.len(), index.min(ROOM));
                let message = format!("{round} {index}");
                let whole = whole(message.as_bytes());
                let numbers = CompactLine::of(&whole);
                let line = Line { numbers: &numbers, source: Source::Line(&whole), rank: 0 };
                waiting.hold(&line, time(index));
            }
            let expected: Vec<_> =
                (5..ROOM + 5).map(|index| (time(index), format!("{round} {index}"))).collect();
            assert_eq!(take_all(&mut waiting, Source::Line(&whole(b""))), expected);
        }
    }

    /// Lines of a batch wait as those before it, and after its end.
    #[test]
    fn lines_wait_over_the_end_of_a_batch() {
        let line = |index| {
            format!("[12:00:{index:02}] Decode batch, #running-req: 1, #token: {index}, #queue-req: 0\n")
        };
        let log = (0..40).map(line).collect::<Vec<_>>().concat();
        let message = |index| format!("#running-req: 1, #token: {index}, #queue-req: 0");
        for ended in [1, 2, 3] {
            let mut waiting = Waiting::default();
            let mut round = 0;
            let mut scanner = Scanner::new(0);
            for _ in 0..ended {
                scanner.batches(log.as_bytes(), &mut |batch: &Batch<'_>| {
                    (0..40).for_each(|index| waiting.mark(index, 7));
                    round += 1;
                    assert_eq!(waiting.len(), (40 * round).min(ROOM));
                    if round == ended {
                        let taken = take_all(&mut waiting, Source::Batch(batch));
                        let messages: Vec<String> = taken.into_iter().map(|(_, message)| message).collect();
                        let all: Vec<String> = (0..round).flat_map(|_| (0..40).map(message)).collect();
                        assert_eq!(messages, all[all.len().saturating_sub(ROOM)..]);
                    }
                    waiting.end_batch(batch);
                });
            }
        }
    }

    #[test]
    fn own_figures_begin_with_the_throughput() {
        let message =
            b"#token: 5, gen throughput (token/s): 5.00, #queue-req: 0, est. BW (GB/s per GPU): 1.00";
        let (values, own) = key(message).values();
        assert_eq!(values, b"#token: 5, ");
        assert!(own.starts_with(b"gen throughput"));
        assert_eq!(key(b"#token: 5, a/b: 1").values().1, b"");
    }

    #[test]
    fn blanks_and_commas_are_trimmed() {
        assert_eq!(trim(b" a: 1, b: 2, \n,"), b"a: 1, b: 2");
        assert_eq!(trim(b" , "), b"");
    }
}
