//! Accept lengths drawn from laws.

use super::draws::{DrawSource, DrawStream};
use crate::law::{AcceptanceLaw, Draws, Histogram, Steps, Stream, Tokens};

/// Draws of a window up to which its sum has a table: a longer one is no decode line's.
const LONGEST_WINDOW: u32 = 1024;

/// Draws from acceptance laws: one law for each server of a log, the last one for all that follow.
///
/// ```
/// use accsim::law::{AcceptanceLaw, Setting};
/// use accsim::simulate::log::{DrawSource, DrawStream, LawSource};
///
/// let law = AcceptanceLaw::match_expected(Setting::new(3.51, 6)?);
/// let source = LawSource::new(law, 1);
/// assert_eq!(source.longest(0), 4);
/// // 3 3 3 3 4 3 4 3 4 3 3 4
/// assert_eq!(source.stream(0, 0).sum(12), 40);
/// # Ok::<(), accsim::law::SettingError>(())
/// ```
#[derive(Clone, Debug)]
pub struct LawSource {
    first: AcceptanceLaw,
    others: Vec<AcceptanceLaw>,
    seed: u64,
}

impl LawSource {
    /// One law for every server.
    #[must_use]
    pub fn new(law: AcceptanceLaw, seed: u64) -> Self {
        Self { first: law, others: Vec::new(), seed }
    }

    /// The same, and another law for the next server.
    #[must_use]
    pub fn then(mut self, law: AcceptanceLaw) -> Self {
        self.others.push(law);
        self
    }

    fn law(&self, server: u32) -> &AcceptanceLaw {
        let next = usize::try_from(server).ok().and_then(|server| server.checked_sub(1));
        next.and_then(|next| self.others.get(next).or(self.others.last())).unwrap_or(&self.first)
    }
}

impl DrawSource for LawSource {
    type Stream = LawStream;

    fn stream(&self, server: u32, rank: u32) -> LawStream {
        let law = self.law(server).clone();
        // Half of the replicates are left for the streams of counts.
        let server = server & (u32::MAX >> 1);
        LawStream {
            steps: Steps::new(&law, Stream::new(self.seed, server, rank)),
            counts: Stream::new(self.seed, !server, rank),
            window: Tokens::new(&law, 0),
            law,
        }
    }

    fn draws(&self, server: u32) -> Draws {
        self.law(server).draws()
    }

    fn longest(&self, server: u32) -> u32 {
        (*self.law(server).support().end()).max(1)
    }
}

/// Draws of one process from a law.
#[derive(Debug)]
pub struct LawStream {
    law: AcceptanceLaw,
    steps: Steps<Stream>,
    /// For what is drawn as a whole.
    counts: Stream,
    /// The law of the last window's length.
    window: Tokens,
}

impl DrawStream for LawStream {
    fn draw(&mut self) -> u32 {
        self.steps.draw()
    }

    fn sum(&mut self, count: u64) -> u64 {
        self.steps.tokens(count)
    }

    /// Draws the sum with one random word, where the windows keep their length and are short.
    fn window(&mut self, count: u64) -> u64 {
        if u64::from(self.window.draws()) != count {
            match u32::try_from(count) {
                Ok(draws) if draws <= LONGEST_WINDOW => self.window = Tokens::new(&self.law, draws),
                _ => return self.steps.tokens(count),
            }
        }
        self.window.draw(&mut self.counts)
    }

    /// Draws the counts, not the draws. They are no part of the sequence that [`DrawStream::draw`] and
    /// [`DrawStream::sum`] take, but of that of a fixed pool, which is the same for everyone.
    fn tally(&mut self, count: u64, lengths: &mut [u64]) {
        let mut add = |length: u32, count: u64| {
            let index = usize::try_from(length.saturating_sub(1)).unwrap_or(usize::MAX);
            let last = lengths.len().saturating_sub(1);
            lengths.get_mut(index.min(last)).into_iter().for_each(|slot| *slot += count);
        };
        if let AcceptanceLaw::Pool(pool) = &self.law {
            let larger =
                self.steps.tokens(count).saturating_sub(u64::from(pool.law().lo()).saturating_mul(count));
            add(pool.law().lo(), count - larger.min(count));
            add(pool.law().hi(), larger);
        } else {
            let mut histogram = Histogram::default();
            histogram.draw(&self.law, count, &mut self.counts);
            histogram.iter().for_each(|(length, count)| add(length, count));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::{Pool, PoolKind, Setting, TwoPoint};

    fn setting(length: f64) -> Setting {
        Setting::new(length, 6).unwrap()
    }

    #[test]
    fn each_server_has_its_law_and_the_last_one_stays() {
        let source = LawSource::new(AcceptanceLaw::Constant(2), 7)
            .then(AcceptanceLaw::Constant(3))
            .then(AcceptanceLaw::per_request(setting(3.51)));
        assert_eq!([0, 1, 2, 9].map(|server| source.longest(server)), [2, 3, 4, 4]);
        assert_eq!(
            [1, 2, 9].map(|server| source.draws(server)),
            [Draws::Shared, Draws::PerRequest, Draws::PerRequest]
        );
    }

    #[test]
    fn ranks_and_servers_draw_apart_and_again_alike() {
        let source = LawSource::new(AcceptanceLaw::match_expected(setting(3.51)), 7);
        let drawn = |server, rank| {
            let mut stream = source.stream(server, rank);
            std::array::from_fn::<u32, 64, _>(|_| stream.draw())
        };
        assert_eq!(drawn(0, 1), drawn(0, 1));
        assert_ne!(drawn(0, 0), drawn(0, 1));
        assert_ne!(drawn(0, 0), drawn(1, 0));
    }

    #[test]
    fn windows_have_the_mean_and_the_range_of_their_draws() {
        let law = AcceptanceLaw::match_expected(setting(3.51));
        let mut stream = LawSource::new(law, 7).stream(0, 0);
        for count in [40, 1024, 5000] {
            let sums: Vec<u64> = (0..4000).map(|_| stream.window(count)).collect();
            assert!(sums.iter().all(|sum| (3 * count..=4 * count).contains(sum)));
            let draws = crate::law::float(4000 * count);
            let mean = crate::law::float(sums.iter().sum()) / draws;
            assert!((mean - 3.51).abs() < 5.0 * (0.2499 / draws).sqrt(), "{count} {mean}");
        }
    }

    #[test]
    fn tallies_hold_all_draws() {
        let mean_of = |law: &AcceptanceLaw| {
            let mut lengths = [0_u64; 6];
            LawSource::new(law.clone(), 7).stream(0, 0).tally(1_000_000, &mut lengths);
            assert_eq!(lengths.iter().sum::<u64>(), 1_000_000);
            let tokens: u64 = (1..).zip(lengths).map(|(length, count): (u64, _)| length * count).sum();
            crate::law::float(tokens) / 1e6
        };
        for law in [
            AcceptanceLaw::match_expected(setting(3.51)),
            AcceptanceLaw::multinomial(setting(3.51)),
            AcceptanceLaw::Constant(4),
        ] {
            assert!((mean_of(&law) - law.mean()).abs() < 0.005, "{law:?}");
        }
        let pool = Pool::new(PoolKind::Atom, TwoPoint::new(setting(3.51)));
        assert!((mean_of(&AcceptanceLaw::Pool(pool.clone())) - 3.51 - pool.offset()).abs() < 0.001);
    }
}
