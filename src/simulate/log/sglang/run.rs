//! One start of an SGLang server.

use crate::engine::sglang::MaxRule;
use crate::engine::sglang::facts::Overlap;
use crate::engine::{DraftFamily, Drafter};
use crate::evidence::Hundredths;
use crate::simulate::log::{Load, PlanError};

/// Most verify steps per decode line.
const MAX_INTERVAL: u32 = 1 << 20;

/// One start of a server, and what it then did.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Speculative decoding; none prints lines without accept lengths.
    pub speculation: Option<Speculation>,
    /// Whether speculation runs with overlap scheduling; none is the release's default. Without it EAGLE's acceptance is
    /// counted after a finished request was cut to its length, so that lines read slightly low.
    pub overlap: Option<bool>,
    /// `--decode-log-interval`: verify steps per decode line.
    pub decode_log_interval: u32,
    /// `random_seed` of the `server_args` line. Only where the draws are those of the engine's own generator for that
    /// seed: a log that names another one contradicts itself.
    pub random_seed: Option<u64>,
    /// Decode lines of each data-parallel rank.
    pub lines: u64,
    /// What clients ask for.
    pub load: Load,
    /// Times without a request, in the order of the lines they follow.
    pub pauses: Vec<Pause>,
}

/// The drafter's settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speculation {
    /// `speculative_algorithm`.
    pub algorithm: Drafter,
    /// `speculative_num_steps`; the block drafters print 1.
    pub num_steps: u32,
    /// `speculative_eagle_topk`.
    pub eagle_topk: Option<u32>,
    /// `speculative_num_draft_tokens`, at least 2.
    pub num_draft_tokens: u32,
    /// `speculative_dspark_block_size` or `speculative_dflash_block_size`.
    pub block_size: Option<u32>,
    /// What DSPARK prints when it does not verify everything, from 0.5.16 on.
    pub caps: Caps,
}

impl Speculation {
    /// A chain of EAGLE drafts: `num_steps` steps, top-k 1.
    #[must_use]
    pub fn eagle(num_steps: u32) -> Self {
        Self::of(Drafter::Eagle3, num_steps)
    }

    /// The settings of an algorithm that drafts `draft_length` tokens a verify step.
    #[must_use]
    pub fn of(algorithm: Drafter, draft_length: u32) -> Self {
        let draft_tokens = draft_length.saturating_add(1);
        // Values may be printed resolved: NEXTN and MTP servers are EAGLE servers.
        let printed = match algorithm {
            Drafter::NextN | Drafter::Mtp => Drafter::Eagle,
            other => other,
        };
        let family = algorithm.family();
        let is_chain = matches!(family, DraftFamily::Eagle | DraftFamily::Standalone);
        Self {
            algorithm: printed,
            num_steps: if is_chain { draft_length } else { u32::from(family != DraftFamily::Ngram) },
            // An n-gram tree of ten branches is the default; the others draft chains.
            eagle_topk: Some(if family == DraftFamily::Ngram { 10 } else { 1 }),
            num_draft_tokens: draft_tokens,
            block_size: match family {
                DraftFamily::DSpark => Some(draft_length),
                DraftFamily::DFlash => Some(draft_tokens),
                _ => None,
            },
            caps: Caps::default(),
        }
    }

    /// Most tokens that one verify step can emit.
    #[must_use]
    pub fn max_accept_length(&self) -> u32 {
        let rule = MaxRule::of(self.algorithm.family());
        match rule {
            MaxRule::NumStepsPlusOne => rule.max(self.num_steps),
            MaxRule::DraftTokens => rule.max(self.num_draft_tokens),
            MaxRule::BlockSizePlusOne | MaxRule::BlockSize => {
                self.block_size.map_or(self.num_draft_tokens, |block| rule.max(block))
            }
        }
    }
}

/// Fields of a DSPARK server with a cap; each is printed where it has a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caps {
    /// `cap len`.
    pub cap_len: Option<Hundredths>,
    /// `block accept len`.
    pub block_accept_len: Option<Hundredths>,
    /// `est uncap acc len`: the estimate and the two ends of its interval.
    pub uncapped: Option<[Hundredths; 3]>,
}

/// A time without a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// After this many decode lines of each rank no more requests are sent; the pause begins when the last is done.
    pub after_lines: u64,
    /// How long it lasts, in seconds.
    pub seconds: u32,
    /// Whether `/flush_cache` is called in it: the window at hand is lost, and the next begins anew.
    pub flush_cache: bool,
}

impl Run {
    /// EAGLE3 with 5 steps, 16 requests, 40 steps a line.
    #[must_use]
    pub fn new(lines: u64) -> Self {
        Self {
            speculation: Some(Speculation::eagle(5)),
            overlap: None,
            decode_log_interval: 40,
            random_seed: None,
            lines,
            load: Load::constant(16),
            pauses: Vec::new(),
        }
    }

    /// Whether acceptance is counted after the cut: EAGLE without overlap, as long as there is such a thing.
    pub(super) fn counts_after_cut(&self, release: Overlap) -> bool {
        let is_eagle = self.speculation.is_some_and(|drafter| {
            matches!(drafter.algorithm.family(), DraftFamily::Eagle | DraftFamily::Standalone)
        });
        let overlaps = match release {
            Overlap::Always => true,
            Overlap::DefaultOn => self.overlap.unwrap_or(true),
            Overlap::DefaultOff => self.overlap.unwrap_or(false),
        };
        is_eagle && !overlaps
    }

    pub(super) fn check(&self) -> Result<(), PlanError> {
        PlanError::range("the decode log interval", self.decode_log_interval, 1, MAX_INTERVAL)?;
        self.load.check()?;
        if let Some(drafter) = self.speculation {
            PlanError::range("draft tokens", drafter.num_draft_tokens, 2, 1 << 16)?;
            PlanError::range("draft steps", drafter.num_steps, 0, 1 << 16)?;
        }
        Ok(())
    }
}
