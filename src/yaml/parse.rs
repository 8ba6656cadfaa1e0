//! Text in, tree out.

use std::sync::Arc;

use super::{Limits, Node, Position, Scalar, ScalarStyle, YamlError, YamlErrorKind, raw, resolve};

/// Reads one document under the default [`Limits`].
///
/// A byte order mark and CR LF line ends are accepted; a text without a document is one empty value.
///
/// ```
/// use accsim::yaml::{Node, YamlErrorKind, parse};
///
/// let root = parse("base: &b {1: 1.78}\nmode:\n  <<: *b\n  2: 2.38\n")?;
/// let Node::Mapping(root) = root else { unreachable!() };
/// let Some(Node::Mapping(mode)) = root.get("mode") else { unreachable!() };
/// assert_eq!(mode.entries.len(), 2);
///
/// let error = parse("a:\n  3: 2.83\n  3: 2.78\n").unwrap_err();
/// assert_eq!((error.at.line, error.at.column), (3, 3));
/// assert!(matches!(error.kind, YamlErrorKind::DuplicateKey { .. }));
/// # Ok::<(), accsim::yaml::YamlError>(())
/// ```
pub fn parse(text: &str) -> Result<Node, YamlError> {
    parse_with(text, &Limits::default())
}

/// As [`parse`], for bytes that should be UTF-8.
pub fn parse_bytes(bytes: &[u8]) -> Result<Node, YamlError> {
    let limits = Limits::default();
    // Before the UTF-8 check: a gigabyte is refused unread.
    check_size(bytes.len(), &limits)?;
    match std::str::from_utf8(bytes) {
        Ok(text) => parse_with(text, &limits),
        Err(error) => {
            let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let at = end_of(std::str::from_utf8(valid).unwrap_or_default());
            Err(YamlError { at, kind: YamlErrorKind::NotUtf8 })
        }
    }
}

/// As [`parse`], under limits of the caller's.
pub fn parse_with(text: &str, limits: &Limits) -> Result<Node, YamlError> {
    check_size(text.len(), limits)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    check_characters(text)?;
    let arena = raw::read(text, limits)?;
    Ok(resolve::resolve(&arena, limits)?.unwrap_or_else(empty))
}

/// What a text without a document holds.
pub(super) fn empty() -> Node {
    Node::Scalar(Scalar { at: Position::START, text: Arc::from(""), style: ScalarStyle::Plain })
}

fn check_size(found: usize, limits: &Limits) -> Result<(), YamlError> {
    if found > limits.input_bytes {
        let kind = YamlErrorKind::TooLarge { found, limit: limits.input_bytes };
        return Err(YamlError { at: Position::START, kind });
    }
    Ok(())
}

/// Refuses what YAML 1.2 calls not printable; the parser would let most of it through.
fn check_characters(text: &str) -> Result<(), YamlError> {
    let fault = text
        .char_indices()
        .find(|(_, character)| character.is_control() && !matches!(character, '\t' | '\n' | '\r' | '\u{85}'));
    match fault {
        Some((index, character)) => {
            let at = end_of(text.get(..index).unwrap_or_default());
            Err(YamlError { at, kind: YamlErrorKind::ControlCharacter(character) })
        }
        None => Ok(()),
    }
}

/// The position behind `text`.
fn end_of(text: &str) -> Position {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut at = Position::START;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let ends_line =
            character == '\n' || (character == '\r' && characters.peek().is_none_or(|next| *next != '\n'));
        if ends_line {
            at = Position { line: at.line + 1, column: 1 };
        } else if character != '\r' {
            at.column += 1;
        }
    }
    at
}
