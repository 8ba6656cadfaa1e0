//! A small table of what came lately: most lines of a log are like one that came shortly before, and finding that one
//! here costs a comparison.

/// Slots; what they hold fits the processor's inner caches.
const SLOTS: usize = 512;

/// Sums by key, each key in the one slot that its number names. What gives way to another key is handed back.
#[derive(Debug)]
pub(super) struct Recent<K, V> {
    slots: Vec<Option<(K, V)>>,
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Self { slots: Vec::new() }
    }
}

/// What a slot holds for a key.
pub(super) enum Slot<'a, V> {
    Held(&'a mut V),
    Free,
}

impl<K: Copy + PartialEq, V: Copy> Recent<K, V> {
    /// The sums of `key`, whose number is `mixed`.
    #[inline]
    pub(super) fn slot(&mut self, mixed: u32, key: K) -> Slot<'_, V> {
        match self.slots.get_mut(index(mixed)) {
            Some(Some((held, sums))) if *held == key => Slot::Held(sums),
            _ => Slot::Free,
        }
    }

    /// Puts `key` into its slot, and hands back what was there.
    pub(super) fn put(&mut self, mixed: u32, key: K, sums: V) -> Option<(K, V)> {
        if self.slots.is_empty() {
            self.slots = vec![None; SLOTS];
        }
        self.slots.get_mut(index(mixed))?.replace((key, sums))
    }

    /// Hands back all that is held.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = (K, V)> {
        std::mem::take(&mut self.slots).into_iter().flatten()
    }

    /// All that is held.
    pub(super) fn iter(&self) -> impl Iterator<Item = (K, V)> {
        self.slots.iter().flatten().copied()
    }
}

fn index(mixed: u32) -> usize {
    usize::try_from(mixed).unwrap_or(0) % SLOTS
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::{Recent, Slot};

    proptest! {
        /// Nothing is lost, whatever shares a slot.
        #[test]
        fn all_is_counted(keys in prop::collection::vec(0_u32..2000, 0..3000)) {
            let (mut recent, mut counts, mut expected) = (Recent::default(), BTreeMap::new(), BTreeMap::new());
            for key in keys {
                *expected.entry(key).or_insert(0_u64) += 1;
                if let Slot::Held(count) = recent.slot(key, key) {
                    *count += 1;
                } else if let Some((key, count)) = recent.put(key, key, 1_u64) {
                    *counts.entry(key).or_insert(0) += count;
                }
            }
            prop_assert_eq!(recent.iter().count(), expected.len().min(recent.iter().count()));
            for (key, count) in recent.drain() {
                *counts.entry(key).or_insert(0) += count;
            }
            prop_assert_eq!(counts, expected);
        }
    }
}
