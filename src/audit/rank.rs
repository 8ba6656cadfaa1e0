//! What the lines of one rank add up to.

use crate::evidence::{DecodeLine, Place, Tags};

use super::kappa::{Kappa, KappaSums};
use super::speed::{self, Speed};
use super::tally::{self, Cell, Tally};
use super::trace::{self, Lag, Trace};
use super::values::Values;

/// Memory that the ranks of one point share.
#[derive(Debug)]
pub(super) struct Rooms {
    cells: tally::Budget,
    trace: usize,
    speed: speed::Room,
}

impl Default for Rooms {
    fn default() -> Self {
        Self { cells: tally::Budget::default(), trace: trace::LINES_PER_POINT, speed: speed::Room::default() }
    }
}

/// The line before, as far as the next one needs it.
#[derive(Clone, Copy, Debug)]
struct Before {
    batch: u32,
    /// Its printed value, if it was steady itself.
    steady: Option<u32>,
}

/// Sums over the lines of one rank. Only lines with running requests come here.
#[derive(Debug, Default)]
pub(super) struct Rank {
    pub(super) tags: Tags,
    pub(super) decode_lines: u64,
    pub(super) spec_lines: u64,
    /// Sum of the printed accept lengths, in hundredths.
    pub(super) hundredths: u128,
    /// The same weighed by running requests, and the sum of these.
    pub(super) batch_hundredths: u128,
    pub(super) batches: u128,
    /// All speculative lines, weighed by kappa.
    pub(super) sums: KappaSums,
    pub(super) values: Values,
    /// Lines whose batch equals that of the line before, no prefill between.
    pub(super) steady: Tally,
    /// All others.
    pub(super) changing: Tally,
    pub(super) trace: Trace,
    pub(super) lag: Lag,
    pub(super) speed: Speed,
    before: Option<Before>,
    prefilled: bool,
    begun: bool,
}

impl Rank {
    pub(super) fn new(tags: Tags) -> Self {
        Self { tags, ..Self::default() }
    }

    /// A new stretch of lines: nothing before it tells about the next window.
    pub(super) fn begin_segment(&mut self) {
        self.break_window();
        self.begun = false;
    }

    /// The next window does not follow on the last one.
    pub(super) fn break_window(&mut self) {
        self.before = None;
    }

    /// Requests joined the batch.
    pub(super) fn prefill(&mut self) {
        self.prefilled = true;
    }

    pub(super) fn add(&mut self, line: &DecodeLine<'_>, place: Place, rooms: &mut Rooms) {
        self.decode_lines += 1;
        self.speed.add(line, !self.begun, place, &mut rooms.speed);
        self.begun = true;

        let batch = line.running_req;
        let before = self.before.take();
        let is_steady = !self.prefilled && before.is_some_and(|before| before.batch == batch);
        self.prefilled = false;
        let printed = line.accept_len.map(crate::evidence::Hundredths::count);
        self.before = Some(Before { batch, steady: printed.filter(|_| is_steady) });
        let Some(hundredths) = printed else { return };

        let batch_before = before.map_or(batch, |before| before.batch);
        let kappa = Kappa::between(batch_before, batch);
        self.spec_lines += 1;
        self.hundredths += u128::from(hundredths);
        self.batch_hundredths += u128::from(hundredths) * u128::from(batch);
        self.batches += u128::from(batch);
        self.sums.add(hundredths, kappa);
        self.values.add(hundredths, kappa, place);
        self.trace.add(hundredths, kappa, &mut rooms.trace);
        let tally = if is_steady { &mut self.steady } else { &mut self.changing };
        tally.add(Cell { hundredths, before: batch_before, batch }, &mut rooms.cells);
        if let (true, Some(earlier)) = (is_steady, before.and_then(|before| before.steady)) {
            self.lag.add(earlier, hundredths);
        }
    }
}
