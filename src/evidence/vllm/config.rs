//! What a server was configured with, as its log or a shell echoes it: `--speculative-config` in all its quoting,
//! `SpeculativeConfig(...)`, arguments as a dictionary, ATOM's flags.

use crate::evidence::decimal::Decimal;

/// Texts that a configuration of speculative decoding holds one of.
pub(in crate::evidence) const WORDS: [&[u8]; 5] = [
    b"speculative-config",
    b"speculative_config",
    b"synthetic_acceptance_",
    b"spec-decode-acceptance-",
    b"spec_decode_acceptance_",
];

/// Settings that are read; dashes and underscores are one.
const NAMES: [&str; 8] = [
    "rejection_sample_method",
    "num_speculative_tokens",
    "num_spec_tokens",
    "synthetic_acceptance_length",
    "synthetic_acceptance_rates",
    "synthetic_acceptance_rate",
    "spec_decode_acceptance_length",
    "spec_decode_acceptance_rate",
];

/// The one setting that is a list.
const LIST: &str = "synthetic_acceptance_rates";

/// Longest value, in bytes: a list of rates.
const LONGEST: usize = 1024;

/// Bytes that are shown of a list that cannot be read.
const SHOWN: usize = 64;

/// The settings in a line, each once, in the order of [`NAMES`]. A comment, a usage text and what asks for a variable have none.
pub(in crate::evidence) fn settings(line: &[u8]) -> Vec<(&'static str, String)> {
    if line.trim_ascii_start().starts_with(b"#") {
        return Vec::new();
    }
    NAMES.into_iter().filter_map(|name| Some((canonical(name), setting(line, name)?))).collect()
}

/// One name for what two printed ones mean.
fn canonical(name: &'static str) -> &'static str {
    if name == "num_spec_tokens" { "num_speculative_tokens" } else { name }
}

/// The last value that a line gives a name: of a line that shows a configuration twice, the later one is resolved.
fn setting(line: &[u8], name: &str) -> Option<String> {
    let is_list = name == LIST;
    let name = name.as_bytes();
    let mut found = None;
    let mut from = 0;
    while let Some(at) = find(line, name, from) {
        from = at + name.len();
        let is_word =
            |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        let before = at.checked_sub(1).and_then(|last| line.get(last));
        let behind = line.get(from..).unwrap_or(&[]);
        if !is_word(before) && !is_word(behind.first()) {
            found = value(behind, is_list).or(found);
        }
    }
    found
}

/// Where a name stands, with dashes or underscores.
fn find(line: &[u8], name: &[u8], from: usize) -> Option<usize> {
    let rest = line.get(from..)?;
    let same = |window: &[u8]| {
        window
            .iter()
            .zip(name)
            .all(|(byte, expected)| byte == expected || (*byte == b'-' && *expected == b'_'))
    };
    let first = *name.first()?;
    memchr::memchr_iter(first, rest)
        .find(|at| rest.get(*at..at + name.len()).is_some_and(same))
        .map(|at| from + at)
}

/// `": 3.51`, `\": 3.51`, `=3.51`, ` 3.51`: the value behind a name.
fn value(behind: &[u8], is_list: bool) -> Option<String> {
    let text = quotes(behind);
    let is_quoted = text.len() < behind.len();
    let text = text.trim_ascii_start();
    let text = match text.first() {
        Some(b':' | b'=') => text.get(1..)?.trim_ascii_start(),
        // A flag's value follows a space.
        _ if !is_quoted && behind.first() == Some(&b' ') => text,
        // Two words of a list of arguments: `'--flag', '3.51'`.
        Some(b',') if is_quoted => text.get(1..)?.trim_ascii_start(),
        _ => return None,
    };
    let text = quotes(text);
    let near = text.get(..LONGEST).unwrap_or(text);
    if near.trim_ascii().is_empty() {
        // YAML puts the entries of a list on the lines below.
        return is_list.then(|| "[".to_owned());
    }
    if let Some(inside) = near.strip_prefix(b"[").or_else(|| near.strip_prefix(b"(")) {
        return Some(list(inside));
    }
    let end = near.iter().position(|byte| !byte.is_ascii_alphanumeric() && !b"._-+".contains(byte));
    let word = std::str::from_utf8(near.get(..end.unwrap_or(near.len()))?).ok()?;
    let word = word.trim_end_matches(['.', '-']);
    // `None` and `null` are no setting.
    let is_value = !word.is_empty() && !matches!(word, "None" | "null" | "N" | "X" | "K");
    is_value.then(|| word.to_owned())
}

/// A list of numbers, as `[1.0, 0.5]`. One that goes on in the next line, is too long or holds something else is a setting
/// all the same: what is there of it, without its end.
fn list(inside: &[u8]) -> String {
    let numbers = memchr::memchr2(b']', b')', inside).and_then(|end| {
        let entries =
            inside.get(..end)?.split(|byte| *byte == b',').filter(|entry| !entry.trim_ascii().is_empty());
        entries.map(number).collect::<Option<Vec<&str>>>()
    });
    numbers.map_or_else(
        || {
            let shown = inside.get(..SHOWN).unwrap_or(inside).trim_ascii_end();
            format!("[{}", String::from_utf8_lossy(shown))
        },
        |numbers| format!("[{}]", numbers.join(", ")),
    )
}

/// `text` without the quotes and escapes that it begins with.
fn quotes(text: &[u8]) -> &[u8] {
    let count = text.iter().take_while(|byte| matches!(byte, b'"' | b'\'' | b'\\')).count();
    text.get(count..).unwrap_or(&[])
}

/// One number of a list.
fn number(text: &[u8]) -> Option<&str> {
    let text = text.trim_ascii();
    let text = std::str::from_utf8(text).ok()?;
    Decimal::read(text.as_bytes()).filter(|number| number.len == text.len()).map(|_| text).or_else(|| {
        // Binary noise in scientific form.
        text.parse::<f64>().ok().filter(|number| number.is_finite()).map(|_| text)
    })
}
