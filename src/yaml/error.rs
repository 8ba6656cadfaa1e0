//! Why a text was refused.

use super::quote::quoted;
use super::{NodeKind, Position};

/// A refused document: where, what was found, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {kind}")]
pub struct YamlError {
    /// The place of the fault.
    pub at: Position,
    /// The fault.
    pub kind: YamlErrorKind,
}

/// What is wrong with a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum YamlErrorKind {
    /// The bytes are no UTF-8.
    #[error("found a byte that is not UTF-8; expected UTF-8 text")]
    NotUtf8,
    /// A control character that YAML does not allow.
    #[error("found the control character U+{:04X}; expected printable text", u32::from(*.0))]
    ControlCharacter(char),
    /// More bytes than [`super::Limits::input_bytes`].
    #[error("found {found} bytes; expected at most {limit}")]
    TooLarge {
        /// Bytes of the text.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// Deeper than [`super::Limits::depth`].
    #[error("nested deeper than {limit} levels")]
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// More nodes than [`super::Limits::nodes`].
    #[error("more than {limit} values after aliases were expanded")]
    TooManyNodes {
        /// The limit.
        limit: usize,
    },
    /// A tab in the indentation.
    #[error("found a tab in the indentation; expected spaces")]
    Tab,
    /// No YAML.
    #[error("invalid YAML: {found}{}", after(*.last))]
    Syntax {
        /// The scanner's complaint.
        found: String,
        /// The last node that was read: the cause may stand there.
        last: Option<Position>,
    },
    /// A key for the second time; integers are compared as numbers.
    #[error("duplicate key {}; it already stands at {first}", quoted(.key))]
    DuplicateKey {
        /// The key as it stands the second time.
        key: String,
        /// Where it stands first.
        first: Position,
    },
    /// A list or a mapping as a key.
    #[error("found {} as a key; expected a single value", .0.name())]
    KeyNotScalar(NodeKind),
    /// `<<` with something that has no keys.
    #[error("found {} behind the merge key '<<'; expected a mapping or a list of mappings", .0.name())]
    MergeNotMapping(NodeKind),
    /// An alias inside the node that it names.
    #[error("found an alias inside its own anchor; expected an alias of an earlier value")]
    RecursiveAlias,
    /// `---` or text after the first document.
    #[error("found a second document; expected one")]
    SecondDocument,
    /// `!!str` and its like.
    #[error("found the tag {}; expected a value without a tag", quoted(.0))]
    Tag(String),
}

fn after(last: Option<Position>) -> String {
    last.map_or_else(String::new, |at| format!(" (the value before it is at {at})"))
}
