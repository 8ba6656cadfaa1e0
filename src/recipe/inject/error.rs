//! Why nothing is written.

use crate::golden::LookupError;
use crate::recipe::{ReadError, SelectorError};
use crate::yaml::Position;

/// A refusal: nothing was changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InjectError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Another kind of file.
    #[error("not an srt-slurm recipe; inject writes to no other file")]
    NoRecipe,
    /// A framework that is not known.
    #[error(
        "framework '{0}' is not known; known are sglang, vllm, trtllm, atom, tilert and their dynamo and disagg forms"
    )]
    Framework(String),
    /// The recipe's engine is another one.
    #[error("{at}: the recipe's {role} server is {found}, and the framework asked for is {asked}")]
    OtherEngine {
        /// Where the recipe says so.
        at: Position,
        /// The role.
        role: &'static str,
        /// The recipe's engine.
        found: String,
        /// The one asked for.
        asked: &'static str,
    },
    /// A selector that selects nothing.
    #[error(transparent)]
    Selector(#[from] SelectorError),
    /// Nothing to inject into.
    #[error("{}no server drafts; there is nothing to inject", in_variant(.variant.as_deref()))]
    NothingDrafts {
        /// The variant.
        variant: Option<String>,
    },
    /// An evaluation.
    #[error(
        "{}this is an evaluation recipe (EVAL_ONLY, or eval in its name): simulated acceptance would make its text wrong; \
         --eval-only takes every pin away",
        in_variant(.variant.as_deref())
    )]
    Evaluation {
        /// The variant.
        variant: Option<String>,
    },
    /// No model prefix.
    #[error("no model prefix: name it with --model")]
    NoModel,
    /// No cell.
    #[error("{}{error}", in_variant(.variant.as_deref()))]
    Lookup {
        /// The variant.
        variant: Option<String>,
        /// Why.
        error: Box<LookupError>,
    },
    /// The drafting of a role cannot be read.
    #[error("{at}: {}{message}", in_variant(.variant.as_deref()))]
    Drafting {
        /// The variant.
        variant: Option<String>,
        /// Where.
        at: Position,
        /// What.
        message: String,
    },
    /// The engine cannot hold the value.
    #[error("{}{message}", in_variant(.variant.as_deref()))]
    Engine {
        /// The variant.
        variant: Option<String>,
        /// Why.
        message: String,
    },
    /// The caller takes away what is to be written.
    #[error("--unset {0} would remove a setting that is injected")]
    CallersUnset(String),
    /// Variants need different arguments.
    #[error("the variants need different arguments; name one of them: {}", .0.join(", "))]
    VariantsDiffer(Vec<String>),
    /// A place that cannot be changed without changing more.
    #[error("{at}: {why}; change it by hand")]
    Place {
        /// Where.
        at: Position,
        /// Why.
        why: String,
    },
    /// The new text does not say what was meant: an anchor or a merge shares the place.
    #[error("{0}")]
    NotAsMeant(String),
}

fn in_variant(variant: Option<&str>) -> String {
    variant.map_or_else(String::new, |variant| format!("{variant}: "))
}
