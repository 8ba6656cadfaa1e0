//! Lines that nobody asked about yet, as they are. Hashing a line costs more than copying it, and most lines of a log
//! in order are never asked about.

use crate::evidence::{DecodeLine, Tags};

/// Lines that wait at most.
const ROOM: usize = 64;

/// What identifies a line, but for its rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key<'a> {
    pub(super) time: &'a [u8],
    pub(super) message: &'a [u8],
    pub(super) iteration: Option<u64>,
    pub(super) queue_req: u32,
}

/// A line that waits.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    /// Its time, then its message.
    text: Vec<u8>,
    time_bytes: usize,
    pub(super) tags: Tags,
    iteration: Option<u64>,
    queue_req: u32,
}

impl Line {
    pub(super) fn key(&self) -> Key<'_> {
        let (time, message) = self.text.split_at_checked(self.time_bytes).unwrap_or((&self.text, &[]));
        Key { time, message, iteration: self.iteration, queue_req: self.queue_req }
    }

    /// Takes another line; the memory is kept.
    fn copy(&mut self, time: &[u8], line: &DecodeLine<'_>) {
        self.text.clear();
        self.text.extend_from_slice(time);
        self.text.extend_from_slice(line.message);
        self.time_bytes = time.len();
        self.tags = line.tags;
        self.iteration = line.iteration;
        self.queue_req = line.queue_req;
    }
}

/// A ring of lines.
#[derive(Debug, Default)]
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
    pub(super) fn add(&mut self, time: &[u8], line: &DecodeLine<'_>) {
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
            slot.copy(time, line);
        }
    }

    /// Takes the oldest line out, for as long as the ring is not touched again.
    pub(super) fn take(&mut self) -> Option<&Line> {
        let at = self.first;
        self.count = self.count.checked_sub(1)?;
        self.first = (self.first + 1) % ROOM;
        self.lines.get(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(message: &[u8]) -> DecodeLine<'_> {
        DecodeLine {
            timestamp: None,
            tags: Tags::default(),
            iteration: None,
            running_req: 0,
            accept_len: None,
            accept_rate: None,
            graph: None,
            gen_throughput_tps: None,
            queue_req: 0,
            capped: false,
            message,
        }
    }

    #[test]
    fn lines_leave_in_order_and_the_oldest_gives_way() {
        let mut waiting = Waiting::default();
        for round in 0..3_usize {
            for index in 0..ROOM + 5 {
                assert_eq!(waiting.is_full(), index >= ROOM);
                waiting.add(b"12:00", &line(format!("{round} {index}").as_bytes()));
            }
            for index in 5..ROOM + 5 {
                let message = format!("{round} {index}");
                let key = Key { time: b"12:00", message: message.as_bytes(), iteration: None, queue_req: 0 };
                assert_eq!(waiting.take().unwrap().key(), key);
            }
            assert!(waiting.take().is_none());
        }
    }
}
