//! YAML as a tree in which every node knows its line and column.
//!
//! Curve files and recipes are edited by hand and merged by machines, so this room is strict where a lenient reader
//! would lose something without a word: it refuses duplicate keys, tabs as indentation, a second document and tags.
//! Anchors, aliases and merge keys are resolved. Input is hostile: size, depth and expanded nodes have limits.

mod error;
mod key;
mod limits;
mod node;
mod parse;
mod position;
mod quote;
mod raw;
mod resolve;

pub use error::{YamlError, YamlErrorKind};
pub use limits::Limits;
pub use node::{Entry, Mapping, Node, NodeKind, Scalar, ScalarStyle, Sequence};
pub use parse::{parse, parse_bytes, parse_with};
pub use position::Position;
pub(crate) use quote::quoted;

#[cfg(test)]
mod tests;
