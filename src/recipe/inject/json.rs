//! Keys of a JSON object in its own text: what is not changed keeps every byte.

use crate::recipe::source::Source;
use crate::yaml::{Mapping, Node, Position, parse};

/// The object's text with keys set and taken away; the error says why not.
pub(super) fn edited(text: &str, set: &[(&str, String)], unset: &[&str]) -> Result<String, String> {
    let mut text = text.to_owned();
    for key in unset {
        text = without(&text, key)?;
    }
    for (key, value) in set {
        text = with(&text, key, value)?;
    }
    serde_json::from_str::<serde::de::IgnoredAny>(&text).map_err(|error| error.to_string())?;
    Ok(text)
}

fn object(text: &str) -> Result<Mapping, String> {
    serde_json::from_str::<serde::de::IgnoredAny>(text)
        .map_err(|error| format!("it is not JSON: {error}"))?;
    match parse(text) {
        Ok(Node::Mapping(object)) => Ok(object),
        Ok(other) => Err(format!("it is {}; expected a JSON object", other.kind().name())),
        Err(error) => Err(error.to_string()),
    }
}

fn with(text: &str, key: &str, value: &str) -> Result<String, String> {
    let object = object(text)?;
    let source = Source::new(text);
    if let Some(held) = object.get(key) {
        let start = byte(&source, held.at())?;
        let end = value_end(text, start).ok_or_else(|| format!("the value of {key} has no end"))?;
        let old = text.get(start..end).unwrap_or_default();
        let is_same = match (old.parse::<f64>(), value.parse::<f64>()) {
            (Ok(old), Ok(new)) => old.total_cmp(&new).is_eq(),
            _ => old == value,
        };
        if is_same {
            return Ok(text.to_owned());
        }
        return Ok(spliced(text, start, end, value));
    }
    let close = text.rfind('}').ok_or("it has no closing brace")?;
    let before = text.get(..close).unwrap_or_default();
    let end = before.trim_end().len();
    // As the object itself is spaced.
    let colon = if has_space_behind(text, &object, ':') { ": " } else { ":" };
    let comma = match object.entries.len() {
        0 => "",
        _ if before.trim_end().ends_with(',') => "",
        1 if colon == ": " => ", ",
        _ if text.contains(", \"") => ", ",
        _ => ",",
    };
    Ok(spliced(text, end, end, &format!("{comma}\"{key}\"{colon}{value}")))
}

fn without(text: &str, key: &str) -> Result<String, String> {
    let object = object(text)?;
    let Some(index) = object.entries.iter().position(|entry| &*entry.key.text == key) else {
        return Ok(text.to_owned());
    };
    let source = Source::new(text);
    let Some(entry) = object.entries.get(index) else { return Ok(text.to_owned()) };
    let start = byte(&source, entry.key.at)?;
    let value = byte(&source, entry.value.at())?;
    let end = value_end(text, value).ok_or_else(|| format!("the value of {key} has no end"))?;
    let behind = text.get(end..).unwrap_or_default();
    if let Some(rest) = behind.trim_start().strip_prefix(',') {
        let spaces = rest.len() - rest.trim_start().len();
        let comma = behind.len() - rest.len();
        // A comma behind goes with it, so that what stood in front stays.
        return Ok(spliced(text, start, end + comma + spaces, ""));
    }
    let before = text.get(..start).unwrap_or_default().trim_end();
    let before = before.strip_suffix(',').map_or(before.len(), |head| head.trim_end().len());
    Ok(spliced(text, before, end, ""))
}

fn byte(source: &Source<'_>, at: Position) -> Result<usize, String> {
    source.byte(at).ok_or_else(|| "a place in it cannot be found".to_owned())
}

/// The end of the JSON value that begins at a byte.
fn value_end(text: &str, start: usize) -> Option<usize> {
    let rest = text.get(start..)?;
    let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<serde::de::IgnoredAny>();
    stream.next()?.ok()?;
    Some(start + stream.byte_offset())
}

fn spliced(text: &str, start: usize, end: usize, new: &str) -> String {
    let (head, tail) = (text.get(..start).unwrap_or_default(), text.get(end..).unwrap_or_default());
    format!("{head}{new}{tail}")
}

/// Whether the first key is followed by a colon and a space.
fn has_space_behind(text: &str, object: &Mapping, mark: char) -> bool {
    let source = Source::new(text);
    let Some(entry) = object.entries.first() else { return false };
    let (Some(key), Some(value)) = (source.byte(entry.key.at), source.byte(entry.value.at())) else {
        return false;
    };
    text.get(key..value).is_some_and(|between| between.ends_with(' ') && between.trim_end().ends_with(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_set_and_taken_away_and_the_rest_stays() {
        let set = [("m", "\"synthetic\"".to_owned()), ("l", "3.51".to_owned())];
        for (text, expected) in [
            (r#"{"a":1}"#, r#"{"a":1,"m":"synthetic","l":3.51}"#),
            (r#"{"a": 1, "b": [1, 2]}"#, r#"{"a": 1, "b": [1, 2], "m": "synthetic", "l": 3.51}"#),
            (r#"{"m":"block","a":1,"l":3.510}"#, r#"{"m":"synthetic","a":1,"l":3.510}"#),
            (r"{}", r#"{"m":"synthetic","l":3.51}"#),
        ] {
            assert_eq!(edited(text, &set, &[]).unwrap(), expected);
        }
        for (text, expected) in [
            (r#"{"a":1,"l":3.5,"b":2}"#, r#"{"a":1,"b":2}"#),
            (r#"{"a": 1, "l": 3.5}"#, r#"{"a": 1}"#),
            (r#"{"l":3.5,"a":1}"#, r#"{"a":1}"#),
            (r#"{"l":3.5}"#, r"{}"),
        ] {
            assert_eq!(edited(text, &[], &["l"]).unwrap(), expected);
        }
        assert!(edited("[1]", &set, &[]).is_err() && edited("{", &set, &[]).is_err());
    }
}
