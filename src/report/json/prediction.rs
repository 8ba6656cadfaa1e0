//! What a server does with settings, inside the documents of `simulate`.

use serde::Serialize;

use crate::engine::{
    Otherwise, Outcome, Prediction, PredictionNote, RankDraws, Server, Warning, WarningCode,
};

use super::number::tidy;

#[derive(Debug, Serialize)]
pub(super) struct PredictionEntry {
    name: &'static str,
    version: Option<String>,
    algorithm: Option<&'static str>,
    outcome: &'static str,
    /// The warning that `env` has for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    /// Why there is no law.
    reason: Option<String>,
    source: &'static str,
    ranks_draw_alike: Option<bool>,
    notes: Vec<NoteEntry>,
    otherwise: Vec<OtherwiseEntry>,
}

#[derive(Debug, Serialize)]
pub(super) struct NoteEntry {
    code: &'static str,
    message: String,
}

#[derive(Debug, Serialize)]
struct OtherwiseEntry {
    when: String,
    outcome: &'static str,
    reason: Option<String>,
    method: Option<&'static str>,
    mean: Option<f64>,
    variance: Option<f64>,
}

impl PredictionEntry {
    pub(super) fn new(server: &Server, prediction: &Prediction) -> Self {
        Self {
            name: server.engine.name(),
            version: server.version.as_ref().map(ToString::to_string),
            algorithm: server.drafter.map(crate::engine::Drafter::name),
            outcome: prediction.outcome.name(),
            code: prediction.outcome.code().map(WarningCode::name),
            reason: reason(&prediction.outcome),
            source: prediction.source,
            ranks_draw_alike: match prediction.ranks {
                RankDraws::Alike => Some(true),
                RankDraws::Own => Some(false),
                RankDraws::NotKnown => None,
            },
            notes: (prediction.doubts.iter().map(NoteEntry::from))
                .chain(prediction.notes.iter().map(NoteEntry::from))
                .collect(),
            otherwise: prediction.otherwise.iter().map(OtherwiseEntry::from).collect(),
        }
    }
}

impl From<&Warning> for NoteEntry {
    fn from(doubt: &Warning) -> Self {
        Self { code: doubt.code.name(), message: doubt.message.clone() }
    }
}

impl From<&PredictionNote> for NoteEntry {
    fn from(note: &PredictionNote) -> Self {
        Self { code: note.code(), message: note.to_string() }
    }
}

impl From<&Otherwise> for OtherwiseEntry {
    fn from(otherwise: &Otherwise) -> Self {
        let law = otherwise.outcome.law();
        Self {
            when: otherwise.when.to_string(),
            outcome: otherwise.outcome.name(),
            reason: reason(&otherwise.outcome),
            method: law.map(|law| law.kind().name()),
            mean: law.map(|law| tidy(law.mean())),
            variance: law.map(|law| tidy(law.variance())),
        }
    }
}

fn reason(outcome: &Outcome) -> Option<String> {
    outcome.reason().map(ToString::to_string)
}
