//! The heads that begin a record, and the search for them.

use memchr::memmem::Finder;

/// What begins a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Head {
    Decode,
    Prefill,
    Start,
    Flush,
    /// A fork's own line (`Prefill rank batch`): no record of ours.
    Foreign,
}

/// One head in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    /// Index of its first byte.
    pub(super) at: usize,
    /// Index behind its last byte.
    pub(super) end: usize,
    pub(super) head: Head,
}

/// A word that a head begins with; the rest of the head is looked at where the word is found, because a wrapper's
/// colours may stand in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Decode,
    Prefill,
    Arguments,
    Flush,
}

impl Word {
    const ALL: [Self; 4] = [Self::Decode, Self::Prefill, Self::Arguments, Self::Flush];

    fn text(self) -> &'static [u8] {
        match self {
            Self::Decode => b"Decode",
            Self::Prefill => b"Prefill",
            Self::Arguments => b"server_args=",
            Self::Flush => b"Cache flushed",
        }
    }

    /// The head that begins with this word, from what follows the word, and how much of that belongs to it.
    fn head(self, behind: &[u8]) -> Option<(Head, usize)> {
        match self {
            Self::Decode => batch(behind, Head::Decode),
            Self::Prefill => batch(behind, Head::Prefill),
            Self::Arguments => Some((Head::Start, 0)),
            Self::Flush => {
                let rest: &[u8] = b" successfully!";
                behind.starts_with(rest).then_some((Head::Flush, rest.len()))
            }
        }
    }
}

/// ` batch` is the engine's head, ` word batch` a fork's.
fn batch(behind: &[u8], head: Head) -> Option<(Head, usize)> {
    let noun: &[u8] = b" batch";
    if behind.starts_with(noun) {
        return Some((head, noun.len()));
    }
    let word = behind.strip_prefix(b" ")?.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
    let end = 1 + word;
    behind.get(end..)?.starts_with(noun).then_some((Head::Foreign, end + noun.len()))
}

/// Searchers for all words.
#[derive(Debug)]
pub(super) struct Finders {
    finders: [(Word, Finder<'static>); 4],
}

impl Finders {
    pub(super) fn new() -> Self {
        Self { finders: Word::ALL.map(|word| (word, Finder::new(word.text()))) }
    }
}

/// Where one word stands next.
#[derive(Clone, Copy, Debug, Default)]
enum Next {
    /// Not searched yet.
    #[default]
    Unknown,
    At(usize),
    Never,
}

/// The next position of each word in one text, so that no part of it is searched twice.
#[derive(Default)]
pub(super) struct Hits {
    next: [Next; 4],
}

impl Hits {
    /// Index of the first word at or behind `from`; `from` must not fall. A head may begin there.
    pub(super) fn word(&mut self, finders: &Finders, text: &[u8], from: usize) -> Option<usize> {
        self.first(finders, text, from).map(|(at, _)| at)
    }

    /// The first head at or behind `from`; `from` must not fall.
    pub(super) fn head(&mut self, finders: &Finders, text: &[u8], mut from: usize) -> Option<Hit> {
        loop {
            let (at, word) = self.first(finders, text, from)?;
            let end = at + word.text().len();
            if let Some((head, more)) = text.get(end..).and_then(|behind| word.head(behind)) {
                return Some(Hit { at, end: end + more, head });
            }
            from = end;
        }
    }

    fn first(&mut self, finders: &Finders, text: &[u8], from: usize) -> Option<(usize, Word)> {
        let mut first: Option<(usize, Word)> = None;
        for ((word, finder), slot) in finders.finders.iter().zip(&mut self.next) {
            let stale = match *slot {
                Next::Unknown => true,
                Next::At(at) => at < from,
                Next::Never => false,
            };
            if stale {
                let found = text.get(from..).and_then(|text| finder.find(text));
                *slot = found.map_or(Next::Never, |at| Next::At(from + at));
            }
            if let Next::At(at) = *slot
                && first.is_none_or(|(earlier, _)| at < earlier)
            {
                first = Some((at, *word));
            }
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heads(text: &[u8]) -> Vec<(usize, usize, Head)> {
        let finders = Finders::new();
        let (mut hits, mut found, mut from) = (Hits::default(), Vec::new(), 0);
        while let Some(hit) = hits.head(&finders, text, from) {
            found.push((hit.at, hit.end, hit.head));
            from = hit.end;
        }
        found
    }

    #[test]
    fn heads_in_order() {
        assert_eq!(
            heads(b"Decode batch Prefill batch server_args= Cache flushed successfully! Prefill rank batch"),
            [
                (0, 12, Head::Decode),
                (13, 26, Head::Prefill),
                (27, 39, Head::Start),
                (40, 67, Head::Flush),
                (68, 86, Head::Foreign)
            ]
        );
    }

    #[test]
    fn a_word_alone_is_no_head() {
        assert_eq!(heads(b"Decode Decoded batch Prefill two small batch Cache flushed Prefill bat"), []);
        assert_eq!(heads(b"DecodeDecode batch"), [(6, 18, Head::Decode)]);
    }
}
