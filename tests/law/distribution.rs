//! Draws follow their laws: chi-square and Kolmogorov-Smirnov against distributions of another library. Seeds are
//! fixed, so a test that passes once passes always; the levels say how hard each one was to pass.

use accsim::law::{AcceptanceLaw, Histogram, PoolKind, Steps, Stream, Tokens};
use statrs::distribution::{Binomial, ContinuousCDF as _, Discrete as _, DiscreteCDF as _, Normal};

use crate::support::{chi_square_p, every_law, match_expected, per_position, pool, setting, two_sample_p};

/// A law whose draws miss it by chance this rarely has nothing to do with chance.
const LEVEL: f64 = 0.001;

fn counts(law: &AcceptanceLaw, draws: usize, seed: u64) -> Histogram {
    let mut histogram = Histogram::default();
    for length in Steps::new(law, Stream::new(seed, 0, 0)).take(draws) {
        histogram.add(length, 1);
    }
    histogram
}

fn agrees(law: &AcceptanceLaw, histogram: &Histogram) {
    let p = chi_square_p(law.pmf().iter().map(|(length, p)| (histogram.count(length), p)));
    assert!(p > LEVEL, "{law:?}: {histogram:?} has p = {p}");
    let outside: u64 =
        histogram.iter().filter(|(length, _)| !law.support().contains(length)).map(|(_, count)| count).sum();
    assert_eq!(outside, 0, "{law:?}: {histogram:?}");
}

#[test]
fn sequences_follow_the_exact_probabilities() {
    for (seed, target) in [(1, 3.51), (2, 2.78), (3, 1.02), (4, 5.97)] {
        for law in every_law(target, 6) {
            // A pool is a fixed sequence with an offset of its own; see below.
            if !matches!(law, AcceptanceLaw::Pool(_)) {
                agrees(&law, &counts(&law, 200_000, seed));
            }
        }
    }
}

/// A sequence and a merged count are the same in law: both agree with the probabilities, and with each other.
#[test]
fn merged_counts_equal_sequence_counts_in_law() {
    for law in every_law(3.51, 6) {
        if matches!(law, AcceptanceLaw::Pool(_)) {
            continue;
        }
        let (mut merged, mut sequences) = (Histogram::default(), Histogram::default());
        let mut random = Stream::new(5, 0, 0);
        let mut steps = Steps::new(&law, Stream::new(5, 1, 0));
        // Both by windows of 40: 5,000 windows each.
        let cells = law.support().count();
        let (mut by_count, mut by_step) = (vec![0_u64; 41 * cells], vec![0_u64; 41 * cells]);
        for _ in 0..5_000 {
            let mut window = Histogram::default();
            window.draw(&law, 40, &mut random);
            let mut drawn = Histogram::default();
            steps.by_ref().take(40).for_each(|length| drawn.add(length, 1));
            for (cell, length) in law.support().enumerate() {
                by_count[41 * cell + window.count(length) as usize] += 1;
                by_step[41 * cell + drawn.count(length) as usize] += 1;
            }
            merged.merge(&window);
            sequences.merge(&drawn);
        }
        agrees(&law, &merged);
        agrees(&law, &sequences);
        // The count of each length in a window is binomial, drawn either way.
        for (cell, (length, p)) in law.pmf().iter().enumerate() {
            let binomial = Binomial::new(p.clamp(0.0, 1.0), 40).unwrap();
            for counts in [&by_count, &by_step] {
                let of_length = &counts[41 * cell..41 * (cell + 1)];
                let p = chi_square_p(of_length.iter().zip(0..).map(|(count, k)| (*count, binomial.pmf(k))));
                assert!(p > LEVEL / 10.0, "{law:?}, length {length}: p = {p}");
            }
        }
    }
}

/// The tokens of a window, drawn as one number, are binomial; so are those of a sequence.
#[test]
fn tokens_of_a_window_are_binomial() {
    for (seed, (target, interval)) in (10..).zip([(3.51, 40), (2.99, 40), (1.79, 7), (3.51, 1), (4.03, 1000)])
    {
        let law = match_expected(target, 6);
        let lo = f64::floor(target) as u64 * u64::from(interval);
        let binomial = Binomial::new(target - target.floor(), u64::from(interval)).unwrap();
        let mut tokens = Tokens::new(&law, interval);
        let mut random = Stream::new(seed, 0, 0);
        let mut steps = Steps::new(&law, Stream::new(seed, 1, 0));
        let mut window = vec![0; interval as usize];
        let (mut drawn, mut summed) =
            (vec![0_u64; interval as usize + 1], vec![0_u64; interval as usize + 1]);
        for _ in 0..20_000 {
            drawn[(tokens.draw(&mut random) - lo) as usize] += 1;
            steps.fill(&mut window);
            summed[(window.iter().map(|length| u64::from(*length)).sum::<u64>() - lo) as usize] += 1;
        }
        for counts in [drawn, summed] {
            let p = chi_square_p(counts.iter().zip(0..).map(|(count, k)| (*count, binomial.pmf(k))));
            assert!(p > LEVEL, "{target} over {interval}: p = {p}");
        }
    }
}

/// Several lengths: the tokens of a window against the sums of a sequence, by the two-sample chi-square.
#[test]
fn tokens_of_other_laws_equal_sums_of_sequences() {
    let laws = [AcceptanceLaw::multinomial(setting(3.51, 6)), per_position(&[0.9, 0.5, 0.2])];
    for (seed, law) in (20..).zip(laws) {
        let mut tokens = Tokens::new(&law, 40);
        let mut random = Stream::new(seed, 0, 0);
        let mut steps = Steps::new(&law, Stream::new(seed, 1, 0));
        let (mut drawn, mut summed) = (vec![0_u64; 241], vec![0_u64; 241]);
        for _ in 0..40_000 {
            drawn[tokens.draw(&mut random) as usize] += 1;
            summed[steps.by_ref().take(40).sum::<u32>() as usize] += 1;
        }
        let p = two_sample_p(&drawn, &summed);
        assert!(p > LEVEL, "{law:?}: p = {p}");
        let mean = drawn.iter().zip(0_u64..).map(|(count, sum)| (count * sum) as f64).sum::<f64>() / 40_000.0;
        let error = (40.0 * law.variance() / 40_000.0).sqrt();
        assert!((mean - 40.0 * law.mean()).abs() < 4.0 * error, "{law:?}: {mean}");
    }
}

/// A long run's mean is normal: Kolmogorov-Smirnov over 500 replicates, drawn as counts.
#[test]
fn means_of_replicates_are_normal() {
    const REPLICATES: u32 = 500;
    for law in [
        match_expected(3.51, 6),
        AcceptanceLaw::multinomial(setting(2.78, 3)),
        per_position(&[0.9, 0.5, 0.2]),
    ] {
        let steps = 1_000_000_u64;
        let normal = Normal::new(law.mean(), (law.variance() / steps as f64).sqrt()).unwrap();
        let mut means: Vec<f64> = (0..REPLICATES)
            .map(|replicate| {
                let mut histogram = Histogram::default();
                histogram.draw(&law, steps, &mut Stream::new(30, replicate, 0));
                histogram.mean().unwrap()
            })
            .collect();
        means.sort_by(f64::total_cmp);
        let distance = means
            .iter()
            .zip(0_u32..)
            .map(|(mean, below)| {
                let (low, high) = (f64::from(below), f64::from(below + 1));
                let cdf = normal.cdf(*mean) * f64::from(REPLICATES);
                (cdf - low).abs().max((high - cdf).abs()) / f64::from(REPLICATES)
            })
            .fold(0.0, f64::max);
        // Kolmogorov's limit: 1.95 / sqrt(n) is passed once in a thousand.
        assert!(distance < 1.95 / f64::from(REPLICATES).sqrt(), "{law:?}: {distance}");
    }
}

/// Counts far beyond 2^32: the chunks add up, and the variance is the binomial one.
#[test]
fn long_runs_keep_their_spread() {
    let law = match_expected(3.51, 6);
    let steps = 3_u64 << 34;
    let scores: Vec<f64> = (0..400)
        .map(|replicate| {
            let mut histogram = Histogram::default();
            histogram.draw(&law, steps, &mut Stream::new(31, replicate, 0));
            assert_eq!(histogram.draws(), steps);
            (histogram.mean().unwrap() - 3.51) / (0.2499 / steps as f64).sqrt()
        })
        .collect();
    let square: f64 = scores.iter().map(|score| score * score).sum();
    // Chi-square with 400 degrees of freedom: 0.001 and 0.999 quantiles.
    assert!((315.0..493.0).contains(&square), "{square}");
}

/// Lines drawn as one number print what the exact law of a printed line says.
#[test]
fn printed_lines_follow_the_line_law() {
    use accsim::law::{LineValues, printed};
    for (seed, law) in (40..).zip(every_law(3.51, 6)) {
        if matches!(law, AcceptanceLaw::Pool(_)) {
            continue;
        }
        let batch = 4;
        let draws = u32::try_from(law.draws_of(40, batch)).unwrap();
        let line = LineValues::new(&law, 40, batch);
        let mut tokens = Tokens::new(&law, draws);
        let mut random = Stream::new(seed, 0, 0);
        let mut counts = vec![0_u64; 701];
        for _ in 0..20_000 {
            let value = printed(tokens.draw(&mut random), u64::from(draws)).unwrap();
            assert!(line.probability(value) > 0.0, "{law:?} printed {value}");
            counts[value as usize] += 1;
        }
        let p = chi_square_p(counts.iter().zip(0..).map(|(count, value)| (*count, line.probability(value))));
        assert!(p > LEVEL, "{law:?}: p = {p}");
    }
}

/// A fixed pool: any start and any seed give the same draws, and a run's mean keeps the offset.
#[test]
fn a_pool_is_the_same_for_everyone() {
    let law = pool(PoolKind::TrtLlm, 3.51, 6);
    let AcceptanceLaw::Pool(inner) = &law else { panic!("{law:?}") };
    let one: Vec<u32> = Steps::new(&law, Stream::new(1, 0, 0)).take(1000).collect();
    let other: Vec<u32> = Steps::new(&law, Stream::new(9, 3, 7)).take(1000).collect();
    assert_eq!(one, other);
    let steps = 100 * 65_536;
    let mut histogram = Histogram::default();
    histogram.draw(&law, steps, &mut Stream::new(1, 0, 0));
    assert!((histogram.mean().unwrap() - 3.51 - inner.offset()).abs() < 1e-12);
    // A honest draw of that many steps would be off by 0.0002.
    assert!(inner.offset().abs() > 0.0004);
    let mut tokens = Tokens::new(&law, 65_536);
    let mut random = Stream::new(1, 0, 0);
    assert_eq!(tokens.draw(&mut random), tokens.draw(&mut random));
    // The uniforms themselves are uniform: the share below any weight is binomial.
    for tenth in 1..10 {
        let w = f64::from(tenth) / 10.0;
        let AcceptanceLaw::Pool(pool) = pool(PoolKind::TrtLlm, 3.0 + w, 6) else { panic!() };
        let binomial = Binomial::new(w, 65_536).unwrap();
        let below = binomial.cdf(pool.larger_among(65_536));
        assert!((0.0005..0.9995).contains(&below), "{w}: {below}");
    }
}
