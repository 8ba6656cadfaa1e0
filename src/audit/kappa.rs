//! Effective steps of a window (Kish 1965), in a form whose sums are exact and do not depend on their order.

use crate::law::float;

/// Binary digits after the point.
const FRACTION_BITS: u32 = 32;

/// The share of a window's steps that count as independent draws: `(sum b)^2 / (I * sum b^2)`, above one half and at
/// most 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kappa(u64);

impl Kappa {
    /// A batch that did not change.
    pub(super) const ONE: Self = Self(1 << FRACTION_BITS);

    /// Estimated from the batch sizes of the line before and of the line itself:
    /// `(n' + n)^2 / (2 (n'^2 + n^2))`.
    pub(super) fn between(before: u32, now: u32) -> Self {
        if before == now {
            return Self::ONE;
        }
        let (before, now) = (u128::from(before), u128::from(now));
        let (above, below) = ((before + now).pow(2) << FRACTION_BITS, 2 * (before * before + now * now));
        let share = match (u64::try_from(above), u64::try_from(below)) {
            // Batches below 32,768: one division of the machine's own.
            (Ok(above), Ok(below)) => above / below,
            _ => u64::try_from(above / below).unwrap_or(Self::ONE.0),
        };
        Self(share.min(Self::ONE.0))
    }

    pub(super) fn get(self) -> f64 {
        float(self.0) / float(Self::ONE.0)
    }

    /// The top 16 bits of the fraction above one half, rounded: fits a line's memory, exact to 10^-5.
    pub(super) fn pack(self) -> u16 {
        let half = Self::ONE.0 / 2;
        let above = self.0.saturating_sub(half);
        u16::try_from((above * u64::from(u16::MAX) + half / 2) / half).unwrap_or(u16::MAX)
    }

    pub(super) fn unpack(packed: u16) -> f64 {
        0.5 + 0.5 * f64::from(packed) / f64::from(u16::MAX)
    }
}

/// Exact sums of lines weighed by kappa.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KappaSums {
    pub(super) lines: u64,
    kappa: u128,
    hundredths: u128,
}

impl KappaSums {
    /// Adds `lines` alike.
    pub(super) fn add(&mut self, hundredths: u32, kappa: Kappa, lines: u64) {
        self.lines += lines;
        if let Some(weight) = kappa.0.checked_mul(lines) {
            self.kappa += u128::from(weight);
            self.hundredths += u128::from(weight) * u128::from(hundredths);
        } else {
            let weight = u128::from(kappa.0) * u128::from(lines);
            self.kappa += weight;
            self.hundredths += weight * u128::from(hundredths);
        }
    }

    /// Adds `lines` of batches that did not change, whose values add up to `hundredths`.
    pub(super) fn add_calm(&mut self, lines: u64, hundredths: u64) {
        self.lines += lines;
        self.kappa += u128::from(Kappa::ONE.0) * u128::from(lines);
        self.hundredths += u128::from(Kappa::ONE.0) * u128::from(hundredths);
    }

    /// The sums as they are held.
    pub(super) fn raw(&self) -> (u64, u128, u128) {
        (self.lines, self.kappa, self.hundredths)
    }

    /// Adds sums as they are held.
    pub(super) fn add_raw(&mut self, (lines, kappa, hundredths): (u64, u128, u128)) {
        self.lines = self.lines.saturating_add(lines);
        self.kappa = self.kappa.saturating_add(kappa);
        self.hundredths = self.hundredths.saturating_add(hundredths);
    }

    /// Sum of kappa.
    pub(super) fn kappa(&self) -> f64 {
        descale(self.kappa)
    }

    /// Sum of kappa times the printed accept length, in tokens.
    pub(super) fn tokens(&self) -> f64 {
        descale(self.hundredths) / 100.0
    }
}

fn descale(sum: u128) -> f64 {
    let whole = u64::try_from(sum >> FRACTION_BITS).unwrap_or(u64::MAX);
    let rest = u64::try_from(sum & ((1 << FRACTION_BITS) - 1)).unwrap_or(0);
    float(whole) + float(rest) / float(Kappa::ONE.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kappa_of_neighbouring_batches() {
        // 20 steps at one request and 20 at three: 32 effective of 40.
        assert!((40.0 * Kappa::between(1, 3).get() - 32.0).abs() < 1e-6);
        assert_eq!(Kappa::between(7, 7), Kappa::ONE);
        assert!((Kappa::between(0, 5).get() - 0.5).abs() < 1e-9);
        assert!(Kappa::between(u32::MAX, 1).get() > 0.499);
    }

    #[test]
    fn packing_rounds_to_the_nearest_of_65536_steps() {
        for (before, now) in [(0, 5), (1, 1), (1, 2), (3, 4), (15, 16), (1, 1000), (2, 5), (7, 12)] {
            let kappa = Kappa::between(before, now);
            assert!((Kappa::unpack(kappa.pack()) - kappa.get()).abs() < 0.2501 / 65_535.0, "{before} {now}");
        }
    }

    #[test]
    fn sums_are_exact() {
        let mut sums = KappaSums::default();
        sums.add(351, Kappa::ONE, 999);
        sums.add(351, Kappa::ONE, 1);
        sums.add(400, Kappa::between(1, 3), 1);
        assert!((sums.kappa() - 1000.8).abs() < 1e-9);
        assert!((sums.tokens() - 3513.2).abs() < 1e-8);
        let mut twice = sums;
        twice.add_raw(sums.raw());
        assert_eq!(twice.raw(), (2002, 2 * sums.raw().1, 2 * sums.raw().2));
    }
}
