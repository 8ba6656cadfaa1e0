//! How many verify steps a log line stands for, where only the printed values tell.

use super::number::float;
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

/// What printed values say about the steps of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct InferredInterval {
    /// The interval that explains them; `None` where none does.
    pub(crate) steps: Option<u32>,
    /// Divisors of it that explain them as well, where that may be an accident: more lines would tell.
    pub(crate) open: Vec<u32>,
}

/// The steps of a line of constant batch from its printed values in hundredths, each with its number of lines.
///
/// The default comes first: a constant log fits every interval, and the smallest would be an odd answer. The lattice of a
/// divisor lies inside that of the interval, so lines on it are on both: it counts where they would stand there by
/// accident with a chance below 10^-6.
pub(crate) fn inferred_interval(values: &[(u32, u64)]) -> InferredInterval {
    let all: u64 = values.iter().map(|(_, count)| count).sum();
    let explains =
        |steps: u32| float(all - on_lattice(values, steps)) <= (1.0 - EXPLAINED) * float(all) + 1e-9;
    let first = std::iter::once(DEFAULT_INTERVAL).chain(OTHERS).find(|steps| all > 0 && explains(*steps));
    let Some(mut steps) = first else { return InferredInterval::default() };
    let variance = variance(values);
    loop {
        let here = on_lattice(values, steps);
        let mut open = Vec::new();
        let mut coarser = None;
        for divisor in (1..steps).rev().filter(|divisor| steps.is_multiple_of(*divisor)) {
            if variance <= 0.0 || !explains(divisor) {
                continue;
            }
            let chance = chance_of_multiple(steps / divisor, steps, variance);
            let there = on_lattice(values, divisor).min(here);
            // The binomial tail: so many of those on the finer lattice, or more.
            let accident =
                if there == 0 { 1.0 } else { beta_reg(float(there), float(here - there) + 1.0, chance) };
            if accident < ACCIDENT {
                coarser = Some(divisor);
                break;
            }
            open.push(divisor);
        }
        match coarser {
            Some(divisor) => steps = divisor,
            None => return InferredInterval { steps: Some(steps), open },
        }
    }
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
    let all: f64 = values.iter().map(|(_, count)| float(*count)).sum();
    let tokens = |hundredths: u32| f64::from(hundredths) / 100.0;
    let mean = values.iter().map(|(value, count)| tokens(*value) * float(*count)).sum::<f64>() / all;
    let squares: f64 =
        values.iter().map(|(value, count)| float(*count) * (tokens(*value) - mean).powi(2)).sum();
    if all > 1.0 { squares / (all - 1.0) } else { 0.0 }
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
                    let found = inferred_interval(&values(target, interval, lines, seed));
                    assert_eq!(found.steps, Some(interval), "{target} {interval} {seed}");
                }
            }
        }
    }

    #[test]
    fn few_lines_leave_it_open() {
        let found = inferred_interval(&values(3.51, 20, 8, 1));
        assert_eq!(found.steps, Some(40));
        assert!(found.open.contains(&20), "{found:?}");
    }

    #[test]
    fn constant_values_say_nothing() {
        let found = inferred_interval(&[(400, 500)]);
        assert_eq!(found, InferredInterval { steps: Some(40), open: vec![] });
        assert_eq!(inferred_interval(&[]), InferredInterval::default());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn lines_of_the_default_are_never_taken_for_a_divisor(
            seed: u64, lines in 1_u64..200, target in 1.01_f64..5.99,
        ) {
            let found = inferred_interval(&values(target, 40, lines, seed));
            prop_assert_eq!(found.steps, Some(40));
        }
    }
}
