//! Text of an input inside a message.

use std::fmt::Write as _;

/// Longest piece of input that a message repeats, in characters.
const MOST_CHARACTERS: usize = 60;

/// `text` in single quotes for a message: control characters escaped (they could drive a terminal), long text cut.
pub(crate) fn quoted(text: &str) -> String {
    let mut shown = String::from("'");
    for (index, character) in text.chars().enumerate() {
        if index == MOST_CHARACTERS {
            shown.push_str("...");
            break;
        }
        if character.is_control() {
            // Writing to a String cannot fail.
            let _ = write!(shown, "{}", character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown.push('\'');
    shown
}
