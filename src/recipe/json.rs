//! JSON inside other text, as a tree whose nodes know their places.

use std::sync::Arc;

use serde_json::Value;

use crate::yaml::{self, Entry, Mapping, Node, Position, Scalar, ScalarStyle, Sequence};

use super::number::UNRESOLVED;

/// The tree of a JSON text. `start` is where the text stands verbatim in its file; without it every node stands at `at`.
/// What only the run resolves becomes a text with the marker. The error is the reader's message.
pub(crate) fn tree(text: &str, at: Position, start: Option<Position>) -> Result<Node, String> {
    let marked = text.contains(UNRESOLVED);
    let owned;
    let json = if marked {
        owned = quoted_markers(text);
        owned.as_str()
    } else {
        text
    };
    let value: Value = serde_json::from_str(json).map_err(|error| {
        if marked { format!("{error} (with what the run resolves left out)") } else { error.to_string() }
    })?;
    // JSON is YAML, so its reader gives the places; what it refuses (a tab, a depth) costs the places only.
    if let Some(start) = start.filter(|_| !marked)
        && let Ok(node) = yaml::parse(text)
    {
        return Ok(shifted(node, start));
    }
    Ok(of_value(&value, at))
}

/// Markers outside of strings are put in quotes, and inside of strings stay: both become texts with a marker.
fn quoted_markers(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let (mut in_string, mut escaped, mut in_marker, mut opened) = (false, false, false, false);
    for character in text.chars() {
        if character == UNRESOLVED {
            if !in_marker {
                opened = !in_string;
                if opened {
                    out.push('"');
                }
            }
            out.push(character);
            if in_marker && opened {
                out.push('"');
            }
            in_marker = !in_marker;
        } else if in_marker {
            match character {
                '"' | '\\' => {
                    out.push('\\');
                    out.push(character);
                }
                '\n' | '\r' | '\t' => out.push(' '),
                _ => out.push(character),
            }
        } else {
            match character {
                _ if escaped => escaped = false,
                '\\' if in_string => escaped = true,
                '"' => in_string = !in_string,
                _ => {}
            }
            out.push(character);
        }
    }
    out
}

/// A tree as a JSON value: what is bare and reads as JSON is that, the rest is text.
pub(crate) fn of_node(node: &Node) -> Value {
    match node {
        Node::Scalar(scalar) => {
            let plain = scalar.is_plain().then(|| serde_json::from_str(&scalar.text).ok()).flatten();
            plain.unwrap_or_else(|| Value::String(scalar.text.to_string()))
        }
        Node::Sequence(sequence) => Value::Array(sequence.items.iter().map(of_node).collect()),
        Node::Mapping(mapping) => {
            let entries = mapping.entries.iter();
            Value::Object(entries.map(|entry| (entry.key.text.to_string(), of_node(&entry.value))).collect())
        }
    }
}

/// A JSON value as a tree in which every node stands at one place.
fn of_value(value: &Value, at: Position) -> Node {
    let scalar = |text: &str, style| Node::Scalar(Scalar { at, text: Arc::from(text), style });
    match value {
        Value::Null => scalar("null", ScalarStyle::Plain),
        Value::Bool(flag) => scalar(if *flag { "true" } else { "false" }, ScalarStyle::Plain),
        Value::Number(number) => scalar(&number.to_string(), ScalarStyle::Plain),
        Value::String(text) => scalar(text, ScalarStyle::Quoted),
        Value::Array(items) => {
            Node::Sequence(Sequence { at, items: items.iter().map(|item| of_value(item, at)).collect() })
        }
        Value::Object(object) => {
            let entries = object.iter().map(|(key, value)| Entry {
                key: Scalar { at, text: Arc::from(key.as_str()), style: ScalarStyle::Quoted },
                value: of_value(value, at),
            });
            Node::Mapping(Mapping { at, entries: entries.collect() })
        }
    }
}

/// The tree with its places moved: its text begins at `start`.
pub(crate) fn shifted(node: Node, start: Position) -> Node {
    let moved = |at: Position| {
        let column = if at.line == 1 { at.column + start.column - 1 } else { at.column };
        Position { line: at.line + start.line - 1, column }
    };
    match node {
        Node::Scalar(scalar) => Node::Scalar(Scalar { at: moved(scalar.at), ..scalar }),
        Node::Sequence(list) => Node::Sequence(Sequence {
            at: moved(list.at),
            items: list.items.into_iter().map(|item| shifted(item, start)).collect(),
        }),
        Node::Mapping(mapping) => Node::Mapping(Mapping {
            at: moved(mapping.at),
            entries: mapping
                .entries
                .into_iter()
                .map(|entry| Entry {
                    key: Scalar { at: moved(entry.key.at), ..entry.key },
                    value: shifted(entry.value, start),
                })
                .collect(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_know_their_places() {
        let start = Position { line: 7, column: 11 };
        let node = tree(r#"{"a":1,"b":"x"}"#, Position::START, Some(start)).unwrap();
        let Node::Mapping(map) = node else { panic!() };
        assert_eq!(map.get("b").unwrap().at(), Position { line: 7, column: 22 });
    }

    #[test]
    fn what_the_run_resolves_stays_marked() {
        let text = "{\"k\":\u{f8ff}$K\u{f8ff},\"m\":\"a\u{f8ff}${M:-\"x\"}\u{f8ff}b\"}";
        let Node::Mapping(map) = tree(text, Position::START, None).unwrap() else { panic!() };
        let text = |key: &str| match map.get(key) {
            Some(Node::Scalar(scalar)) => scalar.text.to_string(),
            other => panic!("{other:?}"),
        };
        assert_eq!(text("k"), "\u{f8ff}$K\u{f8ff}");
        assert_eq!(text("m"), "a\u{f8ff}${M:-\"x\"}\u{f8ff}b");
        assert!(tree("{\"a\":1,}", Position::START, None).is_err());
    }
}
