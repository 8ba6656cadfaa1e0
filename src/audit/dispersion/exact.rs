//! The exact law of D, for few lines and for skewed weights, where chi-square is too narrow.
//!
//! For hundreds of lines the law of one line is convolved on a grid. For more, Lugannani and Rice's saddlepoint
//! formula (1980) gives the tails; its relative error falls as one over the number of lines.

use crate::law::{TwoPoint, float, ln_gamma, normal_upper, whole};

/// Lines up to which the law is convolved.
const MAX_CONVOLVED_LINES: u64 = 256;

/// Grid cells from 0 to the observed D.
const GRID: f64 = 2048.0;

/// Probabilities below this are left out.
const NEGLIGIBLE: f64 = 1e-13;

/// Steps above which the binomial law of one line is too fine to list, and its standardised square too close to
/// chi-square to matter.
const MAX_STEPS: u32 = 100_000;

/// One value of a single line's share of D, and its probability.
#[derive(Clone, Copy)]
struct Atom {
    value: f64,
    probability: f64,
}

/// Probabilities of a D at most and at least `d` over `lines` lines of `interval` steps.
pub(super) fn tails(law: &TwoPoint, interval: u32, lines: u64, d: f64) -> (f64, f64) {
    let atoms = atoms(law, interval.min(MAX_STEPS));
    let (lower, upper) = if lines <= MAX_CONVOLVED_LINES {
        convolved(&atoms, lines, d)
    } else {
        saddlepoint(&atoms, float(lines), d)
    };
    // Sums of thousands of terms miss 0 and 1 by a few units of the last place.
    (lower.clamp(0.0, 1.0), upper.clamp(0.0, 1.0))
}

fn atoms(law: &TwoPoint, interval: u32) -> Vec<Atom> {
    let (steps, weight) = (f64::from(interval), law.weight());
    let variance = steps * law.variance();
    (0..=interval)
        .map(|count| {
            let count = f64::from(count);
            let ln = ln_gamma(steps + 1.0) - ln_gamma(count + 1.0) - ln_gamma(steps - count + 1.0)
                + count * weight.ln()
                + (steps - count) * (-weight).ln_1p();
            Atom { value: (count - steps * weight).powi(2) / variance, probability: ln.exp() }
        })
        .filter(|atom| atom.probability > NEGLIGIBLE)
        .collect()
}

fn convolved(atoms: &[Atom], lines: u64, d: f64) -> (f64, f64) {
    // Every line's value is split between two neighbouring cells so that its mean stays; the sum may then lie a few
    // cells off. Both tails take these cells in, so neither is ever too small.
    let slack = whole(2.0 * float(lines).sqrt()) + 1;
    let cells = whole(GRID) + slack + 1;
    let step = d.max(1e-9) / GRID;
    let kernel: Vec<(u64, f64)> = atoms
        .iter()
        .flat_map(|atom| {
            let at = (atom.value / step).min(1e15);
            let upper = at - at.floor();
            [(whole(at), atom.probability * (1.0 - upper)), (whole(at) + 1, atom.probability * upper)]
        })
        .filter(|(cell, probability)| *cell < cells && *probability > 0.0)
        .collect();
    let size = usize::try_from(cells).unwrap_or(0);
    let mut law = vec![0.0; size];
    law.iter_mut().take(1).for_each(|first| *first = 1.0);
    for _ in 0..lines {
        let mut next = vec![0.0; size];
        for (offset, probability) in &kernel {
            let offset = usize::try_from(*offset).unwrap_or(size);
            for (slot, mass) in next.iter_mut().skip(offset).zip(&law) {
                *slot += probability * mass;
            }
        }
        law = next;
    }
    let below = |cells: u64| -> f64 { law.iter().take(usize::try_from(cells).unwrap_or(0)).sum() };
    // The cell of `d` itself: the last one, or the first when `d` is 0.
    let edge = whole(d / step);
    (below(edge + slack + 1), 1.0 - below(edge.saturating_sub(slack)))
}

fn saddlepoint(atoms: &[Atom], lines: f64, d: f64) -> (f64, f64) {
    let mean = d / lines;
    let low = atoms.iter().map(|atom| atom.value).fold(f64::INFINITY, f64::min);
    let high = atoms.iter().map(|atom| atom.value).fold(0.0, f64::max);
    if mean <= low {
        return (0.0, 1.0);
    }
    if mean >= high {
        return (1.0, 0.0);
    }
    // The tilt at which the mean of a line is the observed one; the tilted mean grows with the tilt.
    let (mut left, mut right) = (-1e4, 1e4);
    for _ in 0..200 {
        let middle = f64::midpoint(left, right);
        if tilted(atoms, middle).1 < mean {
            left = middle;
        } else {
            right = middle;
        }
    }
    let tilt = f64::midpoint(left, right);
    let (cumulant, _, variance) = tilted(atoms, tilt);
    let r = tilt.signum() * (2.0 * lines * (tilt * mean - cumulant)).max(0.0).sqrt();
    let u = tilt * (lines * variance).sqrt();
    if r.abs() < 1e-3 || u.abs() < 1e-3 {
        return (0.5, 0.5);
    }
    let density = (-0.5 * r * r).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let upper = (normal_upper(r) + density * (1.0 / u - 1.0 / r)).clamp(0.0, 1.0);
    let lower = (normal_upper(-r) - density * (1.0 / u - 1.0 / r)).clamp(0.0, 1.0);
    (lower, upper)
}

/// Cumulant, mean and variance of one line's value under an exponential tilt.
fn tilted(atoms: &[Atom], tilt: f64) -> (f64, f64, f64) {
    let largest = atoms.iter().map(|atom| tilt * atom.value).fold(f64::NEG_INFINITY, f64::max);
    let (mut total, mut first, mut second) = (0.0, 0.0, 0.0);
    for atom in atoms {
        let mass = atom.probability * (tilt * atom.value - largest).exp();
        total += mass;
        first += mass * atom.value;
        second += mass * atom.value * atom.value;
    }
    let mean = first / total;
    (total.ln() + largest, mean, (second / total - mean * mean).max(f64::MIN_POSITIVE))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::law::{Setting, chi_square_lower, chi_square_upper};

    use super::*;

    fn law(weight: f64) -> TwoPoint {
        TwoPoint::new(Setting::new(3.0 + weight, 6).unwrap())
    }

    #[test]
    fn many_even_lines_are_chi_square() {
        for lines in [60_u64, 240, 2000] {
            for z in [-3.0, -1.0, 1.0, 3.0] {
                let d = float(lines) + z * (2.0 * float(lines)).sqrt();
                let (lower, upper) = tails(&law(0.5), 40, lines, d);
                let (low, high) = (chi_square_lower(d, float(lines)), chi_square_upper(d, float(lines)));
                // D of a binomial has slightly lighter tails than chi-square (kurtosis 3 - 2/I).
                assert!((lower - low).abs() < 0.15 * low + 0.02, "{lines} {z}: {lower} {low}");
                assert!((upper - high).abs() < 0.25 * high + 0.02, "{lines} {z}: {upper} {high}");
            }
        }
    }

    #[test]
    fn both_methods_agree_where_they_meet() {
        for weight in [0.5, 0.9, 0.97, 0.99] {
            for d in [190.0, 256.0, 330.0] {
                let atoms = atoms(&law(weight), 40);
                let (exact, near) = (convolved(&atoms, 256, d), saddlepoint(&atoms, 256.0, d));
                // The convolution takes some 33 cells of D = 256 / 2048 into both tails: too much near the middle, never
                // too little.
                let room = -0.03..0.1;
                assert!(room.contains(&(exact.0 - near.0)), "{weight} {d}: {exact:?} {near:?}");
                assert!(room.contains(&(exact.1 - near.1)), "{weight} {d}: {exact:?} {near:?}");
                assert!((near.0 + near.1 - 1.0).abs() < 1e-9, "{weight} {d}: {near:?}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn tails_are_probabilities(
            weight in 0.001_f64..0.999, interval in 1_u32..200, lines in 1_u64..600, share in 0.0_f64..20.0,
        ) {
            let (lower, upper) = tails(&law(weight), interval, lines, share * float(lines));
            prop_assert!((0.0..=1.0).contains(&lower) && (0.0..=1.0).contains(&upper), "{} {}", lower, upper);
        }
    }

    /// One line at its mean has D = 0, below any chi-square quantile, and is no surprise.
    #[test]
    fn one_line_at_its_mean_is_no_surprise() {
        let (lower, upper) = tails(&law(0.5), 40, 1, 0.0);
        assert!((lower - 0.125).abs() < 0.001 && (upper - 1.0).abs() < 1e-12, "{lower} {upper}");
    }

    /// The tail that chi-square gets wrong by a factor of 5 and more.
    #[test]
    fn skewed_weights_have_heavier_tails_than_chi_square() {
        // Quantile 0.9995 of chi-square with 60 degrees is 99.6.
        assert!((chi_square_upper(99.6, 60.0) - 0.001).abs() < 0.0005);
        let (_, upper) = tails(&law(0.99), 40, 60, 99.6);
        assert!((0.004..0.04).contains(&upper), "{upper}");
    }

    #[test]
    fn convolution_gives_the_binomial_itself_for_one_line() {
        // K = 30 or less, or 50 and more of 40 draws: D = (10)^2 / 10.
        let (lower, upper) = tails(&law(0.5), 40, 1, 10.0);
        assert!((upper - 0.002_222).abs() < 2e-4 && lower > 0.99, "{lower} {upper}");
    }
}
