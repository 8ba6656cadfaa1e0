//! The engines by name.

use std::fmt;
use std::str::FromStr;

use super::SettingKind;

/// An inference engine whose accept length can be forced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Engine {
    /// SGLang.
    Sglang,
    /// vLLM.
    Vllm,
    /// TensorRT-LLM.
    Trtllm,
    /// ATOM.
    Atom,
    /// TileRT.
    Tilert,
}

/// A name that is no engine known here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown engine '{0}'; known are sglang, vllm, trtllm, atom, tilert")]
pub struct UnknownEngine(pub String);

impl Engine {
    /// Every engine.
    pub const ALL: [Self; 5] = [Self::Sglang, Self::Vllm, Self::Trtllm, Self::Atom, Self::Tilert];

    /// The name that flags and JSON use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sglang => "sglang",
            Self::Vllm => "vllm",
            Self::Trtllm => "trtllm",
            Self::Atom => "atom",
            Self::Tilert => "tilert",
        }
    }

    /// Where it reads a forced accept length from.
    #[must_use]
    pub fn reads(self) -> SettingKind {
        match self {
            Self::Sglang | Self::Trtllm | Self::Tilert => SettingKind::Env,
            Self::Vllm => SettingKind::Json,
            Self::Atom => SettingKind::Arg,
        }
    }

    /// How its draft samples where a golden curve depends on that and nobody states it: ATOM counts as probabilistic.
    /// SGLang has no setting that would state it, so there it stays open.
    #[must_use]
    pub fn default_draft_sample_method(self) -> Option<&'static str> {
        match self {
            Self::Atom => Some("probabilistic"),
            Self::Sglang | Self::Vllm | Self::Trtllm | Self::Tilert => None,
        }
    }

    /// The name that its makers write.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Sglang => "SGLang",
            Self::Vllm => "vLLM",
            Self::Trtllm => "TensorRT-LLM",
            Self::Atom => "ATOM",
            Self::Tilert => "TileRT",
        }
    }
}

/// The name that its makers write: for messages.
impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}

/// The name that flags use.
impl FromStr for Engine {
    type Err = UnknownEngine;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|engine| engine.name() == name)
            .ok_or_else(|| UnknownEngine(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back() {
        for engine in Engine::ALL {
            assert_eq!(engine.name().parse(), Ok(engine));
        }
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = "tensorrt".parse::<Engine>().unwrap_err().to_string();
        for engine in Engine::ALL {
            assert!(error.contains(engine.name()), "{error}");
        }
    }
}
