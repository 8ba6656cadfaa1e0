//! A text with its lines: from positions to bytes and back.

use crate::yaml::{Position, Scalar, ScalarStyle};

/// A text and where its lines begin.
#[derive(Clone, Debug)]
pub(crate) struct Source<'a> {
    pub(crate) text: &'a str,
    /// Byte at which each line begins.
    lines: Vec<usize>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        // A byte order mark has no column.
        let first = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let mut lines = vec![first];
        let bytes = text.as_bytes();
        for (index, byte) in bytes.iter().enumerate() {
            // LF, CR LF and a lone CR end a line, as YAML has it.
            let ends = *byte == b'\n' || (*byte == b'\r' && bytes.get(index + 1) != Some(&b'\n'));
            if ends {
                lines.push(index + 1);
            }
        }
        Self { text, lines }
    }

    /// The byte at a position; none beyond the end of the text.
    pub(crate) fn byte(&self, at: Position) -> Option<usize> {
        let start = *self.lines.get(at.line.checked_sub(1)?)?;
        let line = self.text.get(start..)?;
        let column = at.column.checked_sub(1)?;
        if line.as_bytes().get(..column).is_some_and(<[u8]>::is_ascii) {
            return Some(start + column);
        }
        let mut characters = line.char_indices();
        match characters.nth(column) {
            Some((offset, _)) => Some(start + offset),
            None if line.chars().count() == column => Some(self.text.len()),
            None => None,
        }
    }

    /// The position of a byte.
    pub(crate) fn position(&self, byte: usize) -> Position {
        let line = self.lines.partition_point(|start| *start <= byte).max(1);
        let start = self.lines.get(line - 1).copied().unwrap_or_default();
        let column = self.text.get(start..byte).map_or(0, |before| before.chars().count());
        Position { line, column: column + 1 }
    }

    /// The text from a position on.
    pub(crate) fn from(&self, at: Position) -> Option<&'a str> {
        self.text.get(self.byte(at)?..)
    }

    /// Where the text of a scalar begins, if it stands in the file as it is: `{` of a JSON text, behind its quote.
    pub(crate) fn verbatim(&self, scalar: &Scalar) -> Option<Position> {
        let rest = self.from(scalar.at)?;
        match scalar.style {
            ScalarStyle::Plain => rest.starts_with(&*scalar.text).then_some(scalar.at),
            ScalarStyle::Quoted => {
                let inner = rest.strip_prefix(['\'', '"'])?;
                let is_verbatim = inner.starts_with(&*scalar.text);
                is_verbatim.then_some(Position { line: scalar.at.line, column: scalar.at.column + 1 })
            }
            ScalarStyle::Block => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_and_bytes_lead_to_each_other() {
        let text = "\u{feff}a: 1\r\nb\u{e9}: 2\nc";
        let source = Source::new(text);
        for (index, character) in text.char_indices().skip(1) {
            if character == '\n' && text.as_bytes()[index - 1] == b'\r' {
                continue;
            }
            let at = source.position(index);
            assert_eq!(source.byte(at), Some(index), "{character:?} {at}");
        }
        assert_eq!(source.byte(Position { line: 2, column: 3 }), text.find(": 2"));
        assert_eq!(source.byte(Position { line: 9, column: 1 }), None);
    }
}
