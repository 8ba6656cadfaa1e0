//! The latest lines, as they are. Hashing a line costs more than keeping it and comparing it with its neighbours, and
//! most lines of a log in order are never asked about later.

use crate::evidence::DecodeLine;
use crate::evidence::batch::{Batch, CompactLine};

use super::time::Time;

/// Lines that wait at most.
const ROOM: usize = 64;

/// Where the texts of a line stand.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source<'a> {
    /// In the batch at hand, to which the line belongs.
    Batch(&'a Batch<'a>),
    /// In the line itself, whose numbers are in a compact one.
    Line(&'a DecodeLine<'a>),
}

impl<'a> Source<'a> {
    #[inline]
    pub(crate) fn time(self, line: &CompactLine) -> Option<Time> {
        match self {
            Self::Batch(batch) => line.has_time().then(|| Time::of(batch.time(line))),
            Self::Line(line) => line.timestamp.map(|time| Time::of(time.as_bytes())),
        }
    }

    fn message(self, line: &CompactLine) -> &'a [u8] {
        match self {
            Self::Batch(batch) => batch.message(line),
            Self::Line(line) => line.message,
        }
    }
}

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

/// Blanks and commas around a message are an editor's business.
fn trim(message: &[u8]) -> &[u8] {
    let message = message.trim_ascii_start();
    let end = message.iter().rposition(|byte| *byte != b',' && !byte.is_ascii_whitespace());
    message.get(..end.map_or(0, |last| last + 1)).unwrap_or(message)
}

/// A line that is asked about, or waits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Line {
    pub(super) time: Time,
    pub(super) numbers: CompactLine,
    /// Number of its tag set, and the data-parallel rank that this names.
    pub(super) rank: usize,
    pub(super) dp: Option<u32>,
}

impl Line {
    pub(super) fn key<'a>(&self, message: &'a [u8]) -> Key<'a> {
        Key {
            time: self.time,
            message: trim(message),
            iteration: self.numbers.iteration(),
            queue_req: self.numbers.queue_req(),
            rank: self.rank,
        }
    }

    pub(super) fn key_of<'a>(&self, source: Source<'a>) -> Key<'a> {
        self.key(source.message(&self.numbers))
    }

    /// Whether the numbers of two lines rule out that these are one. All values of lines of one rank must agree.
    #[inline]
    fn differs(&self, other: &Self) -> bool {
        let (ours, theirs) = (&self.numbers, &other.numbers);
        self.dp != other.dp
            || ours.queue_req() != theirs.queue_req()
            || self.rank == other.rank
                && (ours.throughput_hundredths() != theirs.throughput_hundredths()
                    || ours.accept_len() != theirs.accept_len())
    }
}

/// A slot of the ring.
#[derive(Clone, Debug, Default)]
struct Slot {
    line: Line,
    /// Its message, unless it stands in the batch at hand.
    text: Vec<u8>,
    in_batch: bool,
}

impl Slot {
    fn message<'a>(&'a self, source: Source<'a>) -> &'a [u8] {
        if self.in_batch { source.message(&self.line.numbers) } else { &self.text }
    }
}

/// A ring of lines in the order of their times.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    slots: Vec<Slot>,
    /// The oldest line's index, and how many wait.
    first: usize,
    count: usize,
}

impl Waiting {
    pub(super) fn is_full(&self) -> bool {
        self.count == ROOM
    }

    /// Adds a line; in a full ring it takes the place of the oldest.
    #[inline]
    pub(super) fn add(&mut self, line: Line, source: Source<'_>) {
        let at = (self.first + self.count) % ROOM;
        if self.is_full() {
            self.first = (self.first + 1) % ROOM;
        } else {
            self.count += 1;
        }
        if at == self.slots.len() {
            self.slots.push(Slot::default());
        }
        if let Some(slot) = self.slots.get_mut(at) {
            slot.line = line;
            slot.in_batch = matches!(source, Source::Batch(_));
            if let Source::Line(line) = source {
                slot.text.clear();
                slot.text.extend_from_slice(line.message);
            }
        }
    }

    /// Takes the oldest line out, for as long as the ring is not touched again.
    pub(super) fn take<'a>(&'a mut self, source: Source<'a>) -> Option<(&'a Line, Key<'a>)> {
        let at = self.first;
        self.count = self.count.checked_sub(1)?;
        self.first = (self.first + 1) % ROOM;
        let slot = self.slots.get(at)?;
        Some((&slot.line, slot.line.key(slot.message(source))))
    }

    /// The rank of the same line among the latest `count`, which are of its time.
    #[inline]
    pub(super) fn find(&self, line: &Line, count: usize, source: Source<'_>) -> Option<usize> {
        self.latest(count)
            .find(|slot| {
                !slot.line.differs(line)
                    && slot.line.key(slot.message(source)).is_same_line(&line.key_of(source))
            })
            .map(|slot| slot.line.rank)
    }

    /// The batch at hand ends: what still waits of it is copied.
    pub(super) fn end_batch(&mut self, batch: &Batch<'_>) {
        for slot in self.slots.iter_mut().filter(|slot| slot.in_batch) {
            slot.in_batch = false;
            slot.text.clear();
            slot.text.extend_from_slice(batch.message(&slot.line.numbers));
        }
    }

    /// The lines, the latest first.
    fn latest(&self, count: usize) -> impl Iterator<Item = &Slot> {
        (0..self.count).rev().take(count).filter_map(|index| self.slots.get((self.first + index) % ROOM))
    }

    /// The time of the oldest line.
    pub(super) fn oldest(&self) -> Option<Time> {
        self.slots.get(self.first).filter(|_| self.count > 0).map(|slot| slot.line.time)
    }
}

#[cfg(test)]
mod tests {
    use crate::evidence::Tags;

    use super::*;

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

    fn line(second: usize) -> Line {
        Line { time: Time::of(format!("12:00:{second}").as_bytes()), ..Line::default() }
    }

    #[test]
    fn lines_leave_in_order_and_the_oldest_gives_way() {
        let mut waiting = Waiting::default();
        let nobody = whole(b"");
        for round in 0..3 {
            for index in 0..ROOM + 5 {
                assert_eq!(waiting.is_full(), index >= ROOM);
                waiting.add(line(index), Source::Line(&whole(format!("{round} {index}").as_bytes())));
            }
            let latest = waiting.latest(usize::MAX).next().unwrap();
            assert_eq!(latest.text, format!("{round} {}", ROOM + 4).as_bytes());
            assert_eq!((waiting.latest(usize::MAX).count(), waiting.oldest()), (ROOM, Some(line(5).time)));
            for index in 5..ROOM + 5 {
                let (taken, key) = waiting.take(Source::Line(&nobody)).unwrap();
                assert_eq!(taken.time, line(index).time);
                assert_eq!(key.message, format!("{round} {index}").as_bytes());
            }
            assert_eq!(waiting.oldest(), None);
            assert!(waiting.take(Source::Line(&nobody)).is_none());
        }
    }

    #[test]
    fn own_figures_begin_with_the_throughput() {
        let message =
            b"#token: 5, gen throughput (token/s): 5.00, #queue-req: 0, est. BW (GB/s per GPU): 1.00";
        let (values, own) = Line::default().key(message).values();
        assert_eq!(values, b"#token: 5, ");
        assert!(own.starts_with(b"gen throughput"));
        assert_eq!(Line::default().key(b"#token: 5, a/b: 1").values().1, b"");
    }

    #[test]
    fn blanks_and_commas_are_trimmed() {
        assert_eq!(trim(b" a: 1, b: 2, \n,"), b"a: 1, b: 2");
        assert_eq!(trim(b" , "), b"");
    }
}
