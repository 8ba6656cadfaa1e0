//! A small table of what came lately: most lines of a log are like one that came shortly before, and finding that one
//! here costs a comparison.

/// The key of a free slot.
pub(super) const NONE: u64 = 0;

/// Sums by key, each key in the one slot that its number names. What gives way to another key is handed back.
#[derive(Clone, Debug)]
pub(super) struct Recent<V, const SLOTS: usize> {
    slots: Vec<(u64, V)>,
}

/// The slots of such a table.
pub(super) struct Slots<'a, V, const SLOTS: usize>(&'a mut [(u64, V); SLOTS]);

impl<V, const SLOTS: usize> Slots<'_, V, SLOTS> {
    /// The sums of `key`, whose number is `mixed`, if it holds its slot. [`NONE`] is no key.
    #[inline]
    pub(super) fn get(&mut self, mixed: u32, key: u64) -> Option<&mut V> {
        let slot = self.0.get_mut(index::<SLOTS>(mixed))?;
        if slot.0 == key { Some(&mut slot.1) } else { None }
    }
}

impl<V, const SLOTS: usize> Default for Recent<V, SLOTS> {
    fn default() -> Self {
        Self { slots: Vec::new() }
    }
}

impl<V: Copy + Default, const SLOTS: usize> Recent<V, SLOTS> {
    /// The slots, once something was put there.
    #[inline]
    pub(super) fn slots(&mut self) -> Option<Slots<'_, V, SLOTS>> {
        self.slots.first_chunk_mut().map(Slots)
    }

    /// The sums of `key`, whose number is `mixed`, if it holds its slot. [`NONE`] holds none.
    #[inline]
    pub(super) fn slot(&mut self, mixed: u32, key: u64) -> Option<&mut V> {
        let slot = self.slots.get_mut(index::<SLOTS>(mixed));
        slot.filter(|(held, _)| *held == key && key != NONE).map(|(_, sums)| sums)
    }

    /// Puts `key` into its slot, and hands back what was there.
    pub(super) fn put(&mut self, mixed: u32, key: u64, sums: V) -> Option<(u64, V)> {
        if self.slots.is_empty() {
            self.slots = vec![(NONE, V::default()); SLOTS];
        }
        let slot = self.slots.get_mut(index::<SLOTS>(mixed))?;
        let before = std::mem::replace(slot, (key, sums));
        (before.0 != NONE).then_some(before)
    }

    /// All that is held.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, V)> {
        self.slots.iter().copied().filter(|(key, _)| *key != NONE)
    }
}

#[inline]
fn index<const SLOTS: usize>(mixed: u32) -> usize {
    usize::try_from(mixed).unwrap_or(0) % SLOTS
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::Recent;

    proptest! {
        /// Nothing is lost, whatever shares a slot.
        #[test]
        fn all_is_counted(keys in prop::collection::vec(1_u32..2000, 0..3000)) {
            let (mut recent, mut counts, mut expected) = (Recent::<u64, 512>::default(), BTreeMap::new(), BTreeMap::new());
            for number in keys {
                let key = u64::from(number);
                *expected.entry(key).or_insert(0_u64) += 1;
                if let Some(count) = recent.slot(number, key) {
                    *count += 1;
                } else if let Some((key, count)) = recent.put(number, key, 1_u64) {
                    *counts.entry(key).or_insert(0) += count;
                }
            }
            for (key, count) in recent.iter() {
                *counts.entry(key).or_insert(0) += count;
            }
            prop_assert_eq!(counts, expected);
        }
    }
}
