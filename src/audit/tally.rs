//! How often each kind of line occurred: the sufficient statistic of every likelihood, in bounded memory.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

/// Cells that all tallies of one point may hold together, and the reserve for coarse ones.
const FINE_CELLS: usize = 1 << 17;
const COARSE_CELLS: usize = 1 << 16;

/// What tells two lines apart: the printed value and the batch sizes at both ends of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Cell {
    pub(super) hundredths: u32,
    /// `#running-req` of the line before; of the line itself where none is known.
    pub(super) before: u32,
    /// `#running-req` of the line.
    pub(super) batch: u32,
}

impl Cell {
    /// The cell with batch sizes to four binary digits: within 6 %.
    fn coarse(self) -> Self {
        self.rounded(4)
    }

    /// The cell with batch sizes to so many binary digits.
    pub(super) fn rounded(self, digits: u32) -> Self {
        let bits = u32::BITS.saturating_sub(digits);
        let round = |batch: u32| {
            let drop = (bits - batch.leading_zeros().min(bits)).min(31);
            (batch >> drop) << drop
        };
        Self { hundredths: self.hundredths, before: round(self.before), batch: round(self.batch) }
    }
}

/// What is left of the memory for cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    fine: usize,
    coarse: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { fine: FINE_CELLS, coarse: COARSE_CELLS }
    }
}

/// Counts by cell: exact while the budget lasts, then by coarse batch sizes, then not at all.
///
/// Real logs stay within the exact part: an accept length has a few hundred values, and a batch a few hundred sizes.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    cells: FxHashMap<Cell, u64>,
    lines: u64,
}

impl Tally {
    /// Adds `lines` alike.
    pub(super) fn add(&mut self, cell: Cell, lines: u64, budget: &mut Budget) {
        self.lines += lines;
        match self.cells.entry(cell) {
            Entry::Occupied(mut entry) => {
                *entry.get_mut() += lines;
                return;
            }
            Entry::Vacant(entry) if budget.fine > 0 => {
                budget.fine -= 1;
                entry.insert(lines);
                return;
            }
            Entry::Vacant(_) => {}
        }
        match self.cells.entry(cell.coarse()) {
            Entry::Occupied(mut entry) => *entry.get_mut() += lines,
            Entry::Vacant(entry) if budget.coarse > 0 => {
                budget.coarse -= 1;
                entry.insert(lines);
            }
            Entry::Vacant(_) => {}
        }
    }

    /// Adds lines that are counted in no cell.
    pub(super) fn add_uncounted(&mut self, lines: u64) {
        self.lines = self.lines.saturating_add(lines);
    }

    /// Lines added, counted in a cell or not.
    pub(super) fn lines(&self) -> u64 {
        self.lines
    }

    /// The cells in order, so that sums over them do not depend on the hash.
    pub(super) fn sorted(&self) -> Vec<(Cell, u64)> {
        let mut cells: Vec<_> = self.cells.iter().map(|(cell, count)| (*cell, *count)).collect();
        cells.sort_unstable();
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_bounded_and_batches_become_coarse() {
        let (mut tally, mut budget) = (Tally::default(), Budget { fine: 2, coarse: 1 });
        for batch in [100, 101, 102, 103, 7000] {
            tally.add(Cell { hundredths: 350, before: batch, batch }, 1, &mut budget);
        }
        let batches: Vec<_> = tally.sorted().iter().map(|(cell, count)| (cell.batch, *count)).collect();
        // 102 and 103 share the coarse 96; 7000 found no room.
        assert_eq!(batches, [(96, 2), (100, 1), (101, 1)]);
        assert_eq!(tally.lines(), 5);
    }

    #[test]
    fn small_batches_stay_exact_when_coarse() {
        for batch in 0..16 {
            assert_eq!(Cell { hundredths: 1, before: 0, batch }.coarse().batch, batch);
        }
        assert_eq!(Cell { hundredths: 1, before: 0, batch: u32::MAX }.coarse().batch, 0xf000_0000);
    }
}
