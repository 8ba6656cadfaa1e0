//! The search for a seed that no line names: all of them, pruned by the first steady lines.
//!
//! SGLang picks its seed from 2^30 (`random.randint(0, 1 << 30)`), few enough to try. Sixteen seeds go side by side
//! through the generator's start and the draws of the first steady lines; what passes them is followed along all others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rayon::prelude::*;

use super::law::DrawLaw;
use super::odds::log10_tried;
use super::script::Script;
use super::twister::{BLOCK, MIDDLE, next_initial, temper, twisted};

/// Seeds that a server can have picked by itself: 0 to 2^30, both included.
pub const SEEDS: u64 = (1 << 30) + 1;

/// Seeds side by side.
const LANES: usize = 16;

/// Seeds of one task.
const TASK: u64 = 1 << 14;

/// Seeds reported at most: more, and the lines say too little.
const MOST_FOUND: usize = 64;

/// Decimal logarithm of the share of seeds that may pass the first lines.
const SIEVE: f64 = -1.0;

/// Blocks of words within which the first lines must lie.
const MOST_BLOCKS: usize = 16;

/// Decimal logarithm of the chance of an accident at which a seed is believed.
const BELIEVED: f64 = -6.0;

/// A steady line of a rank, counted from its server's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clue {
    /// Number of the line, from 0.
    pub line: u64,
    /// Printed accept length, in hundredths.
    pub hundredths: u32,
}

/// What a search is for, and how far it is. One thread may look while others search.
///
/// ```
/// use accsim::law::Setting;
/// use accsim::replay::{Clue, DrawLaw, DrawMethod, SeedSearch, decode_lines};
///
/// let law = DrawLaw::new(DrawMethod::MatchExpected, Setting::new(3.51, 6)?).ok_or("too long")?;
/// // The first lines of a server whose seed nobody wrote down.
/// let lines = decode_lines(4711, &law, 40, 40);
/// let clues = (0..).zip(&lines).map(|(line, printed)| Clue { line, hundredths: printed.count() }).collect();
/// // A log needs all seeds, `SEEDS`: some minutes.
/// assert_eq!(SeedSearch::new(law, 40, clues)?.run(10_000).seeds, [4711]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SeedSearch {
    script: Script,
    clues: Vec<Clue>,
    /// Clues that are looked at first, and the draws up to their end.
    sieve: usize,
    tried: AtomicU64,
    stopped: AtomicBool,
}

/// The seeds whose draws fit.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundSeeds {
    /// In ascending order.
    pub seeds: Vec<u64>,
    /// Steady lines that each of them fits.
    pub lines: u64,
    /// Decimal logarithm of the chance that any seed fits by accident, all 2^30 charged.
    pub log10_chance: f64,
}

/// Why a seed cannot be searched.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum RecoverError {
    /// The law draws nothing.
    #[error("this target draws nothing: its lines read the same under any seed")]
    Constant,
    /// Some seed would fit by accident.
    #[error(
        "{lines} steady lines at the log's start are too few: one of 2^30 seeds would fit with a chance of 10^{log10_chance:.0}"
    )]
    TooFewLines {
        /// Steady lines.
        lines: u64,
        /// Decimal logarithm of the chance.
        log10_chance: f64,
    },
    /// The first steady lines stand too far from the start.
    #[error("no steady line stands near the log's start, from which draws are counted")]
    NoStart,
}

impl SeedSearch {
    /// A search for the seed whose draws give these lines. The log must begin where its server did.
    pub fn new(law: DrawLaw, interval: u32, clues: Vec<Clue>) -> Result<Self, RecoverError> {
        if law.constant().is_some() {
            return Err(RecoverError::Constant);
        }
        let script = Script::new(law, 0, interval);
        let per_block = script.sampler.draws_per_block();
        let reach = per_block.saturating_mul(u64::try_from(MOST_BLOCKS).unwrap_or(0));
        let mut clues = clues;
        clues.sort_unstable_by_key(|clue| clue.line);
        clues.dedup_by_key(|clue| clue.line);
        let lines = u64::try_from(clues.len()).unwrap_or(0);
        let log10_chance = crate::law::float(lines) * script.odds.log10_line() + log10_tried(SEEDS);
        if log10_chance > BELIEVED {
            return Err(RecoverError::TooFewLines { lines, log10_chance: log10_chance.min(0.0) });
        }
        let end = |clue: &Clue| clue.line.saturating_add(1).saturating_mul(script.steps());
        let needed = crate::law::whole((SIEVE / script.odds.log10_line().min(-1e-9)).ceil());
        let near = clues.iter().take_while(|clue| end(clue) <= reach).count();
        let sieve = near.min(usize::try_from(needed).unwrap_or(usize::MAX));
        if sieve == 0 {
            return Err(RecoverError::NoStart);
        }
        Ok(Self { script, clues, sieve, tried: AtomicU64::new(0), stopped: AtomicBool::new(false) })
    }

    /// Seeds tried so far.
    #[must_use]
    pub fn tried(&self) -> u64 {
        self.tried.load(Ordering::Relaxed)
    }

    /// Searches the seeds below `limit`, [`SEEDS`] for all, on the threads of the rayon pool that it is called in.
    #[must_use]
    pub fn run(&self, limit: u64) -> FoundSeeds {
        let tasks = limit.div_ceil(TASK);
        let mut seeds: Vec<u64> = (0..tasks)
            .into_par_iter()
            .flat_map_iter(|task| {
                let first = task * TASK;
                self.task(first, (first + TASK).min(limit))
            })
            .collect();
        seeds.sort_unstable();
        seeds.truncate(MOST_FOUND);
        let lines = u64::try_from(self.clues.len()).unwrap_or(0);
        let log10_chance = crate::law::float(lines) * self.script.odds.log10_line() + log10_tried(limit);
        FoundSeeds { seeds, lines, log10_chance }
    }

    fn task(&self, first: u64, end: u64) -> Vec<u64> {
        let mut found = Vec::new();
        if self.stopped.load(Ordering::Relaxed) {
            return found;
        }
        let mut lanes = Lanes::new();
        let mut seed = first;
        while seed < end {
            let passed = lanes.sieve(seed, &self.script, self.clues.get(..self.sieve).unwrap_or(&[]));
            let fits = (0_u64..)
                .zip(passed)
                .filter(|(_, passed)| *passed)
                .map(|(lane, _)| seed + lane)
                .filter(|seed| *seed < end && self.fits(*seed));
            found.extend(fits);
            seed += u64::try_from(LANES).unwrap_or(1);
        }
        if found.len() > MOST_FOUND {
            // Nothing can come of it.
            self.stopped.store(true, Ordering::Relaxed);
        }
        self.tried.fetch_add(end - first, Ordering::Relaxed);
        found
    }

    /// Whether a seed's draws give every line.
    fn fits(&self, seed: u64) -> bool {
        let mut sequence = super::Sequence::with(seed, Arc::clone(&self.script.sampler));
        self.clues.iter().all(|clue| {
            let first = clue.line.saturating_mul(self.script.steps());
            let sum = sequence.sum(first, self.script.interval);
            sum.map(|sum| self.script.printer.print(sum)) == Some(clue.hundredths)
        })
    }
}

/// Sixteen generators side by side.
struct Lanes {
    state: Vec<[u32; LANES]>,
    words: Box<[u32; BLOCK]>,
    drawn: Vec<u8>,
}

impl Lanes {
    fn new() -> Self {
        Self { state: vec![[0; LANES]; BLOCK], words: Box::new([0; BLOCK]), drawn: Vec::new() }
    }

    /// Which of sixteen seeds from `first` on pass the first clues.
    fn sieve(&mut self, first: u64, script: &Script, clues: &[Clue]) -> [bool; LANES] {
        self.start(first);
        let mut passed = [true; LANES];
        let per_block = script.sampler.draws_per_block();
        let words_per_block = u64::try_from(BLOCK).unwrap_or(1);
        // Sums of each lane's window at hand, as blocks are twisted one after the other.
        let mut block = 0;
        let mut twisted_to = 0_usize;
        for clue in clues {
            let mut sums = [0_u64; LANES];
            let start = clue.line.saturating_mul(script.steps());
            let end = start + script.steps();
            let mut at = start;
            while at < end {
                while at / per_block > block {
                    self.twist(&mut twisted_to, BLOCK);
                    twisted_to = 0;
                    block += 1;
                }
                let here = at % per_block;
                let count = (end - at).min(per_block - here);
                // Whole groups of four words: a pair of normal numbers takes one.
                let word =
                    |draw: u64| usize::try_from(draw * words_per_block / per_block / 4 * 4).unwrap_or(0);
                let (low, high) = (word(here), (word(here + count - 1) + 4).min(BLOCK));
                self.twist(&mut twisted_to, high);
                let skipped = here % (per_block / (words_per_block / 4));
                self.add(low, high, skipped, count, script, &mut sums);
                at += count;
            }
            for (passed, sum) in passed.iter_mut().zip(sums) {
                *passed &= script.printer.print(sum) == clue.hundredths;
            }
            if !passed.contains(&true) {
                break;
            }
        }
        passed
    }

    fn start(&mut self, first: u64) {
        let mut words = [0_u32; LANES];
        for (word, seed) in words.iter_mut().zip(first..) {
            *word = u32::try_from(seed & u64::from(u32::MAX)).unwrap_or(0);
        }
        for (slot, index) in self.state.iter_mut().zip(0_u32..) {
            if index > 0 {
                for word in &mut words {
                    *word = next_initial(*word, index);
                }
            }
            *slot = words;
        }
    }

    /// Makes the next block's words up to number `to`, in place.
    fn twist(&mut self, from: &mut usize, to: usize) {
        for index in *from..to {
            let next = if index + 1 == BLOCK { 0 } else { index + 1 };
            let middle = if index + MIDDLE < BLOCK { index + MIDDLE } else { index + MIDDLE - BLOCK };
            let (Some(own), Some(next), Some(middle)) =
                (self.state.get(index), self.state.get(next), self.state.get(middle))
            else {
                return;
            };
            let mut new = [0_u32; LANES];
            for (((slot, own), next), middle) in new.iter_mut().zip(own).zip(next).zip(middle) {
                *slot = twisted(*own, *next, *middle);
            }
            if let Some(slot) = self.state.get_mut(index) {
                *slot = new;
            }
        }
        *from = (*from).max(to);
    }

    /// Adds the draws of words `low` to `high` to each lane's sum, the first `skipped` left out.
    fn add(
        &mut self,
        low: usize,
        high: usize,
        skipped: u64,
        count: u64,
        script: &Script,
        sums: &mut [u64; LANES],
    ) {
        let Some(rows) = self.state.get(low..high) else { return };
        let (skipped, count) =
            (usize::try_from(skipped).unwrap_or(0), usize::try_from(count).unwrap_or(usize::MAX));
        for (lane, sum) in sums.iter_mut().enumerate() {
            for (word, row) in self.words.iter_mut().zip(rows) {
                *word = temper(row.get(lane).copied().unwrap_or(0));
            }
            self.drawn.clear();
            script.sampler.fill(self.words.get(..rows.len()).unwrap_or(&[]), &mut self.drawn);
            *sum += self.drawn.iter().skip(skipped).take(count).map(|draw| u64::from(*draw)).sum::<u64>();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::Setting;
    use crate::replay::{DrawMethod, decode_lines};

    fn law(method: DrawMethod) -> DrawLaw {
        DrawLaw::new(method, Setting::new(3.51, 6).unwrap()).unwrap()
    }

    fn clues(seed: u64, law: &DrawLaw, interval: u32, from: u64) -> Vec<Clue> {
        let lines = decode_lines(seed, law, interval, 64);
        (0..)
            .zip(lines)
            .skip(usize::try_from(from).unwrap())
            .map(|(line, read)| Clue { line, hundredths: read.count() })
            .collect()
    }

    /// Whatever the method, the interval and the first steady line.
    #[test]
    fn a_seed_is_found_among_its_neighbours() {
        for method in DrawMethod::ALL {
            for (interval, from) in [(40, 1), (40, 3), (40, 11), (1, 1), (7, 22), (100, 2)] {
                let law = law(method);
                let search = SeedSearch::new(law, interval, clues(1_234, &law, interval, from)).unwrap();
                let found = search.run(2_000);
                assert_eq!(found.seeds, [1_234], "{method} {interval} {from}");
                assert!(found.log10_chance < -6.0);
                assert_eq!(search.tried(), 2_000);
            }
        }
    }

    #[test]
    fn what_cannot_be_found_is_said() {
        let law = law(DrawMethod::MatchExpected);
        let few = clues(1, &law, 40, 1)[..10].to_vec();
        assert!(matches!(SeedSearch::new(law, 40, few), Err(RecoverError::TooFewLines { lines: 10, .. })));
        let late = clues(1, &law, 40, 1).into_iter().map(|clue| Clue { line: clue.line + 1000, ..clue });
        assert_eq!(SeedSearch::new(law, 40, late.collect()).err(), Some(RecoverError::NoStart));
        let whole = DrawLaw::new(DrawMethod::MatchExpected, Setting::new(3.0, 6).unwrap()).unwrap();
        assert_eq!(SeedSearch::new(whole, 40, Vec::new()).err(), Some(RecoverError::Constant));
        // Lines of another target: no seed.
        let other = DrawLaw::new(DrawMethod::MatchExpected, Setting::new(3.61, 6).unwrap()).unwrap();
        let search = SeedSearch::new(law, 40, clues(5, &other, 40, 1)).unwrap();
        assert!(search.run(500).seeds.is_empty());
    }
}
