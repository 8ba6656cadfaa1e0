//! Rank tags by their printed text.

use crate::evidence::Tags;
use crate::evidence::batch::Findings;

/// Tags that were read before: a log has few, and ranks take turns.
#[derive(Debug, Default)]
pub(super) struct TagCache {
    known: Vec<Known>,
    next: usize,
}

#[derive(Debug)]
struct Known {
    text: Box<[u8]>,
    /// The same, when it is short.
    short: Option<Short>,
    tags: Tags,
    /// The number of the tags in the findings of that use.
    voice: u32,
    use_number: u64,
}

/// A text of at most 16 bytes, zeros behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Short {
    pub(super) word: u128,
    pub(super) len: u32,
}

impl Short {
    pub(super) fn of(text: &[u8]) -> Option<Self> {
        let mut bytes = [0; 16];
        bytes.get_mut(..text.len())?.copy_from_slice(text);
        Some(Self { word: u128::from_le_bytes(bytes), len: u32::try_from(text.len()).ok()? })
    }
}

impl TagCache {
    const MAX: usize = 64;

    /// The tags in the text of a bracket.
    pub(super) fn get(&mut self, text: &[u8]) -> Tags {
        match self.find(|known| *known.text == *text) {
            Some(known) => known.tags,
            None => self.learn(text),
        }
    }

    /// The voice of the tags in the text of a bracket.
    pub(super) fn voice(&mut self, text: &[u8], findings: &mut Findings) -> u32 {
        match self.find(|known| *known.text == *text) {
            Some(known) => known.voice(findings),
            None => findings.voice(&self.learn(text)),
        }
    }

    /// As [`voice`](Self::voice), of a short text.
    #[inline]
    pub(super) fn voice_of(&mut self, short: Short, findings: &mut Findings) -> Option<u32> {
        self.find(|known| known.short == Some(short)).map(|known| known.voice(findings))
    }

    /// The next line is most often of the rank that came after this one the last time.
    #[inline]
    fn find(&mut self, mut is_it: impl FnMut(&Known) -> bool) -> Option<&mut Known> {
        if !self.known.get(self.next).is_some_and(&mut is_it) {
            self.next = self.known.iter().position(is_it)?;
        }
        let at = self.next;
        self.next = if at + 1 == self.known.len() { 0 } else { at + 1 };
        self.known.get_mut(at)
    }

    #[cold]
    fn learn(&mut self, text: &[u8]) -> Tags {
        let tags = Tags::parse(text);
        if self.known.len() < Self::MAX {
            let short = Short::of(text);
            self.known.push(Known { text: text.into(), short, tags, voice: 0, use_number: 0 });
        }
        tags
    }
}

impl Known {
    #[inline]
    fn voice(&mut self, findings: &mut Findings) -> u32 {
        if self.use_number != findings.use_number() {
            self.use_number = findings.use_number();
            self.voice = findings.voice(&self.tags);
        }
        self.voice
    }
}
