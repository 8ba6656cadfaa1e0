//! The accept length as a checked value.

use std::fmt;

/// Mean tokens a verify step emits per request, the target model's own token included: finite and at least 1.
///
/// ```
/// use accsim::golden::AcceptLength;
///
/// let golden = AcceptLength::new(3.51)?;
/// assert_eq!(golden.get(), 3.51);
/// assert_eq!(golden.to_string(), "3.51");
/// assert!(AcceptLength::new(0.99).is_err());
/// assert!(AcceptLength::new(f64::NAN).is_err());
/// # Ok::<(), accsim::golden::AcceptLengthError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct AcceptLength(f64);

/// Why a number is no accept length.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum AcceptLengthError {
    /// NaN or an infinity.
    #[error("an accept length is a finite number, found {0}")]
    NotFinite(f64),
    /// Below 1: every verify step emits at least the target model's own token.
    #[error("an accept length is at least 1, found {0}")]
    BelowOne(f64),
}

impl AcceptLength {
    /// Checks that `tokens` is finite and at least 1.
    pub fn new(tokens: f64) -> Result<Self, AcceptLengthError> {
        if !tokens.is_finite() {
            Err(AcceptLengthError::NotFinite(tokens))
        } else if tokens < 1.0 {
            Err(AcceptLengthError::BelowOne(tokens))
        } else {
            Ok(Self(tokens))
        }
    }

    /// Tokens per verify step.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }
}

/// Two decimals, as curve files print a cell (`3.51`, `4.00`).
impl fmt::Display for AcceptLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2}", self.0)
    }
}
