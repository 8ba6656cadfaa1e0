//! How the lines of one log run, in sums of bounded size: what a merge tests by where it has no lines.

use serde::{Deserialize, Serialize};

use crate::law::float;

/// Blocks of a log, at most: where one more would come, neighbours are put together by twos.
const MOST_BLOCKS: usize = 32;

/// Lines of a block at first.
const BLOCK_LINES: u64 = 4;

/// Deviations from the first value beyond this one count as this one: no draft is longer.
const FARTHEST: i64 = 1 << 14;

/// Sums of one log, of the lines in which batches hardly changed (see [`Course::add`]). They are a function of the log alone,
/// and their level is one of its number of blocks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::audit) struct Course {
    /// Ranks that wrote the lines.
    ranks: u32,
    /// Other lines: how widely they scatter depends on when in their window the batch changed, which nobody knows.
    far: u64,
    /// The value that deviations are counted from, in hundredths: the first one.
    reference: u32,
    /// Lines of a full block.
    full: u64,
    blocks: Vec<Block>,
    /// By the binary digits of the batch.
    octaves: Vec<Octave>,
    /// Lines of constant batches by the last two digits of their value.
    residues: Vec<u64>,
    /// The ranks, while lines come.
    #[serde(skip)]
    seen: Vec<usize>,
}

/// Neighbouring lines: how many, the sums of their deviations and of the squares of these, and the number of the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Block(u64, i64, u64, u64);

/// Lines of alike batch sizes: digits of the batch, lines of constant and of changing batches, deviations and squares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Octave(u32, u64, u64, i64, u64);

/// A line on its way into a course.
#[derive(Clone, Copy, Debug)]
pub(in crate::audit) struct CourseLine {
    pub(in crate::audit) rank: usize,
    pub(in crate::audit) hundredths: u32,
    /// `#running-req` of the line before.
    pub(in crate::audit) before: u32,
    /// `#running-req`.
    pub(in crate::audit) batch: u32,
    /// The batch did not change.
    pub(in crate::audit) is_steady: bool,
    /// Its number in the log.
    pub(in crate::audit) line: u64,
}

/// Lines as sums over printed values, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::audit) struct Moments {
    pub(in crate::audit) lines: f64,
    /// Lines of constant batches among them, where they are counted apart.
    pub(in crate::audit) steady: f64,
    /// Sum of the values.
    pub(in crate::audit) sum: f64,
    /// Sum of the squares about the lines' own mean.
    pub(in crate::audit) scatter: f64,
    /// The number of the first line.
    pub(in crate::audit) first: u64,
}

impl Course {
    /// Adds a line. Where the batch at most doubled or halved, `1 / 1.125` of the steps count at least, whenever in the
    /// window it changed (Kantorovich 1948): such lines scatter alike, and only they come into the sums.
    pub(in crate::audit) fn add(&mut self, line: &CourseLine) {
        let CourseLine { rank, hundredths, before, batch, is_steady, line } = *line;
        if !self.seen.contains(&rank) {
            self.seen.push(rank);
            self.ranks = self.ranks.saturating_add(1);
        }
        if before.max(batch) > before.min(batch).saturating_mul(2) || batch == 0 {
            self.far += 1;
            return;
        }
        if self.full == 0 {
            (self.full, self.reference) = (BLOCK_LINES, hundredths);
        }
        let deviation = (i64::from(hundredths) - i64::from(self.reference)).clamp(-FARTHEST, FARTHEST);
        let square = deviation.unsigned_abs().pow(2);
        if self.blocks.last().is_none_or(|block| block.0 >= self.full) {
            if self.blocks.len() >= MOST_BLOCKS {
                self.halve();
            }
            if self.blocks.last().is_none_or(|block| block.0 >= self.full) {
                self.blocks.push(Block(0, 0, 0, line));
            }
        }
        if let Some(block) = self.blocks.last_mut() {
            block.add(Block(1, deviation, square, line));
        }
        let digits = batch.ilog2();
        let at = self.octaves.partition_point(|octave| octave.0 < digits);
        if self.octaves.get(at).is_none_or(|octave| octave.0 != digits) {
            self.octaves.insert(at, Octave(digits, 0, 0, 0, 0));
        }
        if let Some(octave) = self.octaves.get_mut(at) {
            octave.1 += u64::from(is_steady);
            octave.2 += u64::from(!is_steady);
            octave.3 = octave.3.saturating_add(deviation);
            octave.4 = octave.4.saturating_add(square);
        }
        let residue = usize::try_from(hundredths % 100).unwrap_or(0);
        if is_steady {
            if self.residues.len() <= residue {
                self.residues.resize(residue + 1, 0);
            }
            self.residues.get_mut(residue).into_iter().for_each(|lines| *lines += 1);
        }
    }

    /// Puts neighbouring blocks together by twos.
    fn halve(&mut self) {
        let pairs = self.blocks.chunks(2).map(|pair| {
            let mut both = pair.first().copied().unwrap_or_default();
            pair.iter().skip(1).for_each(|block| both.add(*block));
            both
        });
        self.blocks = pairs.collect();
        self.full = self.full.saturating_mul(2);
    }

    /// The same at a level: with fewer blocks at the last ones.
    pub(in crate::audit) fn at_level(mut self, level: u32) -> Self {
        let most = match level {
            0..=5 => MOST_BLOCKS,
            6..=8 => MOST_BLOCKS / 2,
            _ => MOST_BLOCKS / 4,
        };
        while self.blocks.len() > most {
            self.halve();
        }
        self
    }

    /// Whether arithmetic with many of them can go on: for parts that were written by hand.
    pub(super) fn is_possible(&self) -> bool {
        let octaves = self.octaves.iter().flat_map(|octave| [octave.1, octave.2]);
        let lines =
            self.blocks.iter().map(|block| block.0).chain(octaves).chain(self.residues.iter().copied());
        let all = lines.chain([self.far]).try_fold(0_u64, u64::checked_add);
        all.is_some_and(|lines| lines < 1 << 50)
            && self.blocks.len() <= MOST_BLOCKS
            && self.blocks.iter().all(|block| block.0 > 0)
            && self.octaves.len() <= 32
            && self.residues.len() <= 100
    }

    /// Ranks that wrote the lines, one at least.
    pub(in crate::audit) fn ranks(&self) -> f64 {
        f64::from(self.ranks.max(1))
    }

    /// Lines that did not come into the sums.
    pub(in crate::audit) fn far(&self) -> f64 {
        float(self.far)
    }

    /// The blocks in the order of the log.
    pub(in crate::audit) fn blocks(&self) -> impl Iterator<Item = Moments> + '_ {
        self.blocks.iter().map(|Block(lines, sum, squares, first)| Moments {
            first: *first,
            ..self.moments(*lines, *sum, *squares)
        })
    }

    /// Lines by the binary digits of their batch.
    pub(in crate::audit) fn octaves(&self) -> impl Iterator<Item = (u32, Moments)> + '_ {
        self.octaves.iter().map(|Octave(digits, steady, changing, sum, squares)| {
            let moments = self.moments(steady.saturating_add(*changing), *sum, *squares);
            (*digits, Moments { steady: float(*steady), ..moments })
        })
    }

    /// Lines of constant batches by the last two digits of their value.
    pub(in crate::audit) fn residues(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        (0..).zip(self.residues.iter().copied())
    }

    fn moments(&self, lines: u64, sum: i64, squares: u64) -> Moments {
        let (count, reference) = (float(lines), f64::from(self.reference) / 100.0);
        let deviations = float(sum.unsigned_abs()) * if sum < 0 { -0.01 } else { 0.01 };
        let scatter = (float(squares) / 1e4 - deviations * deviations / count.max(1.0)).max(0.0);
        Moments { lines: count, steady: 0.0, sum: count * reference + deviations, scatter, first: 0 }
    }
}

impl Block {
    fn add(&mut self, other: Self) {
        self.0 += other.0;
        self.1 = self.1.saturating_add(other.1);
        self.2 = self.2.saturating_add(other.2);
    }
}

impl Moments {
    /// Both together.
    pub(in crate::audit) fn and(self, other: Self) -> Self {
        let lines = self.lines + other.lines;
        if lines <= 0.0 {
            return self;
        }
        let apart = self.mean() - other.mean();
        let between = if self.lines > 0.0 && other.lines > 0.0 {
            apart * apart * self.lines * other.lines / lines
        } else {
            0.0
        };
        Self {
            lines,
            steady: self.steady + other.steady,
            sum: self.sum + other.sum,
            scatter: self.scatter + other.scatter + between,
            first: self.first,
        }
    }

    /// These lines but for some of them.
    pub(in crate::audit) fn without(&self, some: &Self) -> Self {
        let (lines, sum) = (self.lines - some.lines, self.sum - some.sum);
        let rest = Self { lines, sum, steady: self.steady - some.steady, scatter: 0.0, first: self.first };
        let apart = (some.mean() - rest.mean()).powi(2) * some.lines * lines / self.lines.max(1.0);
        Self { scatter: (self.scatter - some.scatter - apart).max(0.0), ..rest }
    }

    pub(in crate::audit) fn mean(&self) -> f64 {
        self.sum / self.lines.max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(values: impl IntoIterator<Item = u32>) -> Course {
        let mut course = Course::default();
        for (line, hundredths) in (1..).zip(values) {
            course.add(&CourseLine { rank: 0, hundredths, before: 4, batch: 4, is_steady: true, line });
        }
        course
    }

    #[test]
    fn blocks_hold_equal_numbers_of_lines_and_nothing_is_lost() {
        for lines in [1, 3, 128, 129, 1000, 4097] {
            let values: Vec<u32> = (0..lines).map(|line| 330 + line * 31 % 41).collect();
            let course = course(values.iter().copied());
            for level in [0, 6, 10] {
                let course = course.clone().at_level(level);
                let blocks: Vec<Moments> = course.blocks().collect();
                assert!(blocks.len() <= 32 >> level.div_euclid(6), "{lines} {level}: {}", blocks.len());
                let (last, full) = blocks.split_last().unwrap();
                let room = |block: &Moments| float(course.full) - block.lines;
                assert!(full.iter().all(|block| room(block).abs() < 0.5), "{lines} {level}");
                assert!(room(last) > -0.5);
                let all = blocks.iter().fold(Moments::default(), |all, block| all.and(*block));
                let mean = f64::from(values.iter().sum::<u32>()) / 100.0 / f64::from(lines);
                let scatter: f64 =
                    values.iter().map(|value| (f64::from(*value) / 100.0 - mean).powi(2)).sum();
                assert!((all.mean() - mean).abs() < 1e-9 && (all.scatter - scatter).abs() < 1e-6);
                assert_eq!(blocks[0].first, 1);
            }
            assert_eq!(course.residues().map(|(_, lines)| lines).sum::<u64>(), u64::from(lines));
        }
    }

    #[test]
    fn lines_of_batches_that_changed_much_are_only_counted() {
        let mut course = Course::default();
        for (before, batch) in [(4, 8), (8, 4), (5, 2), (2, 5), (0, 3)] {
            course.add(&CourseLine { rank: 1, hundredths: 350, before, batch, is_steady: false, line: 1 });
        }
        assert_eq!((course.far, course.ranks), (3, 1));
        assert_eq!(course.octaves().map(|(digits, _)| digits).collect::<Vec<_>>(), [2, 3]);
    }
}
