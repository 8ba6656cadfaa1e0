//! Lines of engines that print sums and not lines of a batch: vLLM, TensorRT-LLM, ATOM.

use crate::engine::Engine;

use super::record::RecordKind;
use super::{AtomForced, AtomStats, TrtllmIteration, VllmEngine, VllmSpec};

/// One line of an engine other than SGLang.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum EngineLine {
    /// What vLLM drafted and accepted in a window.
    VllmSpec(VllmSpec),
    /// What a vLLM engine did in a window.
    VllmEngine(VllmEngine),
    /// One iteration of TensorRT-LLM; it never shows acceptance.
    TrtllmIteration(TrtllmIteration),
    /// Statistics of ATOM.
    AtomStats(AtomStats),
    /// ATOM says what it was told to accept.
    AtomForced(AtomForced),
}

impl EngineLine {
    /// The engine that printed it.
    #[must_use]
    pub fn engine(&self) -> Engine {
        match self {
            Self::VllmSpec(_) | Self::VllmEngine(_) => Engine::Vllm,
            Self::TrtllmIteration(_) => Engine::Trtllm,
            Self::AtomStats(_) | Self::AtomForced(_) => Engine::Atom,
        }
    }

    /// Which kind of record it is.
    #[must_use]
    pub fn kind(&self) -> RecordKind {
        match self {
            Self::VllmSpec(line) if line.is_legacy => RecordKind::SpecLegacy,
            Self::VllmSpec(_) => RecordKind::Spec,
            Self::VllmEngine(_) => RecordKind::Engine,
            Self::TrtllmIteration(_) => RecordKind::Iter,
            Self::AtomStats(line) if line.is_cumulative => RecordKind::Cumulative,
            Self::AtomStats(_) => RecordKind::Interval,
            Self::AtomForced(_) => RecordKind::ForcedTarget,
        }
    }

    /// The engine's own time, as printed.
    #[must_use]
    pub fn timestamp(&self) -> Option<&str> {
        match self {
            Self::VllmSpec(line) => line.timestamp.as_deref(),
            Self::VllmEngine(line) => line.timestamp.as_deref(),
            Self::TrtllmIteration(line) => line.timestamp.as_deref(),
            Self::AtomStats(line) => line.timestamp.as_deref(),
            Self::AtomForced(line) => line.timestamp.as_deref(),
        }
    }
}
