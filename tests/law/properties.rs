//! What holds for every target.

use accsim::law::{AcceptanceLaw, Draws, Histogram, LineValues, PoolKind, Steps, Stream, Tokens};
use proptest::prelude::*;

use crate::support::{every_law, match_expected, pool, setting};

proptest! {
    // Each case runs through every law.
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn probabilities_sum_to_one_inside_the_bounds(target in 0.2_f64..12.0, max in 2_u32..12) {
        for law in every_law(target, max) {
            let pmf = law.pmf();
            let total: f64 = pmf.iter().map(|(_, p)| p).sum();
            prop_assert!((total - 1.0).abs() < 1e-12, "{law:?}: {total}");
            prop_assert!(pmf.iter().all(|(_, p)| (0.0..=1.0).contains(&p)), "{law:?}");
            prop_assert!(*law.support().start() >= 1 && *law.support().end() <= max, "{law:?}");
            prop_assert!((law.mean() - pmf.mean()).abs() < 1e-9, "{law:?}");
            prop_assert!((law.variance() - pmf.variance()).abs() < 1e-9, "{law:?}");
        }
    }

    #[test]
    fn means_are_the_clamped_target(target in 0.2_f64..12.0, max in 2_u32..12) {
        let clamped = target.clamp(1.0, f64::from(max));
        for law in [
            match_expected(target, max),
            AcceptanceLaw::per_request(setting(target, max)),
            pool(PoolKind::Atom, target, max),
        ] {
            prop_assert!((law.mean() - clamped).abs() < 1e-12, "{law:?}");
        }
        // A decay is told a mean rate and keeps it.
        if let Some(AcceptanceLaw::Geometric(law)) = every_law(target, max).into_iter().find(|law| {
            matches!(law, AcceptanceLaw::Geometric(_))
        }) {
            prop_assert!((law.mean() - clamped).abs() < 1e-9, "{law:?}");
        }
    }

    #[test]
    fn draws_stay_in_the_support(target in 0.2_f64..12.0, max in 2_u32..12, seed in any::<u64>()) {
        for law in every_law(target, max) {
            let support = law.support();
            let inside = Steps::new(&law, Stream::new(seed, 0, 0)).take(300).all(|length| support.contains(&length));
            prop_assert!(inside, "{law:?}");
            let mut histogram = Histogram::default();
            histogram.draw(&law, 12_345, &mut Stream::new(seed, 0, 0));
            prop_assert_eq!(histogram.draws(), 12_345);
            prop_assert!(histogram.iter().all(|(length, _)| support.contains(&length)), "{law:?}");
            let tokens = Tokens::new(&law, 40).draw(&mut Stream::new(seed, 0, 0));
            let (low, high) = (u64::from(*support.start()) * 40, u64::from(*support.end()) * 40);
            prop_assert!((low..=high).contains(&tokens), "{law:?}: {tokens}");
        }
    }

    #[test]
    fn a_line_prints_something(target in 1.0_f64..8.0, max in 2_u32..8, interval in 1_u32..=60, batch in 1_u32..8) {
        for law in every_law(target, max) {
            let line = LineValues::new(&law, interval, batch);
            let total: f64 = line.iter().map(|(_, p)| p).sum();
            prop_assert!((total - 1.0).abs() < 1e-9, "{law:?} over {interval} x {batch}: {total}");
            let mean: f64 = line.iter().map(|(value, p)| p * f64::from(value) / 100.0).sum();
            prop_assert!((mean - law.mean()).abs() <= 0.005 + 1e-9, "{law:?}: {mean}");
            let (low, high) = line.support().unwrap();
            prop_assert!(low >= 100 * law.support().start() && high <= 100 * law.support().end());
            let (from, to) = line.range(50, 0.95).unwrap();
            let inside: f64 = line.iter().filter(|(value, _)| (from..=to).contains(value)).map(|(_, p)| p).sum();
            prop_assert!(inside.powi(50) >= 0.95 - 1e-9, "{law:?}: {inside}");
            if law.draws() == Draws::Shared {
                // Whatever the batch, one draw a step.
                prop_assert_eq!(&line, &LineValues::new(&law, interval, 1));
            }
        }
    }
}
