//! The latest lines, as they are. Hashing a line costs more than copying it and comparing it with its neighbours, and
//! most lines of a log in order are never asked about later.

use crate::evidence::DecodeLine;

/// Lines that wait at most.
const ROOM: usize = 64;

/// What identifies a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key<'a> {
    pub(super) time: &'a [u8],
    pub(super) message: &'a [u8],
    pub(super) iteration: Option<u64>,
    pub(super) queue_req: u32,
    /// Number of its tag set.
    pub(super) rank: usize,
}

impl<'a> Key<'a> {
    pub(super) fn new(time: &'a [u8], line: &DecodeLine<'a>, rank: usize) -> Self {
        Self { time, message: trim(line.message), iteration: line.iteration, queue_req: line.queue_req, rank }
    }

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
    pub(super) fn is_same_line(&self, other: &Self) -> bool {
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

/// A line that waits.
#[derive(Clone, Debug, Default)]
struct Line {
    /// Its time, then its message.
    text: Vec<u8>,
    time_bytes: usize,
    iteration: Option<u64>,
    queue_req: u32,
    rank: usize,
}

impl Line {
    fn key(&self) -> Key<'_> {
        let (time, message) = self.text.split_at_checked(self.time_bytes).unwrap_or((&self.text, &[]));
        Key { time, message, iteration: self.iteration, queue_req: self.queue_req, rank: self.rank }
    }

    /// Takes another line; the memory is kept.
    fn copy(&mut self, key: Key<'_>) {
        self.text.clear();
        self.text.extend_from_slice(key.time);
        self.text.extend_from_slice(key.message);
        self.time_bytes = key.time.len();
        self.iteration = key.iteration;
        self.queue_req = key.queue_req;
        self.rank = key.rank;
    }
}

/// A ring of lines in the order of their times.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting {
    lines: Vec<Line>,
    /// The oldest line's index, and how many wait.
    first: usize,
    count: usize,
}

impl Waiting {
    pub(super) fn is_full(&self) -> bool {
        self.count == ROOM
    }

    /// Adds a line; in a full ring it takes the place of the oldest.
    pub(super) fn add(&mut self, key: Key<'_>) {
        let at = (self.first + self.count) % ROOM;
        if self.is_full() {
            self.first = (self.first + 1) % ROOM;
        } else {
            self.count += 1;
        }
        if at == self.lines.len() {
            self.lines.push(Line::default());
        }
        if let Some(slot) = self.lines.get_mut(at) {
            slot.copy(key);
        }
    }

    /// Takes the oldest line out, for as long as the ring is not touched again.
    pub(super) fn take(&mut self) -> Option<Key<'_>> {
        let at = self.first;
        self.count = self.count.checked_sub(1)?;
        self.first = (self.first + 1) % ROOM;
        self.lines.get(at).map(Line::key)
    }

    /// The lines, the latest first.
    pub(super) fn latest(&self) -> impl Iterator<Item = Key<'_>> {
        (0..self.count).rev().filter_map(|index| self.lines.get((self.first + index) % ROOM)).map(Line::key)
    }

    /// The oldest line.
    pub(super) fn oldest(&self) -> Option<Key<'_>> {
        self.lines.get(self.first).filter(|_| self.count > 0).map(Line::key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(message: &[u8]) -> Key<'_> {
        Key { time: b"12:00", message, iteration: None, queue_req: 0, rank: 0 }
    }

    #[test]
    fn lines_leave_in_order_and_the_oldest_gives_way() {
        let mut waiting = Waiting::default();
        for round in 0..3 {
            for index in 0..ROOM + 5 {
                assert_eq!(waiting.is_full(), index >= ROOM);
                waiting.add(key(format!("{round} {index}").as_bytes()));
            }
            let latest: Vec<Vec<u8>> = waiting.latest().map(|key| key.message.to_vec()).collect();
            assert_eq!(latest.len(), ROOM);
            assert_eq!(latest[0], format!("{round} {}", ROOM + 4).as_bytes());
            assert_eq!(waiting.oldest().unwrap(), key(format!("{round} 5").as_bytes()));
            for index in 5..ROOM + 5 {
                assert_eq!(waiting.take().unwrap(), key(format!("{round} {index}").as_bytes()));
            }
            assert_eq!(waiting.oldest(), None);
            assert_eq!(waiting.take(), None);
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
