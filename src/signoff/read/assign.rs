//! What a line assigns to a name in it.

/// Longest value taken, in bytes: paths, images, small JSON.
const LONGEST: usize = 512;

/// What stands in place of a value that only the run resolves.
pub(super) const UNRESOLVED: &str = "(resolved at run time)";

/// The value that `text` assigns to the variable at `start..end`: `NAME=value`, `'NAME': 'value'`, a line `NAME: value`;
/// `None` for a mention, a comment, an `unset`.
pub(super) fn variable(text: &[u8], start: usize, end: usize) -> Option<String> {
    let (before, behind) = (text.get(..start)?, text.get(end..)?);
    let is_part = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    if is_part(before.last()) || is_part(behind.first()) || is_comment(before) {
        return None;
    }
    // `$NAME` and `${NAME:-3}` ask for the value.
    if before.ends_with(b"$") || before.ends_with(b"${") {
        return None;
    }
    if let Some(rest) = behind.strip_prefix(b"=") {
        // `[ "$X" == 1 ]`
        return (!rest.starts_with(b"=")).then(|| word(rest)).filter(|value| !value.is_empty());
    }
    if before.last().is_some_and(|byte| matches!(byte, b'"' | b'\'')) {
        return quoted(before, behind).filter(|value| !value.is_empty());
    }
    let rest = behind.strip_prefix(b": ")?;
    let is_alone = before.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'-' | b'+'));
    let value = word(rest.trim_ascii_start());
    (is_alone && !value.is_empty()).then_some(value)
}

/// The value behind a name in quotes: `"name": value`, also with the quotes escaped.
fn quoted(before: &[u8], behind: &[u8]) -> Option<String> {
    let quote = before.last()?;
    let rest = behind.strip_prefix(b"\\").unwrap_or(behind).strip_prefix(&[*quote])?.trim_ascii_start();
    let rest = rest.strip_prefix(b":").or_else(|| rest.strip_prefix(b","))?.trim_ascii_start();
    let rest = rest.strip_prefix(b"\\").unwrap_or(rest);
    Some(word(rest).trim_end_matches('\\').to_owned())
}

/// The value that `text` gives to the key whose opening quote and name stand at `start..end`.
pub(super) fn key(text: &[u8], start: usize, end: usize) -> Option<String> {
    let before = text.get(..start + 1)?;
    if is_comment(before) {
        return None;
    }
    quoted(before, text.get(end..)?)
}

/// The value that `text` gives to the argument whose `--name` stands at `start..end`: empty for a flag alone.
pub(super) fn argument(text: &[u8], start: usize, end: usize) -> Option<String> {
    let (before, behind) = (text.get(..start)?, text.get(end..)?);
    if is_comment(before) || before.last().is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'-') {
        return None;
    }
    match behind.first() {
        None => Some(String::new()),
        Some(b'=') => Some(word(behind.get(1..)?)),
        // `--name.part value` sets a part of it.
        Some(b'.') => {
            let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
            let length = behind.iter().position(|byte| !is_part(byte)).unwrap_or(behind.len());
            let (part, rest) = behind.split_at(length);
            let part = String::from_utf8_lossy(part.get(1..)?).into_owned();
            let rest = rest.strip_prefix(b"=").unwrap_or_else(|| rest.trim_ascii_start());
            Some(format!("{part}={}", word(rest)))
        }
        Some(quote @ (b'"' | b'\'')) => {
            // A word of a printed list: `'--name', 'value'`.
            let rest = behind.strip_prefix(&[*quote])?.trim_ascii_start();
            let value = rest.strip_prefix(b",").map(|rest| word(rest.trim_ascii_start()));
            Some(value.filter(|value| !value.starts_with("--")).unwrap_or_default())
        }
        Some(blank) if blank.is_ascii_whitespace() => {
            let value = word(behind.trim_ascii_start());
            Some(if value.starts_with("--") || value == "\\" { String::new() } else { value })
        }
        Some(_) => None,
    }
}

/// Whether what stands before makes the rest a comment.
fn is_comment(before: &[u8]) -> bool {
    before.trim_ascii_start().starts_with(b"#") || memchr::memmem::find(before, b" #").is_some()
}

/// The word at the start of `text`: in quotes, or up to a blank or what ends an entry.
fn word(text: &[u8]) -> String {
    let near = text.get(..LONGEST).unwrap_or(text);
    let quote = near.first().filter(|byte| matches!(byte, b'"' | b'\''));
    let inside = if let Some(quote) = quote {
        let rest = near.get(1..).unwrap_or(&[]);
        rest.get(..memchr::memchr(*quote, rest).unwrap_or(rest.len()))
    } else {
        // A NUL ends an entry of `/proc/PID/environ`, `\n` one of a printed JSON text: what follows is another variable's.
        let is_end = |byte: &u8| {
            byte.is_ascii_whitespace() || byte.is_ascii_control() || b",;\"'`)}]|&\\".contains(byte)
        };
        // JSON without quotes around it goes up to its own end.
        let is_json = near.first() == Some(&b'{');
        let end = if is_json { closing(near) } else { near.iter().position(is_end) };
        near.get(..end.unwrap_or(near.len()))
    };
    let value = String::from_utf8_lossy(inside.unwrap_or(&[])).into_owned();
    if value.contains('$') || (quote.is_none() && value.starts_with('`')) {
        UNRESOLVED.to_owned()
    } else {
        value
    }
}

/// Behind the bracket that closes the one at the start.
fn closing(text: &[u8]) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, byte) in text.iter().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return Some(index + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable_in(text: &str) -> Option<String> {
        let start = text.find("NAME")?;
        variable(text.as_bytes(), start, start + 4)
    }

    #[test]
    fn assignments_of_every_form() {
        for (text, value) in [
            ("NAME=3.51", "3.51"),
            ("+ export NAME='a b'", "a b"),
            ("declare -x NAME=\"x=1:2\"", "x=1:2"),
            ("docker run -e NAME=repo/image:v1@sha256:00 -e B=1", "repo/image:v1@sha256:00"),
            ("environ({'A': '1', 'NAME': 'v', 'B': '2'})", "v"),
            ("{\"NAME\":3.51}", "3.51"),
            ("  NAME: v", "v"),
            ("NAME=1\0HF_TOKEN=secret", "1"),
            ("{\"env\": \"NAME=1\\nHF_TOKEN=secret\"}", "1"),
            ("?NAME=1&HF_TOKEN=secret", "1"),
            ("--config '{\"NAME\": 3.51}'", "3.51"),
            ("--config \"{\\\"NAME\\\": \\\"v\\\"}\"", "v"),
            ("NAME=$OTHER", UNRESOLVED),
            ("NAME=\"${X:-1}\"", UNRESOLVED),
        ] {
            assert_eq!(variable_in(text).as_deref(), Some(value), "{text}");
        }
        for text in [
            "# NAME=1",
            "echo 1 # NAME=1",
            "unset NAME",
            "env -u NAME x",
            "echo $NAME=1",
            "MY_NAME=1",
            "NAME_2=1",
            "NAME=",
            "NAME=''",
            "if [ \"$NAME\" == 1 ]",
            "see NAME: it is",
            "NAME==1",
        ] {
            assert_eq!(variable_in(text), None, "{text}");
        }
    }

    fn argument_in(text: &str) -> Option<String> {
        let start = text.find("--name")?;
        argument(text.as_bytes(), start, start + 6)
    }

    #[test]
    fn arguments_of_every_form() {
        for (text, value) in [
            ("serve --name a --other", "a"),
            ("serve --name=a", "a"),
            ("serve --name '{\"a\": 1}' x", "{\"a\": 1}"),
            ("serve --name {\"a\":{\"b\":1}} x", "{"),
            ("['serve', '--name', 'a']", "a"),
            ("serve --name --other", ""),
            ("serve --name \\", ""),
            ("serve --name", ""),
            ("--name $X", UNRESOLVED),
            ("serve --name.a.b 3 x", "a.b=3"),
            ("serve --name.a=3 x", "a=3"),
        ] {
            let found = argument_in(text).unwrap();
            assert!(found == value || (value == "{" && found == "{\"a\":{\"b\":1}}"), "{text}: {found}");
        }
        assert_eq!(argument_in("# --name a"), None);
        assert_eq!(argument_in("--name-2 a"), None);
    }
}
