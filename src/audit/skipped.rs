//! Lines that count for nothing: how many, and the first of them.

use crate::evidence::{Place, SkipReason};

/// Bytes of a skipped line that are kept: more than anybody shows of it.
const KEPT_BYTES: usize = 1024;

/// Lines that count for nothing, by the reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Cut, spliced, or elided by hand.
    pub truncated: u64,
    /// The same line again.
    pub duplicate: u64,
    /// Prose, documentation, or a line of another kind.
    pub lookalike: u64,
    /// No running request.
    pub idle: u64,
    /// Outside the time that was asked for, or among the first lines that were to be passed over.
    pub out_of_scope: u64,
    /// NaN or infinite acceptance fields.
    pub not_finite: u64,
}

impl Skipped {
    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.truncated + self.duplicate + self.lookalike + self.idle + self.out_of_scope + self.not_finite
    }

    fn count(&mut self, kind: SkipKind) {
        let count = match kind {
            SkipKind::Unread(SkipReason::Truncated) => &mut self.truncated,
            SkipKind::Unread(SkipReason::Duplicate) => &mut self.duplicate,
            SkipKind::Unread(SkipReason::Lookalike) => &mut self.lookalike,
            SkipKind::Unread(SkipReason::NotFinite) => &mut self.not_finite,
            SkipKind::Idle => &mut self.idle,
            SkipKind::OutOfScope => &mut self.out_of_scope,
        };
        *count += 1;
    }
}

/// Why a line counts for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipKind {
    /// It is no record, or one that came before.
    Unread(SkipReason),
    /// It has no running request.
    Idle,
    /// It stands outside the time that was asked for, or among the first lines that were to be passed over.
    OutOfScope,
}

impl SkipKind {
    /// The word for it in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unread(reason) => reason.name(),
            Self::Idle => "idle",
            Self::OutOfScope => "out_of_scope",
        }
    }
}

/// One line that counts for nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedLine {
    /// Where it stands.
    pub place: Place,
    /// Why it counts for nothing.
    pub kind: SkipKind,
    /// The text of the record, a kilobyte of it at most: the message of a decode line, else some of what stands before
    /// its head too.
    pub text: Vec<u8>,
}

/// Counts such lines and keeps the first of them.
#[derive(Clone, Debug, Default)]
pub(super) struct SkippedLines {
    pub(super) counts: Skipped,
    pub(super) first: Vec<SkippedLine>,
    pub(super) most: usize,
}

impl SkippedLines {
    /// How many lines can still be kept.
    pub(super) fn room(&self) -> usize {
        self.most.saturating_sub(self.first.len())
    }

    pub(super) fn add(&mut self, kind: SkipKind, place: impl Fn() -> Place, text: &[u8]) {
        self.counts.count(kind);
        if self.room() > 0 {
            let text = text.get(..KEPT_BYTES).unwrap_or(text).to_vec();
            self.first.push(SkippedLine { place: place(), kind, text });
        }
    }
}
