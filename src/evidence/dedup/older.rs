//! The bulk of the lines that are remembered. A log in order never asks about them, so they are only written down, and
//! made findable when somebody asks.

use super::table::{Entry, Table};

/// Slots for them.
const SLOTS: usize = 1 << 19;

/// Lines at most: three quarters of the slots.
const MOST: usize = SLOTS / 4 * 3;

/// Lines that can be found, and lines written down.
#[derive(Clone, Debug, Default)]
pub(super) struct Older {
    table: Table,
    written: Vec<Entry>,
}

impl Older {
    /// Adds a line that was not added before; `false` when there is no room.
    pub(super) fn add(&mut self, entry: Entry) -> bool {
        let has_room = self.table.len() + self.written.len() < MOST;
        if has_room {
            self.written.push(entry);
        }
        has_room
    }

    /// Lines that can be found.
    #[cfg(test)]
    pub(super) fn found(&self) -> usize {
        self.table.len()
    }

    /// The entry of the line that `entry` is a copy of.
    pub(super) fn find(&mut self, entry: &Entry) -> Option<Entry> {
        for written in std::mem::take(&mut self.written) {
            // Lines made to collide find no room, and are forgotten.
            self.table.add(written, SLOTS);
        }
        self.table.find(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_and_their_number_is_bounded() {
        let mut older = Older::default();
        let entry = |index: u64| Entry::new(index.wrapping_mul(0x9e37_79b9_7f4a_7c15), 7, 0);
        let limit = u64::try_from(MOST).unwrap();
        assert!((0..limit / 2).all(|index| older.add(entry(index))));
        assert_eq!(older.find(&entry(5)), Some(entry(5)));
        assert!((limit / 2..limit).all(|index| older.add(entry(index))));
        assert!(!older.add(entry(limit)));
        assert!((0..limit).all(|index| older.find(&entry(index)).is_some()));
        assert_eq!(older.find(&entry(limit)), None);
    }
}
