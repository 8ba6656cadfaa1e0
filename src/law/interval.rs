//! How many verify steps a log line stands for, where only the printed values tell.

use super::number::{float, whole32};
use super::printed::Lattice;
use super::special::beta_reg;

/// Steps of a line where nothing says otherwise: the default of SGLang.
pub(crate) const DEFAULT_INTERVAL: u32 = 40;

/// Intervals tried where the default explains the lines badly.
const OTHERS: [u32; 6] = [1, 10, 20, 30, 50, 100];

/// Share of the lines that an interval must explain.
const EXPLAINED: f64 = 0.9;

/// Chance below which lines do not stand on a coarser lattice by accident: 1 in 10^6, whatever the number of lattices.
const ACCIDENT: f64 = 1e-6;

/// Share of the measured variance that a step surely has: a few lines may scatter more than their law by chance.
const SURE: f64 = 0.5;

/// Least chance that a line of another lattice stands on this one: which of its values are frequent depends on the law.
const SHARED: f64 = 0.8;

/// What printing two decimals adds to the variance, in tokens squared.
pub(crate) const ROUNDING: f64 = 1e-4 / 12.0;

/// Most tokens of a step for which lattices are compared.
const MOST_TOKENS: u32 = 64;

/// Longest lines of which the values alone can tell anything: those of longer ones stand everywhere.
const LONGEST: u32 = 100;

/// Between how many steps a line may stand for, as something besides its value tells, and about how many that are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StepRange {
    pub(crate) least: u32,
    pub(crate) most: u32,
    pub(crate) about: f64,
}

impl StepRange {
    fn contains(range: Option<Self>, steps: u32) -> bool {
        range.is_none_or(|range| (range.least..=range.most).contains(&steps))
    }
}

/// What printed values say about the steps of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct InferredInterval {
    /// The interval that explains them; `None` where none does.
    pub(crate) steps: Option<u32>,
    /// All others that explain them as well, where that may be an accident: more lines would tell. Those that are divisors
    /// of the former come first, the largest of them in front.
    pub(crate) open: Vec<u32>,
}

/// The intervals that servers are run with, the default first.
pub(crate) fn usual_intervals() -> impl Iterator<Item = u32> {
    std::iter::once(DEFAULT_INTERVAL).chain(OTHERS)
}

/// The steps of a line of constant batch from its printed values in hundredths, each with its number of lines, and from
/// what else is known.
///
/// The default comes first: a constant log fits every interval, and the smallest would be an odd answer. The lattice of a
/// divisor lies inside that of the interval, so lines on it are on both: it counts where they would stand there by
/// accident with a chance below 10^-6.
pub(crate) fn inferred_interval(values: &[(u32, u64)], range: Option<StepRange>) -> InferredInterval {
    let all: u64 = values.iter().map(|(_, count)| count).sum();
    if all == 0 {
        return InferredInterval::default();
    }
    let is_known = |steps: &u32| StepRange::contains(range, *steps);
    let explains = |steps: &u32| {
        let misses = all - on_lattice(values, *steps);
        float(misses) <= (1.0 - EXPLAINED) * float(all) + 1e-9
    };
    let nearest = range.map(|range| whole32(range.about.round()).clamp(range.least, range.most));
    let Some(mut steps) = usual_intervals().chain(nearest).filter(is_known).find(explains) else {
        return InferredInterval { steps: None, open: others(values, 0, range).filter(explains).collect() };
    };
    let variance = variance(values);
    // The next divisor on whose lattice the lines stand by no accident.
    while let Some(divisor) = (1..steps).rev().find(|divisor| {
        steps.is_multiple_of(*divisor)
            && is_known(divisor)
            && explains(divisor)
            && accident(values, *divisor, steps, variance) < ACCIDENT
    }) {
        steps = divisor;
    }
    let is_open = |other: &u32| {
        explains(other)
            && (steps.is_multiple_of(*other) || accident(values, steps, *other, variance) >= ACCIDENT)
    };
    let open = others(values, steps, range).filter(is_open).collect();
    InferredInterval { steps: Some(steps), open }
}

/// All other intervals that are in range: the divisors, the larger ones first, then all that have a lattice, then the
/// longer one whose lines scatter as these do.
fn others(values: &[(u32, u64)], steps: u32, range: Option<StepRange>) -> impl Iterator<Item = u32> {
    let divides = move |other: &u32| steps > 0 && steps.is_multiple_of(*other);
    let divisors = (1..steps).rev().filter(divides);
    let with_lattice = (1..=LONGEST).filter(move |other| *other != steps && !divides(other));
    let variance = variance(values) - ROUNDING;
    let weight = mean(values).fract();
    let longer = Some(weight * (1.0 - weight) / variance).filter(|longer| *longer > f64::from(LONGEST));
    let longer = longer.filter(|longer| *longer < f64::from(u32::MAX)).map(|longer| whole32(longer.round()));
    divisors.chain(with_lattice).chain(longer).filter(move |other| StepRange::contains(range, *other))
}

/// The chance, or a bound above it, that so many lines of `steps` draws stand on the lattice of `coarse` draws as do: the
/// binomial tail.
fn accident(values: &[(u32, u64)], coarse: u32, steps: u32, variance: f64) -> f64 {
    let tail = |values: &[(u32, u64)], chance: f64| {
        let here = on_lattice(values, steps);
        let there = on_lattice(values, coarse).min(here);
        if there == 0 { 1.0 } else { beta_reg(float(there), float(here - there) + 1.0, chance) }
    };
    if steps.is_multiple_of(coarse) {
        return tail(values, chance_of_multiple(steps / coarse, steps, variance));
    }
    // The value that most lines show may stand on both whatever the lattices are; of the others a share does.
    let most = values.iter().map(|(_, count)| *count).max();
    let others: Vec<(u32, u64)> = values.iter().copied().filter(|(_, count)| Some(*count) != most).collect();
    tail(&others, shared_values(values, coarse, steps).sqrt().clamp(SHARED, 1.0 - 1e-12))
}

/// The share of the values that `steps` draws print which `coarse` draws print as well, over the tokens that the lines show.
fn shared_values(values: &[(u32, u64)], coarse: u32, steps: u32) -> f64 {
    let floors = || values.iter().map(|(value, _)| value / 100);
    let (mut all, mut shared) = (0_u32, 0_u32);
    for floor in floors().min().unwrap_or(1)..=floors().max().unwrap_or(1).min(MOST_TOKENS) {
        let (fine, coarse) = (Lattice::new(floor, steps), Lattice::new(floor, coarse));
        for value in (floor * 100..floor * 100 + 100).filter(|value| fine.contains(*value)) {
            all += 1;
            shared += u32::from(coarse.contains(value));
        }
    }
    f64::from(shared) / f64::from(all.max(1))
}

/// Lines whose value `steps` whole draws can give.
fn on_lattice(values: &[(u32, u64)], steps: u32) -> u64 {
    let mut lattice: Option<(u32, Lattice)> = None;
    let mut count = 0;
    for (hundredths, lines) in values {
        let floor = hundredths / 100;
        let known = lattice.take().filter(|(known, _)| *known == floor);
        let (_, here) = lattice.insert(known.unwrap_or_else(|| (floor, Lattice::new(floor, steps))));
        if here.contains(*hundredths) {
            count += lines;
        }
    }
    count
}

/// Sample variance of the values, in tokens squared.
fn variance(values: &[(u32, u64)]) -> f64 {
    let (all, mean) = (lines(values), mean(values));
    let squares: f64 =
        values.iter().map(|(value, count)| float(*count) * (tokens(*value) - mean).powi(2)).sum();
    if all > 1.0 { squares / (all - 1.0) } else { 0.0 }
}

fn mean(values: &[(u32, u64)]) -> f64 {
    values.iter().map(|(value, count)| tokens(*value) * float(*count)).sum::<f64>() / lines(values)
}

fn lines(values: &[(u32, u64)]) -> f64 {
    values.iter().map(|(_, count)| float(*count)).sum()
}

fn tokens(hundredths: u32) -> f64 {
    f64::from(hundredths) / 100.0
}

/// The greatest chance that the sum of `steps` whole draws has a given remainder by `divisor`, for lines of this
/// variance: by its characteristic function, that of two neighbouring lengths, which of all with a variance falls slowest.
fn chance_of_multiple(divisor: u32, steps: u32, variance: f64) -> f64 {
    let of_a_step = (SURE * variance * f64::from(steps)).min(0.25);
    let terms = (1..divisor).map(|term| {
        let half_angle = std::f64::consts::PI * f64::from(term) / f64::from(divisor);
        (1.0 - 4.0 * of_a_step * half_angle.sin().powi(2)).max(0.0).powf(f64::from(steps) / 2.0)
    });
    ((1.0 + terms.sum::<f64>()) / f64::from(divisor)).min(1.0 - 1e-12)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::law::{AcceptanceLaw, Setting, Steps, Stream, printed};

    /// Of two draws of 0 or 1 at even odds one is as likely as not; of more tosses the remainders by 5 are more even.
    #[test]
    fn the_greatest_chance_of_a_remainder_is_that_of_coins() {
        for (divisor, steps, chance) in [(2, 3, 0.5), (4, 2, 0.5), (3, 2, 0.5), (5, 2, 0.5), (5, 4, 0.375)] {
            let found = chance_of_multiple(divisor, steps, 10.0);
            assert!((found - chance).abs() < 1e-12, "{divisor} {steps}: {found}");
        }
    }

    fn values(target: f64, interval: u32, lines: u64, seed: u64) -> Vec<(u32, u64)> {
        let law = AcceptanceLaw::match_expected(Setting::new(target, 6).unwrap());
        let mut steps = Steps::new(&law, Stream::new(seed, 0, 0));
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..lines {
            let value = printed(steps.tokens(u64::from(interval)), u64::from(interval)).unwrap();
            *counts.entry(value).or_insert(0) += 1;
        }
        counts.into_iter().collect()
    }

    #[test]
    fn every_divisor_and_the_usual_others_are_found() {
        for interval in [1, 2, 4, 5, 8, 10, 20, 30, 40, 50, 100] {
            for (target, lines) in [(3.51, 60), (2.78, 60), (1.2, 120)] {
                // Between 2.6 and 2.9 every value of 30 steps is one of 40 steps too, as two decimals print it.
                if interval == 30 && lines == 60 && target < 3.0 {
                    continue;
                }
                for seed in 0..20 {
                    let found = inferred_interval(&values(target, interval, lines, seed), None);
                    assert_eq!(found.steps, Some(interval), "{target} {interval} {seed}");
                }
            }
        }
    }

    #[test]
    fn few_lines_leave_it_open() {
        let found = inferred_interval(&values(3.51, 20, 8, 1), None);
        assert_eq!(found.steps, Some(40));
        assert!(found.open.contains(&20), "{found:?}");
    }

    #[test]
    fn constant_values_say_nothing() {
        let found = inferred_interval(&[(400, 500)], None);
        assert_eq!((found.steps, found.open.len()), (Some(40), 99));
        assert_eq!(found.open[..4], [20, 10, 8, 5]);
        assert_eq!(inferred_interval(&[], None), InferredInterval::default());
    }

    #[test]
    fn what_else_is_known_narrows_it() {
        // As two decimals print them, values of 30 steps between 2.6 and 2.9 are values of 40 steps.
        let range = StepRange { least: 8, most: 32, about: 30.0 };
        for seed in 0..20 {
            let found = inferred_interval(&values(2.78, 30, 60, seed), Some(range));
            assert_eq!(found.steps, Some(30), "{seed}");
            assert!(found.open.iter().all(|steps| (8..=32).contains(steps)), "{found:?}");
        }
        let range = StepRange { least: 4, most: 17, about: 15.9 };
        assert_eq!(inferred_interval(&values(3.51, 16, 30, 1), Some(range)).steps, Some(16));
    }

    #[test]
    fn the_true_interval_is_never_ruled_out() {
        for interval in [1, 2, 3, 4, 5, 7, 8, 10, 16, 20, 25, 30, 40, 50, 64, 80, 100] {
            for (target, lines) in [(3.51, 3), (3.51, 12), (2.99, 8), (2.99, 60), (1.2, 5), (5.5, 40)] {
                for seed in 0..10 {
                    let found = inferred_interval(&values(target, interval, lines, seed), None);
                    let is_there = found.steps == Some(interval) || found.open.contains(&interval);
                    assert!(is_there, "{target} {lines} lines of {interval}, seed {seed}: {found:?}");
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn lines_of_the_default_are_never_taken_for_a_divisor(
            seed: u64, lines in 1_u64..200, target in 1.01_f64..5.99,
        ) {
            let found = inferred_interval(&values(target, 40, lines, seed), None);
            prop_assert_eq!(found.steps, Some(40));
        }
    }
}
