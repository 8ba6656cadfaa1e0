//! Lengths one after the other.

use rand::Rng;

use super::acceptance::AcceptanceLaw;
use super::inversion::Inversion;
use super::number::whole;
use super::pool::Pool;
use super::two_point::TwoPoint;

/// Bits behind the point of a weight: a clamped length is at least 1, so its fraction is a multiple of 2^-52.
const WEIGHT_BITS: u32 = 52;

/// One bit each, from the lowest on.
#[rustfmt::skip]
const MASKS: [u32; 32] = [
    1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 4, 1 << 5, 1 << 6, 1 << 7,
    1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15,
    1 << 16, 1 << 17, 1 << 18, 1 << 19, 1 << 20, 1 << 21, 1 << 22, 1 << 23,
    1 << 24, 1 << 25, 1 << 26, 1 << 27, 1 << 28, 1 << 29, 1 << 30, 1 << 31,
];

/// Draws from a law, one after the other: verify steps where the engine draws once a step, request-steps where it
/// draws once a request.
///
/// The sequence is a function of the law and the random words alone: it does not matter whether it is taken one by one
/// or in blocks.
///
/// Two-point draws are exact. 64 of them are made at a time: bit by bit from the first behind the point, 64 uniforms are
/// compared with the weight until each is decided, which takes about 8 words. The weight is a double with at most 52
/// bits behind the point and every one of them is looked at, so its probability is that double and not a rounding of
/// it. Other laws take one word a draw and are exact to 2^-53.
///
/// ```
/// use accsim::law::{AcceptanceLaw, Setting, Steps, Stream};
///
/// let law = AcceptanceLaw::match_expected(Setting::new(3.51, 6)?);
/// let drawn: Vec<u32> = Steps::new(&law, Stream::new(1, 0, 0)).take(12).collect();
/// assert_eq!(drawn, [3, 3, 3, 3, 4, 3, 4, 3, 4, 3, 3, 4]);
/// # Ok::<(), accsim::law::SettingError>(())
/// ```
#[derive(Debug)]
pub struct Steps<R> {
    form: Form,
    random: R,
}

#[derive(Clone, Debug)]
enum Form {
    Constant(u32),
    TwoPoint(Bits),
    Table { first: u32, table: Inversion },
    Pool { pool: Pool, next: u64 },
}

/// Draws of a two-point law, 64 at a time.
#[derive(Clone, Debug)]
struct Bits {
    lo: u32,
    /// The weight in units of 2^-52.
    weight: u64,
    /// Draws in hand: the lowest bit is the next one.
    block: u64,
    left: u32,
}

impl<R: Rng> Steps<R> {
    /// Draws of `law` from `random`. A fixed pool takes nothing from it.
    #[must_use]
    pub fn new(law: &AcceptanceLaw, random: R) -> Self {
        let form = match law {
            AcceptanceLaw::MatchExpected(law) | AcceptanceLaw::PerRequest(law) => Form::two_point(law),
            AcceptanceLaw::Rounded(length) | AcceptanceLaw::Constant(length) => Form::Constant(*length),
            AcceptanceLaw::Pool(pool) => Form::Pool { pool: pool.clone(), next: 0 },
            AcceptanceLaw::Multinomial(_)
            | AcceptanceLaw::ClampedShort(_)
            | AcceptanceLaw::Geometric(_)
            | AcceptanceLaw::PerPosition(_)
            | AcceptanceLaw::Real(_) => {
                let pmf = law.pmf();
                Form::Table { first: pmf.first(), table: Inversion::new(pmf.probabilities()) }
            }
        };
        Self { form, random }
    }

    /// The next draw.
    pub fn draw(&mut self) -> u32 {
        match &mut self.form {
            Form::Constant(length) => *length,
            Form::TwoPoint(bits) => {
                if bits.left == 0 {
                    bits.refill(&mut self.random);
                }
                bits.pop()
            }
            Form::Table { first, table } => first.saturating_add(table.draw(&mut self.random)),
            Form::Pool { pool, next } => {
                let length = pool.draw(*next);
                *next = next.wrapping_add(1);
                length
            }
        }
    }

    /// The tokens of the next `count` draws together: what as many calls of [`Steps::draw`] add up to, without the draws of a
    /// two-point law one by one.
    pub fn tokens(&mut self, count: u64) -> u64 {
        match &mut self.form {
            Form::Constant(length) => u64::from(*length).saturating_mul(count),
            Form::TwoPoint(bits) => bits.tokens(&mut self.random, count),
            Form::Table { first, table } => {
                let above = (0..count).map(|_| u64::from(table.draw(&mut self.random))).sum();
                u64::from(*first).saturating_mul(count).saturating_add(above)
            }
            Form::Pool { pool, next } => {
                let from = *next;
                *next = from.wrapping_add(count);
                let larger = pool.larger_among(*next).saturating_sub(pool.larger_among(from));
                u64::from(pool.law().lo()).saturating_mul(count).saturating_add(larger)
            }
        }
    }

    /// The next draws, as many as there is room for.
    pub fn fill(&mut self, lengths: &mut [u32]) {
        match &mut self.form {
            Form::Constant(length) => lengths.fill(*length),
            Form::TwoPoint(bits) => bits.fill(&mut self.random, lengths),
            Form::Table { first, table } => {
                for length in lengths {
                    *length = first.saturating_add(table.draw(&mut self.random));
                }
            }
            Form::Pool { pool, next } => {
                pool.fill(*next, lengths);
                *next = next.wrapping_add(u64::try_from(lengths.len()).unwrap_or(0));
            }
        }
    }
}

/// Never ends.
impl<R: Rng> Iterator for Steps<R> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        Some(self.draw())
    }
}

impl Form {
    fn two_point(law: &TwoPoint) -> Self {
        if law.is_constant() {
            return Self::Constant(law.lo());
        }
        let weight = whole(law.weight() * 2_f64.powi(52));
        Self::TwoPoint(Bits { lo: law.lo(), weight, block: 0, left: 0 })
    }
}

impl Bits {
    fn pop(&mut self) -> u32 {
        let length = self.lo.saturating_add(u32::from(self.block & 1 == 1));
        self.block >>= 1;
        self.left = self.left.saturating_sub(1);
        length
    }

    /// Counts the larger lengths among the next draws, as many at a time as are in hand.
    fn tokens(&mut self, random: &mut impl Rng, count: u64) -> u64 {
        let (mut rest, mut larger) = (count, 0);
        while rest > 0 {
            if self.left == 0 {
                self.refill(random);
            }
            let taken = u32::try_from(rest).unwrap_or(u32::MAX).min(self.left);
            let mask = u64::MAX.checked_shr(u64::BITS - taken).unwrap_or(0);
            larger += u64::from((self.block & mask).count_ones());
            self.block = self.block.checked_shr(taken).unwrap_or(0);
            self.left -= taken;
            rest -= u64::from(taken);
        }
        u64::from(self.lo).saturating_mul(count).saturating_add(larger)
    }

    /// 64 new draws. Lane i compares a uniform with the weight, both as bits behind the point: the first bit in which
    /// they differ decides, and equal ones are not below it.
    fn refill(&mut self, random: &mut impl Rng) {
        let mut undecided = u64::MAX;
        let mut below = 0;
        let mut place = 1_u64 << (WEIGHT_BITS - 1);
        while undecided != 0 && place != 0 {
            let word = random.next_u64();
            if self.weight & place == 0 {
                undecided &= !word;
            } else {
                below |= undecided & !word;
                undecided &= word;
            }
            place >>= 1;
        }
        (self.block, self.left) = (below, u64::BITS);
    }

    /// 32 draws as lengths. Each lane looks at its own bit through a constant mask: the shape that compilers turn into
    /// vector instructions of the oldest processors.
    fn spread(&self, bits: u32, lengths: &mut [u32]) {
        let hi = self.lo.saturating_add(1);
        for (length, mask) in lengths.iter_mut().zip(MASKS) {
            *length = if bits & mask == 0 { self.lo } else { hi };
        }
    }

    fn fill(&mut self, random: &mut impl Rng, lengths: &mut [u32]) {
        let in_hand = usize::try_from(self.left).unwrap_or(0).min(lengths.len());
        let (head, rest) = lengths.split_at_mut(in_hand);
        head.fill_with(|| self.pop());
        let (blocks, tail) = rest.as_chunks_mut::<64>();
        for block in blocks {
            self.refill(random);
            self.left = 0;
            let (low, high) = block.split_at_mut(32);
            self.spread(halves(self.block).0, low);
            self.spread(halves(self.block).1, high);
        }
        for length in tail {
            if self.left == 0 {
                self.refill(random);
            }
            *length = self.pop();
        }
    }
}

/// The lower and the upper 32 bits.
fn halves(bits: u64) -> (u32, u32) {
    let low = u32::try_from(bits & u64::from(u32::MAX)).unwrap_or_default();
    (low, u32::try_from(bits >> 32).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{GeometricDecay, PoolKind, Setting, Stream};
    use super::*;

    proptest! {
        /// Sums, draws and blocks in any mixture are one sequence.
        #[test]
        fn sums_are_of_the_sequence(
            length in 1.0_f64..6.0,
            form in 0_usize..5,
            parts in proptest::collection::vec(0_u64..200, 1..20),
        ) {
            let setting = Setting::new(length, 6).unwrap();
            let law = match form {
                0 => AcceptanceLaw::match_expected(setting),
                1 => AcceptanceLaw::multinomial(setting),
                2 => AcceptanceLaw::rounded(setting),
                3 => AcceptanceLaw::Pool(Pool::new(PoolKind::Atom, TwoPoint::new(setting))),
                _ => AcceptanceLaw::Geometric(GeometricDecay::with_mean_rate((setting.clamped() - 1.0) / 5.0, 5).unwrap()),
            };
            let mut sums = Steps::new(&law, Stream::new(1, 0, 0));
            let mut single = Steps::new(&law, Stream::new(1, 0, 0));
            for (index, part) in parts.iter().enumerate() {
                let expected: u64 = single.by_ref().take(usize::try_from(*part).unwrap()).map(u64::from).sum();
                if index % 3 == 2 {
                    let mut block = vec![0; usize::try_from(*part).unwrap()];
                    sums.fill(&mut block);
                    prop_assert_eq!(block.into_iter().map(u64::from).sum::<u64>(), expected);
                } else {
                    prop_assert_eq!(sums.tokens(*part), expected);
                }
            }
        }
    }
}
