//! What ATOM does with its arguments.

use super::super::prediction::{
    Otherwise, Outcome, Prediction, PredictionNote, RankDraws, RealReason, Refusal, When,
};
use super::super::{Injected, Server, SettingKind, law::force, python};
use super::facts::{self, Forcing};
use super::settings::{LENGTH, RATE};
use crate::law::{AcceptanceLaw, GeometricDecay, Pool, PoolKind, TwoPoint};

/// The prediction for drafts of `max - 1` tokens.
pub(crate) fn predict(server: &Server, max: u32, injected: &Injected) -> Prediction {
    let era = facts::at(server.version.as_ref()).forcing;
    let asked = asked(max, injected);
    let predict = |forcing| outcome(forcing, max, injected);
    let outcome = predict(era.behaviour());
    let mut notes = Vec::new();
    if matches!(outcome.law(), Some(AcceptanceLaw::Pool(_))) {
        notes.push(PredictionNote::FixedSequence);
    }
    // A rate alone is what the older builds were given, also where no version is stated.
    let is_rate_alone = arg(injected, RATE).is_some() && arg(injected, LENGTH).is_none();
    let is_open = era.doubt.is_some() || is_rate_alone;
    let older = if is_open { facts::FORCING.in_front_of(&era.fact) } else { Vec::new() };
    let otherwise = older
        .into_iter()
        // Builds without either argument say nothing that the ones after them do not.
        .filter(|(_, forcing)| *forcing != Forcing::Absent)
        .map(|(change, forcing)| Otherwise { when: When::Before(change), outcome: predict(forcing) })
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

fn arg<'a>(injected: &'a Injected, name: &str) -> Option<&'a str> {
    injected.get(SettingKind::Arg, name)
}

/// The accept length that the arguments ask for.
fn asked(max: u32, injected: &Injected) -> Option<f64> {
    let number = |name| arg(injected, name).and_then(python::float).filter(|value| value.is_finite());
    let drafts = f64::from(max.saturating_sub(1));
    number(LENGTH).or_else(|| number(RATE).map(|rate| 1.0 + drafts * rate))
}

fn outcome(forcing: Forcing, max: u32, injected: &Injected) -> Outcome {
    forced(forcing, max, injected).unwrap_or_else(|reason| Outcome::RefusesToStart { reason })
}

fn forced(forcing: Forcing, max: u32, injected: &Injected) -> Result<Outcome, Refusal> {
    let (length, rate) = (arg(injected, LENGTH), arg(injected, RATE));
    let drafts = max.saturating_sub(1);
    if length.is_none() && rate.is_none() {
        return Ok(Outcome::RealAcceptance { reason: RealReason::NotSet });
    }
    match (forcing, length, rate) {
        (Forcing::Absent | Forcing::RateGeometric, Some(_), _) => Err(Refusal::NoArgument { name: LENGTH }),
        (Forcing::Absent, _, _) => Err(Refusal::NoArgument { name: RATE }),
        (Forcing::RateGeometric, None, rate) => {
            let rate = number(RATE, rate.unwrap_or_default(), 0.0, 1.0)?;
            let law = GeometricDecay::with_mean_rate(rate, drafts);
            let constant = Outcome::Law(AcceptanceLaw::Constant(1));
            Ok(law.map_or(constant, |law| Outcome::Law(AcceptanceLaw::Geometric(law))))
        }
        (Forcing::LengthOrRate, Some(_), Some(_)) => Err(Refusal::Both { first: LENGTH, second: RATE }),
        (Forcing::LengthOrRate, Some(length), None) => {
            let length = number(LENGTH, length, 1.0, f64::from(max))?;
            Ok(two_point(length, max))
        }
        (Forcing::LengthOrRate, None, rate) => {
            let rate = number(RATE, rate.unwrap_or_default(), 0.0, 1.0)?;
            Ok(two_point(1.0 + f64::from(drafts) * rate, max))
        }
    }
}

fn two_point(length: f64, max: u32) -> Outcome {
    Outcome::Law(force(length, max, |setting| {
        AcceptanceLaw::Pool(Pool::new(PoolKind::Atom, TwoPoint::new(setting)))
    }))
}

/// A number inside its range, or the start-up error.
fn number(name: &'static str, text: &str, low: f64, high: f64) -> Result<f64, Refusal> {
    let value = python::float(text).ok_or_else(|| Refusal::Unreadable { name, value: text.to_owned() })?;
    if (low..=high).contains(&value) {
        Ok(value)
    } else {
        Err(Refusal::OutOfRange { name, value, low, high })
    }
}

#[cfg(test)]
mod tests;
