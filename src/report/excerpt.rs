//! Pieces of foreign text, made safe to show.

use crate::evidence::acts;

/// Letters shown at most.
const LETTERS: usize = 160;

/// The beginning of `text` on one line: what a terminal would act on as escapes, bytes that are no UTF-8 replaced.
pub(crate) fn excerpt(text: &[u8]) -> String {
    // No letter has more than four bytes; one more shows that there is more.
    let head = text.trim_ascii().get(..4 * (LETTERS + 1)).unwrap_or(text.trim_ascii());
    let mut shown = String::new();
    for (count, letter) in String::from_utf8_lossy(head).chars().enumerate() {
        if count == LETTERS {
            shown.pop();
            shown.push('…');
            break;
        }
        if acts(letter) {
            shown.extend(letter.escape_default());
        } else {
            shown.push(letter);
        }
    }
    shown
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
}
