//! What SGLang versions do with a simulated accept length. The one table; [`at`] reads it.
//!
//! Read in the released versions 0.3.6 to 0.5.23, unless a row names another source.

use super::super::{DraftFamily, EngineVersion, Era, First, History};
use super::rows::{from_to, release, since, stated, until};

/// Where the three settings are read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variables {
    /// Nobody reads any.
    None,
    /// `SIMULATE_ACC_LEN` and relatives.
    Unprefixed,
    /// `SGLANG_SIMULATE_ACC_LEN` and relatives; the un-prefixed names are ignored without a word.
    Prefixed,
}

/// Which law a draw follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Always the rounded normal that later versions call `multinomial`; no variable.
    AlwaysMultinomial,
    /// The same; the variable is read and not used.
    ReadNotUsed,
    /// The variable decides; unset it means `multinomial`.
    DefaultMultinomial,
    /// The variable decides; unset it means `match-expected`.
    DefaultMatchExpected,
}

/// The largest length that a draw can give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clamp {
    /// One token less than a verify step can emit.
    OneShort,
    /// As many as a verify step can emit.
    Max,
}

/// Which tokens a simulated step emits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenMode {
    /// Id 100 for every predicted token; no variable.
    AlwaysFixed,
    /// `SGLANG_SIMULATE_ACC_TOKEN_MODE` decides; unset it means `fixed`, id 100.
    DefaultFixed,
}

/// When DFLASH looks at its token mode. EAGLE and NGRAM look at the first verify step, in every version that has modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenModeCheck {
    /// At the first verify step: an unknown mode is an error there.
    FirstVerify,
    /// When the worker is built: the server does not start.
    Construction,
}

/// How the length variable's text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LengthText {
    /// Any text turns simulation on, so `0` and `-1` force 1; no number is a crash at the first verify step.
    AnyText,
    /// On if it is a float above 0; no number is a Python warning, and simulation is off.
    PositiveFloat,
}

/// Whether an algorithm obeys the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// The algorithm does not exist.
    Absent,
    /// It runs, and accepts for real.
    Ignored,
    /// It obeys without overlap scheduling and accepts for real with it.
    WithoutOverlap,
    /// It rounds the target once, half to even, and ignores the method.
    RoundedOnce,
    /// It obeys: fraction and method.
    Honoured,
}

/// Whether speculation runs with overlap scheduling. Without it the log counts acceptance after a finished request was
/// cut (slightly low), with it before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// Off unless asked for.
    DefaultOff,
    /// On unless switched off.
    DefaultOn,
    /// Always on.
    Always,
}

/// `SGLANG_SIMULATE_ACC_GREEDY`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Greedy {
    /// There is no such variable.
    Absent,
    /// Read on HIP only; true unless set.
    HipDefaultTrue,
    /// Read on every platform; false unless set.
    DefaultFalse,
}

/// What `accept rate` of a decode line means. A accepted tokens (the target's own included), C request-steps, n
/// configured draft tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceptRate {
    /// The line has no accept rate.
    NotPrinted,
    /// A / (C (`num_steps` + 1)).
    OverNumStepsPlusOne,
    /// A / (C n).
    OverDraftTokens,
    /// (A - C) / (C (n - 1)): accepted drafts over proposed drafts.
    DraftsOverDrafts,
}

/// The behaviours of one version, each with its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Where the settings are read from.
    pub variables: Era<Variables>,
    /// Which law a draw follows.
    pub method: Era<Method>,
    /// The largest length that a draw can give.
    pub clamp: Era<Clamp>,
    /// Which tokens a simulated step emits.
    pub token_mode: Era<TokenMode>,
    /// When DFLASH looks at its token mode.
    pub dflash_token_mode: Era<TokenModeCheck>,
    /// How the length variable's text is read.
    pub length_text: Era<LengthText>,
    /// EAGLE, EAGLE3, NEXTN, MTP, STANDALONE.
    pub eagle: Era<Support>,
    /// NGRAM.
    pub ngram: Era<Support>,
    /// DSPARK.
    pub dspark: Era<Support>,
    /// DFLASH.
    pub dflash: Era<Support>,
    /// Overlap scheduling of EAGLE.
    pub overlap: Era<Overlap>,
    /// `SGLANG_SIMULATE_ACC_GREEDY`.
    pub greedy: Era<Greedy>,
    /// The definition of `accept rate` in decode lines.
    pub accept_rate: Era<AcceptRate>,
}

impl Facts {
    /// Whether an algorithm obeys the settings.
    #[must_use]
    pub fn support(&self, family: DraftFamily) -> Era<Support> {
        match family {
            DraftFamily::Eagle | DraftFamily::Standalone => self.eagle,
            DraftFamily::Ngram => self.ngram,
            DraftFamily::DSpark => self.dspark,
            DraftFamily::DFlash => self.dflash,
        }
    }
}

/// The first release that holds any target with an algorithm, fraction and method included.
#[must_use]
pub fn holds_since(family: DraftFamily) -> First {
    match family {
        DraftFamily::Eagle | DraftFamily::Standalone => EAGLE,
        DraftFamily::Ngram => NGRAM,
        DraftFamily::DSpark => DSPARK,
        DraftFamily::DFlash => DFLASH,
    }
    .began(Support::Honoured)
}

/// The behaviours of `version`; those of the newest release known without one.
///
/// ```
/// use accsim::engine::sglang::facts::{self, Method, Variables};
///
/// let old = facts::at(Some(&"0.5.2".parse()?));
/// assert_eq!(old.variables.behaviour(), Variables::Unprefixed);
/// assert_eq!(old.method.behaviour(), Method::DefaultMultinomial);
/// assert_eq!(facts::at(None).method.behaviour(), Method::DefaultMatchExpected);
/// # Ok::<(), accsim::engine::EngineVersionError>(())
/// ```
#[must_use]
pub fn at(version: Option<&EngineVersion>) -> Facts {
    Facts {
        variables: VARIABLES.at(version),
        method: METHOD.at(version),
        clamp: CLAMP.at(version),
        token_mode: TOKEN_MODE.at(version),
        dflash_token_mode: DFLASH_TOKEN_MODE.at(version),
        length_text: LENGTH_TEXT.at(version),
        eagle: EAGLE.at(version),
        ngram: NGRAM.at(version),
        dspark: DSPARK.at(version),
        dflash: DFLASH.at(version),
        overlap: OVERLAP.at(version),
        greedy: GREEDY.at(version),
        accept_rate: ACCEPT_RATE.at(version),
    }
}

pub(super) const VARIABLES: History<Variables> = History {
    origin: until(release(0, 4, 4).post(4), Variables::None),
    changes: &[
        from_to(release(0, 4, 5), release(0, 5, 2), Variables::Unprefixed),
        since(release(0, 5, 3), Variables::Prefixed),
    ],
};

pub(super) const METHOD: History<Method> = History {
    origin: until(release(0, 4, 6).post(5), Method::AlwaysMultinomial),
    changes: &[
        from_to(release(0, 4, 7), release(0, 4, 7).post(1), Method::ReadNotUsed),
        from_to(release(0, 4, 8), release(0, 5, 10).post(1), Method::DefaultMultinomial),
        since(release(0, 5, 11), Method::DefaultMatchExpected),
    ],
};

pub(super) const CLAMP: History<Clamp> = History {
    origin: until(release(0, 4, 7).post(1), Clamp::OneShort),
    changes: &[since(release(0, 4, 8), Clamp::Max)],
};

pub(super) const TOKEN_MODE: History<TokenMode> = History {
    origin: until(release(0, 5, 14), TokenMode::AlwaysFixed),
    changes: &[since(release(0, 5, 15), TokenMode::DefaultFixed)],
};

const DFLASH_TOKEN_MODE: History<TokenModeCheck> = History {
    origin: until(release(0, 5, 22), TokenModeCheck::FirstVerify),
    changes: &[since(release(0, 5, 23), TokenModeCheck::Construction)],
};

const LENGTH_TEXT: History<LengthText> = History {
    origin: until(release(0, 5, 2), LengthText::AnyText),
    changes: &[since(release(0, 5, 3), LengthText::PositiveFloat)],
};

const EAGLE: History<Support> = History {
    origin: until(release(0, 4, 4).post(4), Support::Ignored),
    changes: &[
        from_to(release(0, 4, 5), release(0, 5, 3).post(3), Support::WithoutOverlap),
        since(release(0, 5, 4), Support::Honoured),
    ],
};

const NGRAM: History<Support> = History {
    origin: until(release(0, 5, 13).post(1), Support::Ignored),
    changes: &[since(release(0, 5, 14), Support::Honoured)],
};

const DSPARK: History<Support> = History {
    origin: until(release(0, 5, 15).post(1), Support::Absent),
    changes: &[
        stated(
            from_to(release(0, 5, 16), release(0, 5, 17), Support::RoundedOnce),
            "SGLang 0.5.16 and 0.5.17, source; measured on 0.5.16",
        ),
        stated(since(release(0, 5, 18), Support::Honoured), "sgl-project/sglang#33463"),
    ],
};

const DFLASH: History<Support> = History {
    origin: until(release(0, 5, 16), Support::Ignored),
    changes: &[since(release(0, 5, 17), Support::Honoured)],
};

const OVERLAP: History<Overlap> = History {
    origin: until(release(0, 5, 10).post(1), Overlap::DefaultOff),
    changes: &[
        from_to(release(0, 5, 11), release(0, 5, 13).post(1), Overlap::DefaultOn),
        since(release(0, 5, 14), Overlap::Always),
    ],
};

const GREEDY: History<Greedy> = History {
    origin: until(release(0, 5, 21), Greedy::Absent),
    changes: &[
        from_to(release(0, 5, 22), release(0, 5, 22), Greedy::HipDefaultTrue),
        since(release(0, 5, 23), Greedy::DefaultFalse),
    ],
};

const ACCEPT_RATE: History<AcceptRate> = History {
    origin: until(release(0, 5, 3).post(1), AcceptRate::NotPrinted),
    changes: &[
        from_to(release(0, 5, 3).post(2), release(0, 5, 5).post(3), AcceptRate::OverNumStepsPlusOne),
        from_to(release(0, 5, 6), release(0, 5, 10).post(1), AcceptRate::OverDraftTokens),
        since(release(0, 5, 11), AcceptRate::DraftsOverDrafts),
    ],
};

#[cfg(test)]
mod tests;
