//! Wrappers that change the text itself: terminal colours, Docker's JSON lines, and the container runtime's parts.

/// A line of the container runtime: `time stdout P|F text`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RuntimeLine<'a> {
    /// `P`: the next line of the stream goes on with this one.
    pub(super) partial: bool,
    /// What the container wrote.
    pub(super) text: &'a [u8],
}

/// Reads the container runtime's own prefix.
pub(super) fn runtime_line(line: &[u8]) -> Option<RuntimeLine<'_>> {
    let mut words = line.splitn(4, |byte| *byte == b' ');
    let (time, stream, flag) = (words.next()?, words.next()?, words.next()?);
    let text = words.next().unwrap_or(&[]);
    let dated = time.len() >= 20 && time.first()?.is_ascii_digit() && time.get(10) == Some(&b'T');
    let partial = match flag {
        b"P" => true,
        b"F" => false,
        _ => return None,
    };
    (dated && matches!(stream, b"stdout" | b"stderr")).then_some(RuntimeLine { partial, text })
}

/// Whether a line holds no colours, no bare carriage return and is no JSON: what it says is what it means.
pub(super) fn is_plain(line: &[u8]) -> bool {
    let text = line.strip_suffix(b"\n").unwrap_or(line);
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    text.first() != Some(&b'{') && memchr::memchr2(0x1b, b'\r', text).is_none()
}

/// Appends `text` to `plain` without terminal control sequences.
pub(super) fn strip_colours(text: &[u8], plain: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(escape) = memchr::memchr(0x1b, rest) {
        let (before, sequence) = rest.split_at_checked(escape).unwrap_or((rest, &[]));
        plain.extend_from_slice(before);
        rest = after_sequence(sequence);
    }
    plain.extend_from_slice(rest);
}

/// What follows the control sequence that `text` begins with.
fn after_sequence(text: &[u8]) -> &[u8] {
    match text.get(1) {
        Some(b'[') => {
            let parameters = text.get(2..).unwrap_or(&[]);
            let end = parameters.iter().position(|byte| (0x40..=0x7e).contains(byte));
            end.and_then(|end| parameters.get(end + 1..)).unwrap_or(&[])
        }
        // A lone escape takes one character with it.
        Some(_) => text.get(2..).unwrap_or(&[]),
        None => &[],
    }
}

/// The start of a line of Docker's `json-file` driver.
const DOCKER: &[u8] = b"{\"log\":\"";

/// Appends the text inside a line of Docker's `json-file` driver to `plain`; `false` when the line is none.
///
/// A string that the line's end cuts is kept up to there.
pub(super) fn docker_line(line: &[u8], plain: &mut Vec<u8>) -> bool {
    let Some(mut rest) = line.trim_ascii_start().strip_prefix(DOCKER) else {
        return false;
    };
    while let Some(special) = memchr::memchr2(b'\\', b'"', rest) {
        let (before, after) = rest.split_at_checked(special).unwrap_or((rest, &[]));
        plain.extend_from_slice(before);
        if after.first() == Some(&b'"') {
            return true;
        }
        rest = unescape(after, plain);
    }
    plain.extend_from_slice(rest);
    true
}

/// Appends the character that the escape at the start of `text` stands for; returns what follows it.
fn unescape<'a>(text: &'a [u8], plain: &mut Vec<u8>) -> &'a [u8] {
    let simple = match text.get(1) {
        Some(b'n') => b'\n',
        Some(b'r') => b'\r',
        Some(b't') => b'\t',
        Some(b'b') => 0x08,
        Some(b'f') => 0x0c,
        Some(b'u') => {
            let code = text.get(2..6).and_then(|hex| std::str::from_utf8(hex).ok());
            let character = code.and_then(|hex| u32::from_str_radix(hex, 16).ok()).and_then(char::from_u32);
            let mut bytes = [0; 4];
            plain.extend_from_slice(character.unwrap_or('\u{fffd}').encode_utf8(&mut bytes).as_bytes());
            return text.get(6..).unwrap_or(&[]);
        }
        Some(other) => *other,
        None => return &[],
    };
    plain.push(simple);
    text.get(2..).unwrap_or(&[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn docker_strings_are_unescaped() {
        let mut plain = Vec::new();
        assert!(docker_line(br#"{"log":"\u001b[32m[a]\t\"x\\\"\n","stream":"stderr"}"#, &mut plain));
        assert_eq!(plain, b"\x1b[32m[a]\t\"x\\\"\n");
        plain.clear();
        assert!(docker_line(br#"{"log":"cut \u00"#, &mut plain));
        assert_eq!(plain, "cut \u{fffd}".as_bytes());
        assert!(!docker_line(b"{\"msg\":\"x\"}", &mut plain));
    }

    #[test]
    fn colours_go_and_text_stays() {
        let mut plain = Vec::new();
        strip_colours(b"\x1b[1;33m3.52\x1b[0m, x\x1b", &mut plain);
        assert_eq!(plain, b"3.52, x");
    }

    #[test]
    fn runtime_lines() {
        let line = runtime_line(b"2026-06-01T10:00:02.0Z stdout P [x").unwrap();
        assert_eq!(line, RuntimeLine { partial: true, text: b"[x" });
        assert_eq!(runtime_line(b"[2026-06-01 10:00:02] stdout F x"), None);
    }
}
