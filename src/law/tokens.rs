//! The tokens of a window, without the steps that gave them.

use rand::Rng;

use super::acceptance::AcceptanceLaw;
use super::histogram::{Histogram, binomial};
use super::inversion::Inversion;
use super::pool::Pool;
use super::sums::Sums;
use super::two_point::TwoPoint;

/// Draws up to which a window has a table; a longer one is drawn from a binomial variate for each length.
const MOST_TABULATED: u32 = 4096;

/// The sum of a fixed number of draws: the tokens of a log line's window.
///
/// Only the sum matters for what a line prints, so only the sum is drawn, with one random word: by inversion of its exact
/// law (a binomial one for two lengths, a convolution for more). Its probabilities are those of the sum of that many
/// draws of [`Steps`](super::Steps), to 2^-53; the draws themselves are others.
///
/// ```
/// use accsim::law::{AcceptanceLaw, Setting, Stream, Tokens};
///
/// let law = AcceptanceLaw::match_expected(Setting::new(3.51, 6)?);
/// let mut random = Stream::new(1, 0, 0);
/// let mut line = Tokens::new(&law, 40);
/// let tokens = line.draw(&mut random);
/// assert!((120..=160).contains(&tokens));
/// # Ok::<(), accsim::law::SettingError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tokens {
    draws: u32,
    form: Form,
}

#[derive(Clone, Debug)]
enum Form {
    Constant(u64),
    Table { first: u64, table: Inversion },
    Binomial(TwoPoint),
    Shares(AcceptanceLaw),
    Pool { pool: Pool, next: u64 },
}

impl Tokens {
    /// The law of the sum of `draws` draws.
    #[must_use]
    pub fn new(law: &AcceptanceLaw, draws: u32) -> Self {
        let form = match law {
            AcceptanceLaw::Rounded(length) | AcceptanceLaw::Constant(length) => {
                Form::Constant(u64::from(*length) * u64::from(draws))
            }
            AcceptanceLaw::MatchExpected(law) | AcceptanceLaw::PerRequest(law) if law.is_constant() => {
                Form::Constant(u64::from(law.lo()) * u64::from(draws))
            }
            AcceptanceLaw::MatchExpected(law) | AcceptanceLaw::PerRequest(law) => {
                if draws <= MOST_TABULATED {
                    let first = u64::from(law.lo()) * u64::from(draws);
                    Form::Table { first, table: Inversion::new(&law.count_probabilities(draws)) }
                } else {
                    Form::Binomial(*law)
                }
            }
            AcceptanceLaw::Pool(pool) => Form::Pool { pool: pool.clone(), next: 0 },
            law => {
                let pmf = law.pmf();
                let sums = Sums::bearable(&pmf, draws).filter(|_| draws <= MOST_TABULATED);
                sums.map_or_else(
                    || Form::Shares(law.clone()),
                    |sums| {
                        let first = u64::from(pmf.first()) * u64::from(draws) + sums.first;
                        Form::Table { first, table: Inversion::new(&sums.probabilities) }
                    },
                )
            }
        };
        Self { draws, form }
    }

    /// Draws of a window.
    #[must_use]
    pub fn draws(&self) -> u32 {
        self.draws
    }

    /// The tokens of one window. A fixed pool takes nothing from `random` and goes on where the last window ended.
    pub fn draw(&mut self, random: &mut impl Rng) -> u64 {
        match &mut self.form {
            Form::Constant(tokens) => *tokens,
            Form::Table { first, table } => first.saturating_add(u64::from(table.draw(random))),
            Form::Binomial(law) => {
                let larger = binomial(u64::from(self.draws), law.weight(), random);
                (u64::from(law.lo()) * u64::from(self.draws)).saturating_add(larger)
            }
            Form::Shares(law) => {
                let mut histogram = Histogram::default();
                histogram.draw(law, u64::from(self.draws), random);
                histogram.iter().fold(0, |sum, (length, count)| {
                    sum.saturating_add(u64::from(length).saturating_mul(count))
                })
            }
            Form::Pool { pool, next } => {
                let from = *next;
                *next = from.wrapping_add(u64::from(self.draws));
                let larger = pool.larger_among(*next).saturating_sub(pool.larger_among(from));
                (u64::from(pool.law().lo()) * u64::from(self.draws)).saturating_add(larger)
            }
        }
    }
}
