//! Rank tags by their printed text.

use crate::evidence::Tags;

/// Tags that were read before: a log has few, and ranks take turns.
#[derive(Debug, Default)]
pub(super) struct TagCache {
    known: Vec<(Box<[u8]>, Tags)>,
    next: usize,
}

impl TagCache {
    const MAX: usize = 64;

    #[inline]
    /// The tags in the text of a bracket.
    pub(super) fn get(&mut self, text: &[u8]) -> Tags {
        // The next line is most often of the rank that came after this one the last time.
        let (before, behind) = self.known.split_at_checked(self.next).unwrap_or((&self.known, &[]));
        let mut order = (self.next..).zip(behind).chain((0..).zip(before));
        if let Some((index, (_, tags))) = order.find(|(_, (known, _))| **known == *text) {
            self.next = index + 1;
            return *tags;
        }
        let tags = Tags::parse(text);
        if self.known.len() < Self::MAX {
            self.known.push((text.into(), tags));
        }
        tags
    }
}
