//! What shows that a message is damaged, or no message at all: two records mixed, a line overwritten, a documentation's
//! ellipsis.

use crate::evidence::SkipReason;

/// Names whose value is read. A foreign name that ends in one of them without a gap (`token usaccept rate`) is the
/// trace of a line that was overwritten.
const KNOWN: [&[u8]; 18] = [
    b"#running-req",
    b"#token",
    b"token usage",
    b"accept len",
    b"accept rate",
    b"cap len",
    b"block accept len",
    b"cuda graph",
    b"cpu graph",
    b"npu graph",
    b"musa graph",
    b"gen throughput (token/s)",
    b"#queue-req",
    b"#retracted-req",
    b"#new-seq",
    b"#new-token",
    b"#cached-token",
    b"input throughput (token/s)",
];

/// Longest name of a field; the engine's longest has 33 letters.
const MAX_NAME: usize = 64;

/// Most fields of one message whose value is not read; the engine prints at most 18.
const MAX_FOREIGN: usize = 32;

/// A field that is set at most once; its first value stands.
#[derive(Debug)]
pub(super) struct Once<T>(Option<T>);

impl<T> Default for Once<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Once<T> {
    pub(super) fn set(&mut self, value: T) -> Result<(), SkipReason> {
        // Two values of one name: two records were mixed.
        if self.is_set() {
            return Err(SkipReason::Truncated);
        }
        self.0 = Some(value);
        Ok(())
    }

    pub(super) fn get(self) -> Option<T> {
        self.0
    }

    pub(super) fn is_set(&self) -> bool {
        self.0.is_some()
    }
}

/// The fields whose value is not read.
#[derive(Debug)]
pub(super) struct Foreign<'a> {
    names: [&'a [u8]; MAX_FOREIGN],
    count: usize,
    continued: usize,
}

impl Default for Foreign<'_> {
    fn default() -> Self {
        Self { names: [&[]; MAX_FOREIGN], count: 0, continued: 0 }
    }
}

impl<'a> Foreign<'a> {
    /// Takes one field: fine when it looks like a field, damage when it looks like two lines run together.
    pub(super) fn add(&mut self, name: &'a [u8], value: &[u8]) -> Result<(), SkipReason> {
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"#_-+./() %".contains(byte);
        if is_ellipsis(value) {
            return Err(SkipReason::Lookalike);
        }
        if name.len() > MAX_NAME || !name.iter().all(plain) || is_spliced(name) {
            return Err(SkipReason::Truncated);
        }
        self.once(name)
    }

    /// Takes the rest of a value that itself holds commas.
    pub(super) fn go_on(&mut self) -> Result<(), SkipReason> {
        self.continued += 1;
        if self.continued > MAX_FOREIGN { Err(SkipReason::Truncated) } else { Ok(()) }
    }

    /// Refuses a name that came before: two records were mixed.
    fn once(&mut self, name: &'a [u8]) -> Result<(), SkipReason> {
        let (seen, free) = self.names.split_at_mut_checked(self.count).ok_or(SkipReason::Truncated)?;
        let slot = free.first_mut().ok_or(SkipReason::Truncated)?;
        if seen.contains(&name) {
            return Err(SkipReason::Truncated);
        }
        *slot = name;
        self.count += 1;
        Ok(())
    }
}

fn is_spliced(name: &[u8]) -> bool {
    KNOWN.iter().any(|known| {
        name.strip_suffix(*known).and_then(<[u8]>::last).is_some_and(|before| !before.is_ascii_whitespace())
    })
}

/// Whether `piece` stands for what its author left out.
pub(super) fn is_ellipsis(piece: &[u8]) -> bool {
    piece.starts_with(b"...") || piece.ends_with(b"...") || piece.starts_with("…".as_bytes())
}

/// Whether a value in the middle of a message holds more than a value: another field, a string, the time of another line.
pub(super) fn is_mixed(value: &[u8]) -> bool {
    value.iter().enumerate().any(|(at, byte)| {
        let behind = value.get(at + 1..).unwrap_or(&[]);
        match byte {
            b':' => behind.first().is_none_or(u8::is_ascii_whitespace),
            b'[' => {
                let digits = behind.iter().take_while(|byte| byte.is_ascii_digit()).count();
                digits > 0 && matches!(behind.get(digits), Some(b'-' | b':'))
            }
            _ => *byte == b'"',
        }
    })
}

/// What a message without one known field is: a record cut right behind its head, or prose.
pub(super) fn unknown(message: &[u8], first: &[u8]) -> SkipReason {
    let text = message.trim_ascii();
    let is_cut = text.starts_with(first) || first.starts_with(text);
    if is_cut { SkipReason::Truncated } else { SkipReason::Lookalike }
}

/// `full=5120`: the first of several pools, so no plain pool's figure.
pub(super) fn is_pools(value: &[u8]) -> bool {
    memchr::memchr(b'=', value)
        .and_then(|equals| value.get(..equals))
        .is_some_and(|pool| !pool.is_empty() && pool.iter().all(u8::is_ascii_lowercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixed_values() {
        for value in [
            "0.6INFO:     x",
            "1 #token: 5",
            "0.02 \"GET",
            "1[2026-10-12 01:02:03] x",
            "2 [04:40:55]",
            "1 INFO:",
        ] {
            assert!(is_mixed(value.as_bytes()), "{value}");
        }
        for value in
            ["3.71 [3.55, 3.87]", "97.12%", "2025-07-18T15:32:54.159394", "1194.7 (compute 143.6)", "full=5"]
        {
            assert!(!is_mixed(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn a_name_comes_once() {
        let mut foreign = Foreign::default();
        assert_eq!(foreign.add(b"mamba num", b"3"), Ok(()));
        assert_eq!(foreign.add(b"mamba usage", b"0.3"), Ok(()));
        assert_eq!(foreign.add(b"mamba num", b"3"), Err(SkipReason::Truncated));
        assert_eq!(foreign.add(b"token usaccept rate", b"0.32"), Err(SkipReason::Truncated));
        assert_eq!(foreign.add(b"full token usage", b"..."), Err(SkipReason::Lookalike));
    }

    #[test]
    fn fields_are_bounded() {
        let names: Vec<String> = (0..=MAX_FOREIGN).map(|index| format!("field {index}")).collect();
        let mut foreign = Foreign::default();
        let outcomes: Vec<_> = names.iter().map(|name| foreign.add(name.as_bytes(), b"1")).collect();
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), MAX_FOREIGN);
        assert_eq!(outcomes.last(), Some(&Err(SkipReason::Truncated)));
        assert_eq!((0..100).filter(|_| foreign.go_on().is_ok()).count(), MAX_FOREIGN);
    }
}
