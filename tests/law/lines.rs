//! Worked values of the lines: what one decode line prints under each law.

use accsim::law::{AcceptanceLaw, LineLaw, LineValues, Window};

use crate::support::{every_law, match_expected, per_position, setting};

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
}

/// SGLANG section 6, items 2 and 3; ENGINES section 9, items 1 and 2.
#[test]
fn worked_values() {
    let line = LineValues::new(&match_expected(3.51, 6), 40, 16);
    close(line.mean(), 3.51, 1e-12);
    close(line.sd(), 0.0790, 5e-5);
    close(line.mean() - 1.96 * line.sd(), 3.355, 5e-4);
    close(line.mean() + 1.96 * line.sd(), 3.665, 5e-4);
    assert_eq!(line.support(), Some((300, 400)));
    // 41 values of the lattice, and nothing between them.
    assert_eq!(line.iter().count(), 41);

    let multinomial = AcceptanceLaw::multinomial(setting(3.51, 6));
    for (length, p) in [(1, 0.0222), (2, 0.1340), (3, 0.3398), (4, 0.3429), (5, 0.1378), (6, 0.0233)] {
        close(multinomial.pmf().probability(length), p, 5e-5);
    }
    close(multinomial.mean(), 3.5099, 5e-5);
    close(multinomial.variance().sqrt(), 1.0328, 5e-5);
    close(LineValues::new(&multinomial, 40, 1).sd(), 0.163, 5e-4);

    // vLLM by length, N = 2000 request-steps.
    let window = LineValues::new(&AcceptanceLaw::per_request(setting(3.51, 6)), 125, 16);
    close(window.sd(), 0.0112, 5e-5);
    close(per_position(&[0.9, 0.5, 0.2]).mean(), 2.6, 1e-12);
    close(per_position(&[0.9, 0.5, 0.2]).variance(), 0.84, 1e-12);
}

/// SGLANG section 1.2: mean and sd of `multinomial`, in full.
#[test]
fn the_table_of_the_multinomial() {
    for (target, max, mean, sd) in [
        (3.51, 6, 3.510, 1.033),
        (3.51, 4, 3.326, 0.788),
        (2.78, 4, 2.746, 0.928),
        (2.78, 3, 2.510, 0.671),
        (3.24, 4, 3.127, 0.857),
        (4.00, 4, 3.618, 0.628),
        (1.00, 4, 1.382, 0.628),
        (2.00, 4, 2.067, 0.902),
        (5.00, 8, 5.000, 1.040),
    ] {
        let law = AcceptanceLaw::multinomial(setting(target, max));
        close(law.mean(), mean, 5e-4);
        close(law.variance().sqrt(), sd, 5e-4);
    }
    // Case 20.
    let law = AcceptanceLaw::multinomial(setting(3.39, 4));
    close(law.mean(), 3.24009, 5e-6);
    close(law.variance(), 0.67343, 5e-6);
    close(law.pmf().probability(4), 0.456_205, 5e-7);
}

/// SGLang 0.4.5 to 0.4.7 clamp one token too low: 3.51 with 5 steps is drawn as with 4.
#[test]
fn the_short_clamp() {
    let short = AcceptanceLaw::clamped_short(setting(3.51, 6));
    assert_eq!(short.pmf(), AcceptanceLaw::multinomial(setting(3.51, 5)).pmf());
    assert_eq!(short.support(), 1..=5);
    assert!(short.mean() < AcceptanceLaw::multinomial(setting(3.51, 6)).mean());
    assert_eq!(AcceptanceLaw::clamped_short(setting(2.0, 1)).support(), 1..=1);
}

/// `AUDIT_STATISTICS` section 14, value 17, and the lines until a factor 1000 of section 9.
#[test]
fn divergence_and_lines_until() {
    let truth = LineValues::new(&match_expected(3.51, 6), 40, 1);
    let multinomial = LineValues::new(&AcceptanceLaw::multinomial(setting(3.51, 6)), 40, 1);
    close(truth.divergence(&multinomial), 0.3431, 5e-5);
    assert_eq!(truth.lines_until(1e3, &multinomial), Some(21));
    assert_eq!(truth.lines_until(1e6, &multinomial), Some(41));
    for (target, a_line, until, until_million) in
        [(3.61, 0.8213, 9, 17), (3.46, 0.2005, 35, 69), (3.54, 0.0723, 96, 192), (3.50, 0.0080, 864, 1727)]
    {
        let rival = LineValues::new(&match_expected(target, 6), 40, 1);
        close(truth.divergence(&rival), a_line, 5e-5);
        assert_eq!(truth.lines_until(1e3, &rival), Some(until), "{target}");
        assert_eq!(truth.lines_until(1e6, &rival), Some(until_million), "{target}");
    }
    let rounded = LineValues::new(&AcceptanceLaw::rounded(setting(3.51, 6)), 40, 1);
    assert!(truth.divergence(&rounded).is_infinite());
    assert_eq!(truth.lines_until(1e3, &rounded), Some(1));
    assert_eq!(truth.lines_until(1e3, &truth), None);
}

/// The table of values and the log-probabilities that audits use are one law.
#[test]
fn values_and_log_probabilities_agree() {
    for law in every_law(3.51, 6) {
        let line = LineLaw::new(&law, 40);
        for batch in [1, 5] {
            let values = LineValues::new(&law, 40, batch);
            // Some on the lattice, some off it, and both ends.
            for hundredths in (100..=600).step_by(20).chain(340..365) {
                let p = line.ln_probability(hundredths, Window::Steady { batch }).exp();
                close(values.probability(hundredths), p, 1e-11);
            }
        }
    }
}

/// Ties are those of the double quotient: SGLANG section 4.4.
#[test]
fn ties() {
    let law = AcceptanceLaw::multinomial(setting(3.9, 6));
    let line = LineValues::new(&law, 40, 1);
    for (printed, other) in
        [(342, 343), (348, 347), (352, 353), (358, 357), (442, 443), (118, 117), (417, 418)]
    {
        assert!(line.probability(printed) > 0.0, "{printed}");
        assert!(line.probability(other) <= 0.0, "{other}");
    }
}
