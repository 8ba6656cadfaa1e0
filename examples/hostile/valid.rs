//! Whether what a command prints is what it says it is.

use serde::de::IgnoredAny;

use crate::commands::Output;

/// What is wrong with a standard output; an empty one is never wrong.
pub(crate) fn fault(printed: &[u8], output: Output) -> Option<&'static str> {
    let Ok(text) = std::str::from_utf8(printed) else {
        return Some("standard output is not UTF-8");
    };
    if text.trim().is_empty() {
        return None;
    }
    let is_json = |text: &str| serde_json::from_str::<IgnoredAny>(text).is_ok();
    let (holds, fault) = match output {
        Output::Json => (is_json(text), "standard output is no JSON document"),
        Output::JsonLines => (text.lines().all(is_json), "a line of standard output is no JSON"),
        Output::Csv => (is_table(printed), "rows of standard output have different numbers of cells"),
        Output::Xml => (roxmltree::Document::parse(text).is_ok(), "standard output is no XML"),
        Output::Html => (is_page(text), "standard output is no page with its own script alone"),
        Output::Text => (is_harmless(text), "control characters on standard output"),
    };
    (!holds).then_some(fault)
}

/// Whether a terminal shows the text as it is: no control characters but line ends and tabs, and none that turn the direction
/// of writing.
pub(crate) fn is_harmless(text: &str) -> bool {
    !text.chars().any(|letter| {
        letter.is_control() && !matches!(letter, '\n' | '\t')
            || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    })
}

fn is_table(printed: &[u8]) -> bool {
    csv::ReaderBuilder::new().has_headers(false).from_reader(printed).records().all(|row| row.is_ok())
}

fn is_page(text: &str) -> bool {
    text.starts_with("<!doctype html>") && text.ends_with("</html>\n") && text.matches("<script").count() <= 1
}
