//! Wrappers that change the text itself: terminal colours, Docker's JSON lines, and what Ray appends.

/// `line` without its line break, when what it says is what it means: no colours, no bare carriage return, no JSON.
pub(in crate::evidence) fn plain(line: &[u8]) -> Option<&[u8]> {
    let text = line.strip_suffix(b"\n").unwrap_or(line);
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    let plain =
        text.trim_ascii_start().first() != Some(&b'{') && memchr::memchr2(0x1b, b'\r', text).is_none();
    plain.then_some(text)
}

/// Appends `text` to `plain` without terminal control sequences.
pub(in crate::evidence) fn strip_colours(text: &[u8], plain: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(escape) = memchr::memchr(0x1b, rest) {
        let (before, sequence) = rest.split_at_checked(escape).unwrap_or((rest, &[]));
        plain.extend_from_slice(before);
        rest = after_sequence(sequence);
    }
    plain.extend_from_slice(rest);
}

/// What follows the control sequence that `text` begins with. Of one that is cut, the escape alone goes: what follows
/// may be a record's own bracket.
fn after_sequence(text: &[u8]) -> &[u8] {
    let behind = text.get(1..).unwrap_or(&[]);
    let end = match behind.first() {
        // Colours and movements: parameters, intermediates, and a letter.
        Some(b'[') => {
            let rest = behind.get(1..).unwrap_or(&[]);
            let parameters = rest.iter().take_while(|byte| (0x30..=0x3f).contains(*byte)).count();
            let rest = rest.get(parameters..).unwrap_or(&[]);
            let between = rest.iter().take_while(|byte| (0x20..=0x2f).contains(*byte)).count();
            let last = rest.get(between).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'~');
            last.then_some(1 + parameters + between + 1)
        }
        // Titles and links, up to a bell or `ESC \`.
        Some(b']') => memchr::memchr2(0x07, 0x1b, behind).and_then(|end| {
            let rest = behind.get(end..)?;
            if rest.starts_with(b"\x1b") {
                rest.starts_with(b"\x1b\\").then_some(end + 2)
            } else {
                Some(end + 1)
            }
        }),
        // Character sets: `ESC ( B`.
        Some(b'(' | b')') => behind.get(1).filter(|set| (0x30..=0x7e).contains(*set)).map(|_| 2),
        Some(_) | None => None,
    };
    end.and_then(|end| behind.get(end..)).unwrap_or(behind)
}

/// `text` without Ray's ` [repeated 3x across cluster]`, and what Ray says behind it.
pub(super) fn suffix(text: &[u8]) -> &[u8] {
    // Only its end is looked at, for the sake of speed: a message of the engine never ends so.
    if !text.trim_ascii_end().last().is_some_and(|byte| matches!(byte, b']' | b')')) {
        return text;
    }
    let mark: &[u8] = b" [repeated ";
    let repeated = memchr::memmem::find_iter(text, mark).find(|at| {
        let behind = text.get(at + mark.len()..).unwrap_or(&[]);
        let digits = behind.iter().take_while(|byte| byte.is_ascii_digit()).count();
        digits > 0 && behind.get(digits..).is_some_and(|rest| rest.starts_with(b"x across cluster]"))
    });
    repeated.and_then(|at| text.get(..at)).unwrap_or(text)
}

/// The start of a line of Docker's `json-file` driver.
const DOCKER: &[u8] = b"{\"log\":\"";

/// Appends the text inside a line of Docker's `json-file` driver to `plain`; `false` when the line is none.
///
/// A string that the line's end cuts is kept up to there.
pub(in crate::evidence) fn docker_line(line: &[u8], plain: &mut Vec<u8>) -> bool {
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
        for (text, expected) in [
            (&b"\x1b[1;33m3.52\x1b[0m, x\x1b"[..], &b"3.52, x"[..]),
            (b"3.52\x1b(B\x1b[m, x", b"3.52, x"),
            (b"3.52\x1b(\n", b"3.52(\n"),
            (b"a\x1b[K\x1b[?25lb", b"ab"),
            (b"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b", b"ab"),
            (b"\x1b[2026-10-12 01:02:03] x", b"[2026-10-12 01:02:03] x"),
            (b"\x1b[1;3[2026-10-12 01:02:03] x", b"[1;3[2026-10-12 01:02:03] x"),
            (b"\x1b[2026-10-12 01:02:03 TP0] x", b"[2026-10-12 01:02:03 TP0] x"),
            (b"\x1b]0;cut\x1b[1mx", b"]0;cutx"),
            (b"\x1b]0;cut", b"]0;cut"),
            (b"x\x1b[", b"x["),
        ] {
            let mut plain = Vec::new();
            strip_colours(text, &mut plain);
            assert_eq!(plain, expected);
        }
    }

    #[test]
    fn what_ray_appends_goes() {
        for (text, expected) in [
            ("a: 0 [repeated 3x across cluster]", "a: 0"),
            ("a: 0, [repeated 12x across cluster] (Ray deduplicates logs, see http://x)", "a: 0,"),
            ("a: 0 [repeated x across cluster]", "a: 0 [repeated x across cluster]"),
            ("a: 3.71 [3.55, 3.87]", "a: 3.71 [3.55, 3.87]"),
        ] {
            assert_eq!(suffix(text.as_bytes()), expected.as_bytes());
        }
    }
}
