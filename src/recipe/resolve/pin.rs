//! The pin of a launch, in each engine's own unit, as an accept length.

use crate::engine::{Engine, General};
use crate::recipe::model::{Launch, Variable, variable};
use crate::recipe::number::{decimal, is_unresolved, shown};
use crate::yaml::{Mapping, Node, Position, Scalar, quoted};

use super::Fault;
use super::speculation::json_object;

pub(crate) const METHOD_SGLANG: &str = "SGLANG_SIMULATE_ACC_METHOD";
pub(crate) const TOKEN_MODE: &str = "SGLANG_SIMULATE_ACC_TOKEN_MODE";
const TILERT_METHOD: &str = "TILERT_SIMULATE_ACC_METHOD";
const METHOD: &str = "rejection_sample_method";
const LENGTH: &str = "synthetic_acceptance_length";
const RATES: &str = "synthetic_acceptance_rates";
pub(crate) const OLD_RATE: &str = "synthetic_acceptance_rate";
const ATOM_LENGTH: &str = "spec-decode-acceptance-length";
const ATOM_RATE: &str = "spec-decode-acceptance-rate";

/// What a launch pins.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Pin {
    /// Nothing.
    None,
    /// An accept length, in tokens a verify step.
    Value {
        accept_length: f64,
        /// The number as it stands there, in the engine's unit.
        written: f64,
        at: Position,
    },
    /// A variable without a text: no number, and no simulation either.
    Empty(Fault),
    /// Something that is no number, or that the engine refuses.
    Fault(Fault),
}

impl Pin {
    pub(crate) fn accept_length(&self) -> Option<f64> {
        match self {
            Self::Value { accept_length, .. } => Some(*accept_length),
            Self::None | Self::Empty(_) | Self::Fault(_) => None,
        }
    }

    pub(crate) fn at(&self) -> Option<Position> {
        match self {
            Self::None => None,
            Self::Value { at, .. } => Some(*at),
            Self::Empty(fault) | Self::Fault(fault) => Some(fault.at),
        }
    }
}

/// The variable that carries a pin, for engines that read one.
pub(crate) fn pin_variable(engine: Engine) -> Option<&'static str> {
    match engine {
        Engine::Sglang => Some("SGLANG_SIMULATE_ACC_LEN"),
        Engine::Trtllm => Some("TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS"),
        Engine::Tilert => Some("TILERT_SIMULATE_ACC_LEN"),
        Engine::Vllm | Engine::Atom => None,
    }
}

/// The variable that carries the law, for engines that read one.
pub(crate) fn method_variable(engine: Engine) -> Option<&'static str> {
    match engine {
        Engine::Sglang => Some(METHOD_SGLANG),
        Engine::Tilert => Some(TILERT_METHOD),
        Engine::Trtllm | Engine::Vllm | Engine::Atom => None,
    }
}

/// The pin among variables.
pub(crate) fn pin_in(variables: &[Variable], engine: Engine) -> Pin {
    let Some(value) = pin_variable(engine).and_then(|name| variable(variables, name)) else {
        return Pin::None;
    };
    // YAML's null takes a variable away.
    if value.is_null() {
        return Pin::None;
    }
    let text = value.text.trim();
    if text.is_empty() {
        return Pin::Empty(no_number("the pin", value));
    }
    let Some(written) = decimal(text) else { return Pin::Fault(no_number("the pin", value)) };
    if engine == Engine::Trtllm {
        // Zero accepted drafts is how this engine says "off".
        if written <= 0.0 {
            return Pin::None;
        }
        return Pin::Value { accept_length: tidy(written + 1.0), written, at: value.at };
    }
    Pin::Value { accept_length: written, written, at: value.at }
}

/// The pin of a launch: its own environment and arguments, without what is applied after them.
pub(crate) fn pin_of(launch: &Launch, engine: Engine, draft_length: Option<u32>) -> Pin {
    match engine {
        Engine::Sglang | Engine::Trtllm | Engine::Tilert => pin_in(&launch.env, engine),
        Engine::Vllm => vllm(launch, draft_length),
        Engine::Atom => atom(launch, draft_length),
    }
}

fn vllm(launch: &Launch, draft_length: Option<u32>) -> Pin {
    // What is no object is a fault of the drafting, reported there.
    let Some(Ok(object)) = launch.arg("speculative-config").map(json_object) else { return Pin::None };
    let get = |key: &str| object.get(key).filter(|node| !is_null(node));
    if let Some(old) = get(OLD_RATE) {
        let message = format!(
            "{OLD_RATE} is no accept length: one build read it as the mean rate, another as a conditional one, and it is gone \
             since vllm-project/vllm#40662; write {LENGTH}"
        );
        return Pin::Fault(Fault { at: old.at(), message });
    }
    let Some(Node::Scalar(method)) = get(METHOD) else { return Pin::None };
    if is_unresolved(&method.text) {
        let message = format!("{METHOD} is {}, which only the run resolves", shown(&method.text));
        return Pin::Fault(Fault { at: method.at, message });
    }
    if &*method.text != "synthetic" {
        return Pin::None;
    }
    match (get(LENGTH), get(RATES)) {
        (Some(Node::Scalar(length)), None) => match decimal(&length.text) {
            Some(number) => Pin::Value { accept_length: number, written: number, at: length.at },
            None => Pin::Fault(no_number(LENGTH, length)),
        },
        (None, Some(rates)) => of_rates(rates, draft_length),
        (Some(other), None) => {
            let message = format!("{LENGTH} is {}; expected a number", other.kind().name());
            Pin::Fault(Fault { at: other.at(), message })
        }
        (Some(both), Some(_)) => {
            let message = format!("{LENGTH} and {RATES} together: the server refuses to start");
            Pin::Fault(Fault { at: both.at(), message })
        }
        (None, None) => {
            let message = format!("{METHOD} is synthetic without {LENGTH}: the server refuses to start");
            Pin::Fault(Fault { at: method.at, message })
        }
    }
}

/// Rates are unconditional: entry i is the chance that the first i + 1 drafts are all accepted.
fn of_rates(rates: &Node, draft_length: Option<u32>) -> Pin {
    let fault = |at: Position, message: String| Pin::Fault(Fault { at, message });
    let Node::Sequence(list) = rates else {
        return fault(rates.at(), format!("{RATES} is {}; expected a list", rates.kind().name()));
    };
    let (mut sum, mut before) = (1.0, 1.0);
    for item in &list.items {
        let rate = match item {
            Node::Scalar(scalar) => decimal(&scalar.text),
            Node::Sequence(_) | Node::Mapping(_) => None,
        };
        let Some(rate) = rate.filter(|rate| (0.0..=1.0).contains(rate)) else {
            return fault(item.at(), format!("{RATES} holds something that is no number from 0 to 1"));
        };
        if rate > before {
            let message = format!(
                "{RATES} must not increase ({} after {}): each is the chance that all drafts up to it are accepted",
                General(rate),
                General(before)
            );
            return fault(item.at(), message);
        }
        sum += rate;
        before = rate;
    }
    if draft_length.is_some_and(|length| usize::try_from(length) != Ok(list.items.len())) {
        let message = format!(
            "{RATES} has {} entries for a draft length of {}",
            list.items.len(),
            draft_length.unwrap_or_default()
        );
        return fault(list.at, message);
    }
    Pin::Value { accept_length: tidy(sum), written: tidy(sum), at: list.at }
}

fn atom(launch: &Launch, draft_length: Option<u32>) -> Pin {
    let [length, rate] =
        [ATOM_LENGTH, ATOM_RATE].map(|name| launch.arg(name).map(|argument| &argument.value));
    let fault = |at: Position, message: String| Pin::Fault(Fault { at, message });
    let number = |name: &str, node: &Node| match node {
        Node::Scalar(text) => decimal(&text.text).ok_or_else(|| no_number(name, text)),
        other => {
            let message = format!("{name} is {}; expected a number", other.kind().name());
            Err(Fault { at: other.at(), message })
        }
    };
    match (length, rate) {
        (None, None) => Pin::None,
        (Some(length), Some(_)) => {
            fault(length.at(), format!("{ATOM_LENGTH} and -rate together: the server refuses to start"))
        }
        (Some(length), None) => match number(ATOM_LENGTH, length) {
            Ok(number) => Pin::Value { accept_length: number, written: number, at: length.at() },
            Err(fault) => Pin::Fault(fault),
        },
        (None, Some(rate)) => match (number(ATOM_RATE, rate), draft_length) {
            (Ok(written), Some(drafts)) => {
                Pin::Value { accept_length: tidy(1.0 + written * f64::from(drafts)), written, at: rate.at() }
            }
            (Ok(_), None) => fault(
                rate.at(),
                format!(
                    "{ATOM_RATE} means an accept length of 1 + rate * draft length, and the draft length is not known"
                ),
            ),
            (Err(fault), _) => Pin::Fault(fault),
        },
    }
}

fn no_number(what: &str, value: &Scalar) -> Fault {
    let found = shown(&value.text);
    let message = if is_unresolved(&value.text) {
        format!("{what} is {found}, which only the run resolves")
    } else {
        format!("{what} is {}; expected a number", quoted(&found))
    };
    Fault { at: value.at, message }
}

/// Without what binary arithmetic leaves behind: 1.49 + 1 is 2.49.
fn tidy(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

fn is_null(node: &Node) -> bool {
    matches!(node, Node::Scalar(scalar) if scalar.is_null())
}

/// Whether an object of vLLM's says anything of synthetic acceptance.
pub(crate) fn is_synthetic(object: &Mapping) -> bool {
    let is_method = |node: &Node| matches!(node, Node::Scalar(scalar) if &*scalar.text == "synthetic");
    object.get(METHOD).is_some_and(is_method)
        || [LENGTH, RATES, OLD_RATE].iter().any(|key| object.get(key).is_some())
}
