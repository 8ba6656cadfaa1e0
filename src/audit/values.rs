//! Lines by their printed value.

use crate::evidence::Place;

use super::kappa::{Kappa, KappaSums};

/// Printed values with a slot of their own: up to 40.95 tokens, more than any draft is long.
const SLOTS: usize = 4096;

/// Lines that printed one value.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValueLines {
    pub(super) hundredths: u32,
    pub(super) sums: KappaSums,
    /// The first of them.
    pub(super) first: Place,
}

/// Lines by printed value; those beyond the last slot together, under the largest of their values.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    slots: Vec<Option<ValueLines>>,
    beyond: Option<ValueLines>,
}

impl Values {
    /// Adds `count` lines alike, the first of them at `place`.
    pub(super) fn add(&mut self, hundredths: u32, kappa: Kappa, count: u64, place: Place) {
        self.at(hundredths, place).sums.add(hundredths, kappa, count);
    }

    /// Adds sums as they are held, of lines with this value.
    pub(super) fn add_raw(&mut self, hundredths: u32, (count, kappa): (u64, u128), place: Place) {
        let tokens = kappa.saturating_mul(u128::from(hundredths));
        self.at(hundredths, place).sums.add_raw((count, kappa, tokens));
    }

    /// The lines with this value, of which one stands at `place`.
    fn at(&mut self, hundredths: u32, place: Place) -> &mut ValueLines {
        let index = usize::try_from(hundredths).unwrap_or(usize::MAX);
        if index < SLOTS && index >= self.slots.len() {
            self.slots.resize(index + 1, None);
        }
        let slot = self.slots.get_mut(index).unwrap_or(&mut self.beyond);
        let lines = slot.get_or_insert(ValueLines { hundredths, sums: KappaSums::default(), first: place });
        lines.hundredths = lines.hundredths.max(hundredths);
        lines.first = lines.first.min(place);
        lines
    }

    /// The values in ascending order.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &ValueLines> {
        self.slots.iter().chain([&self.beyond]).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_beyond_the_slots_are_kept_together() {
        let mut values = Values::default();
        for (line, hundredths) in (1..).zip([400, 352, u32::MAX, 9000, 352]) {
            values.add(hundredths, Kappa::ONE, 1, Place { file: 0, line });
        }
        let found: Vec<_> = values.iter().map(|v| (v.hundredths, v.sums.lines, v.first.line)).collect();
        assert_eq!(found, [(352, 2, 2), (400, 1, 1), (u32::MAX, 2, 3)]);
    }
}
