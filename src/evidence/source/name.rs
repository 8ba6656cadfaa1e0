//! Names as they are shown: of files on disk and of entries in archives. Both may hold any bytes.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

/// Longest name of an archive's entry that is shown whole, in bytes. Archives may carry names of 64 KiB.
const LONGEST: usize = 512;

/// What stands between an archive and an entry in it.
pub(super) const INSIDE: &str = "!/";

/// A path of the file system.
pub(super) fn of_path(path: &Path) -> String {
    escaped(&path.to_string_lossy()).into_owned()
}

/// A URL, without what may be secret in it: who asks, and what stands behind the path.
pub(super) fn of_url(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let (path, query) = rest.split_at(rest.find(['?', '#']).unwrap_or(rest.len()));
    let (host, path) = path.split_at(path.find('/').unwrap_or(path.len()));
    let (user, host) = host.rsplit_once('@').map_or(("", host), |(_, host)| ("***@", host));
    let query = query.chars().next().map_or_else(String::new, |mark| format!("{mark}***"));
    escaped(&format!("{scheme}://{user}{host}{path}{query}")).into_owned()
}

/// An entry of an archive: a label, never a path.
pub(super) fn of_entry(archive: &str, entry: &[u8]) -> String {
    let entry = entry.strip_prefix(b"./").unwrap_or(entry);
    let shown = entry.get(..LONGEST).unwrap_or(entry);
    let text = String::from_utf8_lossy(shown);
    let cut = if shown.len() < entry.len() { "…" } else { "" };
    format!("{archive}{INSIDE}{}{cut}", escaped(&text))
}

/// The text with everything escaped that a terminal would act on: control characters, and the marks that turn the
/// direction of writing.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if acts(character) {
            escaped.extend(character.escape_default());
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

/// Whether a terminal would act on a character.
fn acts(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A name in a sentence: in quotes where a space at an end would not be seen.
pub(super) fn quoted(name: &str) -> Cow<'_, str> {
    if name.starts_with(' ') || name.ends_with(' ') {
        Cow::Owned(format!("\"{name}\""))
    } else {
        Cow::Borrowed(name)
    }
}

/// A number of bytes as people read it: `3.2 MiB`.
pub(super) struct Bytes(pub(super) u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
        if self.0 < 1024 {
            return write!(f, "{} bytes", self.0);
        }
        let (mut value, mut last) = (self.0, "");
        let mut tenth = 0;
        for unit in UNITS {
            last = unit;
            tenth = value % 1024 * 10 / 1024;
            value /= 1024;
            if value < 1024 {
                break;
            }
        }
        write!(f, "{value}.{tenth} {last}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_acts_on_is_escaped() {
        assert_eq!(escaped("plain näme.log"), "plain näme.log");
        assert_eq!(escaped("a\u{1b}[31m\nb\u{202e}"), "a\\u{1b}[31m\\nb\\u{202e}");
        assert_eq!(escaped("\u{9b}2J"), "\\u{9b}2J");
    }

    #[test]
    fn urls_are_shown_without_their_secrets() {
        for (url, shown) in [
            ("https://user:hunter2@h/x?sig=SECRET", "https://***@h/x?***"),
            ("s3://bucket/run#a?b", "s3://bucket/run#***"),
            ("https://a@b@h", "https://***@h"),
            ("https://h?token=a@b/c", "https://h?***"),
            ("s3://bucket/a@b/decode.log", "s3://bucket/a@b/decode.log"),
        ] {
            assert_eq!(of_url(url), shown);
        }
    }

    #[test]
    fn entries_are_labels() {
        assert_eq!(of_entry("a.tar", b"./x/y.log"), "a.tar!/x/y.log");
        assert_eq!(of_entry("a.tar", b"../../etc/passwd"), "a.tar!/../../etc/passwd");
        assert_eq!(of_entry("a.tar", b"/etc/passwd"), "a.tar!//etc/passwd");
        assert_eq!(of_entry("a.tar", b"\xff\xfe.log"), "a.tar!/\u{fffd}\u{fffd}.log");
        let long = of_entry("a.tar", &vec![b'x'; 100_000]);
        assert!(long.len() < 600 && long.ends_with('…'), "{}", long.len());
    }

    #[test]
    fn bytes_read_well() {
        let shown: Vec<_> = [0, 1023, 1024, 1536, 3_355_443, 64 << 30, u64::MAX]
            .iter()
            .map(|bytes| Bytes(*bytes).to_string())
            .collect();
        assert_eq!(
            shown,
            ["0 bytes", "1023 bytes", "1.0 KiB", "1.5 KiB", "3.1 MiB", "64.0 GiB", "16777215.9 TiB"]
        );
    }
}
