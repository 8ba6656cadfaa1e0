//! Does the law change within the log? Two stretches in time, each with the law that explains it best.

use std::f64::consts::TAU;
use std::ops::RangeInclusive;

use rustc_hash::FxHashMap;

use crate::evidence::Place;
use crate::law::{AcceptanceLaw, LineLaw, Setting, Window, float};

use super::dispersion::{Dispersion, LatticeCheck};
use super::likelihood::{Misses, ln_line, log_likelihood, log_likelihood_of_real};
use super::mechanism::Mechanism;
use super::rank::Rank;
use super::sample::Sample;
use super::trace::Kept;

/// Lines looked at, at most: the first ones.
const MAX_LINES: usize = 1 << 17;

/// Lines that a stretch has at least: fewer do not show a law.
const MIN_LINES: usize = 5;

/// Where the law changes, and from what to what.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The first line of the second stretch.
    pub place: Place,
    /// What wrote the lines before.
    pub before: Stretch,
    /// What wrote the lines from there on.
    pub after: Stretch,
}

/// Lines that follow each other and have one law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// The kind of law.
    pub mechanism: Mechanism,
    /// Its mean, in tokens per verify step; that of the lines where the law has none of its own.
    pub accept_length: f64,
    /// Lines of it that were looked at.
    pub lines: u64,
}

/// A law that may hold in a stretch.
#[derive(Clone, Debug)]
pub(super) struct Stated {
    pub(super) mechanism: Mechanism,
    pub(super) law: AcceptanceLaw,
    /// Price of the choice from a list.
    pub(super) charge: f64,
}

impl Stated {
    /// The laws that may have been simulated in a stretch: each of these constant lengths, and `simulated` draws at each
    /// of these values, once. Nothing is charged yet.
    pub(super) fn simulations(
        constants: RangeInclusive<u32>,
        mut values: Vec<f64>,
        simulated: Mechanism,
        max: u32,
    ) -> Vec<Self> {
        values.sort_by(f64::total_cmp);
        values.dedup();
        let constants = constants.map(|length| (Mechanism::Constant, AcceptanceLaw::Constant(length)));
        let drawn = values.into_iter().filter_map(|value| {
            Some((simulated, AcceptanceLaw::match_expected(Setting::new(value, max).ok()?)))
        });
        constants.chain(drawn).map(|(mechanism, law)| Self { mechanism, law, charge: 0.0 }).collect()
    }
}

/// The best pair of laws.
pub(super) struct Mixture {
    pub(super) change: Change,
    /// Log-likelihood of the lines looked at, and what is charged for the choice of place and laws.
    pub(super) ln: f64,
    pub(super) charge: f64,
    /// The score of the best single law on the same lines.
    pub(super) single: f64,
}

/// A prefix or suffix of the lines under its best law.
#[derive(Clone, Copy)]
struct Best {
    score: f64,
    law: usize,
}

const NONE: Best = Best { score: f64::NEG_INFINITY, law: usize::MAX };

/// The lines of the judged ranks in the order of time.
pub(super) struct Stretches {
    lines: Vec<Kept>,
    interval: u32,
    /// Most tokens that a step can emit.
    max: u32,
    /// See [`Sample::is_blind`].
    is_blind: bool,
}

impl Stretches {
    pub(super) fn new(sample: &Sample<'_>, interval: u32, max: u32) -> Self {
        let mut lines: Vec<(usize, Kept)> = Vec::new();
        for rank in &sample.judged {
            lines.extend(rank.trace.kept().iter().copied().enumerate());
        }
        let first = lines.first().map(|(_, line)| line.place().file);
        // Logs of one name that were rotated begin at line 1 again.
        let is_in_order = |rank: &&Rank| rank.trace.kept().is_sorted_by_key(|line| line.place());
        if lines.iter().all(|(_, line)| Some(line.place().file) == first)
            && sample.judged.iter().all(is_in_order)
        {
            lines.sort_by_key(|(_, line)| line.place());
        } else {
            // Logs of several files have no common order but the number of the line of its rank.
            lines.sort_by_key(|(number, _)| *number);
        }
        lines.truncate(MAX_LINES);
        let lines = lines.into_iter().map(|(_, line)| line).collect();
        Self { lines, interval, max, is_blind: sample.is_blind }
    }

    /// Two stretches under two of these laws, or under one of them and real acceptance; `None` where the lines are too
    /// few or no pair explains them.
    pub(super) fn best(&self, laws: &[Stated]) -> Option<Mixture> {
        if self.lines.len() < 2 * MIN_LINES {
            return None;
        }
        let kinds = self.kinds();
        let likelihoods = self.likelihoods(laws, &kinds);
        let before = running_best(&kinds.iter(), &likelihoods, laws);
        let after = running_best(&kinds.iter().rev(), &likelihoods, laws);
        let real_before = self.running_real(self.lines.iter());
        let real_after = self.running_real(self.lines.iter().rev());

        let all = self.lines.len();
        let at = |list: &[Best], lines: usize| list.get(lines).copied().unwrap_or(NONE);
        let split = (MIN_LINES..=all - MIN_LINES)
            .flat_map(|lines| {
                let (first, second) = (at(&before, lines), at(&after, all - lines));
                let (real_first, real_second) = (at(&real_before, lines), at(&real_after, all - lines));
                [(first, second), (first, real_second), (real_first, second)]
                    .map(|(first, second)| (first.score + second.score, lines, first.law, second.law))
            })
            .filter(|(score, _, first, second)| {
                // Requests that draw for themselves scatter less evenly than a law of two numbers says.
                let by_request =
                    |law: usize| laws.get(law).is_none_or(|stated| stated.mechanism == Mechanism::PerRequest);
                score.is_finite() && !(by_request(*first) && by_request(*second))
            })
            .max_by(|left, right| left.0.total_cmp(&right.0))?;
        let (_, lines, first, second) = split;
        if first == second {
            return None;
        }

        let (head, tail) = self.lines.split_at_checked(lines)?;
        let (before, before_ln, before_charge) = self.stretch(head, laws.get(first))?;
        let (after, after_ln, after_charge) = self.stretch(tail, laws.get(second))?;
        let single = self.single(&kinds, &likelihoods, laws);
        let place = tail.first()?.place();
        let places = float(u64::try_from(all).unwrap_or(u64::MAX)).ln();
        Some(Mixture {
            change: Change { place, before, after },
            ln: before_ln + after_ln,
            charge: before_charge + after_charge + places,
            single,
        })
    }

    /// The kind of each line: lines of one kind are as likely as each other under every law.
    fn kinds(&self) -> Vec<usize> {
        let mut seen = FxHashMap::default();
        self.lines
            .iter()
            .map(|line| {
                let next = seen.len();
                *seen.entry(line.kind()).or_insert(next)
            })
            .collect()
    }

    /// Log-likelihood of each kind under each law.
    fn likelihoods(&self, laws: &[Stated], kinds: &[usize]) -> Vec<Vec<f64>> {
        // Kinds are numbered in the order in which they first come.
        let mut examples: Vec<(u32, Window)> = Vec::new();
        for (line, kind) in self.lines.iter().zip(kinds) {
            if *kind == examples.len() {
                examples.push((line.hundredths(), line.window()));
            }
        }
        let misses = if self.is_blind { Misses::Many } else { Misses::Few };
        laws.iter()
            .map(|stated| {
                let law = LineLaw::new(&stated.law, self.interval);
                let ln = |(hundredths, window): &(u32, Window)| ln_line(&law, *hundredths, *window, misses);
                examples.iter().map(ln).collect()
            })
            .collect()
    }

    /// Real acceptance of the first so many lines, with the mean and variance that explain them best: to find the
    /// place; what is found is computed exactly.
    fn running_real<'a>(&self, lines: impl Iterator<Item = &'a Kept>) -> Vec<Best> {
        let (mut count, mut weights, mut sums, mut squares, mut logs) = (0.0, 0.0, 0.0, 0.0, 0.0);
        let mut best = vec![NONE];
        for line in lines {
            let weight = f64::from(self.interval) * line.window().batch().max(1.0);
            let tokens = line.tokens();
            count += 1.0;
            weights += weight;
            sums += weight * tokens;
            squares += weight * tokens * tokens;
            logs += weight.ln();
            let mean: f64 = sums / weights;
            let floor = ((mean - 1.0) * (f64::from(self.max) - mean) / 10.0).max(1e-9);
            let scatter = (squares - sums * mean).max(0.0);
            let variance = (scatter / count).max(floor);
            let ln = 0.5 * logs - 0.5 * count * (TAU * variance).ln() - scatter / (2.0 * variance)
                + count * 0.01_f64.ln();
            best.push(Best { score: ln - count.max(10.0).ln(), law: usize::MAX });
        }
        best
    }

    /// One stretch under the law that the search found (none: real acceptance), exactly: what it is, its
    /// log-likelihood and its charge. `None` where the lines do not look like that law at all.
    fn stretch(&self, lines: &[Kept], stated: Option<&Stated>) -> Option<(Stretch, f64, f64)> {
        let sample = Sample::of_lines(lines, self.is_blind);
        let count = u64::try_from(lines.len()).unwrap_or(u64::MAX);
        let lattice = LatticeCheck::new(self.interval, &sample);
        if let Some(stated) = stated {
            let (ln, fits) = self.judge(&stated.law, &sample, lattice, false);
            let accept_length = stated.law.mean();
            let stretch = Stretch { mechanism: stated.mechanism, accept_length, lines: count };
            return fits.then_some((stretch, ln, stated.charge));
        }
        let (mechanism, ln, charge) = self.free(&sample);
        let accept_length = sample.mean();
        ln.is_finite().then_some((Stretch { mechanism, accept_length, lines: count }, ln, charge))
    }

    /// The better one of the laws that nobody named: real acceptance with its two free parameters, and a simulation of
    /// some value with its one. Log-likelihood and charge.
    fn free(&self, sample: &Sample<'_>) -> (Mechanism, f64, f64) {
        let charge = float(sample.lines()).max(10.0).ln();
        let real = log_likelihood_of_real(sample, self.interval, self.max);
        let lattice = LatticeCheck::new(self.interval, sample);
        if let Ok(setting) = Setting::new(sample.mean(), u32::MAX) {
            let (ln, fits) = self.judge(&AcceptanceLaw::match_expected(setting), sample, lattice, true);
            if fits && !lattice.rejects() && ln - 0.5 * charge > real - charge {
                return (Mechanism::MatchExpected, ln, 0.5 * charge);
            }
        }
        (Mechanism::Real, real, charge)
    }

    /// Log-likelihood, and whether the lines scatter as the law says.
    fn judge(
        &self,
        law: &AcceptanceLaw,
        sample: &Sample<'_>,
        lattice: LatticeCheck,
        free: bool,
    ) -> (f64, bool) {
        let tolerates_misses = !lattice.rejects() || matches!(law, AcceptanceLaw::PerRequest(_));
        let ln = log_likelihood(law, self.interval, sample, tolerates_misses);
        let scatter = Dispersion::about(law, self.interval, sample, free);
        (ln, ln.is_finite() && !scatter.is_some_and(|scatter| scatter.rejects()))
    }

    /// The best score of one law for all lines.
    fn single(&self, kinds: &[usize], likelihoods: &[Vec<f64>], laws: &[Stated]) -> f64 {
        let (_, free, charge) = self.free(&Sample::of_lines(&self.lines, self.is_blind));
        let simulated = laws.iter().zip(likelihoods).map(|(stated, table)| {
            let sum: f64 = kinds.iter().map(|kind| table.get(*kind).copied().unwrap_or(0.0)).sum();
            sum - stated.charge
        });
        simulated.fold(free - charge, f64::max)
    }
}

/// The best law of the first so many lines, for every number of them.
fn running_best<'a>(
    kinds: &(impl ExactSizeIterator<Item = &'a usize> + Clone),
    likelihoods: &[Vec<f64>],
    laws: &[Stated],
) -> Vec<Best> {
    let mut best = vec![NONE; kinds.len() + 1];
    for (number, (stated, table)) in laws.iter().zip(likelihoods).enumerate() {
        let mut sum = -stated.charge;
        for (kind, best) in kinds.clone().zip(best.iter_mut().skip(1)) {
            sum += table.get(*kind).copied().unwrap_or(0.0);
            if sum > best.score {
                *best = Best { score: sum, law: number };
            }
            if sum == f64::NEG_INFINITY {
                break;
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::trace::{Entry, Trace};
    use super::*;
    use crate::law::{Steps, Stream, printed};

    const INTERVAL: u32 = 40;

    fn stated(mechanism: Mechanism, law: AcceptanceLaw) -> Stated {
        Stated { mechanism, law, charge: 0.0 }
    }

    fn laws() -> Vec<Stated> {
        let setting = |length| Setting::new(length, 6).unwrap();
        vec![
            stated(Mechanism::MatchExpected, AcceptanceLaw::match_expected(setting(3.51))),
            stated(Mechanism::Rounded, AcceptanceLaw::Constant(4)),
            stated(Mechanism::OtherCell, AcceptanceLaw::match_expected(setting(2.78))),
        ]
    }

    /// Steady lines with these sums over 40 steps.
    fn stretches(sums: impl IntoIterator<Item = u64>) -> Stretches {
        let entries = sums.into_iter().zip(1..).map(|(sum, line)| Entry {
            hundredths: printed(sum, u64::from(INTERVAL)).unwrap(),
            before: 4,
            batch: 4,
            steady: true,
            place: Place { file: 0, line },
        });
        Stretches { lines: Trace::of(entries).kept().to_vec(), interval: INTERVAL, max: 6, is_blind: false }
    }

    /// Sums as `match-expected` at 3.51 draws them, near enough.
    const DRAWN: [u64; 8] = [140, 141, 137, 144, 139, 142, 138, 143];

    #[test]
    fn a_change_to_a_rounded_target_is_found_where_it_is() {
        let sums = DRAWN.iter().copied().cycle().take(24).chain([160; 20]);
        let found = stretches(sums).best(&laws()).unwrap();
        assert_eq!(found.change.place.line, 25);
        assert_eq!(found.change.before.mechanism, Mechanism::MatchExpected);
        assert_eq!((found.change.before.lines, found.change.after.lines), (24, 20));
        assert_eq!(
            (found.change.after.mechanism, found.change.after.accept_length),
            (Mechanism::Rounded, 4.0)
        );
        assert!(found.ln - found.charge > found.single + 1000_f64.ln());
        // Neither law costs anything; that the change may stand at any line does.
        assert!((found.charge - 44_f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn a_value_that_nobody_named_is_still_a_simulation() {
        let other = DRAWN.iter().map(|sum| sum - 44);
        let sums: Vec<u64> = DRAWN.iter().copied().cycle().take(24).chain(other.cycle().take(24)).collect();
        let found = stretches(sums).best(&laws()).unwrap();
        assert_eq!(found.change.place.line, 25);
        assert_eq!(found.change.after.mechanism, Mechanism::MatchExpected);
        assert!((found.change.after.accept_length - 2.4125).abs() < 0.005);
    }

    #[test]
    fn few_lines_show_no_change() {
        assert!(stretches([140, 141, 137, 144, 160, 160, 160, 160, 160]).best(&laws()).is_none());
    }

    proptest! {
        #[test]
        fn one_law_throughout_is_no_mixture(seed: u64, lines in 10_usize..120, target in 3.05_f64..3.95) {
            let law = AcceptanceLaw::match_expected(Setting::new(target, 6).unwrap());
            let mut steps = Steps::new(&law, Stream::new(seed, 0, 0));
            let sums: Vec<u64> = (0..lines).map(|_| steps.tokens(u64::from(INTERVAL))).collect();
            let mut laws = laws();
            laws[0].law = law.clone();
            if let Some(found) = stretches(sums).best(&laws) {
                prop_assert!(found.ln - found.charge < found.single + 1000_f64.ln(), "{:?}", found.change);
            }
        }
    }
}
