//! Where the rest of a compact line is found.

use crate::evidence::batch::{Batch, CompactLine};
use crate::evidence::{DecodeLine, Graph, Timestamp};

use super::time::Time;

/// Where the texts of a compact line stand, and what it shares with others.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source<'a> {
    /// In the batch at hand, to which the line belongs.
    Batch(&'a Batch<'a>),
    /// In the line itself, whose numbers are in a compact one.
    Line(&'a DecodeLine<'a>),
}

impl<'a> Source<'a> {
    /// The engine's time, as printed.
    pub(crate) fn timestamp(self, line: &CompactLine) -> Option<Timestamp<'a>> {
        match self {
            Self::Batch(batch) => batch.time(line).map(Timestamp::of_digits),
            Self::Line(line) => line.timestamp,
        }
    }

    #[inline]
    pub(crate) fn time(self, line: &CompactLine) -> Option<Time> {
        match self {
            Self::Batch(batch) => batch.time(line).map(Time::of),
            Self::Line(line) => line.timestamp.map(|time| Time::of(time.as_bytes())),
        }
    }

    #[inline]
    pub(crate) fn graph(self, line: &CompactLine) -> Option<Graph> {
        match self {
            Self::Batch(batch) => batch.graph(line),
            Self::Line(line) => line.graph,
        }
    }

    #[inline]
    pub(crate) fn is_capped(self, line: &CompactLine) -> bool {
        match self {
            Self::Batch(batch) => batch.is_capped(line),
            Self::Line(line) => line.capped,
        }
    }

    pub(crate) fn message(self, line: &CompactLine) -> &'a [u8] {
        match self {
            Self::Batch(batch) => batch.message(line),
            Self::Line(line) => line.message,
        }
    }

    pub(super) fn iteration(self, line: &CompactLine) -> Option<u64> {
        match self {
            Self::Batch(batch) => batch.iteration(line),
            Self::Line(line) => line.iteration,
        }
    }

    /// The line of the batch with this index.
    pub(super) fn line(self, index: u32) -> Option<&'a CompactLine> {
        match self {
            Self::Batch(batch) => batch.line(index),
            Self::Line(_) => None,
        }
    }
}
