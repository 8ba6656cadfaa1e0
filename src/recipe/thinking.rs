//! The thinking mode that a file declares.

use crate::golden::Thinking;
use crate::yaml::{Node, Position, Scalar, ScalarStyle};

use super::json;
use super::model::{Launch, Variable, Variant, variable};

/// A mode and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Declared {
    pub(crate) mode: Thinking,
    pub(crate) at: Position,
}

/// What a variant declares: the generation role first, then the other roles, the global environment and the client's.
pub(crate) fn declared<'a>(
    variant: &'a Variant,
    first: impl IntoIterator<Item = &'a Launch>,
) -> Option<Declared> {
    let launches = first.into_iter().chain(&variant.launches);
    in_variables(&variant.global)
        .or_else(|| launches.into_iter().find_map(of_launch))
        .or_else(|| in_variables(&variant.client))
        .or_else(|| variable(&variant.client, "THINKING_MODE").and_then(of_word))
}

fn of_launch(launch: &Launch) -> Option<Declared> {
    in_variables(&launch.env).or_else(|| {
        launch.args.iter().rev().find_map(|argument| match argument.name.as_str() {
            "dyn-default-thinking-mode" => match &argument.value {
                Node::Scalar(value) => of_word(value),
                Node::Sequence(_) | Node::Mapping(_) => None,
            },
            "default-chat-template-kwargs" => of_kwargs(&argument.value),
            _ => None,
        })
    })
}

fn in_variables(variables: &[Variable]) -> Option<Declared> {
    let words = ["SGLANG_DEFAULT_THINKING", "SGLANG_ENABLE_THINKING", "DYN_DEFAULT_THINKING_MODE"];
    words
        .iter()
        .find_map(|name| variable(variables, name).and_then(of_word))
        .or_else(|| variable(variables, "AIPERF_EXTRA_INPUTS").and_then(of_extra_inputs))
}

/// Whether a branch that led to a variant is one that a run with this model and mode does not take.
pub(crate) fn is_passed_by(variant: &Variant, model: Option<&str>, mode: Option<Thinking>) -> bool {
    variant.taken.iter().any(|taken| {
        let is_it = if taken.name == "MODEL_PREFIX" {
            model.map(|model| super::context::same_model(model, &taken.value))
        } else {
            let word =
                Scalar { at: Position::START, text: taken.value.as_str().into(), style: ScalarStyle::Plain };
            mode.and_then(|mode| Some(of_word(&word)?.mode == mode))
        };
        is_it.is_some_and(|is_it| is_it != taken.is_so)
    })
}

/// `1`, `enabled`, `true`, `on` and their opposites.
fn of_word(value: &Scalar) -> Option<Declared> {
    let mode = match value.text.trim().to_ascii_lowercase().as_str() {
        "1" | "true" | "enabled" | "on" | "yes" | "thinking_on" => Thinking::On,
        "0" | "false" | "disabled" | "off" | "no" | "thinking_off" => Thinking::Off,
        _ => return None,
    };
    Some(Declared { mode, at: value.at })
}

/// `thinking:true` among comma-separated inputs.
fn of_extra_inputs(value: &Scalar) -> Option<Declared> {
    value.text.split([',', ' ']).find_map(|input| {
        let (name, word) = input.trim().split_once(':')?;
        let is_thinking = matches!(name.trim(), "thinking" | "enable_thinking");
        let word = Scalar { text: word.trim().into(), ..value.clone() };
        is_thinking.then(|| of_word(&word)).flatten()
    })
}

/// JSON with `thinking`, `enable_thinking` or `thinking_mode`.
fn of_kwargs(value: &Node) -> Option<Declared> {
    let tree;
    let object = match value {
        Node::Mapping(object) => object,
        Node::Scalar(text) => {
            tree = json::tree(&text.text, text.at, None).ok()?;
            match &tree {
                Node::Mapping(object) => object,
                Node::Scalar(_) | Node::Sequence(_) => return None,
            }
        }
        Node::Sequence(_) => return None,
    };
    ["thinking", "enable_thinking", "thinking_mode"].iter().find_map(|key| match object.get(key) {
        Some(Node::Scalar(word)) => of_word(word),
        _ => None,
    })
}
