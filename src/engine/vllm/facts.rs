//! What vLLM builds do with synthetic acceptance. The changes are known by pull request and month, not by release, so
//! a stated version gets the newest row with a doubt.

use super::super::{Change, EngineVersion, Era, Fact, First, History};

/// How acceptance is forced, with `rejection_sample_method: "synthetic"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Synthetic {
    /// Not at all.
    Absent,
    /// One scalar, `synthetic_acceptance_rate`, for a decaying schedule; V2 runner only. The prefix is the same as
    /// later, the law is another.
    ScalarRate,
    /// `synthetic_acceptance_length` (floor or ceiling per request and step) or `synthetic_acceptance_rates`
    /// (unconditional, one a position); both runners. A length outside [1, K + 1] is a start-up error.
    LengthOrRates,
}

/// Whether a synthetic step costs what a real one does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// The softmax of the verification is skipped: steps are cheaper than real ones.
    SkipsSoftmax,
    /// The normal kernel runs, softmax included.
    PaysSoftmax,
}

/// Whether Ascend NPUs with the V2 runner force acceptance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ascend {
    /// No.
    Absent,
    /// Yes.
    Supported,
}

/// The behaviours of one build, each with its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// How acceptance is forced.
    pub synthetic: Era<Synthetic>,
    /// Whether a synthetic step costs what a real one does.
    pub kernel: Era<Kernel>,
    /// Ascend NPUs with the V2 runner.
    pub ascend: Era<Ascend>,
}

/// The behaviours of `version`; those of the newest build known without one.
#[must_use]
pub fn at(version: Option<&EngineVersion>) -> Facts {
    Facts { synthetic: SYNTHETIC.at(version), kernel: KERNEL.at(version), ascend: ASCEND.at(version) }
}

const fn origin<B: Copy>(behaviour: B, source: &'static str) -> Fact<B> {
    Fact { first: First::Ever, last: None, behaviour, source }
}

const fn since<B: Copy>(reference: &'static str, month: Option<&'static str>, behaviour: B) -> Fact<B> {
    Fact { first: First::Change(Change { reference, month }), last: None, behaviour, source: reference }
}

pub(super) const SYNTHETIC: History<Synthetic> = History {
    origin: origin(Synthetic::Absent, "before vllm-project/vllm#38045"),
    changes: &[
        since("vllm-project/vllm#38045", Some("2026-03"), Synthetic::ScalarRate),
        since("vllm-project/vllm#40662", Some("2026-04"), Synthetic::LengthOrRates),
    ],
};

const KERNEL: History<Kernel> = History {
    origin: origin(Kernel::SkipsSoftmax, "before vllm-project/vllm#41035"),
    // After #40662; the month is not stated.
    changes: &[since("vllm-project/vllm#41035", None, Kernel::PaysSoftmax)],
};

const ASCEND: History<Ascend> = History {
    origin: origin(Ascend::Absent, "before vllm-project/vllm-ascend#15556"),
    changes: &[since("vllm-project/vllm-ascend#15556", Some("2026-09"), Ascend::Supported)],
};

#[cfg(test)]
mod tests {
    use super::super::super::{Doubt, fact::check};
    use super::*;

    #[test]
    fn the_table_is_whole() {
        check::history(&SYNTHETIC);
        check::history(&KERNEL);
        check::history(&ASCEND);
    }

    #[test]
    fn the_newest_build_takes_a_length() {
        assert_eq!(at(None).synthetic.behaviour(), Synthetic::LengthOrRates);
        assert_eq!(at(None).synthetic.doubt, None);
    }

    #[test]
    fn a_stated_version_is_in_doubt() {
        let facts = at(Some(&"0.19.0".parse().unwrap()));
        let change = Change { reference: "vllm-project/vllm#40662", month: Some("2026-04") };
        assert_eq!(facts.synthetic.behaviour(), Synthetic::LengthOrRates);
        assert_eq!(facts.synthetic.doubt, Some(Doubt::Undated(change)));
    }
}
