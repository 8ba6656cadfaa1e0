//! The most tokens that one verify step can emit, per algorithm.

use super::super::DraftFamily;

/// Which number of the server's arguments bounds the accept length, and how.
///
/// It is never `speculative_num_draft_tokens` for EAGLE (equal to it only for topk 1), and never
/// `speculative_num_steps` for the block drafters, for which SGLang prints 1 or 0.
///
/// ```
/// use accsim::engine::{Drafter, sglang::MaxRule};
///
/// assert_eq!(MaxRule::of(Drafter::Eagle3.family()).max(5), 6); // 5 steps
/// assert_eq!(MaxRule::of(Drafter::DSpark.family()).max(5), 6); // block size 5
/// assert_eq!(MaxRule::of(Drafter::DFlash.family()).max(8), 8); // block size 8, the anchor included
/// assert_eq!(MaxRule::of(Drafter::Ngram.family()).max(6), 6); // 6 draft tokens
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MaxRule {
    /// `speculative_num_steps` + 1.
    NumStepsPlusOne,
    /// `speculative_num_draft_tokens`.
    DraftTokens,
    /// `speculative_dspark_block_size` + 1.
    BlockSizePlusOne,
    /// `speculative_dflash_block_size`: the block holds the anchor token too.
    BlockSize,
}

impl MaxRule {
    /// The rule of an algorithm.
    #[must_use]
    pub fn of(family: DraftFamily) -> Self {
        match family {
            DraftFamily::Eagle | DraftFamily::Standalone => Self::NumStepsPlusOne,
            DraftFamily::Ngram => Self::DraftTokens,
            DraftFamily::DSpark => Self::BlockSizePlusOne,
            DraftFamily::DFlash => Self::BlockSize,
        }
    }

    /// The largest accept length, from the number that the rule names.
    #[must_use]
    pub fn max(self, number: u32) -> u32 {
        match self {
            Self::NumStepsPlusOne | Self::BlockSizePlusOne => number.saturating_add(1),
            Self::DraftTokens | Self::BlockSize => number,
        }
    }
}
