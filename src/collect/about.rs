//! What nobody can count: the model, the prompts, how it was sampled, where it was measured.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::golden::{DraftSampler, Sampling, SamplingScope, Thinking};
use crate::yaml;

/// The file `matrix.yaml` of a folder of snapshots.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// The curve's model key.
    pub model: String,
    /// Drafting method in lower case.
    pub method: String,
    /// The label `model_name` of the counters, where the servers have several models.
    pub served_model: Option<String>,
    /// The draft model, where it is a separate one.
    pub draft_model: Option<String>,
    /// How the draft sampled.
    pub draft_sample_method: Option<DraftSampler>,
    /// How drafts were rejected.
    pub rejection_sample_method: Option<String>,
    /// Container image of the measured server.
    pub image: Option<String>,
    /// Prompts.
    pub dataset: String,
    /// Tokens generated per prompt.
    pub output_len: u32,
    /// Model, hardware and engine: `MODEL, HARDWARE, ENGINE METHOD`.
    pub measured_on: String,
    /// Sampling parameters.
    #[serde(default)]
    pub sampling: BTreeMap<SamplingScope, Sampling>,
    /// Arguments of the chat template by mode.
    #[serde(default)]
    pub chat_template_kwargs: BTreeMap<Thinking, BTreeMap<String, Value>>,
    /// Who measured it.
    pub source: CurveSource,
    /// The cells that there must be. Without it every mode must have the draft lengths of every other.
    pub cells: Option<BTreeMap<Thinking, Vec<u32>>>,
    /// What else there is to know.
    pub note: Option<String>,
}

/// Where the measurement is kept.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CurveSource {
    /// Repository of the benchmark.
    pub repository: String,
    /// Its commit.
    pub commit: String,
    /// Which branch that commit is on.
    #[serde(rename = "where")]
    pub place: String,
    /// Link or id of the run.
    pub source_run: Option<String>,
}

/// What is wrong with such a file.
#[derive(Debug, thiserror::Error)]
pub enum AboutError {
    /// Not YAML, or YAML that no reader should take.
    #[error("{0}")]
    Yaml(String),
    /// A text that would end the comment it is written into.
    #[error("{field} holds a line break or another control character")]
    Control {
        /// The field.
        field: &'static str,
    },
}

impl About {
    /// Reads the file.
    pub fn read(bytes: &[u8]) -> Result<Self, AboutError> {
        yaml::parse_bytes(bytes).map_err(|error| AboutError::Yaml(error.to_string()))?;
        let about: Self =
            serde_yaml::from_slice(bytes).map_err(|error| AboutError::Yaml(error.to_string()))?;
        let texts = [
            ("model", Some(&about.model)),
            ("method", Some(&about.method)),
            ("draft_model", about.draft_model.as_ref()),
            ("rejection_sample_method", about.rejection_sample_method.as_ref()),
            ("image", about.image.as_ref()),
            ("dataset", Some(&about.dataset)),
            ("measured_on", Some(&about.measured_on)),
            ("source.repository", Some(&about.source.repository)),
            ("source.commit", Some(&about.source.commit)),
            ("source.where", Some(&about.source.place)),
            ("source.source_run", about.source.source_run.as_ref()),
        ];
        for (field, text) in texts {
            if text.is_some_and(|text| text.chars().any(char::is_control)) {
                return Err(AboutError::Control { field });
            }
        }
        Ok(about)
    }
}
