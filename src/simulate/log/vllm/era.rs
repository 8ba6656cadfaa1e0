//! The eras of vLLM's lines.

use crate::engine::{EngineVersion, Fact, First, History, Release};

/// How vLLM writes about speculative decoding (ENGINES.md 2.3 has one example of each).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VllmEra {
    /// V0: counts since the start. Matches behind a rejection count there; none are simulated.
    V0,
    /// V1 before April 2025: a rate and two counts.
    V1Early,
    /// About 0.8.3: the rate in percent.
    Percent,
    /// 0.9 and 0.10: with the mean acceptance length and the rate of each position.
    Positions,
    /// About 0.11 to today: with throughputs, the rate at the end.
    Throughput,
}

impl VllmEra {
    /// Every era, oldest first.
    pub const ALL: [Self; 5] = [Self::V0, Self::V1Early, Self::Percent, Self::Positions, Self::Throughput];

    /// The era of a version; the newest one without a version.
    #[must_use]
    pub fn of(version: Option<&EngineVersion>) -> Self {
        ERAS.at(version).behaviour()
    }

    /// What stands before the process id, where there is one.
    pub(super) fn names_process(self) -> bool {
        self == Self::Throughput
    }

    /// Whether the window of an idle engine is written, with `nan` for its rates; newer ones pass over it.
    pub(super) fn writes_idle(self) -> bool {
        matches!(self, Self::V1Early | Self::Percent | Self::Positions)
    }

    /// File and line of the engine's line and of the window.
    pub(super) fn places(self) -> (&'static str, &'static str) {
        match self {
            Self::V0 => ("metrics.py:345] ", "metrics.py:367] "),
            Self::V1Early | Self::Percent | Self::Positions => ("[loggers.py:116] ", "[metrics.py:86] "),
            Self::Throughput => ("[loggers.py:271] ", "[metrics.py:101] "),
        }
    }
}

const LINES: &str = "lines of the releases; the first release of an era to a minor version";

const fn since(first: Release, last: Option<Release>, behaviour: VllmEra) -> Fact<VllmEra> {
    Fact { first: First::Release(first), last, behaviour, source: LINES }
}

const ERAS: History<VllmEra> = History {
    origin: Fact {
        first: First::Ever,
        last: Some(Release::new(0, 7, 3)),
        behaviour: VllmEra::V0,
        source: LINES,
    },
    changes: &[
        since(Release::new(0, 8, 0), Some(Release::new(0, 8, 2)), VllmEra::V1Early),
        since(Release::new(0, 8, 3), Some(Release::new(0, 8, 5)), VllmEra::Percent),
        since(Release::new(0, 9, 0), Some(Release::new(0, 10, 2)), VllmEra::Positions),
        since(Release::new(0, 11, 0), None, VllmEra::Throughput),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fact_check as check;

    #[test]
    fn the_table_is_whole() {
        check::history(&ERAS);
        check::releases(&ERAS);
        assert_eq!(VllmEra::of(None), VllmEra::Throughput);
        assert_eq!(VllmEra::of(Some(&"0.9.0.1".parse().unwrap())), VllmEra::Positions);
        assert!(ERAS.rows().map(|row| row.behaviour).eq(VllmEra::ALL));
    }
}
