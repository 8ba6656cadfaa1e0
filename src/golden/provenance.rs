//! The file beside a curve: where its values come from and who else states them.
//!
//! It stands in a directory of its own (`golden_al/provenance/`), because the launch resolver refuses a curve file
//! with a second top-level key (SemiAnalysisAI/InferenceX#2394).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::yaml::{self, Position};

use super::{CurveIssue, DraftSampler, IssueKind, Sampling, SamplingScope, Thinking};

/// Whether a curve's values are in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Measured and in force.
    Committed,
    /// Copied from another curve, not measured.
    Provisional,
    /// Its model is no longer benchmarked; still readable.
    Retired,
}

impl Status {
    /// The name in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Committed => "committed",
            Self::Provisional => "provisional",
            Self::Retired => "retired",
        }
    }
}

/// Where the values of one curve come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The curve's name.
    pub curve: String,
    /// Whether the values are in force.
    pub status: Status,
    /// The curve's model key.
    pub model: String,
    /// Drafting method in lower case.
    pub method: String,
    /// The draft model, where it is a separate one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draft_model: Option<String>,
    /// How the draft sampled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draft_sample_method: Option<DraftSampler>,
    /// Who says so, where the curve's own header does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draft_sample_method_note: Option<String>,
    /// How drafts were rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejection_sample_method: Option<String>,
    /// Container image of the measured server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Prompts.
    pub dataset: String,
    /// Tokens generated per prompt.
    pub output_len: u32,
    /// Model, hardware and engine, as the source says.
    pub measured_on: String,
    /// Sampling parameters.
    pub sampling: BTreeMap<SamplingScope, Sampling>,
    /// Arguments of the chat template by mode.
    pub chat_template_kwargs: BTreeMap<Thinking, BTreeMap<String, serde_json::Value>>,
    /// Where the file was read.
    pub source: Source,
    /// Who else states its values.
    pub attestation: Attestation,
    /// What else there is to know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Where a curve file was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Repository, or a fork of it.
    pub repository: String,
    /// Commit at which it was read.
    pub commit: String,
    /// Which branch that commit is on.
    #[serde(rename = "where")]
    pub place: String,
    /// GitHub Actions run that measured it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_run: Option<String>,
    /// Commit that added the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_commit: Option<String>,
    /// Pull request that added the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<String>,
    /// `false`: only a copy in a fork was read.
    pub read_from_upstream: bool,
}

/// Who else states a curve's values; the other cells rest on the curve file alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attestation {
    /// Whether any document other than the curve file states a cell.
    pub independent: bool,
    /// The cells that one states.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub cells: BTreeMap<Thinking, Vec<u32>>,
    /// The documents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<String>,
    /// A check of the file against itself or its model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub internal_check: Option<String>,
}

/// Reads a provenance file. Duplicate keys, tabs and oversized input are refused first: serde's reader would not.
pub(super) fn read(bytes: &[u8]) -> Result<Provenance, CurveIssue> {
    yaml::parse_bytes(bytes)?;
    serde_yaml::from_slice(bytes).map_err(|error| {
        let at = error.location().map(|at| Position { line: at.line().max(1), column: at.column().max(1) });
        CurveIssue { at, kind: IssueKind::Provenance(error.to_string()) }
    })
}
