//! What vLLM does with its speculative configuration.

use super::super::prediction::{
    Otherwise, Outcome, Prediction, PredictionNote, RankDraws, RealReason, Refusal, Unknown, When,
};
use super::super::{Injected, Server, SettingKind, law::force};
use super::facts::{self, Synthetic};
use super::settings::{LENGTH, METHOD, RATES};
use crate::law::{AcceptanceLaw, GeometricDecay, PerPosition};

/// The scalar of builds between two changes.
const SCALAR: &str = "synthetic_acceptance_rate";

/// The prediction for drafts of `max - 1` tokens.
pub(crate) fn predict(server: &Server, max: u32, injected: &Injected) -> Prediction {
    let era = facts::at(server.version.as_ref()).synthetic;
    let mut case = Case { max, injected, notes: Vec::new(), asked: None };
    let outcome = case.outcome(era.behaviour());
    let (notes, asked) = (std::mem::take(&mut case.notes), case.asked);
    // The scalar belongs to an older build even where no version is stated.
    let is_open = era.doubt.is_some() || case.json(SCALAR).is_some();
    let older = if is_open { facts::SYNTHETIC.in_front_of(&era.fact) } else { Vec::new() };
    let otherwise = older
        .into_iter()
        .filter(|(_, behaviour)| *behaviour != Synthetic::Absent)
        .map(|(change, behaviour)| Otherwise { when: When::Before(change), outcome: case.outcome(behaviour) })
        .filter(|other| other.outcome != outcome)
        .collect();
    let asked = asked.or(case.asked);
    let mut notes = notes;
    notes.append(&mut case.notes);
    Prediction {
        outcome,
        asked,
        source: era.source(),
        notes,
        doubts: Vec::new(),
        otherwise,
        ranks: RankDraws::Own,
    }
}

struct Case<'a> {
    max: u32,
    injected: &'a Injected,
    notes: Vec<PredictionNote>,
    asked: Option<f64>,
}

impl Case<'_> {
    fn json(&self, name: &str) -> Option<&str> {
        self.injected.get(SettingKind::Json, name)
    }

    fn outcome(&mut self, behaviour: Synthetic) -> Outcome {
        let method = self.json(METHOD).unwrap_or("standard");
        let is_synthetic = method == "synthetic";
        match behaviour {
            Synthetic::Absent => {
                Outcome::NotKnown { reason: Unknown::Value { name: METHOD, value: method.to_owned() } }
            }
            Synthetic::ScalarRate => self.scalar(is_synthetic),
            Synthetic::LengthOrRates => {
                let result = if is_synthetic { self.synthetic() } else { self.not_synthetic(method) };
                result.unwrap_or_else(|reason| Outcome::RefusesToStart { reason })
            }
        }
    }

    fn not_synthetic(&self, method: &str) -> Result<Outcome, Refusal> {
        if let Some(name) = [LENGTH, RATES].into_iter().find(|name| self.json(name).is_some()) {
            return Err(Refusal::WithoutSynthetic { name });
        }
        Ok(Outcome::RealAcceptance { reason: RealReason::NotSynthetic { method: method.to_owned() } })
    }

    fn synthetic(&mut self) -> Result<Outcome, Refusal> {
        match (self.json(LENGTH), self.json(RATES)) {
            (Some(_), Some(_)) => Err(Refusal::Both { first: LENGTH, second: RATES }),
            (None, None) => Err(Refusal::NothingToSimulate { length: LENGTH, rates: RATES }),
            (Some(text), None) => {
                let value: f64 = text
                    .trim()
                    .parse()
                    .map_err(|_| Refusal::Unreadable { name: LENGTH, value: text.to_owned() })?;
                self.asked = Some(value).filter(|value| value.is_finite());
                let high = f64::from(self.max);
                if !(1.0..=high).contains(&value) {
                    return Err(Refusal::OutOfRange { name: LENGTH, value, low: 1.0, high });
                }
                Ok(Outcome::Law(force(value, self.max, AcceptanceLaw::per_request)))
            }
            (None, Some(text)) => {
                let rates: Vec<f64> =
                    serde_json::from_str(text).map_err(|_| Refusal::NoRates(text.to_owned()))?;
                let (found, drafts) = (rates.len(), self.max.saturating_sub(1));
                if u32::try_from(found) != Ok(drafts) {
                    return Err(Refusal::RateCount { found, drafts });
                }
                let law = PerPosition::new(rates).map_err(Refusal::Rates)?;
                self.asked = Some(law.mean());
                Ok(Outcome::Law(AcceptanceLaw::PerPosition(law)))
            }
        }
    }

    /// Builds between vllm-project/vllm#38045 and #40662.
    fn scalar(&mut self, is_synthetic: bool) -> Outcome {
        let Some(text) = self.json(SCALAR) else {
            return match [LENGTH, RATES].into_iter().find(|name| self.json(name).is_some()) {
                Some(name) => Outcome::NotKnown { reason: Unknown::OtherSetting { name, reads: SCALAR } },
                None => Outcome::RealAcceptance { reason: RealReason::NotSet },
            };
        };
        let unknown =
            || Outcome::NotKnown { reason: Unknown::Value { name: SCALAR, value: text.to_owned() } };
        let drafts = self.max.saturating_sub(1);
        let Some(rate) = text.trim().parse::<f64>().ok().filter(|_| is_synthetic) else { return unknown() };
        let Ok(law) = GeometricDecay::with_mean_rate(rate, drafts) else { return unknown() };
        self.asked = Some(law.mean());
        if let Ok(conditional) = GeometricDecay::with_ratio(rate, drafts) {
            self.notes.push(PredictionNote::ScalarRate { rate, as_conditional: conditional.mean() });
        }
        Outcome::Law(AcceptanceLaw::Geometric(law))
    }
}

#[cfg(test)]
mod tests;
