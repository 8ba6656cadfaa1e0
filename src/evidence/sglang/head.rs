//! The heads that begin a record, and the search for them.

use aho_corasick::packed::Searcher;

use crate::evidence::vllm::CONFIG_WORDS;

/// What begins a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Head {
    Decode,
    Prefill,
    Start,
    Flush,
    /// A name of simulated acceptance.
    Setting,
    /// A fork's own line (`Prefill rank batch`): no record of ours.
    Foreign,
    /// A line of another engine.
    Engine(EngineHead),
    /// A configuration of another engine.
    Config,
    /// What another program prints: a fragment of a line, an engine that is not read, a client's summary.
    Stray,
}

/// What begins a line of another engine, or stands in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EngineHead {
    /// `SpecDecoding metrics:` of vLLM.
    VllmSpec,
    /// `Speculative metrics:` of vLLM before April 2025.
    VllmLegacy,
    /// `Avg prompt throughput:` of a vLLM engine.
    VllmEngine,
    /// `states = {` of a TensorRT-LLM iteration.
    TrtllmIteration,
    /// `[MTP Stats` of ATOM.
    AtomStats,
    /// `Forced speculative acceptance ON` of ATOM.
    AtomForced,
}

impl Head {
    /// Whether it may stand inside a record, so that it ends none.
    pub(super) fn is_inner(self) -> bool {
        matches!(self, Self::Setting | Self::Config | Self::Stray)
    }
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
    Setting,
    TrtllmSetting,
    Engine(EngineHead),
    /// One of [`CONFIG_WORDS`].
    Config(usize),
    /// One of [`STRAYS`].
    Stray(usize),
}

/// What lines that are no sample hold: a fragment of vLLM's, llama.cpp's timings, a benchmark client's summary, the one of
/// an offline script of vLLM.
const STRAYS: [&[u8]; 4] =
    [b"Mean acceptance length:", b"draft acceptance = ", b"Accept length:", b"num_accepted_tokens:"];

impl Word {
    const ALL: [Self; 21] = [
        Self::Decode,
        Self::Prefill,
        Self::Arguments,
        Self::Flush,
        Self::Setting,
        Self::TrtllmSetting,
        Self::Engine(EngineHead::VllmSpec),
        Self::Engine(EngineHead::VllmLegacy),
        Self::Engine(EngineHead::VllmEngine),
        Self::Engine(EngineHead::TrtllmIteration),
        Self::Engine(EngineHead::AtomStats),
        Self::Engine(EngineHead::AtomForced),
        Self::Config(0),
        Self::Config(1),
        Self::Config(2),
        Self::Config(3),
        Self::Config(4),
        Self::Stray(0),
        Self::Stray(1),
        Self::Stray(2),
        Self::Stray(3),
    ];

    fn text(self) -> &'static [u8] {
        match self {
            Self::Decode => b"Decode",
            Self::Prefill => b"Prefill",
            Self::Arguments => b"server_args=",
            Self::Flush => b"Cache flushed",
            Self::Setting => b"SIMULATE_ACC_",
            Self::TrtllmSetting => b"FORCE_NUM_ACCEPTED_TOKENS",
            Self::Engine(EngineHead::VllmSpec) => b"SpecDecoding metrics:",
            Self::Engine(EngineHead::VllmLegacy) => b"Speculative metrics:",
            Self::Engine(EngineHead::VllmEngine) => b"Avg prompt throughput:",
            Self::Engine(EngineHead::TrtllmIteration) => b"states = {",
            Self::Engine(EngineHead::AtomStats) => b"[MTP Stats",
            Self::Engine(EngineHead::AtomForced) => b"Forced speculative acceptance ON",
            Self::Config(word) => CONFIG_WORDS.get(word).copied().unwrap_or_default(),
            Self::Stray(word) => STRAYS.get(word).copied().unwrap_or_default(),
        }
    }

    /// The head that begins with this word, from what follows the word, and how much of that belongs to it.
    fn head(self, behind: &[u8]) -> Option<(Head, usize)> {
        match self {
            Self::Decode => batch(behind, Head::Decode),
            Self::Prefill => batch(behind, Head::Prefill),
            Self::Arguments => Some((Head::Start, 0)),
            Self::Setting | Self::TrtllmSetting => Some((Head::Setting, 0)),
            Self::Engine(head) => Some((Head::Engine(head), 0)),
            Self::Config(_) => Some((Head::Config, 0)),
            Self::Stray(_) => Some((Head::Stray, 0)),
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

/// Where a word stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Index of its first byte.
    pub(super) at: usize,
    word: Word,
}

impl Found {
    /// Whether a decode line may begin there.
    pub(super) fn is_decode(self) -> bool {
        self.word == Word::Decode
    }

    /// Whether a prefill line may begin there.
    pub(super) fn is_prefill(self) -> bool {
        self.word == Word::Prefill
    }

    /// Index behind the word.
    pub(super) fn end(self) -> usize {
        self.at + self.word.text().len()
    }

    /// The head that begins with this word in `text`, whose first byte has index `start`.
    pub(super) fn hit(self, text: &[u8], start: usize) -> Option<Hit> {
        let (at, end) = (self.at.checked_sub(start)?, self.end().checked_sub(start)?);
        let (head, more) = self.word.head(text.get(end..)?)?;
        Some(Hit { at, end: end + more, head })
    }
}

/// Searches for all words in one pass.
#[derive(Debug)]
pub(super) struct Words {
    /// `None` on a processor without the vector instructions: the words are then searched one by one.
    searcher: Option<Searcher>,
}

impl Words {
    pub(super) fn new() -> Self {
        Self { searcher: Searcher::new(Word::ALL.map(Word::text)) }
    }

    /// The first word at or behind `from`.
    pub(super) fn next(&self, text: &[u8], from: usize) -> Option<Found> {
        let rest = text.get(from..)?;
        let (at, word) = match &self.searcher {
            Some(searcher) => {
                let found = searcher.find(rest)?;
                (found.start(), *Word::ALL.get(found.pattern().as_usize())?)
            }
            None => Word::ALL
                .into_iter()
                .filter_map(|word| Some((memchr::memmem::find(rest, word.text())?, word)))
                .min_by_key(|(at, _)| *at)?,
        };
        Some(Found { at: from + at, word })
    }

    /// The first head at or behind `from`.
    pub(super) fn head(&self, text: &[u8], mut from: usize) -> Option<Hit> {
        loop {
            let found = self.next(text, from)?;
            if let Some(hit) = found.hit(text, 0) {
                return Some(hit);
            }
            from = found.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heads(text: &[u8]) -> Vec<(usize, usize, Head)> {
        let [fast, slow] = [Words::new(), Words { searcher: None }].map(|words| {
            let (mut found, mut from) = (Vec::new(), 0);
            while let Some(hit) = words.head(text, from) {
                found.push((hit.at, hit.end, hit.head));
                from = hit.end;
            }
            found
        });
        assert_eq!(fast, slow);
        fast
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
