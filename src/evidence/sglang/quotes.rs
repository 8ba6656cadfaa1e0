//! Quotation marks in the text before a record: inside them a record is quoted, not logged.

/// Which quotation marks are open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Quotes {
    double: bool,
    single: bool,
    back: bool,
    /// How far the text was read.
    position: usize,
}

impl Quotes {
    /// Goes on to index `to` of the same text; an index behind the present one changes nothing.
    pub(super) fn advance(&mut self, text: &[u8], to: usize) {
        let from = self.position;
        let Some(fresh) = text.get(from..to) else { return };
        for at in memchr::memchr3_iter(b'"', b'\'', b'`', fresh) {
            self.mark(text, from + at);
        }
        self.position = to;
    }

    /// Whether a string, or a piece of code in prose, is open.
    pub(super) fn are_open(self) -> bool {
        self.double || self.single || self.back
    }

    fn mark(&mut self, text: &[u8], at: usize) {
        let before = text.get(..at).unwrap_or(&[]);
        let backslashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
        if backslashes % 2 == 1 {
            return;
        }
        match text.get(at) {
            Some(b'"') => self.double = !self.double,
            Some(b'`') => self.back = !self.back,
            Some(_) => {
                // The apostrophe of "can't" opens nothing.
                let inside_word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
                if !(inside_word(before.last()) && inside_word(text.get(at + 1))) {
                    self.single = !self.single;
                }
            }
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(text: &str) -> bool {
        let mut quotes = Quotes::default();
        quotes.advance(text.as_bytes(), text.len());
        quotes.are_open()
    }

    #[test]
    fn an_odd_mark_is_open() {
        for text in ["\"a", "text='see ", "say `", "\"a\" \"", "'it\\'s ", "\"it's", "'C:\\\\' '"] {
            assert!(open(text), "{text}");
        }
        for text in ["", "\"a\" 'b' `c`", "can't do", "'it\\'s'", "'C:\\\\'"] {
            assert!(!open(text), "{text}");
        }
    }

    #[test]
    fn the_state_is_carried_over() {
        let text = b"\"a b\" c";
        let mut quotes = Quotes::default();
        for (to, expected) in [(3, true), (2, true), (5, false), (7, false)] {
            quotes.advance(text, to);
            assert_eq!(quotes.are_open(), expected, "{to}");
        }
    }
}
