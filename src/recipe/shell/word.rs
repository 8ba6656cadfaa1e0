//! One word of a command.

use std::sync::Arc;

use crate::recipe::number::{UNRESOLVED, masked};
use crate::yaml::{Position, Scalar, ScalarStyle};

/// A word as the command gets it, and where it is written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Word {
    /// The text; pieces that only the run resolves stand between markers.
    pub(crate) text: String,
    /// Where the value is written: a variable's at its assignment.
    pub(crate) at: Position,
    /// Where the text begins, if it stands in the file as it is.
    pub(crate) verbatim: Option<Position>,
    /// The variable of the environment whose absence made a default hold.
    pub(crate) defaulted: Option<String>,
}

impl Word {
    pub(crate) fn new(text: impl Into<String>, at: Position) -> Self {
        Self { text: text.into(), at, verbatim: None, defaulted: None }
    }

    pub(crate) fn is_resolved(&self) -> bool {
        !self.text.contains(UNRESOLVED)
    }

    /// The word as a value of an argument or a variable.
    pub(crate) fn scalar(&self) -> Scalar {
        self.part(&self.text)
    }

    /// A part of the word.
    pub(crate) fn part(&self, text: &str) -> Scalar {
        Scalar { at: self.at, text: Arc::from(text), style: ScalarStyle::Plain }
    }
}

/// A piece that only the run resolves. Its source is kept for messages, without what could be taken for structure of the
/// text around it.
pub(crate) fn unresolved(source: &str) -> String {
    const MOST: usize = 60;
    let mut text = String::from(UNRESOLVED);
    text.extend(source.chars().take(MOST).map(masked));
    text.push(UNRESOLVED);
    text
}
