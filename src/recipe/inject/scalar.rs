//! A scalar's bytes, and how to write another value in its style.

use std::ops::Range;

use crate::recipe::source::Source;
use crate::yaml::{Scalar, ScalarStyle};

/// The bytes of a scalar, quotes included; none where it spans lines or is a block.
pub(super) fn range(source: &Source<'_>, scalar: &Scalar) -> Option<Range<usize>> {
    let start = source.byte(scalar.at)?;
    let rest = source.text.get(start..)?;
    let length = match scalar.style {
        ScalarStyle::Plain => {
            if scalar.text.is_empty() || !rest.starts_with(&*scalar.text) {
                return None;
            }
            scalar.text.len()
        }
        ScalarStyle::Quoted => quoted_length(rest)?,
        ScalarStyle::Block => return None,
    };
    let range = start..start.checked_add(length)?;
    let is_one_line = !source.text.get(range.clone())?.contains(['\n', '\r']);
    is_one_line.then_some(range)
}

fn quoted_length(text: &str) -> Option<usize> {
    let mut letters = text.char_indices();
    let (_, quote) = letters.next()?;
    let mut letters = letters.peekable();
    while let Some((index, letter)) = letters.next() {
        match (quote, letter) {
            ('"', '\\') => {
                letters.next();
            }
            ('\'', '\'') if letters.peek().is_some_and(|(_, next)| *next == '\'') => {
                letters.next();
            }
            (quote @ ('"' | '\''), letter) if letter == quote => return Some(index + 1),
            _ => {}
        }
    }
    None
}

/// A value in the style of the scalar that it replaces.
pub(super) fn in_style(old: &str, value: &str) -> String {
    match old.chars().next() {
        Some('\'') => format!("'{}'", value.replace('\'', "''")),
        Some('"') => format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"")),
        _ => value.to_owned(),
    }
}
