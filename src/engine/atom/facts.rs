//! How ATOM builds are told an accept length. The changes are known by pull request, not by release, so a stated
//! version gets the newest row with a doubt.

use super::super::{Change, EngineVersion, Era, Fact, First, History};

/// The arguments that force acceptance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forcing {
    /// None.
    Absent,
    /// `--spec-decode-acceptance-rate` alone; the number of accepted drafts is geometric.
    RateGeometric,
    /// `--spec-decode-acceptance-length` (1 to K + 1) or the rate ((AL - 1) / K, 0 to 1), not both; floor or ceiling
    /// either way. A value out of range, or `DSpark` confidence scheduling beside it, is a start-up error.
    LengthOrRate,
}

/// The behaviours of one build, each with its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The arguments that force acceptance.
    pub forcing: Era<Forcing>,
}

/// The behaviours of `version`; those of the newest build known without one.
#[must_use]
pub fn at(version: Option<&EngineVersion>) -> Facts {
    Facts { forcing: FORCING.at(version) }
}

const RATE: Change = Change { reference: "ROCm/ATOM#1850", month: Some("2026-08") };
const LENGTH: Change = Change { reference: "ROCm/ATOM#1948", month: None };

pub(super) const FORCING: History<Forcing> = History {
    origin: Fact {
        first: First::Ever,
        last: None,
        behaviour: Forcing::Absent,
        source: "before ROCm/ATOM#1850",
    },
    changes: &[
        Fact {
            first: First::Change(RATE),
            last: None,
            behaviour: Forcing::RateGeometric,
            source: RATE.reference,
        },
        Fact {
            first: First::Change(LENGTH),
            last: None,
            behaviour: Forcing::LengthOrRate,
            source: LENGTH.reference,
        },
    ],
};

#[cfg(test)]
mod tests {
    use super::super::super::{Doubt, fact::check};
    use super::*;

    #[test]
    fn the_table_is_whole() {
        check::history(&FORCING);
    }

    #[test]
    fn a_stated_version_is_in_doubt() {
        assert_eq!(at(None).forcing.behaviour(), Forcing::LengthOrRate);
        assert_eq!(at(None).forcing.doubt, None);
        let stated = at(Some(&"0.1.0".parse().unwrap())).forcing;
        assert_eq!(stated.behaviour(), Forcing::LengthOrRate);
        assert_eq!(stated.doubt, Some(Doubt::Undated(LENGTH)));
    }
}
