use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Binomial, Distribution as _};

use super::*;

fn process(hits: f64, trials: f64) -> EProcess {
    EProcess { hits, trials }
}

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
}

/// Worked values of the method's description: w = 0.51 of lo = 3.
#[test]
fn e_values_and_sequences() {
    let known = process(1512.0, 2920.0);
    close(known.ln_value(0.51).exp(), 0.0331, 5e-5);
    let (low, high) = known.sequence(0.05);
    close(3.0 + low, 3.4838, 5e-5);
    close(3.0 + high, 3.5517, 5e-5);
    let (low, high) = process(204.0, 400.0).sequence(0.05);
    close(3.0 + low, 3.4255, 5e-5);
    close(3.0 + high, 3.5941, 5e-5);
    close(process(240.0, 400.0).ln_value(0.51).exp(), 42.2, 0.05);
    close(process(300.0, 400.0).ln_value(0.51).exp() / 1e19, 5.70, 0.005);
}

#[test]
fn whole_targets_end_with_one_step_off() {
    // No step off: the mixture loses as 1/(N + 1).
    close(process(0.0, 400.0).ln_value(0.0), -(401.0_f64.ln()), 1e-9);
    close(process(400.0, 400.0).ln_value(1.0), -(401.0_f64.ln()), 1e-9);
    assert!(process(1.0, 400.0).ln_value(0.0).is_infinite());
    assert!(process(399.0, 400.0).ln_value(1.0).is_infinite());
    let (low, high) = process(0.0, 400.0).sequence(0.05);
    close(low, 0.0, 0.0);
    // (1 - w)^400 = 1 / (20 * 401)
    close(high, 1.0 - (-(20.0_f64 * 401.0).ln() / 400.0).exp(), 1e-12);
}

#[test]
fn nothing_seen_excludes_nothing() {
    let none = process(0.0, 0.0);
    close(none.ln_value(0.3), 0.0, 1e-12);
    assert_eq!(none.sequence(0.05), (0.0, 1.0));
}

/// Lines of 40 steps at `weight`; what each look after a line sees.
fn looks(number: u64, weight: f64, lines: u32) -> impl Iterator<Item = EProcess> {
    let mut random = ChaCha8Rng::seed_from_u64(number);
    let line = Binomial::new(40, weight).unwrap();
    let mut seen = process(0.0, 0.0);
    (0..lines).map(move |_| {
        seen.hits += f64::from(u32::try_from(line.sample(&mut random)).unwrap());
        seen.trials += 40.0;
        seen
    })
}

/// A test made for one look, at 5 %, would cry wolf in every fourth of these runs or more.
#[test]
fn looking_after_every_line_keeps_the_rate_of_false_alarms() {
    const RUNS: u64 = 2000;
    for weight in [0.51, 0.78, 0.97] {
        let (mut alarms, mut lost, mut naive) = (0, 0, 0);
        for seed in 0..RUNS {
            let mut worst = f64::MIN;
            let mut is_naive = false;
            for seen in looks(seed, weight, 100) {
                worst = worst.max(seen.ln_value(weight));
                let error = (weight * (1.0 - weight) / seen.trials).sqrt();
                is_naive |= (seen.hits / seen.trials - weight).abs() > 1.96 * error;
            }
            alarms += u64::from(worst >= PROOF.ln());
            lost += u64::from(worst >= 20.0_f64.ln());
            naive += u64::from(is_naive);
        }
        // At most 1 in 1000 and 1 in 20 are allowed; the seeds are fixed, the slack is for the sample's own scatter.
        assert!(alarms <= 5, "{alarms} of {RUNS} at {weight}");
        assert!(lost <= 100, "the 95 % sequence lost the truth in {lost} of {RUNS} at {weight}");
        assert!(naive > RUNS / 4, "{naive} of {RUNS} at {weight}");
    }
}

#[test]
fn a_shift_is_found_in_about_the_lines_that_it_should_take() {
    const RUNS: u64 = 200;
    // A fixed alternative would need 8 and 34 lines; the mixture does not know the shift.
    for (truth, few, many) in [(0.61, 8, 20), (0.56, 34, 70)] {
        let lines: u64 = (0..RUNS)
            .map(|seed| {
                let before = looks(seed, truth, 2000).take_while(|seen| seen.ln_value(0.51) < PROOF.ln());
                u64::try_from(before.count()).unwrap() + 1
            })
            .sum();
        let mean = lines / RUNS;
        assert!((few..=many).contains(&mean), "{mean} lines for {truth}");
    }
}
