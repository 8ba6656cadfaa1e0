//! One decode line in 64 bytes.

use crate::evidence::{DecodeLine, Graph, GraphLabel, Hundredths};

/// A byte range of a text that is shorter than 4 GiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::evidence) struct Spot {
    pub(in crate::evidence) at: u32,
    pub(in crate::evidence) len: u32,
}

impl Spot {
    pub(in crate::evidence) fn of<'a>(self, text: &'a [u8]) -> &'a [u8] {
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
pub(in crate::evidence) fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// What a decode line has of what it may lack, and what has two values or four.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::evidence) struct Flags(u16);

impl Flags {
    pub(in crate::evidence) const TIME: Self = Self(1);
    pub(in crate::evidence) const ITERATION: Self = Self(1 << 1);
    pub(in crate::evidence) const ACCEPT_LEN: Self = Self(1 << 2);
    pub(in crate::evidence) const ACCEPT_RATE: Self = Self(1 << 3);
    pub(in crate::evidence) const THROUGHPUT: Self = Self(1 << 4);
    /// The throughput has more digits than a double holds: it is read from the message.
    pub(in crate::evidence) const HUGE_THROUGHPUT: Self = Self(1 << 5);
    pub(in crate::evidence) const CAPPED: Self = Self(1 << 6);
    /// The texts stand in what the batch kept beside its block.
    pub(in crate::evidence) const KEPT: Self = Self(1 << 7);
    /// The line's number is known: it does not follow from where it stands.
    pub(in crate::evidence) const NUMBERED: Self = Self(1 << 8);
    const GRAPH: Self = Self(1 << 9);
    const GRAPH_ON: Self = Self(1 << 10);
    const LABEL_SHIFT: u32 = 11;

    pub(in crate::evidence) fn has(self, flag: Self) -> bool {
        self.0 & flag.0 != 0
    }

    #[must_use]
    pub(in crate::evidence) fn with(self, flag: Self, is_set: bool) -> Self {
        if is_set { Self(self.0 | flag.0) } else { Self(self.0 & !flag.0) }
    }

    fn with_graph(self, graph: Option<Graph>) -> Self {
        let Some(Graph { label, on }) = graph else { return self };
        let label = match label {
            GraphLabel::Cuda => 0,
            GraphLabel::Cpu => 1,
            GraphLabel::Npu => 2,
            GraphLabel::Musa => 3,
        };
        Self(self.0 | label << Self::LABEL_SHIFT).with(Self::GRAPH, true).with(Self::GRAPH_ON, on)
    }

    fn graph(self) -> Option<Graph> {
        let label = match self.0 >> Self::LABEL_SHIFT & 3 {
            0 => GraphLabel::Cuda,
            1 => GraphLabel::Cpu,
            2 => GraphLabel::Npu,
            _ => GraphLabel::Musa,
        };
        self.has(Self::GRAPH).then(|| Graph { label, on: self.has(Self::GRAPH_ON) })
    }
}

/// Below 2^50, a double that was read from two decimals leads back to the whole number of hundredths.
const EXACT: f64 = 1_125_899_906_842_624.0;

/// One decode line as a small plain value: its numbers, and where its texts stand. It belongs to a
/// [`Batch`](super::Batch).
#[derive(Clone, Copy, Debug, Default)]
pub struct CompactLine {
    /// Where the line begins in the block, or the index of its number.
    pub(super) at: u32,
    pub(in crate::evidence) time: Spot,
    pub(in crate::evidence) message: Spot,
    pub(in crate::evidence) voice: u32,
    pub(in crate::evidence) running_req: u32,
    pub(in crate::evidence) queue_req: u32,
    pub(in crate::evidence) accept_len: u32,
    pub(in crate::evidence) accept_rate: u32,
    /// Tokens per second, in hundredths.
    pub(in crate::evidence) throughput: u64,
    pub(in crate::evidence) iteration: u64,
    pub(in crate::evidence) flags: Flags,
}

impl CompactLine {
    /// The numbers of `line`, without its texts.
    pub(crate) fn of(line: &DecodeLine<'_>) -> Self {
        let tps = line.gen_throughput_tps.map(|tps| tps * 100.0);
        let is_huge = tps.is_some_and(|tps| tps >= EXACT);
        let flags = Flags::default()
            .with(Flags::TIME, line.timestamp.is_some())
            .with(Flags::ITERATION, line.iteration.is_some())
            .with(Flags::ACCEPT_LEN, line.accept_len.is_some())
            .with(Flags::ACCEPT_RATE, line.accept_rate.is_some())
            .with(Flags::THROUGHPUT, tps.is_some_and(|tps| tps >= 0.0))
            .with(Flags::HUGE_THROUGHPUT, is_huge)
            .with(Flags::CAPPED, line.capped)
            .with_graph(line.graph);
        Self {
            running_req: line.running_req,
            queue_req: line.queue_req,
            accept_len: line.accept_len.map_or(0, Hundredths::count),
            accept_rate: line.accept_rate.map_or(0, Hundredths::count),
            // What was printed is a whole number of hundredths.
            throughput: crate::law::whole(tps.unwrap_or(0.0).min(EXACT).round()),
            iteration: line.iteration.unwrap_or(0),
            flags,
            ..Self::default()
        }
    }

    /// The number of the line's rank tags among those of its batch, from 0.
    #[must_use]
    pub fn voice(&self) -> u32 {
        self.voice
    }

    /// `#running-req`.
    #[must_use]
    pub fn running_req(&self) -> u32 {
        self.running_req
    }

    /// `#queue-req`.
    #[must_use]
    pub fn queue_req(&self) -> u32 {
        self.queue_req
    }

    /// `accept len`.
    #[must_use]
    pub fn accept_len(&self) -> Option<Hundredths> {
        self.flags.has(Flags::ACCEPT_LEN).then(|| Hundredths::new(self.accept_len))
    }

    /// `accept rate`.
    #[must_use]
    pub fn accept_rate(&self) -> Option<Hundredths> {
        self.flags.has(Flags::ACCEPT_RATE).then(|| Hundredths::new(self.accept_rate))
    }

    /// `gen throughput (token/s)` in hundredths of a token; above 2^50 it counts as that.
    #[must_use]
    pub fn throughput_hundredths(&self) -> Option<u64> {
        self.flags.has(Flags::THROUGHPUT).then_some(self.throughput)
    }

    /// Forward pass number.
    #[must_use]
    pub fn iteration(&self) -> Option<u64> {
        self.flags.has(Flags::ITERATION).then_some(self.iteration)
    }

    /// `cuda graph: True` and its relatives.
    #[must_use]
    pub fn graph(&self) -> Option<Graph> {
        self.flags.graph()
    }

    /// `cap len` or `block accept len` is present.
    #[must_use]
    pub fn is_capped(&self) -> bool {
        self.flags.has(Flags::CAPPED)
    }

    pub(crate) fn has_time(&self) -> bool {
        self.flags.has(Flags::TIME)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_one_line_of_the_cache() {
        assert_eq!(size_of::<CompactLine>(), 64);
    }

    #[test]
    fn numbers_go_in_and_out() {
        let line = DecodeLine {
            timestamp: None,
            tags: crate::evidence::Tags::default(),
            iteration: Some(u64::MAX),
            running_req: 7,
            accept_len: Some(Hundredths::new(u32::MAX)),
            accept_rate: None,
            graph: Some(Graph { label: GraphLabel::Musa, on: false }),
            gen_throughput_tps: Some(1523.77),
            queue_req: u32::MAX,
            capped: true,
            message: b"",
        };
        let compact = CompactLine::of(&line);
        assert_eq!((compact.running_req(), compact.queue_req()), (7, u32::MAX));
        assert_eq!((compact.accept_len(), compact.accept_rate()), (line.accept_len, None));
        assert_eq!((compact.graph(), compact.iteration()), (line.graph, line.iteration));
        assert_eq!(compact.throughput_hundredths(), Some(152_377));
        assert!(compact.is_capped() && !compact.has_time());
        let compact = CompactLine::of(&DecodeLine { gen_throughput_tps: Some(1e17), ..line });
        assert_eq!(compact.throughput_hundredths(), Some(1 << 50));
    }
}
