//! Texts without their quotes.

/// A bare word without its backslashes.
pub(super) fn unescaped(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('\n') | None => {}
                Some(next) => out.push(next),
            },
            other => out.push(other),
        }
    }
    out
}

/// Text of double quotes: a backslash counts before four characters and a line end.
pub(super) fn unquoted(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.push(letter);
            continue;
        }
        match letters.peek() {
            Some(next @ ('"' | '\\' | '$' | '`')) => {
                out.push(*next);
                letters.next();
            }
            Some('\n') => {
                letters.next();
            }
            _ => out.push('\\'),
        }
    }
    out
}

/// `$'..'` with its common escapes.
pub(super) fn ansi(text: &str) -> String {
    let inner = text.strip_prefix("$'").and_then(|rest| rest.strip_suffix('\'')).unwrap_or(text);
    let mut out = String::with_capacity(inner.len());
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some(other) => out.push(other),
                None => {}
            },
            other => out.push(other),
        }
    }
    out
}
