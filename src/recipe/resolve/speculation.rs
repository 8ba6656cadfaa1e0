//! How a launch drafts, in each engine's own words.

use std::borrow::Cow;

use crate::engine::Engine;
use crate::recipe::json;
use crate::recipe::model::{Argument, Launch};
use crate::recipe::number::{draft_length, is_unresolved, shown};
use crate::yaml::{Mapping, Node, Position, Scalar, quoted};

use super::Fault;

/// A server that drafts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Speculation {
    /// The drafting method as written.
    pub(crate) method: Scalar,
    /// Tokens drafted per verify step.
    pub(crate) draft_length: DraftLength,
    pub(crate) draft_model: Option<Scalar>,
    /// How the draft samples, where the engine states it.
    pub(crate) sampler: Option<Scalar>,
}

/// A draft length, or why there is none.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum DraftLength {
    Known(u32, Position),
    /// Nothing states it.
    Absent,
    /// A text that is no draft length, or only the run resolves it.
    Unreadable(Fault),
}

impl DraftLength {
    pub(crate) fn known(&self) -> Option<u32> {
        match self {
            Self::Known(length, _) => Some(*length),
            Self::Absent | Self::Unreadable(_) => None,
        }
    }
}

/// How a launch drafts; `None` when it does not.
pub(crate) fn speculation_of(launch: &Launch, engine: Engine) -> Result<Option<Speculation>, Fault> {
    match engine {
        Engine::Sglang => sglang(launch),
        Engine::Vllm => vllm(launch),
        Engine::Trtllm => trtllm(launch),
        Engine::Atom => Ok(atom(launch)),
        Engine::Tilert => Ok(tilert(launch)),
    }
}

fn sglang(launch: &Launch) -> Result<Option<Speculation>, Fault> {
    let spellings = ["speculative-algorithm", "speculative-algo"];
    let [long, short] = spellings.map(|name| launch.arg(name).and_then(scalar));
    if let (Some(long), Some(short)) = (long, short)
        && !long.text.eq_ignore_ascii_case(&short.text)
    {
        let message = format!(
            "speculative-algorithm is {} and speculative-algo is {}: which of them holds is not for this program to guess",
            quoted(&shown(&long.text)),
            quoted(&shown(&short.text))
        );
        return Err(Fault { at: short.at, message });
    }
    let Some(method) = long.or(short).filter(|method| is_method(method)) else { return Ok(None) };
    let is_dspark = method.text.eq_ignore_ascii_case("dspark");
    let length = if is_dspark { "speculative-dspark-block-size" } else { "speculative-num-steps" };
    let length = launch.arg(length).and_then(scalar);
    Ok(Some(Speculation {
        method: method.clone(),
        draft_length: length.map_or(DraftLength::Absent, of_scalar),
        draft_model: owned(launch, "speculative-draft-model-path")
            .or_else(|| owned(launch, "speculative-draft-model")),
        sampler: None,
    }))
}

fn vllm(launch: &Launch) -> Result<Option<Speculation>, Fault> {
    let Some(argument) = launch.arg("speculative-config") else { return Ok(None) };
    let object = json_object(argument)?;
    let text = |key: &str| match object.get(key) {
        Some(Node::Scalar(scalar)) if !scalar.is_null() => Some(scalar.clone()),
        _ => None,
    };
    if object.entries.is_empty() {
        return Ok(None);
    }
    let length = text("num_speculative_tokens");
    let Some(method) = text("method") else {
        let message = "speculative-config names no method".to_owned();
        return Err(Fault { at: argument.value.at(), message });
    };
    Ok(Some(Speculation {
        method,
        draft_length: length.map_or(DraftLength::Absent, |length| of_scalar(&length)),
        draft_model: text("model"),
        sampler: text("draft_sample_method"),
    }))
}

/// The object of vLLM's `speculative-config`, JSON or a mapping.
pub(crate) fn json_object(argument: &Argument) -> Result<Cow<'_, Mapping>, Fault> {
    let fault = |message: String| Fault { at: argument.value.at(), message };
    match &argument.value {
        Node::Mapping(mapping) => Ok(Cow::Borrowed(mapping)),
        Node::Sequence(_) => Err(fault("speculative-config is a list; expected a JSON object".to_owned())),
        Node::Scalar(text) if is_wholly_unresolved(&text.text) => {
            Err(fault(format!("speculative-config is {}, which only the run resolves", shown(&text.text))))
        }
        Node::Scalar(text) => match json::tree(&text.text, text.at, None) {
            Ok(Node::Mapping(mapping)) => Ok(Cow::Owned(mapping)),
            Ok(other) => {
                Err(fault(format!("speculative-config is {}; expected a JSON object", other.kind().name())))
            }
            Err(error) => Err(fault(format!("speculative-config is not JSON: {error}"))),
        },
    }
}

/// Nothing but one piece that the run resolves.
fn is_wholly_unresolved(text: &str) -> bool {
    let text = text.trim();
    let mut pieces = text.split(crate::recipe::number::UNRESOLVED);
    pieces.next() == Some("") && pieces.nth(1) == Some("") && pieces.next().is_none()
}

fn trtllm(launch: &Launch) -> Result<Option<Speculation>, Fault> {
    let Some(argument) = launch.arg("speculative-config") else { return Ok(None) };
    let config = json_object(argument)?;
    if config.entries.is_empty() {
        return Ok(None);
    }
    let text = |names: &[&str]| {
        names.iter().find_map(|name| match config.get(name) {
            Some(Node::Scalar(scalar)) if !scalar.is_null() => Some(scalar.clone()),
            _ => None,
        })
    };
    let Some(method) = text(&["decoding_type"]) else {
        let message = "speculative_config names no decoding_type".to_owned();
        return Err(Fault { at: argument.value.at(), message });
    };
    let length = text(&["max_draft_len", "num_nextn_predict_layers"]);
    Ok(Some(Speculation {
        method,
        draft_length: length.map_or(DraftLength::Absent, |length| of_scalar(&length)),
        draft_model: text(&["speculative_model", "speculative_model_dir"]),
        sampler: None,
    }))
}

fn atom(launch: &Launch) -> Option<Speculation> {
    let method = launch.arg("method").and_then(scalar).filter(|method| is_method(method))?;
    Some(Speculation {
        method: method.clone(),
        draft_length: length(launch, "num-speculative-tokens"),
        draft_model: owned(launch, "draft-model"),
        sampler: None,
    })
}

fn tilert(launch: &Launch) -> Option<Speculation> {
    let with = launch.arg("with-mtp").and_then(scalar).filter(|flag| &*flag.text == "true")?;
    let method = Scalar { text: "mtp".into(), ..with.clone() };
    let draft_length = length(launch, "num-mtp");
    Some(Speculation { method, draft_length, draft_model: None, sampler: None })
}

fn length(launch: &Launch, name: &str) -> DraftLength {
    launch.arg(name).and_then(scalar).map_or(DraftLength::Absent, of_scalar)
}

/// A draft length; a quoted number of a recipe is refused, as the launch resolver does.
fn of_scalar(length: &Scalar) -> DraftLength {
    let number = draft_length(&length.text);
    if let Some(number) = number.filter(|_| length.is_plain()) {
        return DraftLength::Known(number, length.at);
    }
    let found = shown(&length.text);
    let message = if is_unresolved(&length.text) {
        format!("the draft length is {found}, which only the run resolves")
    } else if number.is_some() {
        format!("the draft length is '{found}' in quotes; the launch resolver wants a bare number")
    } else {
        format!("the draft length is {}; expected a positive whole number", quoted(&found))
    };
    DraftLength::Unreadable(Fault { at: length.at, message })
}

/// Whether a server given this method drafts.
fn is_method(method: &Scalar) -> bool {
    let text = method.text.trim();
    !text.is_empty() && !text.eq_ignore_ascii_case("none") && !text.eq_ignore_ascii_case("null")
}

fn scalar(argument: &Argument) -> Option<&Scalar> {
    match &argument.value {
        Node::Scalar(scalar) => Some(scalar),
        Node::Sequence(_) | Node::Mapping(_) => None,
    }
}

fn owned(launch: &Launch, name: &str) -> Option<Scalar> {
    launch.arg(name).and_then(scalar).cloned()
}
