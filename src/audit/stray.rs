//! What is given as a server's log, and is none.

use std::fmt;

/// A text that looks like a sample and is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stray {
    /// A benchmark client's summary.
    Client,
    /// The summary of an offline script of vLLM.
    Offline,
    /// llama.cpp, which is no engine of this program.
    LlamaCpp,
    /// A fragment of vLLM's line.
    Fragment,
}

impl Stray {
    /// What a line that was passed over looks like.
    pub(super) fn of(text: &[u8]) -> Option<Self> {
        let is_in = |kind: &Self| memchr::memmem::find(text, kind.mark().as_bytes()).is_some();
        [Self::LlamaCpp, Self::Offline, Self::Client, Self::Fragment].into_iter().find(is_in)
    }

    /// The words that tell it.
    pub(super) fn mark(self) -> &'static str {
        match self {
            Self::LlamaCpp => "draft acceptance = ",
            Self::Offline => "num_accepted_tokens:",
            Self::Client => "Accept length:",
            Self::Fragment => "Mean acceptance length:",
        }
    }
}

impl fmt::Display for Stray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Client => {
                "a benchmark client's summary: its accept length is the average of one scheduler since its start, warm-up \
                 included"
            }
            Self::Offline => "the summary of an offline script, not a server's log",
            Self::LlamaCpp => "a line of llama.cpp, which this program does not read",
            Self::Fragment => "a fragment of a vLLM line, without its head and its counts",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Stray;

    #[test]
    fn a_text_is_stray_by_its_words_alone() {
        for (text, expected) in [
            ("draft acceptance = 0.57576 (  171 accepted /   297 generated)", Some(Stray::LlamaCpp)),
            ("num_accepted_tokens: 512", Some(Stray::Offline)),
            ("Accept length:                 3.51", Some(Stray::Client)),
            ("Mean acceptance length: 3.51", Some(Stray::Fragment)),
            ("INFO:     Started server process [7]", None),
            ("", None),
        ] {
            assert_eq!(Stray::of(text.as_bytes()), expected, "{text}");
        }
    }
}
