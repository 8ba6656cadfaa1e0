//! Injected settings against what a log will show.

use crate::engine::{Engine, Outcome, Prediction, RealReason, Server, law_for};
use crate::law::{AcceptanceLaw, Setting};

use super::expected::{Expected, Load};
use super::found::{FoundSetting, Role};

/// Two values closer than this print alike with two decimals.
const ALIKE: f64 = 0.005;

/// Odds at which one law is taken for refuted by another.
const ODDS: f64 = 1000.0;

/// What one server will show with the settings that reach it.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Name of the role in a recipe.
    pub role: Option<String>,
    /// The server.
    pub server: Server,
    /// The most tokens that one of its verify steps emits.
    pub max: u32,
    /// The settings, with their lines.
    pub settings: Vec<FoundSetting>,
    /// The accept length that they are meant to hold, where that is known from elsewhere.
    pub golden: Option<f64>,
    /// What the server does with them.
    pub prediction: Prediction,
    /// What its log shows; none where it draws from no law.
    pub expected: Option<Expected>,
    /// Whether that is what was asked for.
    pub holds: Holds,
    /// What a log would show if the settings had met another fate.
    pub instead: Vec<Instead>,
}

/// Whether a server does what its settings ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// It does.
    Yes,
    /// It does something else.
    No,
    /// No setting was found, or no source says.
    Undecided,
}

/// Another fate of the same settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Instead {
    /// Which.
    pub fault: Fault,
    /// What its log shows; none for real acceptance, whose law is that of the drafting head.
    pub expected: Option<Expected>,
    /// Lines after which the odds for the predicted law over this one are expected to reach 1000, when the predicted
    /// one is true; none where either is unknown or both print alike.
    pub lines_to_tell: Option<u64>,
}

/// What may happen to a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// None: the engine does exactly what was asked for.
    Held,
    /// Nobody reads it: real acceptance.
    Ignored,
    /// It is rounded to whole tokens once.
    Rounded,
    /// A rounded normal variable is drawn around it.
    Multinomial,
    /// Accepted drafts were written where an accept length belongs: one token too few.
    OneTooLow,
    /// An accept length was written where accepted drafts belong: one token too many.
    OneTooHigh,
}

impl Fault {
    /// The name that JSON uses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Ignored => "ignored",
            Self::Rounded => "rounded",
            Self::Multinomial => "multinomial",
            Self::OneTooLow => "one-too-low",
            Self::OneTooHigh => "one-too-high",
        }
    }

    /// What happened, for people.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Held => "held exactly",
            Self::Ignored => "ignored",
            Self::Rounded => "rounded once",
            Self::Multinomial => "drawn as multinomial",
            Self::OneTooLow => "one too low (drafts for a length)",
            Self::OneTooHigh => "one too high (a length for drafts)",
        }
    }
}

impl Check {
    /// What `server` will show of a role's settings under a load. `golden` is the length that they should hold.
    #[must_use]
    pub fn new(role: &Role, server: Server, max: u32, golden: Option<f64>, load: Load) -> Self {
        let prediction = law_for(&server, max, &role.injected());
        let expected = prediction.outcome.law().and_then(|law| Expected::new(law, load));
        let holds = holds(&prediction, golden);
        let instead = instead(&server, max, golden, &prediction, expected.as_ref(), load);
        Self {
            role: role.name.clone(),
            server,
            max,
            settings: role.settings.clone(),
            golden,
            prediction,
            expected,
            holds,
            instead,
        }
    }

    /// The accept length that the log should show: of the golden cell, else of the settings.
    #[must_use]
    pub fn wanted(&self) -> Option<f64> {
        self.golden.or(self.prediction.asked)
    }
}

fn holds(prediction: &Prediction, golden: Option<f64>) -> Holds {
    match (&prediction.outcome, golden.or(prediction.asked)) {
        (Outcome::NotKnown { .. }, _) => Holds::Undecided,
        // Nothing was asked for, so nothing can fail.
        (Outcome::RealAcceptance { reason: RealReason::NotSet | RealReason::NotSynthetic { .. } }, None) => {
            Holds::Undecided
        }
        (Outcome::Law(law), Some(wanted)) => {
            // Of the laws with the right mean only these are meant; a rounded normal has it by accident.
            let is_meant = !matches!(law, AcceptanceLaw::Multinomial(_) | AcceptanceLaw::ClampedShort(_));
            if is_meant && (law.mean() - wanted).abs() < ALIKE { Holds::Yes } else { Holds::No }
        }
        _ => Holds::No,
    }
}

/// The fates that leave another log than the predicted one.
fn instead(
    server: &Server,
    max: u32,
    golden: Option<f64>,
    prediction: &Prediction,
    expected: Option<&Expected>,
    load: Load,
) -> Vec<Instead> {
    let Some(wanted) = golden.or(prediction.asked) else { return Vec::new() };
    let predicted = prediction.outcome.law();
    let two_point = |length: f64| {
        let setting = Setting::new(length, max).ok()?;
        Some(match server.engine {
            Engine::Sglang | Engine::Tilert => AcceptanceLaw::match_expected(setting),
            Engine::Vllm | Engine::Trtllm | Engine::Atom => AcceptanceLaw::per_request(setting),
        })
    };
    let setting = Setting::new(wanted, max).ok();
    let is_sglang = server.engine == Engine::Sglang;
    let fates = [
        (Fault::Held, two_point(wanted)),
        (Fault::Rounded, setting.map(AcceptanceLaw::rounded)),
        (Fault::Multinomial, setting.filter(|_| is_sglang).map(AcceptanceLaw::multinomial)),
        (Fault::OneTooLow, Some(wanted - 1.0).filter(|length| *length >= 1.0).and_then(two_point)),
        (Fault::OneTooHigh, two_point(wanted + 1.0)),
    ];
    // A list of rates has its own law: it is held as it stands.
    let is_rates = matches!(predicted, Some(AcceptanceLaw::PerPosition(_)));
    let held = fates.iter().find(|(fault, _)| *fault == Fault::Held).and_then(|(_, law)| law.clone());
    let mut shown: Vec<Instead> = fates
        .iter()
        .filter(|(fault, _)| !(is_rates && *fault == Fault::Held))
        .filter_map(|(fault, law)| Some((*fault, law.as_ref()?)))
        .filter(|(_, law)| predicted.is_none_or(|predicted| !prints_alike(predicted, law)))
        .filter(|(fault, law)| {
            *fault == Fault::Held || held.as_ref().is_none_or(|held| !prints_alike(held, law))
        })
        .map(|(fault, law)| {
            let rival = Expected::new(law, load);
            let lines_to_tell = expected
                .zip(rival.as_ref())
                .and_then(|(expected, rival)| expected.values.lines_until(ODDS, &rival.values));
            Instead { fault, expected: rival, lines_to_tell }
        })
        .collect();
    if !matches!(prediction.outcome, Outcome::RealAcceptance { .. }) {
        shown.push(Instead { fault: Fault::Ignored, expected: None, lines_to_tell: None });
    }
    shown
}

/// Whether two laws give the same lines at any load.
fn prints_alike(left: &AcceptanceLaw, right: &AcceptanceLaw) -> bool {
    let is_constant = left.variance() <= 0.0 && right.variance() <= 0.0;
    left.pmf() == right.pmf() && (is_constant || left.draws() == right.draws())
}

#[cfg(test)]
mod tests;
