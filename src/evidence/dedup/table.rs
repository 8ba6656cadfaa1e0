//! A set of lines in bounded memory: open addressing, with a limit on the steps of a search.

/// One line that was seen. Two lines are one when their values agree, and either their ranks differ (copies of one
/// scheduler's line) or their own figures agree too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    /// Hash of time, DP rank and values; 0 marks a free slot.
    values: u64,
    /// Hash of the figures that each rank measures by its own clock.
    own: u32,
    /// Number of the tag set.
    pub(super) rank: u32,
}

impl Entry {
    pub(super) fn new(values: u64, own: u32, rank: u32) -> Self {
        Self { values: values.max(1), own, rank }
    }

    fn is_same_line(&self, other: &Self) -> bool {
        self.values == other.values && (self.rank != other.rank || self.own == other.own)
    }

    fn is_free(&self) -> bool {
        self.values == 0
    }
}

/// Longest search, in slots. An honest one is a few slots long; lines made to collide are forgotten instead of looked
/// for ever longer.
const MAX_STEPS: usize = 128;

/// Slots of a table that holds something.
const FIRST_SLOTS: usize = 64;

/// The set. It doubles at three quarters full, up to a limit.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    slots: Vec<Entry>,
    held: usize,
}

impl Table {
    pub(super) fn len(&self) -> usize {
        self.held
    }

    /// The entry of the line that `entry` is a copy of.
    pub(super) fn find(&self, entry: &Entry) -> Option<Entry> {
        let slots =
            self.steps(entry.values).map_while(|at| self.slots.get(at).filter(|slot| !slot.is_free()));
        slots.copied().find(|slot| slot.is_same_line(entry))
    }

    /// Adds a line that is not in the set; `false` when there is no room in `limit` slots, a power of two.
    pub(super) fn add(&mut self, entry: Entry, limit: usize) -> bool {
        if self.held.saturating_mul(4) >= self.slots.len().saturating_mul(3) {
            let slots = self.slots.len().saturating_mul(2).max(FIRST_SLOTS);
            if slots > limit {
                return false;
            }
            let grown = vec![Entry::default(); slots];
            for entry in
                std::mem::replace(&mut self.slots, grown).into_iter().filter(|entry| !entry.is_free())
            {
                self.put(entry);
            }
        }
        let done = self.put(entry);
        self.held += usize::from(done);
        done
    }

    fn put(&mut self, entry: Entry) -> bool {
        for at in self.steps(entry.values) {
            if let Some(slot) = self.slots.get_mut(at).filter(|slot| slot.is_free()) {
                *slot = entry;
                return true;
            }
        }
        false
    }

    /// The slots where an entry may stand, the first free one last.
    fn steps(&self, values: u64) -> impl Iterator<Item = usize> + use<> {
        let count = self.slots.len();
        // The count is a power of two, so the low bits of the hash name a slot; their upper part may be lost.
        let mask = count.saturating_sub(1);
        let first = usize::try_from(values & u64::from(u32::MAX)).unwrap_or(0);
        // Growing strides visit every slot once, and long clusters do not form.
        (0..MAX_STEPS.min(count)).map(move |step| first.wrapping_add(step * (step + 1) / 2) & mask)
    }

    /// Takes all entries out; the room stays.
    pub(super) fn clear(&mut self) {
        self.held = 0;
        self.slots.fill(Entry::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_found() {
        let mut table = Table::default();
        let entry = |index: u64| Entry::new(index.wrapping_mul(0x9e37_79b9_7f4a_7c15), 7, 0);
        for index in 0..10_000 {
            assert_eq!(table.find(&entry(index)), None);
            assert!(table.add(entry(index), 1 << 20));
        }
        assert!((0..10_000).all(|index| table.find(&entry(index)) == Some(entry(index))));
        table.clear();
        assert_eq!((table.len(), table.find(&entry(5))), (0, None));
    }

    #[test]
    fn own_figures_count_within_a_rank() {
        let mut table = Table::default();
        table.add(Entry::new(5, 1, 0), 64);
        assert!(table.find(&Entry::new(5, 1, 0)).is_some());
        assert!(table.find(&Entry::new(5, 2, 1)).is_some());
        assert_eq!(table.find(&Entry::new(5, 2, 0)), None);
        table.add(Entry::new(5, 2, 0), 64);
        assert!(table.find(&Entry::new(5, 2, 0)).is_some());
    }

    #[test]
    fn room_is_bounded() {
        let mut table = Table::default();
        let added = (1..1000_u64).filter(|index| table.add(Entry::new(*index, 0, 0), 256)).count();
        assert_eq!(added, 192);
        assert_eq!(table.len(), 192);
    }

    /// Lines made to share one hash are forgotten; they cost no more than a bounded search.
    #[test]
    fn collisions_are_bounded() {
        let mut table = Table::default();
        let added = (0..1000_u32).filter(|own| table.add(Entry::new(1, *own, 0), 1 << 12)).count();
        assert_eq!(added, MAX_STEPS);
    }
}
