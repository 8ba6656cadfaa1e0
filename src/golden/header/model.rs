//! What a header can say.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::Serialize;

use super::super::{Sampling, Thinking};

/// Everything that was recognised in the comments above the model key. Absent keys are `None` or empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Header {
    /// `Source GitHub Actions run`; the first one, which stands in line 1.
    pub source_run: Option<SourceRun>,
    /// `Source evidence`, where there is no Actions run.
    pub source_evidence: Option<String>,
    /// `dataset`.
    pub dataset: Option<String>,
    /// `output_len`: tokens generated per prompt.
    pub output_len: Option<u32>,
    /// `temperature`, `top_p`, `top_k` of both modes.
    pub sampling: Sampling,
    /// What is said of one mode; a mode may be described here and have no cells.
    pub modes: BTreeMap<Thinking, ModeHeader>,
    /// `method`: the drafting method as the engine's configuration names it.
    pub method: Option<String>,
    /// `draft_sample_method`.
    pub draft_sample_method: Option<String>,
    /// `rejection_sample_method`.
    pub rejection_sample_method: Option<String>,
    /// `Measured on MODEL (HARDWARE, ENGINE METHOD[, draft: NAME])`.
    pub measured_on: Option<MeasuredOn>,
    /// `model`.
    pub model: Option<String>,
    /// `image`: container image of the measured server.
    pub image: Option<String>,
    /// `TP`: tensor parallel size.
    pub tp: Option<u32>,
    /// `Draft model`.
    pub draft_model: Option<String>,
    /// `Draft lengths 6-8 rejected by the image`: these have no value, not a missing one.
    pub rejected_draft_lengths: Option<RangeInclusive<u32>>,
    /// Counter lines.
    pub counters: Vec<CounterLine>,
    /// `PROVISIONAL`: the values were copied, not measured.
    pub provisional: bool,
    /// `key = num_speculative_tokens ..; value = golden AL`, as written.
    pub legend: Option<String>,
}

/// The run that measured a curve.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceRun {
    /// As written: a link, or the id alone.
    pub text: String,
    /// Last part of the path.
    pub id: String,
}

/// What a header says of one mode.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ModeHeader {
    /// Sampling parameters of this mode alone.
    pub sampling: Sampling,
    /// Arguments of the chat template.
    pub chat_template_kwargs: Option<serde_json::Map<String, serde_json::Value>>,
}

/// Model and server of the measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MeasuredOn {
    /// The model.
    pub model: String,
    /// What stands in brackets, by commas: hardware, engine with method.
    pub server: Vec<String>,
    /// `draft: NAME` in the brackets.
    pub draft: Option<String>,
}

/// The server's counters behind one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CounterLine {
    /// The cell's mode.
    pub thinking: Thinking,
    /// The cell's draft length.
    pub draft_length: u32,
    /// Accepted draft tokens.
    pub accepted: u64,
    /// Verify steps.
    pub drafts: u64,
}

impl CounterLine {
    /// 1 + accepted / drafts; `None` without a verify step.
    #[must_use]
    pub fn accept_length(&self) -> Option<f64> {
        (self.drafts > 0).then(|| 1.0 + to_f64(self.accepted) / to_f64(self.drafts))
    }
}

/// The nearest double; exact below 2^53.
fn to_f64(count: u64) -> f64 {
    let low = u32::try_from(count & u64::from(u32::MAX)).unwrap_or_default();
    let high = u32::try_from(count >> 32).unwrap_or_default();
    f64::from(high) * 4_294_967_296.0 + f64::from(low)
}
