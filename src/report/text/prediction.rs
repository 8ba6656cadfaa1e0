//! What a server does with settings, in words.

use crate::engine::{Engine, Otherwise, Outcome, Prediction, Server};

/// The server's name: engine, version, algorithm.
pub(super) fn server(server: &Server) -> String {
    let mut name = server.engine.to_string();
    if let Some(version) = &server.version {
        name = format!("{name} {version}");
    }
    if let Some(drafter) = server.drafter {
        name = format!("{name} with {drafter}");
    }
    name
}

/// What its log would show, or why it would not: `would log 4.00, not 3.51`. An engine whose log is silent about acceptance
/// realises a length all the same.
pub(super) fn verdict(engine: Engine, outcome: &Outcome, wanted: Option<f64>) -> String {
    let shows = if hides_acceptance(engine).is_some() { "realise" } else { "log" };
    match outcome {
        Outcome::Law(law) => {
            let mean = law.mean();
            let other = wanted.filter(|wanted| (mean - wanted).abs() >= 0.005);
            let not = other.map_or_else(String::new, |wanted| format!(", not {wanted:.2}"));
            format!("would {shows} {mean:.2}{not}")
        }
        Outcome::RealAcceptance { reason } => format!("would accept for real: {reason}"),
        Outcome::RefusesToStart { reason } => format!("would refuse to start: {reason}"),
        Outcome::CrashesAtFirstVerify { reason } => format!("would die at its first verify step: {reason}"),
        Outcome::NotKnown { reason } => format!("cannot be predicted: {reason}"),
    }
}

/// Where acceptance is to be found, for an engine whose log does not show it.
fn hides_acceptance(engine: Engine) -> Option<&'static str> {
    match engine {
        Engine::Sglang | Engine::Vllm | Engine::Atom => None,
        Engine::Trtllm => Some("shows no acceptance; /metrics and the Prometheus counters do"),
        Engine::Tilert => Some("none with acceptance is known"),
    }
}

/// Rows about how it is known and what else may be.
pub(super) fn facts(server: &Server, prediction: &Prediction) -> Vec<(&'static str, String)> {
    let mut facts = vec![("known from", prediction.source.to_owned())];
    facts.extend(prediction.otherwise.iter().map(|other| ("or else", otherwise(server.engine, other))));
    facts.extend(hides_acceptance(server.engine).map(|place| ("its log", place.to_owned())));
    facts
}

fn otherwise(engine: Engine, other: &Otherwise) -> String {
    let law = other
        .outcome
        .law()
        .map_or_else(String::new, |law| format!(" ({}, variance {:.3} a draw)", law.kind(), law.variance()));
    format!("{}: it {}{law}", other.when, verdict(engine, &other.outcome, None))
}
