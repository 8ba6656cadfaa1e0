//! How the measured requests sampled.

use serde::{Deserialize, Serialize};

/// To which requests a [`Sampling`] applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SamplingScope {
    /// Both modes.
    All,
    /// `thinking_on` only.
    ThinkingOn,
    /// `thinking_off` only.
    ThinkingOff,
}

/// Sampling parameters; what the source does not state is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sampling {
    /// Temperature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Nucleus sampling: share of the probability mass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Most likely tokens kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_k: Option<u32>,
    /// Presence penalty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presence_penalty: Option<f64>,
}

impl Sampling {
    /// Whether the source states nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Takes `key`, `value` as a header writes them; passes over other keys and over what is no finite number.
    pub(super) fn set(&mut self, key: &str, value: &str) {
        let number = value.parse().ok().filter(|number: &f64| number.is_finite());
        match key {
            "temperature" | "temp" => self.temperature = number.or(self.temperature),
            "top_p" => self.top_p = number.or(self.top_p),
            "top_k" => self.top_k = value.parse().ok().or(self.top_k),
            "presence_penalty" => self.presence_penalty = number.or(self.presence_penalty),
            _ => {}
        }
    }
}
