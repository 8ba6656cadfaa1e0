//! SGLang's three variables, and what its versions do wrong with them.

use super::super::doubt::doubts;
use super::super::fact::Doubt;
use super::super::{
    DraftFamily, Drafter, EngineVersion, General, Removal, Server, Setting, SettingKind, SettingValue,
    Warning, WarningCode,
};
use super::facts::{self, Clamp, Facts, Method, Support, TokenMode, Variables};
use crate::golden::Target;

/// The names of one generation of variables; none where the version has no such setting.
struct Names {
    length: &'static str,
    method: Option<&'static str>,
    token_mode: Option<&'static str>,
}

/// The names of one generation of variables, whether its versions use them all or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Generation {
    pub(crate) length: &'static str,
    pub(crate) method: &'static str,
    pub(crate) token_mode: &'static str,
}

pub(super) const UNPREFIXED: Generation = Generation {
    length: "SIMULATE_ACC_LEN",
    method: "SIMULATE_ACC_METHOD",
    token_mode: "SIMULATE_ACC_TOKEN_MODE",
};

pub(super) const PREFIXED: Generation = Generation {
    length: "SGLANG_SIMULATE_ACC_LEN",
    method: "SGLANG_SIMULATE_ACC_METHOD",
    token_mode: "SGLANG_SIMULATE_ACC_TOKEN_MODE",
};

/// The names that a version reads; those of today for one that reads none.
pub(crate) fn names_read(version: Option<&EngineVersion>) -> Generation {
    match facts::at(version).variables.behaviour() {
        Variables::Unprefixed => UNPREFIXED,
        Variables::None | Variables::Prefixed => PREFIXED,
    }
}

/// The names that a version reads and uses.
fn names(facts: &Facts) -> Option<Names> {
    let Generation { length, method, token_mode } = match facts.variables.behaviour() {
        Variables::None => return None,
        Variables::Unprefixed => UNPREFIXED,
        Variables::Prefixed => PREFIXED,
    };
    let method = match facts.method.behaviour() {
        Method::AlwaysMultinomial | Method::ReadNotUsed => None,
        Method::DefaultMultinomial | Method::DefaultMatchExpected => Some(method),
    };
    let token_mode = match facts.token_mode.behaviour() {
        TokenMode::AlwaysFixed => None,
        TokenMode::DefaultFixed => Some(token_mode),
    };
    Some(Names { length, method, token_mode })
}

/// Every variable of the version that steers simulation.
pub(crate) fn unset(version: Option<&EngineVersion>) -> Vec<Removal> {
    let Some(names) = names(&facts::at(version)) else { return Vec::new() };
    [Some(names.length), names.method, names.token_mode]
        .into_iter()
        .flatten()
        .map(|name| Removal { kind: SettingKind::Env, name, instead: None })
        .collect()
}

/// The variables that make the server hold the target, in the order length, method, token mode.
pub(crate) fn settings(server: &Server, target: &Target) -> (Vec<Setting>, Vec<Warning>) {
    let facts = facts::at(server.version.as_ref());
    let mut warnings = doubts(server, target.accept_length().get());
    let Some(names) = names(&facts) else {
        warnings.push(Warning::new(
            WarningCode::SimulationIgnored,
            format!(
                "{} has no simulated acceptance; it came with {}",
                release(server),
                facts::VARIABLES.began(Variables::Unprefixed)
            ),
        ));
        return (Vec::new(), warnings);
    };
    if let Some(warning) = ignored(server, &facts) {
        warnings.push(warning);
        return (Vec::new(), warnings);
    }
    if facts.variables.behaviour() == Variables::Unprefixed {
        warnings.push(Warning::new(
            WarningCode::LegacyVariableNames,
            format!(
                "{} reads the names without SGLANG_, which are printed here; {} and later ignore them",
                release(server),
                facts::VARIABLES.began(Variables::Prefixed)
            ),
        ));
    }
    let mut settings = vec![env(names.length, SettingValue::number(target.accept_length().get()))];
    warnings.extend(rounded(server, &facts, target));
    warnings.extend(clamped(server, &facts, target));
    match names.method {
        Some(name) => settings.push(env(name, SettingValue::Word("match-expected"))),
        None => warnings.push(Warning::new(
            WarningCode::MethodDefaultMultinomial,
            format!(
                "{} draws a rounded normal (\"multinomial\") and cannot be told otherwise: expect lengths from 1 to the \
                 maximum, and a mean off the target; match-expected came with {}",
                release(server),
                facts::METHOD.began(Method::DefaultMultinomial)
            ),
        )),
    }
    let (mode, warning) = token_mode(server, names.token_mode);
    settings.extend(mode);
    warnings.extend(warning);
    (settings, warnings)
}

/// The token mode to set, and why it is not real draft tokens.
fn token_mode(server: &Server, name: Option<&'static str>) -> (Option<Setting>, Option<Warning>) {
    let warning = |message: String| Some(Warning::new(WarningCode::TokenModeUnsupported, message));
    let Some(name) = name else {
        let message = format!("{} has no token mode: every predicted token becomes id 100", release(server));
        return (None, warning(message));
    };
    let real = Some(env(name, SettingValue::Word("real-draft-token")));
    let fixed = Some(env(name, SettingValue::Word("fixed")));
    match server.drafter.map(Drafter::family) {
        Some(DraftFamily::Ngram) => (
            fixed,
            warning(
                "NGRAM raises an error at its first verify step with real-draft-token; fixed is set instead: every \
                 predicted token becomes id 100"
                    .to_owned(),
            ),
        ),
        Some(DraftFamily::DSpark) => (
            real,
            warning("DSPARK never reads the token mode and always emits real drafts: harmless".to_owned()),
        ),
        // Only these draft trees: a width above 1 says which family it is where nobody else does.
        None | Some(DraftFamily::Eagle | DraftFamily::Standalone) if server.eagle_topk.is_some_and(|topk| topk > 1) => (
            fixed,
            warning(
                "real-draft-token needs speculative_eagle_topk 1 and raises an error otherwise; fixed is set instead: \
                 every predicted token becomes id 100"
                    .to_owned(),
            ),
        ),
        _ => (real, None),
    }
}

/// Why this version and algorithm accept for real.
fn ignored(server: &Server, facts: &Facts) -> Option<Warning> {
    let drafter = server.drafter?;
    let what = match facts.support(drafter.family()).behaviour() {
        Support::Absent => format!("{} has no {drafter}", release(server)),
        Support::Ignored => format!("{drafter} accepts for real on {}, whatever is set", release(server)),
        Support::WithoutOverlap if server.overlap == Some(true) => {
            format!("{drafter} accepts for real with overlap scheduling on {}", release(server))
        }
        Support::WithoutOverlap | Support::RoundedOnce | Support::Honoured => return None,
    };
    let first = facts::holds_since(drafter.family());
    let message = format!("{what}; the first release that holds a target with it is {first}");
    Some(Warning::new(WarningCode::SimulationIgnored, message))
}

/// DSPARK of 0.5.16 and 0.5.17: 1 + the drafts of the target, rounded half to even.
fn rounded(server: &Server, facts: &Facts, target: &Target) -> Option<Warning> {
    let drafter = server.drafter?;
    let length = target.accept_length().get();
    let is_fraction = General(length).to_string().contains('.');
    if facts.support(drafter.family()).behaviour() != Support::RoundedOnce || !is_fraction {
        return None;
    }
    let block = f64::from(target.max_accept_length()) - 1.0;
    let realised = 1.0 + (length - 1.0).min(block).round_ties_even();
    Some(Warning::new(
        WarningCode::DsparkRoundsTarget,
        format!(
            "{} rounds a {drafter} target once and ignores the method: every step will emit {} tokens, not {}; \
             {} and later hold it (sgl-project/sglang#33463)",
            release(server),
            General(realised),
            General(length),
            facts::holds_since(drafter.family())
        ),
    ))
}

fn clamped(server: &Server, facts: &Facts, target: &Target) -> Option<Warning> {
    let max = target.max_accept_length();
    let (reach, why) = match facts.clamp.behaviour() {
        Clamp::Max => (max, "the most tokens that a step emits"),
        Clamp::OneShort => (max.saturating_sub(1).max(1), "one token less than a step can emit"),
    };
    let length = target.accept_length().get();
    (length > f64::from(reach)).then(|| {
        Warning::new(
            WarningCode::ClampedToMax,
            format!("{} cuts {} to {reach}, {why}, without a word", release(server), General(length)),
        )
    })
}

/// A pre-release of a release that changed something these settings depend on.
pub(crate) fn doubt(server: &Server) -> Option<Warning> {
    let facts = facts::at(server.version.as_ref());
    let support = server.drafter.and_then(|drafter| facts.support(drafter.family()).doubt);
    let doubts =
        [facts.variables.doubt, facts.method.doubt, facts.clamp.doubt, facts.token_mode.doubt, support];
    doubts.into_iter().flatten().find_map(|doubt| match doubt {
        Doubt::PreRelease(first) => Some(Warning::new(
            WarningCode::VersionNotPlaced,
            format!(
                "{} may already have what {first} changed about these settings; if it does, take those of {first}",
                release(server)
            ),
        )),
        Doubt::Undated(_) => None,
    })
}

fn env(name: &'static str, value: SettingValue) -> Setting {
    Setting { kind: SettingKind::Env, name, value }
}

/// The server's name in a message.
fn release(server: &Server) -> String {
    server.version.as_ref().map_or_else(|| "this SGLang".to_owned(), |version| format!("SGLang {version}"))
}

#[cfg(test)]
mod tests;
