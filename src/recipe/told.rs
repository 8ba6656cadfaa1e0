//! What the servers of a file are told to simulate, under the names that the engines print.

use crate::engine::{Drafter, Engine, sglang::MaxRule};
use crate::yaml::{Node, Scalar};

use super::Selector;
use super::context::Resolved;
use super::model::{Document, Launch, Role, Variant, variable};
use super::number::{draft_length, is_unresolved, shown};
use super::resolve::{Pin, TOKEN_MODE, json_object, method_variable, pin_in, pin_of, pin_variable};

const LENGTH: &str = "synthetic_acceptance_length";
const RATES: &str = "synthetic_acceptance_rates";
const ATOM_LENGTH: &str = "spec-decode-acceptance-length";
const ATOM_RATE: &str = "spec-decode-acceptance-rate";

/// One server that is told to simulate acceptance.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// The variant of the file, where it has variants.
    pub variant: Option<String>,
    /// What the server does.
    pub role: Role,
    /// Its engine.
    pub engine: Engine,
    /// The accept length that it is to show, in tokens a verify step.
    pub accept_length: f64,
    /// Most tokens that one of its steps can emit, where the file tells.
    pub max_accept_length: Option<u32>,
    /// The settings that say so: that of the length first.
    pub settings: Vec<ToldSetting>,
}

/// One setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldSetting {
    /// Its name, as the engine prints it.
    pub name: &'static str,
    /// Its value, in the engine's own unit.
    pub value: String,
    /// Line of the file, from 1.
    pub line: usize,
}

/// Why a file does not tell.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToldError {
    /// A value that cannot be read.
    #[error("line {line}: {message}")]
    Fault {
        /// Line of the file, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// No variant of that name.
    #[error("no variant matches '{selector}'; there are {}", .known.join(", "))]
    NoVariant {
        /// What was asked for.
        selector: String,
        /// The variants.
        known: Vec<String>,
    },
    /// Variants that tell different lengths.
    #[error("its variants tell different lengths ({}); name the one that ran, as FILE:VARIANT", .0.join(", "))]
    SeveralLengths(Vec<String>),
}

impl Document {
    /// The servers that are told to simulate acceptance, without those that only prefill.
    ///
    /// Without a selector every variant has to tell the same length.
    ///
    /// ```
    /// use accsim::engine::Engine;
    /// use accsim::recipe::read;
    ///
    /// let recipe = "backend:\n  type: trtllm\n  decode_environment:\n    TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS: '2.51'\n\
    ///               \x20 trtllm_config:\n    decode:\n      speculative_config: {decoding_type: MTP, num_nextn_predict_layers: 5}\n";
    /// let told = read("recipe.yaml", recipe)?.unwrap().told(None)?;
    /// assert_eq!((told[0].engine, told[0].accept_length, told[0].max_accept_length), (Engine::Trtllm, 3.51, Some(6)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn told(&self, selector: Option<&Selector>) -> Result<Vec<Told>, ToldError> {
        let is_meant = |variant: &&Variant| match (selector, &variant.name) {
            (Some(selector), name) => name.as_deref().is_some_and(|name| selector.matches(name)),
            (None, _) => true,
        };
        let meant: Vec<&Variant> = self.variants.iter().filter(is_meant).collect();
        if let (Some(selector), true) = (selector, meant.is_empty()) {
            return Err(ToldError::NoVariant { selector: selector.to_string(), known: self.variant_names() });
        }
        let mut all: Vec<Told> = Vec::new();
        for variant in meant {
            for launch in variant.launches.iter().filter(|launch| launch.role != Role::Prefill) {
                all.extend(told(variant, launch)?);
            }
        }
        let differs = |told: &Told| {
            all.first().is_some_and(|first| !super::number::same(first.accept_length, told.accept_length))
        };
        if all.iter().any(differs)
            && all.iter().any(|told| told.variant != all.first().and_then(|first| first.variant.clone()))
        {
            let mut lengths: Vec<String> = all
                .iter()
                .map(|told| {
                    format!(
                        "{} {}",
                        told.variant.as_deref().unwrap_or("the file"),
                        crate::engine::General(told.accept_length)
                    )
                })
                .collect();
            lengths.dedup();
            return Err(ToldError::SeveralLengths(lengths));
        }
        // Variants that agree tell the same thing once each.
        let first = all.first().and_then(|told| told.variant.clone());
        all.retain(|told| told.variant == first);
        Ok(all)
    }
}

fn told(variant: &Variant, launch: &Launch) -> Result<Option<Told>, ToldError> {
    let resolved = Resolved::new(launch);
    let Some(engine) = resolved.engine else { return Ok(None) };
    let is_drafting = matches!(&resolved.speculation, Ok(Some(_)));
    if !is_drafting && !launch.is_bare {
        // What cannot be read is no server without drafts.
        if let (Err(fault), true) = (&resolved.speculation, pin_in(&launch.env, engine) != Pin::None) {
            return Err(ToldError::Fault { line: fault.at.line, message: fault.message.clone() });
        }
        return Ok(None);
    }
    let drafts = resolved.draft_length();
    // The environment of the whole recipe is applied last.
    let global = pin_in(&variant.global, engine);
    let pin = if global == Pin::None { pin_of(launch, engine, drafts) } else { global };
    let (accept_length, at) = match pin {
        Pin::None => return Ok(None),
        Pin::Empty(fault) | Pin::Fault(fault) => {
            return Err(ToldError::Fault { line: fault.at.line, message: fault.message });
        }
        Pin::Value { accept_length, at, .. } => (accept_length, at),
    };
    let mut settings = match engine {
        Engine::Sglang | Engine::Trtllm | Engine::Tilert => variables(variant, launch, engine),
        Engine::Vllm => of_vllm(launch),
        Engine::Atom => of_atom(launch),
    };
    if let (Some(drafts), Engine::Vllm | Engine::Atom) = (drafts, engine) {
        let value = drafts.to_string();
        settings.push(ToldSetting { name: "num_speculative_tokens", value, line: at.line });
    }
    let max_accept_length = match engine {
        Engine::Sglang => of_sglang(launch),
        _ => drafts.map(|drafts| drafts.saturating_add(1)),
    };
    let (variant, role) = (variant.name.clone(), launch.role);
    Ok(Some(Told { variant, role, engine, accept_length, max_accept_length, settings }))
}

/// Variables, as they reach the server.
fn variables(variant: &Variant, launch: &Launch, engine: Engine) -> Vec<ToldSetting> {
    let token_mode = (engine == Engine::Sglang).then_some(TOKEN_MODE);
    let names = [pin_variable(engine), method_variable(engine), token_mode];
    let found = names.into_iter().flatten().filter_map(|name| {
        let value = variable(&variant.global, name).or_else(|| variable(&launch.env, name))?;
        (!is_unresolved(&value.text)).then(|| setting(name, value))
    });
    found.collect()
}

fn setting(name: &'static str, value: &Scalar) -> ToldSetting {
    ToldSetting { name, value: value.text.trim().to_owned(), line: value.at.line }
}

fn of_vllm(launch: &Launch) -> Vec<ToldSetting> {
    let Some(Ok(object)) = launch.arg("speculative-config").map(json_object) else { return Vec::new() };
    let length = match (object.get(LENGTH), object.get(RATES)) {
        (Some(Node::Scalar(length)), _) if !length.is_null() => Some(setting(LENGTH, length)),
        (_, Some(Node::Sequence(rates))) => {
            let rates_text = rates.items.iter().map(|item| match item {
                Node::Scalar(rate) => shown(rate.text.trim()),
                other => other.kind().name().to_owned(),
            });
            let value = format!("[{}]", rates_text.collect::<Vec<_>>().join(", "));
            Some(ToldSetting { name: RATES, value, line: rates.at.line })
        }
        _ => None,
    };
    length.into_iter().collect()
}

fn of_atom(launch: &Launch) -> Vec<ToldSetting> {
    let of = |argument, name| {
        let Node::Scalar(value) = &launch.arg(argument)?.value else { return None };
        Some(setting(name, value))
    };
    let length = of(ATOM_LENGTH, "spec_decode_acceptance_length");
    length.or_else(|| of(ATOM_RATE, "spec_decode_acceptance_rate")).into_iter().collect()
}

/// Most tokens of a step, by the drafting algorithm's own rule.
fn of_sglang(launch: &Launch) -> Option<u32> {
    let text = |name: &str| match &launch.arg(name)?.value {
        Node::Scalar(value) => Some(value.text.trim().to_owned()),
        Node::Sequence(_) | Node::Mapping(_) => None,
    };
    let algorithm = text("speculative-algorithm").or_else(|| text("speculative-algo"))?;
    let rule = MaxRule::of(algorithm.parse::<Drafter>().ok()?.family());
    let number = match rule {
        MaxRule::NumStepsPlusOne => "speculative-num-steps",
        MaxRule::DraftTokens => "speculative-num-draft-tokens",
        MaxRule::BlockSizePlusOne => "speculative-dspark-block-size",
        MaxRule::BlockSize => "speculative-dflash-block-size",
    };
    Some(rule.max(draft_length(&text(number)?)?))
}
