//! What an engine is told to force.

/// An accept length to force and the most tokens that one verify step can emit (M), both in tokens per step.
///
/// ```
/// use accsim::law::{AcceptanceLaw, Setting};
///
/// let law = AcceptanceLaw::match_expected(Setting::new(3.51, 6)?);
/// assert_eq!(law.support(), 3..=4);
/// assert!((law.mean() - 3.51).abs() < 1e-12);
/// assert!((law.variance() - 0.2499).abs() < 1e-12);
/// # Ok::<(), accsim::law::SettingError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    accept_length: f64,
    max: u32,
}

/// Why two numbers are no setting.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SettingError {
    /// NaN or an infinity.
    #[error("an accept length to force is a finite number, found {0}")]
    NotFinite(f64),
    /// No verify step can emit fewer than one token.
    #[error("the largest accept length is at least 1, found 0")]
    MaxIsZero,
}

impl Setting {
    /// Checks both numbers. A length outside `[1, max]` is legal: the laws clamp it, as SGLang does.
    pub fn new(accept_length: f64, max: u32) -> Result<Self, SettingError> {
        if !accept_length.is_finite() {
            Err(SettingError::NotFinite(accept_length))
        } else if max == 0 {
            Err(SettingError::MaxIsZero)
        } else {
            Ok(Self { accept_length, max })
        }
    }

    /// The length as it was given.
    #[must_use]
    pub fn accept_length(self) -> f64 {
        self.accept_length
    }

    /// Most tokens a step can emit.
    #[must_use]
    pub fn max(self) -> u32 {
        self.max
    }

    /// The same length under another maximum; no step emits fewer than one token.
    pub(super) fn with_max(self, max: u32) -> Self {
        Self { max: max.max(1), ..self }
    }

    /// The length clamped to `[1, max]`.
    #[must_use]
    pub fn clamped(self) -> f64 {
        self.accept_length.clamp(1.0, f64::from(self.max))
    }
}
