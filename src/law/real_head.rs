//! A drafting head whose drafts are really judged.

use super::per_position::{PerPosition, RatesError};
use super::pmf::Pmf;

/// Real acceptance, as far as it is a law: draft i + 1 is accepted with a rate of its own when all before it were, each
/// request for itself. A real head's rates move with the text; these are their averages.
///
/// ```
/// use accsim::law::RealHead;
///
/// let head = RealHead::new(&[0.8, 0.7, 0.6])?;
/// assert!((head.mean() - (1.0 + 0.8 + 0.56 + 0.336)).abs() < 1e-12);
/// # Ok::<(), accsim::law::RatesError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RealHead {
    positions: PerPosition,
}

impl RealHead {
    /// The head with these conditional rates, one a draft position. They may rise.
    pub fn new(conditional: &[f64]) -> Result<Self, RatesError> {
        PerPosition::from_conditional(conditional).map(|positions| Self { positions })
    }

    /// The same with unconditional rates.
    #[must_use]
    pub fn positions(&self) -> &PerPosition {
        &self.positions
    }

    /// Exact probability of every length.
    #[must_use]
    pub fn pmf(&self) -> Pmf {
        self.positions.pmf()
    }

    /// Mean, in tokens.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.positions.mean()
    }

    /// Variance of one draw.
    #[must_use]
    pub fn variance(&self) -> f64 {
        self.positions.variance()
    }
}

#[cfg(test)]
mod tests {
    use super::RealHead;

    #[test]
    fn conditional_rates_multiply() {
        let head = RealHead::new(&[0.5, 0.9]).unwrap();
        for (length, p) in [(1, 0.5), (2, 0.05), (3, 0.45)] {
            assert!((head.pmf().probability(length) - p).abs() < 1e-15);
        }
        assert!((head.mean() - 1.95).abs() < 1e-15);
        assert!((head.positions().conditional()[1] - 0.9).abs() < 1e-15);
        assert!(RealHead::new(&[1.5]).is_err());
    }
}
