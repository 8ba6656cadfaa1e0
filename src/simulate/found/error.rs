//! Why a file tells nothing.

use crate::yaml::{YamlError, quoted};

/// A refused file: where, what was found, and what was expected.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}{kind}", .line.map_or_else(String::new, |line| format!("line {line}: ")))]
pub struct FoundError {
    /// Line, from 1, where there is one.
    pub line: Option<usize>,
    /// The fault.
    pub kind: FoundErrorKind,
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FoundErrorKind {
    /// A value that only a run could tell.
    #[error(
        "{name} is set to {}, which only the run resolves; give the trace of the run (set -x) or its environment",
        quoted(.value)
    )]
    Unresolved {
        /// The setting.
        name: String,
        /// Its value.
        value: String,
    },
    /// A line that speaks of a setting and is no shell command.
    #[error("cannot read {}; expected a line like NAME=value or export NAME=value", quoted(.0))]
    NoCommand(String),
    /// No JSON.
    #[error("not JSON: {0}")]
    NoJson(String),
    /// A JSON document of another kind.
    #[error(
        "this JSON holds no settings; expected what accsim env --json prints, an object of environment variables, or a \
         speculative configuration of vLLM"
    )]
    OtherJson,
    /// A value of the wrong type.
    #[error("{name} is {found}; expected {expected}")]
    Type {
        /// The key.
        name: String,
        /// What was found.
        found: String,
        /// What was expected.
        expected: &'static str,
    },
    /// No YAML.
    #[error(transparent)]
    Yaml(#[from] YamlError),
    /// YAML that is no recipe of a kind known here.
    #[error("not a recipe that can be read here: {0}")]
    NoRecipe(String),
    /// A name that looks like a setting, and none that is one.
    #[error("{found} is no setting of simulated acceptance; did you mean {meant}?")]
    NearMiss {
        /// The name.
        found: String,
        /// The setting that it looks like.
        meant: &'static str,
    },
    /// Not one setting, nor a server.
    #[error(
        "no setting of simulated acceptance in {lines} {}, and no server; expected what accsim env prints in any format, an \
         env file, a shell's exports, or a trace (set -x) of the run",
        if *.lines == 1 { "line" } else { "lines" }
    )]
    NoSetting {
        /// Lines of the file.
        lines: usize,
    },
    /// A recipe where settings were expected.
    #[error("{0} belongs to a recipe; read it with --recipe")]
    Recipe(String),
    /// An engine that is not known.
    #[error("{name} is {}; known are sglang, vllm, trtllm, atom, tilert", quoted(.found))]
    Engine {
        /// The key.
        name: &'static str,
        /// What was found.
        found: String,
    },
}

impl FoundErrorKind {
    /// The fault at a line.
    pub(super) fn at(self, line: usize) -> FoundError {
        FoundError { line: Some(line), kind: self }
    }

    /// The fault of the file as a whole.
    pub(super) fn somewhere(self) -> FoundError {
        FoundError { line: None, kind: self }
    }
}
