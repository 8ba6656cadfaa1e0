//! What TensorRT-LLM does with its variable.

use super::super::prediction::{
    Otherwise, Outcome, Prediction, PredictionNote, RankDraws, RealReason, Unknown, When,
};
use super::super::{Injected, Models, Server, SettingKind, law::force, python};
use super::facts::{self, Reader};
use super::settings::VARIABLE;
use crate::law::{AcceptanceLaw, Pool, PoolKind, TwoPoint};

/// The prediction for drafts of `max - 1` tokens.
pub(crate) fn predict(server: &Server, max: u32, injected: &Injected) -> Prediction {
    let facts = facts::at(server.version.as_ref());
    let era = facts.reader(server.models);
    let text = injected.get(SettingKind::Env, VARIABLE);
    let outcome = read(text, era.behaviour(), max);
    let asked = text.and_then(python::float).filter(|drafts| drafts.is_finite()).map(|drafts| drafts + 1.0);
    let mut notes = Vec::new();
    if outcome.law().is_some() {
        if let Some(asked) = asked.filter(|asked| *asked > f64::from(max)) {
            notes.push(PredictionNote::Clamped { asked, reach: max, short: false });
        }
        notes.push(PredictionNote::FixedSequence);
    }
    let is_two = server.models == Some(Models::Two);
    let older = if era.doubt.is_some() && !is_two { facts.in_front_of_one_model() } else { Vec::new() };
    let otherwise = older
        .into_iter()
        .map(|(change, reader)| Otherwise { when: When::Before(change), outcome: read(text, reader, max) })
        .filter(|other| other.outcome != outcome)
        .collect();
    Prediction {
        outcome,
        asked,
        source: era.source(),
        notes,
        doubts: Vec::new(),
        otherwise,
        ranks: RankDraws::Alike,
    }
}

/// Accepted drafts as text; 0 is off, what cannot be read is off after a warning.
fn read(text: Option<&str>, reader: Reader, max: u32) -> Outcome {
    let real = |reason| Outcome::RealAcceptance { reason };
    let Some(text) = text else { return real(RealReason::NotSet) };
    let value = || text.to_owned();
    let drafts = match reader {
        // Every integer that matters is a double.
        Reader::Integer => python::int(text).and_then(|_| python::float(text)),
        Reader::Float => python::float(text),
    };
    match (drafts, reader) {
        (None, Reader::Integer) => real(RealReason::NoInteger { name: VARIABLE, value: value() }),
        (None, Reader::Float) => real(RealReason::Unreadable { name: VARIABLE, value: value() }),
        (Some(0.0), _) => real(RealReason::NoDrafts { name: VARIABLE, value: value() }),
        (Some(drafts), _) if drafts.is_finite() && drafts > 0.0 => {
            Outcome::Law(force(drafts + 1.0, max, |setting| {
                AcceptanceLaw::Pool(Pool::new(PoolKind::TrtLlm, TwoPoint::new(setting)))
            }))
        }
        (Some(_), _) => Outcome::NotKnown { reason: Unknown::Value { name: VARIABLE, value: value() } },
    }
}

#[cfg(test)]
mod tests;
