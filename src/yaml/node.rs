//! The tree.

use std::sync::Arc;

use super::Position;

/// A value of a document. An aliased or merged node keeps the position of its definition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// Text, a number, a flag or nothing: one word of the document.
    Scalar(Scalar),
    /// A list.
    Sequence(Sequence),
    /// Keys with values.
    Mapping(Mapping),
}

/// What a node is, without its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A scalar that means "no value".
    Null,
    /// Any other scalar.
    Scalar,
    /// A list.
    Sequence,
    /// A mapping.
    Mapping,
}

/// One word of a document, uninterpreted: whether `3` is a number is for the reader of a field to say.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scalar {
    /// First character.
    pub at: Position,
    /// The text, quotes and escapes resolved.
    pub text: Arc<str>,
    /// How it was written.
    pub style: ScalarStyle,
}

/// How a scalar was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarStyle {
    /// Bare.
    Plain,
    /// In `'` or `"`.
    Quoted,
    /// A literal or folded block.
    Block,
}

/// A list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sequence {
    /// First character.
    pub at: Position,
    /// The values in order.
    pub items: Vec<Node>,
}

/// Keys with values, in the order of the document; every key once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mapping {
    /// First character.
    pub at: Position,
    /// The entries in order; merged ones stand where their `<<` stood.
    pub entries: Vec<Entry>,
}

/// One key with its value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// The key; only scalars are accepted.
    pub key: Scalar,
    /// The value.
    pub value: Node,
}

impl Node {
    /// Where the node begins.
    #[must_use]
    pub fn at(&self) -> Position {
        match self {
            Self::Scalar(scalar) => scalar.at,
            Self::Sequence(sequence) => sequence.at,
            Self::Mapping(mapping) => mapping.at,
        }
    }

    /// What the node is.
    #[must_use]
    pub fn kind(&self) -> NodeKind {
        match self {
            Self::Scalar(scalar) if scalar.is_null() => NodeKind::Null,
            Self::Scalar(_) => NodeKind::Scalar,
            Self::Sequence(_) => NodeKind::Sequence,
            Self::Mapping(_) => NodeKind::Mapping,
        }
    }
}

impl NodeKind {
    /// The kind with its article, for messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Null => "no value",
            Self::Scalar => "a single value",
            Self::Sequence => "a list",
            Self::Mapping => "a mapping",
        }
    }
}

impl Scalar {
    /// Whether it means "no value": nothing at all, `~` or `null`, without quotes.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.style == ScalarStyle::Plain && matches!(&*self.text, "" | "~" | "null" | "Null" | "NULL")
    }

    /// Whether it was written without quotes and not as a block.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.style == ScalarStyle::Plain
    }
}

impl Mapping {
    /// The value under `key`, compared as text.
    ///
    /// ```
    /// let root = accsim::yaml::parse("model: glm\nsteps: 3\n")?;
    /// let accsim::yaml::Node::Mapping(map) = root else { unreachable!() };
    /// assert_eq!(map.get("steps").map(|value| value.at().line), Some(2));
    /// assert!(map.get("absent").is_none());
    /// # Ok::<(), accsim::yaml::YamlError>(())
    /// ```
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries.iter().find(|entry| &*entry.key.text == key).map(|entry| &entry.value)
    }
}
