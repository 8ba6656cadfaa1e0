use proptest::prelude::*;

use super::*;
use crate::law::{AcceptanceLaw, Setting};

const STEADY: Window = Window::Steady { batch: 1 };

fn setting(accept_length: f64, max: u32) -> Setting {
    Setting::new(accept_length, max).unwrap()
}

fn line(accept_length: f64, max: u32) -> LineLaw {
    LineLaw::new(&AcceptanceLaw::match_expected(setting(accept_length, max)), 40)
}

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
}

#[test]
fn spread_of_a_line() {
    for (length, sd) in [(3.51, 0.0790), (2.78, 0.0655), (1.79, 0.0644), (3.39, 0.0771), (2.99, 0.0157)] {
        close(AcceptanceLaw::match_expected(setting(length, 6)).line_sd(40, 1), sd, 5e-5);
    }
    let per_request = AcceptanceLaw::per_request(setting(3.51, 6));
    close(per_request.line_sd(40, 16), 0.0790 / 4.0, 5e-5);
    let biased = AcceptanceLaw::multinomial(setting(2.78, 3));
    close(biased.line_sd(40, 1), 0.1061, 5e-5);
}

#[test]
fn multinomial_is_a_clamped_rounded_normal() {
    let law = AcceptanceLaw::multinomial(setting(3.51, 6));
    let expected = [0.022_216, 0.134_032, 0.339_763, 0.342_902, 0.137_792, 0.023_295];
    for ((length, found), (index, expected)) in law.pmf().iter().zip((1..).zip(expected)) {
        assert_eq!(length, index);
        close(found, expected, 5e-7);
    }
    close(law.mean(), 3.509_909, 5e-7);
    close(law.variance(), 1.066_615, 5e-7);

    let law = AcceptanceLaw::multinomial(setting(2.78, 3));
    for (length, expected) in [(1, 0.100_273), (2, 0.289_466), (3, 0.610_261)] {
        close(law.pmf().probability(length), expected, 5e-7);
    }
    close(law.mean(), 2.509_989, 5e-7);
    close(law.variance(), 0.450_445, 5e-7);

    for (length, max, mean) in [
        (3.39, 4, 3.240_093),
        (1.79, 4, 1.896_577),
        (3.24, 4, 3.126_852),
        (5.0, 8, 4.999_767),
        (1.0, 4, 1.381_554),
    ] {
        close(AcceptanceLaw::multinomial(setting(length, max)).mean(), mean, 5e-7);
    }
}

#[test]
fn rounded_goes_half_to_even_on_the_drafts() {
    for (length, rounded) in [
        (1.5, 1),
        (1.79, 2),
        (2.5, 3),
        (2.78, 3),
        (3.25, 3),
        (3.49, 3),
        (3.5, 3),
        (3.51, 4),
        (3.61, 4),
        (4.5, 5),
        (4.7, 5),
        (5.5, 5),
    ] {
        assert_eq!(AcceptanceLaw::rounded(setting(length, 8)), AcceptanceLaw::Rounded(rounded), "{length}");
    }
    assert_eq!(AcceptanceLaw::rounded(setting(7.0, 6)), AcceptanceLaw::Rounded(6));
}

#[test]
fn lengths_beyond_the_largest_are_clamped_and_constant() {
    for length in [6.0, 6.5, 1e9] {
        let law = AcceptanceLaw::match_expected(setting(length, 6));
        assert_eq!(law.support(), 6..=6);
        close(law.mean(), 6.0, 0.0);
        close(law.variance(), 0.0, 0.0);
    }
    assert_eq!(AcceptanceLaw::match_expected(setting(0.2, 6)).support(), 1..=1);
}

/// What one line says against a rival law when 3.51 is true.
#[test]
fn kullback_leibler_per_line() {
    let truth = line(3.51, 6);
    let against = |rival: &LineLaw| -> f64 {
        (300..=400)
            .map(|x| (truth.ln_probability(x, STEADY), rival.ln_probability(x, STEADY)))
            .filter(|(truth, _)| *truth > f64::NEG_INFINITY)
            .map(|(truth, rival)| truth.exp() * (truth - rival))
            .sum()
    };
    let multinomial = LineLaw::new(&AcceptanceLaw::multinomial(setting(3.51, 6)), 40);
    close(against(&multinomial), 0.3431, 5e-5);
    for (length, expected) in [(3.61, 0.8213), (3.46, 0.2005), (3.54, 0.0723), (3.50, 0.0080)] {
        close(against(&line(length, 6)), expected, 5e-5);
    }
}

#[test]
fn per_request_draws_leave_the_lattice_and_shared_ones_do_not() {
    let shared = line(3.51, 6);
    let own = LineLaw::new(&AcceptanceLaw::per_request(setting(3.51, 6)), 40);
    let many = Window::Steady { batch: 16 };
    assert!(own.ln_probability(351, many) > (0.15_f64).ln());
    assert!(shared.ln_probability(351, many).is_infinite());
    // Alone, a request's draw is the batch's draw.
    close(own.ln_probability(352, STEADY), shared.ln_probability(352, STEADY), 1e-12);
}

#[test]
fn a_changing_batch_keeps_the_skew_and_the_ends() {
    let window = Window::Changing { kappa: 0.9, batch: 6.0 };
    let law = line(2.99, 4);
    // All 40 draws gave 3.
    close(law.ln_probability(300, window).exp(), 0.99_f64.powi(40), 1e-12);
    // Four of 40 draws fell short: rare, yet no impossibility of 10^-9 as the normal law has it.
    let rare = law.ln_probability(290, window);
    assert!(rare > (1e-5_f64).ln() && rare < (1e-2_f64).ln(), "{rare}");
    // A window of one step has no batch that changes.
    let one = LineLaw::new(&AcceptanceLaw::match_expected(setting(3.51, 6)), 1);
    close(one.ln_probability(400, window).exp(), 0.51, 1e-12);
}

#[test]
fn a_normal_line_is_its_mass_over_the_printed_value() {
    let total: f64 = (300..=400).map(|x| ln_normal_line(3.5, 0.002, x).exp()).sum();
    close(total, 1.0, 1e-9);
}

#[test]
fn a_few_real_draws_leave_gaps_and_many_do_not() {
    for draws in [1, 40, 80, 100, 101, 4000] {
        let total: f64 = (0..=900).map(|x| ln_normal_average(3.5, 1.0, draws, x).exp()).sum();
        close(total, 1.0, 1e-3);
    }
    assert!(ln_normal_average(3.5, 1.0, 40, 351).is_infinite());
    assert!(ln_normal_average(3.5, 1.0, 640, 351).is_finite());
}

fn laws(length: f64, max: u32) -> [AcceptanceLaw; 4] {
    let setting = setting(length, max);
    [
        AcceptanceLaw::match_expected(setting),
        AcceptanceLaw::multinomial(setting),
        AcceptanceLaw::rounded(setting),
        AcceptanceLaw::per_request(setting),
    ]
}

proptest! {
    // Each case sums thousands of probabilities.
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn probabilities_sum_to_one(length in 0.5_f64..12.0, max in 1_u32..10) {
        for law in laws(length, max) {
            let total: f64 = law.pmf().iter().map(|(_, p)| p).sum();
            prop_assert!((total - 1.0).abs() < 1e-12, "{law:?}: {total}");
            let inside = law.pmf().iter().all(|(length, p)| p >= 0.0 && law.support().contains(&length));
            prop_assert!(inside && *law.support().start() >= 1 && *law.support().end() <= max);
        }
    }

    #[test]
    fn moments_are_those_of_the_probabilities(length in 0.5_f64..12.0, max in 1_u32..10) {
        for law in laws(length, max) {
            let mean: f64 = law.pmf().iter().map(|(length, p)| p * f64::from(length)).sum();
            let square: f64 = law.pmf().iter().map(|(length, p)| p * f64::from(length).powi(2)).sum();
            prop_assert!((law.mean() - mean).abs() < 1e-9);
            prop_assert!((law.variance() - (square - mean * mean)).abs() < 1e-9);
        }
        let clamped = length.clamp(1.0, f64::from(max));
        prop_assert!((AcceptanceLaw::match_expected(setting(length, max)).mean() - clamped).abs() < 1e-12);
    }

    #[test]
    fn a_line_prints_something(length in 1.0_f64..8.0, max in 2_u32..8, interval in 1_u32..=100, batch in 1_u32..40,
                               kappa in 0.51_f64..1.0) {
        for law in laws(length, max) {
            let line = LineLaw::new(&law, interval);
            let over = |window| -> f64 {
                (100..=100 * max).map(|x| line.ln_probability(x, window).exp()).sum()
            };
            let steady = over(Window::Steady { batch });
            prop_assert!((steady - 1.0).abs() < 1e-6, "{law:?} over {interval}: {steady}");
            let changing = over(Window::Changing { kappa, batch: f64::from(batch) });
            // A normal law may reach beyond [1, M].
            prop_assert!(changing < 1.0 + 1e-2, "{law:?} over {interval}: {changing}");
            if !matches!(law, AcceptanceLaw::Multinomial(_)) {
                prop_assert!((changing - 1.0).abs() < 1e-2, "{law:?} over {interval}: {changing}");
            }
        }
    }
}
