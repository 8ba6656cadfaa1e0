//! What the servers were asked for, and what they really did.

use accsim::audit::Mechanism;
use accsim::golden::Target;
use accsim::law::{AcceptanceLaw, RealHead, Setting};

/// Decode lines of each rank.
pub(crate) const SIZES: [u64; 5] = [10, 30, 100, 300, 1000];

/// A target that golden curves have, and the most that a step can emit.
pub(crate) struct Asked {
    pub(crate) length: f64,
    pub(crate) max: u32,
}

impl Asked {
    pub(crate) fn target(&self) -> Target {
        Target::explicit(self.length, self.max).unwrap()
    }
}

/// Values of committed cells: the middle and both ends of an interval, a short and a long draft, and a whole number.
pub(crate) const ASKED: [Asked; 7] = [
    Asked { length: 3.51, max: 6 },
    Asked { length: 2.78, max: 4 },
    Asked { length: 2.99, max: 4 },
    Asked { length: 1.79, max: 2 },
    Asked { length: 4.06, max: 9 },
    Asked { length: 2.5, max: 3 },
    Asked { length: 4.0, max: 6 },
];

/// What a server did with its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Truth {
    /// What it was asked for.
    Honest,
    /// The same at 2 % above and below, in turn.
    OffByMargin,
    /// Rounded once.
    Rounded,
    /// The other one of the two neighbouring whole numbers.
    Constant,
    /// Drafts really judged, with the target as their mean.
    Real,
    /// The same at batch 1.
    RealAlone,
    /// A draw for each request.
    PerRequest,
    /// Method `multinomial`.
    Multinomial,
    /// The same at batch 1.
    MultinomialAlone,
}

impl Truth {
    pub(crate) const ALL: [Self; 9] = [
        Self::Honest,
        Self::OffByMargin,
        Self::Rounded,
        Self::Constant,
        Self::Real,
        Self::PerRequest,
        Self::Multinomial,
        Self::RealAlone,
        Self::MultinomialAlone,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Honest => "honest: match-expected at the target",
            Self::OffByMargin => "match-expected 2 % off the target",
            Self::Rounded => "rounded",
            Self::Constant => "constant",
            Self::Real => "real, with the target as its mean",
            Self::PerRequest => "per-request",
            Self::Multinomial => "multinomial",
            Self::RealAlone => "real, with the target as its mean, batch 1",
            Self::MultinomialAlone => "multinomial, batch 1",
        }
    }

    /// The mechanism that the audit should name.
    pub(crate) fn mechanism(self) -> Option<Mechanism> {
        match self {
            Self::Honest => Some(Mechanism::MatchExpected),
            Self::OffByMargin => None,
            Self::Rounded => Some(Mechanism::Rounded),
            Self::Constant => Some(Mechanism::Constant),
            Self::Real | Self::RealAlone => Some(Mechanism::Real),
            Self::PerRequest => Some(Mechanism::PerRequest),
            Self::Multinomial | Self::MultinomialAlone => Some(Mechanism::Multinomial),
        }
    }

    /// Whether the mechanism has to be named from enough lines on. At batch 1 a line shows no more than a sum of single
    /// draws, nearly normal: `multinomial` and real acceptance, whose mean and spread may be anything, differ in these two
    /// numbers alone, and may be left open.
    pub(crate) fn is_told_apart(self) -> bool {
        !matches!(self, Self::RealAlone | Self::MultinomialAlone)
    }

    /// Whether this target is among those where it shows: off by the margin or more, or with another spread. At a whole
    /// number the constant laws and both two-point laws coincide; a step of at most two tokens leaves `multinomial` and
    /// real acceptance only two lengths; and a server that emits 1.00 throughout is one that accepts nothing.
    pub(crate) fn differs(self, asked: &Asked) -> bool {
        let is_whole = asked.length.fract() == 0.0;
        match self {
            Self::Honest => true,
            Self::OffByMargin => !is_whole,
            // The audit takes real acceptance to scatter by a tenth of the most that its mean allows, or more. Where a draw
            // for each request scatters nearly as much, the two are the same to it.
            Self::PerRequest => {
                let most = (asked.length - 1.0) * (f64::from(asked.max) - asked.length);
                !is_whole && self.law(asked, 0).variance() < most / 20.0
            }
            Self::Rounded | Self::Constant => {
                let mean = self.law(asked, 0).mean();
                !is_whole && (mean - asked.length).abs() >= 0.02 * asked.length && mean > 1.0
            }
            Self::Real | Self::RealAlone | Self::Multinomial | Self::MultinomialAlone => {
                !is_whole && asked.max > 2
            }
        }
    }

    /// Whether this batch is among those where it differs: at batch 1 a draw for each request is a draw for each step, and
    /// the laws that are hard to tell apart there have rows of their own.
    pub(crate) fn differs_at(self, batch: Option<u32>) -> bool {
        match self {
            Self::PerRequest | Self::Real | Self::Multinomial => batch != Some(1),
            Self::RealAlone | Self::MultinomialAlone => batch == Some(1),
            Self::Honest | Self::OffByMargin | Self::Rounded | Self::Constant => true,
        }
    }

    /// The law that writes audit number `number`.
    pub(crate) fn law(self, asked: &Asked, number: u32) -> AcceptanceLaw {
        let setting = |length| Setting::new(length, asked.max).unwrap();
        let at_target = setting(asked.length);
        match self {
            Self::Honest => AcceptanceLaw::match_expected(at_target),
            Self::OffByMargin => {
                // The side that a step can emit; both where it can.
                let above = asked.length * 1.02;
                let is_above = number.is_multiple_of(2) && above <= f64::from(asked.max);
                AcceptanceLaw::match_expected(setting(if is_above { above } else { asked.length * 0.98 }))
            }
            Self::Rounded => AcceptanceLaw::rounded(at_target),
            Self::Constant => {
                let rounded = *AcceptanceLaw::rounded(at_target).support().start();
                let two = AcceptanceLaw::match_expected(at_target);
                let (lo, hi) = two.support().into_inner();
                AcceptanceLaw::Constant(if rounded == lo { hi } else { lo })
            }
            Self::Real | Self::RealAlone => AcceptanceLaw::Real(real(asked)),
            Self::PerRequest => AcceptanceLaw::per_request(at_target),
            Self::Multinomial | Self::MultinomialAlone => AcceptanceLaw::multinomial(at_target),
        }
    }
}

/// A draft head that keeps its rate from position to position and has the target as its mean.
pub(crate) fn real(asked: &Asked) -> RealHead {
    let drafts = usize::try_from(asked.max - 1).unwrap();
    let head = |rate: f64| RealHead::new(&vec![rate; drafts]).unwrap();
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        if head(middle).mean() < asked.length { low = middle } else { high = middle }
    }
    head(low)
}
