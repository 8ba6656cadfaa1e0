//! One decode line in 32 bytes, and what lines of one look share.

use crate::evidence::digits::Digits;
use crate::evidence::{DecodeLine, Graph, Hundredths};

/// A byte range of a text that is shorter than 4 GiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::evidence) struct Spot {
    pub(in crate::evidence) at: u32,
    pub(in crate::evidence) len: u32,
}

impl Spot {
    #[inline]
    pub(in crate::evidence) fn of(self, text: &[u8]) -> &[u8] {
        let at = usize::try_from(self.at).unwrap_or(usize::MAX);
        let len = usize::try_from(self.len).unwrap_or(usize::MAX);
        text.get(at..).and_then(|text| text.get(..len)).unwrap_or(&[])
    }

    /// Where `part` stands in `whole`; `None` when it is no part of it.
    pub(in crate::evidence) fn find(whole: &[u8], part: &[u8]) -> Option<Self> {
        let at = part.as_ptr().addr().checked_sub(whole.as_ptr().addr())?;
        let is_inside = at.checked_add(part.len())? <= whole.len();
        if is_inside { Some(Self { at: index(at), len: index(part.len()) }) } else { None }
    }
}

/// A place in a text of a batch; such texts are shorter than 4 GiB.
#[inline]
pub(in crate::evidence) fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Where the texts of lines stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::evidence) enum Base {
    /// So far from the beginning of the line.
    #[default]
    Line,
    /// So far from the beginning of the block.
    Block,
    /// In what the batch kept beside its block.
    Kept,
}

/// What all lines of one look have in common; a line that was read by name has a shape of its own.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::evidence) struct Shape {
    pub(in crate::evidence) base: Base,
    pub(in crate::evidence) time: Option<Spot>,
    pub(in crate::evidence) message: Spot,
    pub(in crate::evidence) iteration: Iteration,
    pub(in crate::evidence) graph: Option<Graph>,
    pub(in crate::evidence) capped: bool,
    /// The line's number is known: it does not follow from where it stands.
    pub(in crate::evidence) is_numbered: bool,
}

/// The number of a forward pass.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::evidence) enum Iteration {
    #[default]
    Absent,
    Is(u64),
    /// Printed there, counted from the beginning of the line.
    At(Digits),
}

impl Shape {
    /// The shape of a line, without its texts.
    pub(in crate::evidence) fn of(line: &DecodeLine<'_>) -> Self {
        Self {
            iteration: line.iteration.map_or(Iteration::Absent, Iteration::Is),
            graph: line.graph,
            capped: line.capped,
            ..Self::default()
        }
    }
}

/// Stands for a number that the line lacks. No number is read that is as large.
pub(in crate::evidence) const ABSENT: u32 = u32::MAX;

/// Stands for a throughput that is larger still: it is read from the message.
pub(in crate::evidence) const HUGE: u32 = u32::MAX - 1;

/// One decode line as a small plain value: its numbers, and where the rest of it is found. It belongs to a
/// [`Batch`](super::Batch).
#[derive(Clone, Copy, Debug, Default)]
pub struct CompactLine {
    /// Where the line begins in the block, or the index of its number.
    pub(in crate::evidence) at: u32,
    pub(in crate::evidence) shape: u32,
    pub(in crate::evidence) voice: u32,
    pub(in crate::evidence) running_req: u32,
    pub(in crate::evidence) queue_req: u32,
    pub(in crate::evidence) accept_len: u32,
    pub(in crate::evidence) accept_rate: u32,
    /// Tokens per second, in hundredths.
    pub(in crate::evidence) throughput: u32,
}

impl CompactLine {
    /// The numbers of `line`.
    pub(crate) fn of(line: &DecodeLine<'_>) -> Self {
        // What was printed is a whole number of hundredths.
        let hundredths = |tps: f64| match crate::law::whole((tps * 100.0).round()) {
            tps if tps < u64::from(HUGE) => index(usize::try_from(tps).unwrap_or(usize::MAX)),
            _ => HUGE,
        };
        Self {
            running_req: line.running_req,
            queue_req: line.queue_req,
            accept_len: line.accept_len.map_or(ABSENT, Hundredths::count),
            accept_rate: line.accept_rate.map_or(ABSENT, Hundredths::count),
            throughput: line.gen_throughput_tps.map_or(ABSENT, hundredths),
            ..Self::default()
        }
    }

    /// The number of the line's rank tags among those of its batch, from 0.
    #[must_use]
    #[inline]
    pub fn voice(&self) -> u32 {
        self.voice
    }

    /// The number of what it shares with other lines of its batch.
    #[inline]
    pub(crate) fn shape(&self) -> u32 {
        self.shape
    }

    /// `#running-req`.
    #[must_use]
    #[inline]
    pub fn running_req(&self) -> u32 {
        self.running_req
    }

    /// `#queue-req`.
    #[must_use]
    #[inline]
    pub fn queue_req(&self) -> u32 {
        self.queue_req
    }

    /// `accept len`.
    #[must_use]
    #[inline]
    pub fn accept_len(&self) -> Option<Hundredths> {
        (self.accept_len != ABSENT).then(|| Hundredths::new(self.accept_len))
    }

    /// `accept rate`.
    #[must_use]
    #[inline]
    pub fn accept_rate(&self) -> Option<Hundredths> {
        (self.accept_rate != ABSENT).then(|| Hundredths::new(self.accept_rate))
    }

    /// `gen throughput (token/s)` in hundredths of a token; what is above 42 million tokens counts as that.
    #[must_use]
    #[inline]
    pub fn throughput_hundredths(&self) -> Option<u32> {
        (self.throughput != ABSENT).then_some(self.throughput)
    }

    /// Whether two lines of one rank differ in a number.
    #[inline]
    pub(in crate::evidence) fn differs(&self, other: &Self) -> bool {
        self.throughput != other.throughput
            || self.accept_len != other.accept_len
            || self.queue_req != other.queue_req
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_half_a_line_of_the_cache() {
        assert_eq!(size_of::<CompactLine>(), 32);
    }

    #[test]
    fn numbers_go_in_and_out() {
        let line = DecodeLine {
            timestamp: None,
            tags: crate::evidence::Tags::default(),
            iteration: Some(u64::MAX),
            running_req: 7,
            accept_len: Some(Hundredths::new(u32::MAX - 1)),
            accept_rate: None,
            graph: None,
            gen_throughput_tps: Some(1523.77),
            queue_req: u32::MAX,
            capped: true,
            message: b"",
        };
        let compact = CompactLine::of(&line);
        assert_eq!((compact.running_req(), compact.queue_req()), (7, u32::MAX));
        assert_eq!((compact.accept_len(), compact.accept_rate()), (line.accept_len, None));
        assert_eq!(compact.throughput_hundredths(), Some(152_377));
        for (tps, expected) in [(None, None), (Some(1e17), Some(HUGE)), (Some(0.0), Some(0))] {
            let compact = CompactLine::of(&DecodeLine { gen_throughput_tps: tps, ..line });
            assert_eq!(compact.throughput_hundredths(), expected);
        }
    }
}
