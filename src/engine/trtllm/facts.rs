//! How TensorRT-LLM builds read the forced number of accepted drafts. The change is known by pull request and month,
//! not by release, so a stated version gets the newest row with a doubt.

use super::super::{Change, EngineVersion, Era, Fact, First, History, Models};

/// What the text of `TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS` must be. Either reader takes 0 for "off", cuts at the
/// step's draft length in silence, and after unreadable text warns and accepts for real.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// An integer. `1.49` is unreadable.
    Integer,
    /// A float: its floor, plus 1 with the probability of its fraction.
    Float,
}

/// The behaviours of one build, each with its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Where the draft is part of the target model.
    pub one_model: Era<Reader>,
    /// Where the draft is a model of its own.
    pub two_model: Era<Reader>,
}

impl Facts {
    /// The readers in front of the one that holds, each with the change that ended it.
    pub(super) fn in_front_of_one_model(&self) -> Vec<(Change, Reader)> {
        ONE_MODEL.in_front_of(&self.one_model.fact)
    }

    /// The reader of one way of running the draft; the one-model path where that is not known.
    #[must_use]
    pub fn reader(&self, models: Option<Models>) -> Era<Reader> {
        match models {
            Some(Models::Two) => self.two_model,
            Some(Models::One) | None => self.one_model,
        }
    }
}

/// The behaviours of `version`; those of the newest build known without one.
#[must_use]
pub fn at(version: Option<&EngineVersion>) -> Facts {
    Facts { one_model: ONE_MODEL.at(version), two_model: TWO_MODEL.at(version) }
}

const FLOAT: Change = Change { reference: "NVIDIA/TensorRT-LLM#13569", month: Some("2026-05") };

const ONE_MODEL: History<Reader> = History {
    origin: Fact {
        first: First::Ever,
        last: None,
        behaviour: Reader::Integer,
        source: "before NVIDIA/TensorRT-LLM#13569",
    },
    changes: &[Fact {
        first: First::Change(FLOAT),
        last: None,
        behaviour: Reader::Float,
        source: FLOAT.reference,
    }],
};

const TWO_MODEL: History<Reader> = History {
    origin: Fact {
        first: First::Ever,
        last: None,
        behaviour: Reader::Integer,
        source: "TensorRT-LLM, source of the two-model path",
    },
    changes: &[],
};

#[cfg(test)]
mod tests {
    use super::super::super::{Doubt, fact::check};
    use super::*;

    #[test]
    fn the_table_is_whole() {
        check::history(&ONE_MODEL);
        check::history(&TWO_MODEL);
    }

    #[test]
    fn readers_of_both_paths() {
        let newest = at(None);
        assert_eq!(newest.reader(None).behaviour(), Reader::Float);
        assert_eq!(newest.reader(Some(Models::One)).behaviour(), Reader::Float);
        assert_eq!(newest.reader(Some(Models::Two)).behaviour(), Reader::Integer);
        let stated = at(Some(&"1.2.0".parse().unwrap()));
        assert_eq!(stated.one_model.doubt, Some(Doubt::Undated(FLOAT)));
        assert_eq!(stated.two_model.doubt, None);
    }
}
