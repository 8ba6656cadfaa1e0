//! `.env` files: lines of `NAME=value`.

use std::sync::Arc;

use crate::yaml::{Position, Scalar, ScalarStyle};

use super::model::{Document, Kind, Variable, Variant};
use super::shell;

pub(crate) fn read(text: &str) -> Document {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let env: Vec<Variable> =
        text.lines().enumerate().filter_map(|(index, line)| variable(line, index + 1)).collect();
    let prefix = super::model::variable(&env, "MODEL_PREFIX").cloned();
    let models = ["MODEL", "MODEL_PATH"]
        .iter()
        .filter_map(|name| super::model::variable(&env, name))
        .cloned()
        .collect();
    let launch = shell::with_words(&[], env, Position::START);
    let variants =
        launch.map(|launch| Variant { launches: vec![launch], models, prefix, ..Variant::default() });
    Document::new(Kind::Dotenv, variants.into_iter().collect())
}

/// `NAME=value`, also behind `export`; quotes around the value are none of it, nor is a comment behind it.
fn variable(line: &str, number: usize) -> Option<Variable> {
    let indent = line.len() - line.trim_start().len();
    let body = line.trim_start();
    let body = body.strip_prefix("export ").map_or(body, str::trim_start);
    if body.starts_with('#') {
        return None;
    }
    let (name, value) = body.split_once('=')?;
    let name = name.trim_end();
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if !is_name {
        return None;
    }
    let before = line.len() - value.len();
    let column = line.get(..before.max(indent)).map_or(1, |text| text.chars().count() + 1);
    let value = value.trim();
    let text = match value.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            let inner = value.get(1..).unwrap_or_default();
            inner.split(quote).next().unwrap_or_default()
        }
        _ => value.split(" #").next().unwrap_or_default().trim_end(),
    };
    let text = if value.starts_with('\'') { text.to_owned() } else { super::compose::interpolate(text) };
    let at = Position { line: number, column };
    let value = Scalar { at, text: Arc::from(text), style: ScalarStyle::Plain };
    Some(Variable::of_text(name, value))
}
