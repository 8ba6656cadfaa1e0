//! Special functions behind the laws and the audit's tests, with logarithms where tails matter.
//!
//! `statrs` supplies the gamma and error functions. The incomplete beta function is our own: that of `statrs` stops
//! after 140 terms, too few for the millions of verify steps that one log can hold.

use std::f64::consts::{LN_2, PI, SQRT_2};

use statrs::function::{erf, gamma};

use super::number::{float, whole};

/// Bisection steps: enough to reach the last bit of a double in `[0, 1]`.
const BISECTIONS: u32 = 80;

/// Degrees of freedom above which Wilson and Hilferty's normal approximation (1931) is exact enough: its error in a
/// tail of 0.00025 is below one part in 10^4 there.
const WILSON_HILFERTY_FROM: f64 = 1e5;

/// Natural logarithm of the gamma function.
pub(crate) fn ln_gamma(x: f64) -> f64 {
    gamma::ln_gamma(x)
}

/// Probability that a standard normal variable exceeds `z`.
pub(crate) fn normal_upper(z: f64) -> f64 {
    0.5 * erf::erfc(z / SQRT_2)
}

/// Its logarithm, also where the probability itself is too small for a double.
fn ln_normal_upper(z: f64) -> f64 {
    if z < 20.0 {
        normal_upper(z).ln()
    } else {
        // Mills ratio, four terms: relative error below 10^-8 from here on.
        let square = z * z;
        let series = 1.0 - 1.0 / square + 3.0 / (square * square) - 15.0 / (square * square * square);
        -0.5 * square - z.ln() - 0.5 * (2.0 * PI).ln() + series.ln()
    }
}

/// Logarithm of the probability that a standard normal variable lies between `low` and `high`.
pub(crate) fn ln_normal_between(low: f64, high: f64) -> f64 {
    if high <= low {
        return f64::NEG_INFINITY;
    }
    // Work in the upper tail: there, small probabilities keep their digits.
    let (low, high) = if low + high < 0.0 { (-high, -low) } else { (low, high) };
    if low <= 0.0 {
        return (1.0 - normal_upper(-low) - normal_upper(high)).max(f64::MIN_POSITIVE).ln();
    }
    let (all, beyond) = (ln_normal_upper(low), ln_normal_upper(high));
    all + ln_one_minus_exp(beyond - all)
}

/// `ln(1 - exp(x))` for `x < 0`.
fn ln_one_minus_exp(x: f64) -> f64 {
    if x > -LN_2 { (-x.exp_m1()).ln() } else { (-x.exp()).ln_1p() }
}

/// The value that a standard normal variable stays below with probability `p`.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    -SQRT_2 * erf::erfc_inv(2.0 * p)
}

/// Probability that a chi-square variable with `freedom` degrees is at most `x`.
pub(crate) fn chi_square_lower(x: f64, freedom: f64) -> f64 {
    if x <= 0.0 || freedom <= 0.0 {
        0.0
    } else if freedom > WILSON_HILFERTY_FROM {
        normal_upper(-wilson_hilferty(x, freedom))
    } else {
        gamma::checked_gamma_lr(freedom / 2.0, x / 2.0).unwrap_or(1.0)
    }
}

/// Probability that a chi-square variable with `freedom` degrees is at least `x`.
pub(crate) fn chi_square_upper(x: f64, freedom: f64) -> f64 {
    if x <= 0.0 || freedom <= 0.0 {
        1.0
    } else if freedom > WILSON_HILFERTY_FROM {
        normal_upper(wilson_hilferty(x, freedom))
    } else {
        gamma::checked_gamma_ur(freedom / 2.0, x / 2.0).unwrap_or(0.0)
    }
}

fn wilson_hilferty(x: f64, freedom: f64) -> f64 {
    let spread = 2.0 / (9.0 * freedom);
    ((x / freedom).cbrt() - (1.0 - spread)) / spread.sqrt()
}

/// Regularised incomplete beta function `I_x(a, b)` for `a, b > 0`.
pub(crate) fn beta_reg(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let ln_front = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p();
    if x < (a + 1.0) / (a + b + 2.0) {
        ln_front.exp() * beta_fraction(a, b, x) / a
    } else {
        1.0 - ln_front.exp() * beta_fraction(b, a, 1.0 - x) / b
    }
}

/// The continued fraction of the incomplete beta function by Lentz's method; it takes about sqrt(max(a, b)) terms.
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let terms = 200 + 8 * whole(a.max(b).min(1e12).sqrt());
    let mut numerator = 1.0;
    let mut denominator = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = denominator;
    for term in 1..=terms {
        let m = float(term);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut step = 1.0;
        for coefficient in [even, odd] {
            denominator = 1.0 / away_from_zero(1.0 + coefficient * denominator);
            numerator = away_from_zero(1.0 + coefficient / numerator);
            step = denominator * numerator;
            fraction *= step;
        }
        if (step - 1.0).abs() < 1e-15 {
            break;
        }
    }
    fraction
}

/// The x with `I_x(a, b) = p`.
pub(crate) fn beta_quantile(p: f64, a: f64, b: f64) -> f64 {
    bisect(0.0, 1.0, |x| beta_reg(a, b, x) < p)
}

/// The value that Student's t with `freedom` degrees stays below with probability `p`, for `p` above one half.
pub(crate) fn student_quantile(p: f64, freedom: f64) -> f64 {
    // P(T > t) = I_x(freedom / 2, 1 / 2) / 2 with x = freedom / (freedom + t^2), which falls as t grows.
    let x = beta_quantile(2.0 * (1.0 - p), freedom / 2.0, 0.5);
    (freedom * (1.0 - x) / x.max(f64::MIN_POSITIVE)).sqrt()
}

/// The point of `[low, high]` where `is_below` turns false.
fn bisect(mut low: f64, mut high: f64, is_below: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..BISECTIONS {
        let middle = f64::midpoint(low, high);
        if is_below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() <= tolerance * expected.abs(), "{found} is not {expected}");
    }

    /// Reference values from tables (Abramowitz and Stegun) and exact closed forms.
    #[test]
    fn reference_values() {
        close(normal_upper(1.959_963_984_540_054), 0.025, 1e-9);
        close(normal_quantile(0.975), 1.959_963_984_540_054, 1e-9);
        close(student_quantile(0.975, 10.0), 2.228_138_852, 1e-9);
        close(student_quantile(0.975, 1.0), 12.706_204_736, 1e-9);
        close(chi_square_lower(38.2, 73.0), 0.00025, 0.05);
        close(chi_square_upper(122.6, 73.0), 0.00025, 0.05);
        // I_x(1, b) = 1 - (1 - x)^b.
        close(beta_reg(1.0, 7.0, 0.2), 1.0 - 0.8_f64.powi(7), 1e-13);
        close(beta_quantile(0.025, 1.0, 240.0), 1.0 - 0.975_f64.powf(1.0 / 240.0), 1e-10);
    }

    /// A symmetric beta variable lies below one half with probability one half, however narrow it is.
    #[test]
    fn beta_keeps_its_precision_for_hundreds_of_millions_of_steps() {
        for size in [1e2, 1e5, 1.6e8] {
            close(beta_reg(size, size, 0.5), 0.5, 1e-5);
        }
        let spread = 0.5 / (2.0 * 1.6e8_f64).sqrt();
        close(beta_quantile(0.975, 1.6e8, 1.6e8) - 0.5, 1.96 * spread, 1e-3);
    }

    #[test]
    fn normal_intervals_far_out_keep_their_logarithm() {
        close(ln_normal_between(-1.0, 1.0), 0.682_689_492_137_f64.ln(), 1e-9);
        close(ln_normal_between(3.0, f64::INFINITY), normal_upper(3.0).ln(), 1e-12);
        // Density times width at 40 standard deviations.
        let expected = -800.0 - 0.5 * (2.0 * PI).ln() + 1e-4_f64.ln();
        close(ln_normal_between(40.0 - 5e-5, 40.0 + 5e-5), expected, 1e-7);
        close(ln_normal_between(-40.0 - 5e-5, -40.0 + 5e-5), expected, 1e-7);
    }

    #[test]
    fn chi_square_is_continuous_where_the_approximation_takes_over() {
        let x = WILSON_HILFERTY_FROM + 3.48 * (2.0 * WILSON_HILFERTY_FROM).sqrt();
        let exact = chi_square_upper(x, WILSON_HILFERTY_FROM);
        close(chi_square_upper(x, WILSON_HILFERTY_FROM + 1e-6), exact, 1e-3);
    }
}
