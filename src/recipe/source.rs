//! A text with its lines: from positions to bytes and back.

use crate::yaml::{Position, Scalar, ScalarStyle};

/// A text and where its lines begin.
#[derive(Clone, Debug)]
pub(crate) struct Source<'a> {
    pub(crate) text: &'a str,
    /// Byte at which each line begins.
    lines: Vec<usize>,
    /// Characters that begin before each block of bytes: a line may be as long as the text.
    before: Vec<usize>,
}

/// Bytes of a block.
const BLOCK: usize = 256;

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
        let mut characters = 0;
        let before = bytes.chunks(BLOCK).map(|block| {
            let count = characters;
            characters += block.iter().filter(|byte| begins(**byte)).count();
            count
        });
        let before = before.collect();
        Self { text, lines, before }
    }

    /// The byte at a position; none beyond the end of the text.
    pub(crate) fn byte(&self, at: Position) -> Option<usize> {
        let start = *self.lines.get(at.line.checked_sub(1)?)?;
        let character = self.characters(start).checked_add(at.column.checked_sub(1)?)?;
        // The block that the character begins in.
        let block = self.before.partition_point(|before| *before <= character).saturating_sub(1);
        let left = character.checked_sub(self.before.get(block).copied().unwrap_or_default())?;
        let from = block * BLOCK;
        let rest = self.text.as_bytes().get(from..)?;
        let mut begun = rest.iter().enumerate().filter(|(_, byte)| begins(**byte));
        let found = begun.nth(left).map(|(offset, _)| from + offset);
        let is_end = || self.characters(self.text.len()) == character;
        found.or_else(|| is_end().then_some(self.text.len()))
    }

    /// Characters that begin before a byte.
    fn characters(&self, byte: usize) -> usize {
        let block = (byte / BLOCK).min(self.before.len().saturating_sub(1));
        let within = self.text.as_bytes().get(block * BLOCK..byte).unwrap_or_default();
        let before = self.before.get(block).copied().unwrap_or_default();
        before + within.iter().filter(|byte| begins(**byte)).count()
    }

    /// The position of a byte.
    pub(crate) fn position(&self, byte: usize) -> Position {
        let line = self.lines.partition_point(|start| *start <= byte).max(1);
        let start = self.lines.get(line - 1).copied().unwrap_or_default();
        let is_place = start <= byte && self.text.is_char_boundary(byte);
        let column = if is_place { self.characters(byte) - self.characters(start) } else { 0 };
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

/// Whether a character begins with this byte.
fn begins(byte: u8) -> bool {
    byte & 0xc0 != 0x80
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

    /// Lines longer than a block, with characters of several bytes across its edges.
    #[test]
    fn columns_of_long_lines_count_characters() {
        let line = "ab\u{e9}\u{1f600}".repeat(200);
        let text = format!("{line}\n{line}");
        let source = Source::new(&text);
        for (number, line_start) in [(1, 0), (2, line.len() + 1)] {
            for (column, (offset, _)) in line.char_indices().enumerate() {
                let at = Position { line: number, column: column + 1 };
                assert_eq!(source.position(line_start + offset), at);
                assert_eq!(source.byte(at), Some(line_start + offset));
            }
        }
        assert_eq!(source.byte(Position { line: 2, column: 801 }), Some(text.len()));
        assert_eq!(source.byte(Position { line: 2, column: 802 }), None);
    }
}
