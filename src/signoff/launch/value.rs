//! Values in one form, however they were written.

use std::fmt;

use serde_json::Value;

/// The mark of a text that only the run resolves, as the readers of scripts leave it.
const UNRESOLVED: char = '\u{f8ff}';

/// A value of a flag or a variable.
///
/// ```
/// use accsim::signoff::launch::LaunchValue;
///
/// assert_eq!(LaunchValue::of("true"), LaunchValue::of("True"));
/// assert_eq!(LaunchValue::of("0.50"), LaunchValue::of("0.5"));
/// assert_eq!(LaunchValue::of("'[1, 2]'"), LaunchValue::of("[1,2]"));
/// assert_eq!(LaunchValue::of("{\"b\":1, \"a\": 2}"), LaunchValue::of("{\"a\":2,\"b\":1}"));
/// assert_eq!(LaunchValue::of("{\"a\": 2.0}"), LaunchValue::of("{\"a\": 2}"));
/// assert_ne!(LaunchValue::of("1"), LaunchValue::of("True"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LaunchValue {
    /// The same text means the same.
    Known(String),
    /// Only the run resolves it.
    Unresolved,
}

impl LaunchValue {
    /// Reads a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        bare(text).map_or(Self::Unresolved, |text| Self::Known(plain(text)))
    }

    /// The value of an argument: one that is a text (a path, a name, a revision) is no number whatever it looks like.
    pub(super) fn of_argument(name: &str, text: &str) -> Self {
        match bare(text) {
            Some(bare) if is_text(name) && number(bare).is_some() => Self::Known(bare.to_owned()),
            _ => Self::of(text),
        }
    }

    /// Several words behind one flag.
    #[must_use]
    pub fn list(words: &[String]) -> Self {
        match words {
            [] => Self::Known("True".to_owned()),
            [one] => Self::of(one),
            more => {
                let all: Vec<Self> = more.iter().map(|word| Self::of(word)).collect();
                let known: Option<Vec<&str>> = all.iter().map(|value| value.text()).collect();
                known.map_or(Self::Unresolved, |known| Self::Known(format!("[{}]", known.join(", "))))
            }
        }
    }

    /// A value of a JSON document.
    #[must_use]
    pub fn json(value: &Value) -> Self {
        match value {
            Value::String(text) => Self::of(text),
            other => Self::Known(of_json(other)),
        }
    }

    /// Its text, where it is known.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Known(text) => Some(text),
            Self::Unresolved => None,
        }
    }
}

impl fmt::Display for LaunchValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text().unwrap_or("(resolved at run time)"))
    }
}

/// A text without its quotes; `None` where only the run resolves it.
fn bare(text: &str) -> Option<&str> {
    if text.contains(UNRESOLVED) || text.contains("${") {
        return None;
    }
    let text = text.trim();
    let inside = ['\'', '"'].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    Some(inside.unwrap_or(text).trim())
}

/// Whether an argument is a text by its name.
fn is_text(name: &str) -> bool {
    const ENDS: [&str; 19] = [
        "path",
        "paths",
        "name",
        "names",
        "dir",
        "folder",
        "file",
        "model",
        "tokenizer",
        "revision",
        "version",
        "host",
        "addr",
        "address",
        "key",
        "id",
        "template",
        "url",
        "tag",
    ];
    name.rsplit('_').next().is_some_and(|last| ENDS.contains(&last))
}

fn plain(text: &str) -> String {
    match text {
        "true" | "True" => return "True".to_owned(),
        "false" | "False" => return "False".to_owned(),
        "null" | "None" | "~" => return "None".to_owned(),
        _ => {}
    }
    if let Some(number) = number(text) {
        return number;
    }
    if text.starts_with(['{', '[']) {
        // Python prints its lists with other quotes.
        let value =
            serde_json::from_str::<Value>(text).or_else(|_| serde_json::from_str(&text.replace('\'', "\"")));
        if let Ok(value) = value {
            return of_json(&value);
        }
    }
    text.to_owned()
}

fn number(text: &str) -> Option<String> {
    let is_number = text
        .starts_with(|first: char| first.is_ascii_digit() || matches!(first, '-' | '+' | '.'))
        && text.len() <= 32;
    if !is_number {
        return None;
    }
    if let Ok(whole) = text.parse::<i64>() {
        return Some(whole.to_string());
    }
    text.parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| number.to_string())
}

/// One form for every way to write it; a list of one is the one.
fn of_json(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => self::number(&number.to_string()).unwrap_or_else(|| number.to_string()),
        Value::String(text) => plain(text),
        Value::Array(items) => match items.as_slice() {
            [one] => of_json(one),
            items => format!("[{}]", items.iter().map(of_json).collect::<Vec<_>>().join(", ")),
        },
        Value::Object(_) => normal(value).to_string(),
    }
}

/// An object with its keys in order and one form for each number: 2.0 is 2.
fn normal(value: &Value) -> Value {
    match value {
        Value::Number(number) => {
            let whole = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0);
            whole
                .and_then(|whole| format!("{whole:.0}").parse::<i64>().ok())
                .map_or_else(|| value.clone(), Value::from)
        }
        Value::Array(items) => items.iter().map(normal).collect(),
        Value::Object(object) => {
            let mut entries: Vec<(&String, &Value)> = object.iter().collect();
            entries.sort_by_key(|(name, _)| *name);
            Value::Object(entries.into_iter().map(|(name, value)| (name.clone(), normal(value))).collect())
        }
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
    }
}
