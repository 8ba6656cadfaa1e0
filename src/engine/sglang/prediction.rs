//! What SGLang does with the variables that reach it.

use super::super::prediction::{
    Crash, Otherwise, Outcome, Prediction, PredictionNote, RankDraws, RealReason, Refusal, Unknown, When,
};
use super::super::{
    Doubt, DraftFamily, Drafter, Injected, Release, Server, SettingKind, fact::Era, law::force, python,
};
use super::facts::{
    self, Clamp, Facts, LengthText, Method, Overlap, Support, TokenMode, TokenModeCheck, Variables,
};
use super::settings::{Generation, PREFIXED, UNPREFIXED};
use crate::law::{AcceptanceLaw, Setting};

/// Variable that schedules the verification of DSPARK.
const VERIFY_MODE: &str = "SGLANG_RAGGED_VERIFY_MODE";

/// The prediction for a server of which a step emits at most `max` tokens.
pub(crate) fn predict(server: &Server, max: u32, injected: &Injected) -> Prediction {
    let facts = facts::at(server.version.as_ref());
    let mut case = Case { server, max, injected, facts, notes: Vec::new(), asked: None };
    let (outcome, source) = case.outcome();
    let (notes, asked) = (case.notes, case.asked);
    let otherwise = pre_release(server, &facts)
        .map(|release| {
            let server = Server { version: Some(release.into()), ..server.clone() };
            Otherwise { when: When::Has(release), outcome: predict(&server, max, injected).outcome }
        })
        .filter(|other| other.outcome != outcome)
        .into_iter()
        .collect();
    Prediction { outcome, asked, source, notes, doubts: Vec::new(), otherwise, ranks: RankDraws::Alike }
}

/// The release whose changes a pre-release may already have.
fn pre_release(server: &Server, facts: &Facts) -> Option<Release> {
    let support = facts.support(family(server)).doubt;
    let doubts = [
        facts.variables.doubt,
        facts.method.doubt,
        facts.clamp.doubt,
        facts.token_mode.doubt,
        facts.length_text.doubt,
        support,
    ];
    doubts.into_iter().flatten().find_map(|doubt| match doubt {
        Doubt::PreRelease(release) => Some(release),
        Doubt::Undated(_) => None,
    })
}

/// EAGLE where the algorithm is not known: what most servers run.
fn drafter(server: &Server) -> Drafter {
    server.drafter.unwrap_or(Drafter::Eagle)
}

fn family(server: &Server) -> DraftFamily {
    drafter(server).family()
}

struct Case<'a> {
    server: &'a Server,
    max: u32,
    injected: &'a Injected,
    facts: Facts,
    notes: Vec<PredictionNote>,
    asked: Option<f64>,
}

/// An outcome with its source.
type Sourced = (Outcome, &'static str);

impl Case<'_> {
    fn env(&self, name: &str) -> Option<&str> {
        self.injected.get(SettingKind::Env, name)
    }

    fn outcome(&mut self) -> Sourced {
        let variables = self.facts.variables;
        // What was meant, also where nobody reads it.
        let meant = [PREFIXED, UNPREFIXED].into_iter().find_map(|names| self.env(names.length));
        self.asked = meant.and_then(python::float).filter(|length| length.is_finite() && *length > 0.0);
        let support = self.facts.support(family(self.server));
        let drafter = drafter(self.server);
        let since = facts::holds_since(family(self.server));
        if support.behaviour() == Support::Absent {
            return (refuses(Refusal::NoAlgorithm { drafter, since }), support.source());
        }
        let (names, other) = match variables.behaviour() {
            Variables::None => {
                let since = facts::VARIABLES.began(Variables::Unprefixed);
                return (real(RealReason::NoSimulation { since }), variables.source());
            }
            Variables::Unprefixed => (UNPREFIXED, PREFIXED),
            Variables::Prefixed => (PREFIXED, UNPREFIXED),
        };
        let Some(text) = self.env(names.length).map(str::to_owned) else {
            let reason = match self.env(other.length) {
                Some(_) => RealReason::OtherNames { set: other.length, read: names.length },
                None => RealReason::NotSet,
            };
            return (real(reason), variables.source());
        };
        match support.behaviour() {
            Support::Ignored => return (real(RealReason::Algorithm { drafter, since }), support.source()),
            Support::WithoutOverlap if self.server.overlap == Some(true) => {
                return (real(RealReason::Overlap { since }), support.source());
            }
            _ => {}
        }
        let length = match self.length(names, &text) {
            Ok(length) => length,
            Err(outcome) => return (outcome, self.facts.length_text.source()),
        };
        self.asked = length.is_finite().then_some(length);
        if let Some(sourced) = self.guard(length, support).or_else(|| self.token_mode(names)) {
            return sourced;
        }
        if support.behaviour() == Support::RoundedOnce {
            return (Outcome::Law(self.rounded(length)), support.source());
        }
        let (outcome, source) = self.drawn(names, length);
        // For DSPARK that the method is honoured at all is the younger fact.
        let is_dspark = family(self.server) == DraftFamily::DSpark && outcome.law().is_some();
        (outcome, if is_dspark { support.source() } else { source })
    }

    /// The length as this version reads its text.
    fn length(&self, names: Generation, text: &str) -> Result<f64, Outcome> {
        let (name, value) = (names.length, || text.to_owned());
        let number = python::float(text);
        match (self.facts.length_text.behaviour(), number) {
            (LengthText::AnyText, _) if text.is_empty() => Err(real(RealReason::NotSet)),
            (LengthText::AnyText, None) => {
                Err(Outcome::CrashesAtFirstVerify { reason: Crash::Unreadable { name, value: value() } })
            }
            (LengthText::AnyText, Some(number)) if number.is_nan() => {
                Err(Outcome::NotKnown { reason: Unknown::Value { name, value: value() } })
            }
            (LengthText::AnyText, Some(number)) => Ok(number),
            (LengthText::PositiveFloat, None) => Err(real(RealReason::Unreadable { name, value: value() })),
            (LengthText::PositiveFloat, Some(number)) if number > 0.0 => Ok(number),
            // Zero, what is below, and NaN, which is above nothing.
            (LengthText::PositiveFloat, Some(_)) => Err(real(RealReason::Off { name, value: value() })),
        }
    }

    /// DSPARK does not start where it would verify less than its block. A length of exactly 1 always passes.
    fn guard(&mut self, length: f64, support: Era<Support>) -> Option<Sourced> {
        if family(self.server) != DraftFamily::DSpark || (length - 1.0).abs() <= 0.0 {
            return None;
        }
        match self.env(VERIFY_MODE) {
            Some("static") => None,
            // `compact` verifies everything with a flat table or none, which is not seen here.
            None | Some("compact") => {
                self.notes.push(PredictionNote::NeedsVerifyAll);
                None
            }
            Some(mode) => Some((refuses(Refusal::NotVerifyAll { mode: mode.to_owned() }), support.source())),
        }
    }

    /// The errors that a token mode makes.
    fn token_mode(&self, names: Generation) -> Option<Sourced> {
        let era = self.facts.token_mode;
        let family = family(self.server);
        if era.behaviour() == TokenMode::AlwaysFixed || family == DraftFamily::DSpark {
            return None;
        }
        let crash = |reason| Some((Outcome::CrashesAtFirstVerify { reason }, era.source()));
        match self.env(names.token_mode)? {
            "fixed" => None,
            "real-draft-token" => {
                let is_tree = self.server.eagle_topk.is_some_and(|topk| topk > 1);
                let is_eagle = matches!(family, DraftFamily::Eagle | DraftFamily::Standalone);
                let raises = family == DraftFamily::Ngram || (is_eagle && is_tree);
                if raises { crash(Crash::RealTokensNeedTopkOne) } else { None }
            }
            mode => {
                let check = self.facts.dflash_token_mode;
                if family == DraftFamily::DFlash && check.behaviour() == TokenModeCheck::Construction {
                    return Some((refuses(Refusal::TokenMode { mode: mode.to_owned() }), check.source()));
                }
                crash(Crash::TokenMode(mode.to_owned()))
            }
        }
    }

    fn rounded(&mut self, length: f64) -> AcceptanceLaw {
        if length.fract() != 0.0 {
            self.notes.push(PredictionNote::Rounded { asked: length });
        }
        self.clamp(length, self.max, false);
        force(length, self.max, AcceptanceLaw::rounded)
    }

    /// The laws that are drawn.
    fn drawn(&mut self, names: Generation, length: f64) -> Sourced {
        let era = self.facts.method;
        let (reach, short) = match self.facts.clamp.behaviour() {
            Clamp::Max => (self.max, false),
            Clamp::OneShort => (self.max.saturating_sub(1).max(1), true),
        };
        let method = self.env(names.method).map(str::to_owned);
        let is_multinomial = match (era.behaviour(), method.as_deref()) {
            (Method::AlwaysMultinomial | Method::ReadNotUsed, method) => {
                if method.is_some() {
                    self.notes.push(PredictionNote::MethodIgnored { name: names.method });
                }
                true
            }
            (Method::DefaultMultinomial, None) => {
                self.notes.push(PredictionNote::DefaultMultinomial);
                true
            }
            (Method::DefaultMatchExpected, None) | (_, Some("match-expected")) => false,
            (_, Some("multinomial")) => true,
            (_, Some(other)) => {
                let reason = Crash::Method(other.to_owned());
                return (Outcome::CrashesAtFirstVerify { reason }, era.source());
            }
        };
        self.clamp(length, reach, short);
        self.counted_late();
        let law = if is_multinomial {
            self.notes.push(PredictionNote::Biased);
            let build: fn(Setting) -> AcceptanceLaw =
                if short { AcceptanceLaw::clamped_short } else { AcceptanceLaw::multinomial };
            if length.is_finite() {
                force(length, self.max, build)
            } else {
                // Normal(inf, 1) is inf, and is cut to the limit.
                AcceptanceLaw::Constant(if length > 0.0 { reach } else { 1 })
            }
        } else {
            force(length, reach, AcceptanceLaw::match_expected)
        };
        (Outcome::Law(law), era.source())
    }

    /// Without overlap scheduling the log counts what was emitted, not what was accepted.
    fn counted_late(&mut self) {
        let is_eagle = matches!(family(self.server), DraftFamily::Eagle | DraftFamily::Standalone);
        let without = match self.facts.overlap.behaviour() {
            Overlap::DefaultOff => self.server.overlap != Some(true),
            Overlap::DefaultOn => self.server.overlap == Some(false),
            Overlap::Always => false,
        };
        if is_eagle && without {
            self.notes.push(PredictionNote::ReadsLow);
        }
    }

    fn clamp(&mut self, length: f64, reach: u32, short: bool) {
        if length > f64::from(reach) {
            self.notes.push(PredictionNote::Clamped { asked: length, reach, short });
        } else if length < 1.0 {
            self.notes.push(PredictionNote::BelowOne(length));
        }
    }
}

fn real(reason: RealReason) -> Outcome {
    Outcome::RealAcceptance { reason }
}

fn refuses(reason: Refusal) -> Outcome {
    Outcome::RefusesToStart { reason }
}

#[cfg(test)]
mod tests;
