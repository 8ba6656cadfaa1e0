//! Changes as edits of bytes.

use std::ops::Range;

use crate::recipe::source::Source;
use crate::yaml::{Entry, Mapping, Node, Position, Scalar, Sequence};

use super::change::Change;
use super::scalar::{in_style, range};
use super::{InjectError, json};

/// Bytes to replace, and by what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) range: Range<usize>,
    pub(super) new: String,
}

/// A path that does not exist yet, with what shall stand at its end: all of one place are written as one block.
#[derive(Clone, Debug)]
pub(super) struct Missing {
    pub(super) path: Vec<String>,
    pub(super) text: String,
}

/// Replaces the value of a scalar that exists.
pub(super) fn replace(
    source: &Source<'_>,
    old: &Scalar,
    change: &Change,
) -> Result<Option<Edit>, InjectError> {
    let place = |why: &str| InjectError::Place { at: old.at, why: why.to_owned() };
    match change {
        Change::Text(value) | Change::Bare(value) => {
            if is_same(&old.text, value) {
                return Ok(None);
            }
            let range = range(source, old).ok_or_else(|| place("this value spans lines or is empty"))?;
            let written = source.text.get(range.clone()).unwrap_or_default();
            Ok(Some(Edit { new: in_style(written, value), range }))
        }
        Change::Json { set, unset } => {
            let new = json::edited(&old.text, set, unset).map_err(|why| place(&why))?;
            if *new == *old.text {
                return Ok(None);
            }
            let range = match range(source, old) {
                Some(range) => range,
                // A block of one line stands there as it is.
                None => verbatim(source, old).ok_or_else(|| place("this JSON spans lines"))?,
            };
            let written = source.text.get(range.clone()).unwrap_or_default();
            if in_style(written, &old.text) != written {
                return Err(place("this text has escapes that could not be kept as they are"));
            }
            Ok(Some(Edit { new: in_style(written, &new), range }))
        }
        Change::Gone => Ok(None),
    }
}

/// One number in several spellings needs no change.
fn is_same(old: &str, new: &str) -> bool {
    let number = crate::recipe::number::decimal;
    match (number(old), number(new)) {
        (Some(old), Some(new)) => old.total_cmp(&new).is_eq(),
        _ => old == new,
    }
}

/// The bytes of a block scalar of one line.
fn verbatim(source: &Source<'_>, old: &Scalar) -> Option<Range<usize>> {
    let text = old.text.trim_end_matches('\n');
    let from = source.byte(old.at)?;
    // The value stands behind its own indicator, within the block's few lines.
    let start = from + source.text.get(from..)?.find(text)?;
    Some(start..start + text.len())
}

/// Takes entries of one mapping away; all of its own entries go with their parent's key.
pub(super) fn remove(source: &Source<'_>, entry: &Entry, mapping: &Mapping) -> Result<Edit, InjectError> {
    let place = |why: &str| InjectError::Place { at: entry.key.at, why: why.to_owned() };
    let key = source.byte(entry.key.at).ok_or_else(|| place("this key cannot be found"))?;
    let end = match &entry.value {
        Node::Scalar(scalar) if scalar.text.is_empty() && scalar.is_plain() => {
            let rest = source.text.get(key..).unwrap_or_default();
            key + rest.find(':').map_or(rest.len(), |colon| colon + 1)
        }
        Node::Scalar(scalar) => range(source, scalar).ok_or_else(|| place("this value spans lines"))?.end,
        Node::Sequence(list) => {
            list_end(source, list).ok_or_else(|| place("the end of this list cannot be found"))?
        }
        Node::Mapping(_) => return Err(place("this is a mapping, where a value was expected")),
    };
    if is_flow(source, mapping.at) {
        return Ok(Edit { range: key..end, new: String::new() });
    }
    let start = line_start(source.text, key);
    if !source.text.get(start..key).is_some_and(|indent| indent.trim().is_empty()) {
        return Err(place("this key does not begin its line"));
    }
    Ok(Edit { range: start..line_end(source.text, end), new: String::new() })
}

/// What goes of a flow mapping when entries that stand one behind the other go: the commas between them and one beside.
pub(super) fn flow_range(text: &str, start: usize, end: usize) -> Range<usize> {
    let behind = text.get(end..).unwrap_or_default();
    if let Some(rest) = behind.trim_start().strip_prefix(',') {
        let spaces = rest.len() - rest.trim_start_matches(' ').len();
        return start..end + (behind.len() - rest.len()) + spaces;
    }
    let before = text.get(..start).unwrap_or_default().trim_end();
    before.strip_suffix(',').map_or(start..end, |head| head.len()..end)
}

/// Whether between two entries of a flow mapping nothing stands but a comma.
pub(super) fn is_comma(text: &str, between: Range<usize>) -> bool {
    text.get(between).is_some_and(|gap| gap.trim() == ",")
}

/// The end of a list of scalars, in brackets or line by line.
pub(super) fn list_end(source: &Source<'_>, list: &Sequence) -> Option<usize> {
    let start = source.byte(list.at)?;
    let behind = match list.items.last() {
        None => start + 1,
        Some(Node::Scalar(item)) => range(source, item)?.end,
        Some(Node::Sequence(inner)) => list_end(source, inner)?,
        Some(Node::Mapping(_)) => return None,
    };
    if !source.text.get(start..)?.starts_with('[') {
        return Some(behind);
    }
    // Between the last item and the bracket there may be a comma.
    let rest = source.text.get(behind..)?;
    let close = rest.find(']')?;
    rest.get(..close)?
        .trim_matches(|letter: char| letter.is_whitespace() || letter == ',')
        .is_empty()
        .then_some(behind + close + 1)
}

/// Whether a mapping is written in braces.
pub(super) fn is_flow(source: &Source<'_>, at: Position) -> bool {
    source.from(at).is_some_and(|rest| rest.starts_with('{'))
}

/// Writes paths that are missing below `mapping`, which `key` leads to (none for the document itself).
pub(super) fn insert(
    source: &Source<'_>,
    mapping: &Mapping,
    missing: &[Missing],
) -> Result<Edit, InjectError> {
    if is_flow(source, mapping.at) {
        return insert_flow(source, mapping, missing);
    }
    let place = |at, why: &str| InjectError::Place { at, why: why.to_owned() };
    // What a merge brought in stands elsewhere.
    let own: Vec<&Entry> = mapping.entries.iter().filter(|entry| entry.key.at >= mapping.at).collect();
    // A block of merges alone begins with the first of them.
    let first = own.first().map_or(mapping.at, |first| first.key.at);
    let indent = first.column - 1;
    let block = block(missing, indent, line_break(source.text));
    // Behind the last entry where that is one line, which an environment's are; else in front of the first block.
    if let Some(Entry { value: Node::Scalar(value), .. }) = own.last()
        && let Some(range) = range(source, value)
    {
        return Ok(behind_line(source.text, range.end, &block));
    }
    let first =
        own.iter().find(|entry| matches!(entry.value, Node::Mapping(_))).map_or(first, |entry| entry.key.at);
    let key = source.byte(first).ok_or_else(|| place(first, "this key cannot be found"))?;
    let start = line_start(source.text, key);
    if !source.text.get(start..key).is_some_and(|before| before.trim_matches([' ', '\u{feff}']).is_empty()) {
        return Err(place(first, "this key does not begin its line"));
    }
    let start = above_comments(source.text, start, indent);
    Ok(Edit { range: start..start, new: block })
}

/// Writes below a key that has no value: `env:`.
pub(super) fn insert_below_empty(
    source: &Source<'_>,
    key: &Scalar,
    missing: &[Missing],
) -> Result<Edit, InjectError> {
    let place =
        || InjectError::Place { at: key.at, why: "this key has no value that could be replaced".to_owned() };
    let range = range(source, key).ok_or_else(place)?;
    let rest = source.text.get(range.end..).ok_or_else(place)?;
    let colon = rest
        .find(':')
        .filter(|colon| rest.get(..*colon).is_some_and(|gap| gap.trim().is_empty()))
        .ok_or_else(place)?;
    let behind = rest.get(colon + 1..).unwrap_or_default().lines().next().unwrap_or_default();
    let value = behind.split(" #").next().unwrap_or_default();
    let word = value.trim();
    let start = range.end + colon + 1;
    let block = block(missing, key.at.column + 1, line_break(source.text));
    if matches!(word, "null" | "~" | "{}") {
        // The value goes, the block comes behind the line.
        let at = start + value.find(word).unwrap_or_default();
        let line = line_end(source.text, at);
        let kept = source.text.get(at + word.len()..line).unwrap_or_default();
        let head = if kept.trim().is_empty() { start } else { at };
        let separator = if kept.ends_with('\n') { "" } else { line_break(source.text) };
        return Ok(Edit { range: head..line, new: format!("{kept}{separator}{block}") });
    }
    if word.is_empty() {
        return Ok(behind_line(source.text, start, &block));
    }
    Err(place())
}

fn insert_flow(source: &Source<'_>, mapping: &Mapping, missing: &[Missing]) -> Result<Edit, InjectError> {
    let place = || InjectError::Place { at: mapping.at, why: "this mapping cannot be found".to_owned() };
    let start = source.byte(mapping.at).ok_or_else(place)? + 1;
    let rest = source.text.get(start..).unwrap_or_default();
    let space = if rest.starts_with(' ') { " " } else { "" };
    let items: Vec<String> = missing.iter().map(|item| flow(&item.path, &item.text)).collect();
    let comma = match (mapping.entries.is_empty(), space) {
        (true, _) => "",
        (false, " ") => ",",
        (false, _) => ", ",
    };
    Ok(Edit { range: start..start, new: format!("{space}{}{comma}", items.join(", ")) })
}

fn flow(path: &[String], text: &str) -> String {
    match path.split_first() {
        Some((key, [])) => format!("{key}: {text}"),
        Some((key, rest)) => format!("{key}: {{ {} }}", flow(rest, text)),
        None => String::new(),
    }
}

/// Paths as a block: common folders once.
fn block(missing: &[Missing], indent: usize, line_break: &str) -> String {
    let mut out = String::new();
    let mut open: Vec<&str> = Vec::new();
    for item in missing {
        let Some((last, folders)) = item.path.split_last() else { continue };
        let shared = open.iter().zip(folders).take_while(|(open, folder)| *open == folder).count();
        open.truncate(shared);
        for folder in folders.iter().skip(shared) {
            out.push_str(&" ".repeat(indent + 2 * open.len()));
            out.push_str(folder);
            out.push(':');
            out.push_str(line_break);
            open.push(folder);
        }
        out.push_str(&" ".repeat(indent + 2 * open.len()));
        out.push_str(last);
        out.push_str(": ");
        out.push_str(&item.text);
        out.push_str(line_break);
    }
    out
}

/// A block behind the line in which a byte stands.
fn behind_line(text: &str, byte: usize, block: &str) -> Edit {
    let end = line_end(text, byte);
    if text.get(..end).is_some_and(|head| head.ends_with('\n')) {
        return Edit { range: end..end, new: block.to_owned() };
    }
    // The last line has no end: the block's goes in front of it.
    let line_break = line_break(text);
    let body = block.strip_suffix(line_break).unwrap_or(block);
    Edit { range: end..end, new: format!("{line_break}{body}") }
}

pub(super) fn line_break(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

pub(super) fn line_start(text: &str, byte: usize) -> usize {
    text.get(..byte).and_then(|head| head.rfind('\n')).map_or(0, |newline| newline + 1)
}

/// Behind the line end that follows a byte.
pub(super) fn line_end(text: &str, byte: usize) -> usize {
    text.get(byte..).and_then(|tail| tail.find('\n')).map_or(text.len(), |newline| byte + newline + 1)
}

/// The comments right above a line belong to it.
fn above_comments(text: &str, start: usize, indent: usize) -> usize {
    let mut start = start;
    while start > 0 {
        let before = line_start(text, start - 1);
        let line = text.get(before..start).unwrap_or_default();
        let is_comment = line.trim_start().starts_with('#') && line.len() - line.trim_start().len() == indent;
        if !is_comment {
            break;
        }
        start = before;
    }
    start
}

/// The text with all edits done. Two edits of one place are one if they are equal, else a refusal.
pub(super) fn apply(source: &Source<'_>, mut edits: Vec<Edit>) -> Result<String, InjectError> {
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    edits.dedup();
    let mut out = String::with_capacity(source.text.len() + 256);
    let mut byte = 0;
    for edit in &edits {
        if edit.range.start < byte {
            let at = source.position(edit.range.start);
            let why = "two variants or roles share this place and need different values".to_owned();
            return Err(InjectError::Place { at, why });
        }
        out.push_str(source.text.get(byte..edit.range.start).unwrap_or_default());
        out.push_str(&edit.new);
        byte = edit.range.end;
    }
    out.push_str(source.text.get(byte..).unwrap_or_default());
    Ok(out)
}
