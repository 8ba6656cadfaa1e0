//! Pieces of foreign text, made safe to show.

use crate::evidence::escaped;

/// Letters shown at most.
const LETTERS: usize = 160;

/// The beginning of `text` on one line, as [`printable`] shows it; bytes that are no UTF-8 are replaced.
pub(crate) fn excerpt(text: &[u8]) -> String {
    // No letter has more than four bytes; one more shows that there is more.
    let head = text.trim_ascii().get(..4 * (LETTERS + 1)).unwrap_or(text.trim_ascii());
    let text = String::from_utf8_lossy(head);
    if text.chars().nth(LETTERS).is_none() {
        return printable(&text);
    }
    let shown: String = text.chars().take(LETTERS - 1).collect();
    format!("{}…", printable(&shown))
}

/// All of `text` on one line: what would move the cursor, change colours or turn the direction of reading is an escape.
pub(super) fn printable(text: &str) -> String {
    escaped(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(excerpt(b" a\tb\x1b[0m\0\xff\n"), "a\\tb\\u{1b}[0m\\u{0}\u{fffd}");
        assert_eq!(excerpt("a\u{202e}b\u{9b}2J".as_bytes()), "a\\u{202e}b\\u{9b}2J");
    }

    #[test]
    fn long_text_is_cut_between_letters() {
        let shown = excerpt("ä".repeat(1000).as_bytes());
        assert_eq!(shown.chars().count(), LETTERS);
        assert!(shown.ends_with("ä…"));
        assert_eq!(excerpt("ä".repeat(LETTERS).as_bytes()), "ä".repeat(LETTERS));
    }

    #[test]
    fn text_that_acts_is_shown() {
        assert_eq!(printable("a\x1b[2Jb\r\n\u{202e}c\u{7}"), "a\\u{1b}[2Jb\\r\\n\\u{202e}c\\u{7}");
        assert_eq!(printable("ä=日本|`<b>"), "ä=日本|`<b>");
    }
}
