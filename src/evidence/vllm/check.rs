//! Figures of one line that cannot all be right.

use super::spec::{LENGTH_ROUNDING, SHARE_ROUNDING, VllmSpec};
use crate::law::float;

/// Two figures of a `SpecDecoding metrics` line that contradict each other, whatever was rounded.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum VllmContradiction {
    /// No number of steps gives the printed length: a step drafts one token at least, and K at most.
    #[error(
        "the printed mean acceptance length is {printed:.2}, and its own counts, {accepted} accepted of {drafted} drafted \
         tokens, give {low:.2} to {high:.2}"
    )]
    LengthAgainstCounts {
        /// Mean acceptance length, as printed.
        printed: f64,
        /// Accepted drafts.
        accepted: u64,
        /// Drafted tokens.
        drafted: u64,
        /// 1 + A/N where every step drafts one token.
        low: f64,
        /// 1 + A/N where every step drafts K.
        high: f64,
    },
    /// 1 plus the shares of the positions is the length.
    #[error("the printed mean acceptance length is {printed:.2}, and its positions add up to {sum:.3}")]
    LengthAgainstPositions {
        /// Mean acceptance length, as printed.
        printed: f64,
        /// 1 plus the shares of the positions.
        sum: f64,
    },
    /// A draft is accepted only where those before it are.
    #[error("position {position} was accepted in {later:.3} of the steps, the one before it in {earlier:.3}")]
    PositionsRise {
        /// Place of the later draft, from 0.
        position: usize,
        /// Share of the one before it.
        earlier: f64,
        /// Its own share.
        later: f64,
    },
}

impl VllmSpec {
    /// The first two figures of the line that contradict each other. `known` is K as the configuration has it, for lines
    /// that do not show it.
    #[must_use]
    pub fn contradiction(&self, known: Option<u32>) -> Option<VllmContradiction> {
        self.length_against_counts(known).or_else(|| self.length_against_positions()).or_else(|| self.rise())
    }

    fn length_against_counts(&self, known: Option<u32>) -> Option<VllmContradiction> {
        let (printed, accepted, drafted) = (self.accept_len?, self.accepted, self.drafted);
        let at = |steps: u64| 1.0 + float(accepted) / float(steps.max(1));
        let length = self.draft_length.or(known).map_or(drafted, u64::from).max(1);
        let (low, high) = (at(drafted), at(drafted.div_ceil(length)));
        let reach = LENGTH_ROUNDING + 1e-9;
        (printed < low - reach || printed > high + reach).then_some(VllmContradiction::LengthAgainstCounts {
            printed,
            accepted,
            drafted,
            low,
            high,
        })
    }

    fn length_against_positions(&self) -> Option<VllmContradiction> {
        let printed = self.accept_len.filter(|_| !self.per_position.is_empty())?;
        let sum = 1.0 + self.per_position.iter().sum::<f64>();
        let count = float(u64::try_from(self.per_position.len()).unwrap_or(0));
        let reach = LENGTH_ROUNDING + SHARE_ROUNDING * count + 1e-9;
        ((printed - sum).abs() > reach).then_some(VllmContradiction::LengthAgainstPositions { printed, sum })
    }

    fn rise(&self) -> Option<VllmContradiction> {
        let pairs = self.per_position.iter().zip(self.per_position.iter().skip(1));
        let (position, (earlier, later)) =
            (1..).zip(pairs).find(|(_, (earlier, later))| **later > **earlier + 1e-9)?;
        Some(VllmContradiction::PositionsRise { position, earlier: *earlier, later: *later })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(length: f64, accepted: u64, drafted: u64, shares: &[f64]) -> VllmSpec {
        VllmSpec {
            accept_len: Some(length),
            accepted,
            drafted,
            draft_length: u32::try_from(shares.len()).ok().filter(|length| *length > 0),
            per_position: shares.to_vec(),
            ..VllmSpec::default()
        }
    }

    #[test]
    fn figures_that_fit_and_figures_that_do_not() {
        assert_eq!(line(2.61, 7667, 14_322, &[0.906, 0.497, 0.203]).contradiction(None), None);
        // Steps with fewer drafts: N lies between, and nothing speaks against it.
        assert_eq!(line(2.50, 1500, 2900, &[0.800, 0.500, 0.200]).contradiction(None), None);
        assert!(matches!(
            line(3.51, 7667, 14_322, &[0.906, 0.497, 0.203]).contradiction(None),
            Some(VllmContradiction::LengthAgainstCounts { high, .. }) if (high - 2.606).abs() < 5e-4
        ));
        assert!(matches!(
            line(2.60, 7667, 14_322, &[0.706, 0.497, 0.203]).contradiction(None),
            Some(VllmContradiction::LengthAgainstPositions { sum, .. }) if (sum - 2.406).abs() < 1e-9
        ));
        assert!(matches!(
            line(2.61, 7667, 14_322, &[0.906, 0.203, 0.497]).contradiction(None),
            Some(VllmContradiction::PositionsRise { position: 2, .. })
        ));
        // Without positions K is what the configuration says, and unknown otherwise.
        let bare = line(3.51, 5020, 10_000, &[]);
        assert_eq!(bare.contradiction(None), None);
        assert_eq!(bare.contradiction(Some(5)), None);
        assert!(bare.contradiction(Some(2)).is_some());
    }
}
