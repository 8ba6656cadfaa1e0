//! Drafting algorithms by the names that engines, curves and recipes use.

use std::fmt;
use std::str::FromStr;

/// A drafting algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Drafter {
    /// EAGLE, EAGLE-2.
    Eagle,
    /// EAGLE-3.
    Eagle3,
    /// SGLang's older name of multi-token prediction; servers resolve it to EAGLE.
    NextN,
    /// Multi-token prediction heads of the model itself.
    Mtp,
    /// A separate small draft model.
    Standalone,
    /// N-gram look-up, no draft model.
    Ngram,
    /// DSpark: one block a step.
    DSpark,
    /// DFlash: one block a step, the anchor token included.
    DFlash,
}

/// Algorithms that share one way of drafting: a curve of one member says little about another family's server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DraftFamily {
    /// EAGLE, EAGLE3, NEXTN, MTP.
    Eagle,
    /// A separate draft model.
    Standalone,
    /// N-gram look-up.
    Ngram,
    /// DSpark.
    DSpark,
    /// DFlash.
    DFlash,
}

/// A name that is no drafting algorithm known here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown drafting algorithm '{0}'; known are eagle, eagle3, nextn, mtp, standalone, ngram, dspark, dflash"
)]
pub struct UnknownDrafter(pub String);

impl Drafter {
    /// The family it belongs to.
    #[must_use]
    pub fn family(self) -> DraftFamily {
        match self {
            Self::Eagle | Self::Eagle3 | Self::NextN | Self::Mtp => DraftFamily::Eagle,
            Self::Standalone => DraftFamily::Standalone,
            Self::Ngram => DraftFamily::Ngram,
            Self::DSpark => DraftFamily::DSpark,
            Self::DFlash => DraftFamily::DFlash,
        }
    }

    /// The name in capitals, as SGLang prints it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Eagle => "EAGLE",
            Self::Eagle3 => "EAGLE3",
            Self::NextN => "NEXTN",
            Self::Mtp => "MTP",
            Self::Standalone => "STANDALONE",
            Self::Ngram => "NGRAM",
            Self::DSpark => "DSPARK",
            Self::DFlash => "DFLASH",
        }
    }
}

impl fmt::Display for Drafter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Letter case does not matter: curves write `dspark`, servers print `DSPARK`.
impl FromStr for Drafter {
    type Err = UnknownDrafter;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        const ALL: [Drafter; 8] = [
            Drafter::Eagle,
            Drafter::Eagle3,
            Drafter::NextN,
            Drafter::Mtp,
            Drafter::Standalone,
            Drafter::Ngram,
            Drafter::DSpark,
            Drafter::DFlash,
        ];
        ALL.into_iter()
            .find(|drafter| drafter.name().eq_ignore_ascii_case(name))
            .ok_or_else(|| UnknownDrafter(name.to_owned()))
    }
}
