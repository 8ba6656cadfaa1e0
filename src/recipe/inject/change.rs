//! One value of a recipe that must change.

use std::fmt;

/// A value to write.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A text: a variable of an environment.
    Text(String),
    /// A number or a word without quotes: an argument.
    Bare(String),
    /// Keys of vLLM's JSON: to set (with the value as JSON), and to take away.
    Json {
        /// Keys with values.
        set: Vec<(&'static str, String)>,
        /// Keys to take away.
        unset: Vec<&'static str>,
    },
    /// Nothing may stand there.
    Gone,
}

/// A change and its path in the recipe.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Desired {
    pub(crate) path: Vec<String>,
    pub(crate) change: Change,
}

/// An argument of `srtctl apply`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Override {
    /// `--set path=value`, the value as JSON.
    Set {
        /// Keys joined by dots.
        path: String,
        /// JSON.
        value: String,
    },
    /// `--unset path`.
    Unset {
        /// Keys joined by dots.
        path: String,
    },
}

/// One word a line, as the contract has it.
impl fmt::Display for Override {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Set { path, value } => write!(f, "--set\n{path}={value}"),
            Self::Unset { path } => write!(f, "--unset\n{path}"),
        }
    }
}
