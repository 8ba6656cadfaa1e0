//! vLLM's dotted arguments: `--speculative-config.method mtp` for `--speculative-config '{"method":"mtp"}'`.

use crate::yaml::{Entry, Mapping, Node, Scalar};

use super::json;
use super::model::Argument;

/// Arguments whose keys may stand behind a dot.
const DOTTED: [&str; 2] = ["speculative-config", "default-chat-template-kwargs"];

/// An argument's name in one spelling: dashes between words. What stands behind a dot is a key and stays.
pub(crate) fn argument_name(written: &str) -> String {
    match written.split_once('.') {
        Some((name, keys)) => format!("{}.{keys}", name.replace('_', "-")),
        None => written.replace('_', "-"),
    }
}

/// Makes one object of an argument's dotted keys. It is behind an object in one piece, and so replaces it: vLLM puts it
/// there, and the last of a name holds (`FlexibleArgumentParser`).
pub(crate) fn fold_dotted(args: &mut Vec<Argument>) {
    for name in DOTTED {
        let is_dotted =
            |argument: &Argument| argument.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
        let Some(at) = args.iter().find(|argument| is_dotted(argument)).map(|argument| argument.at) else {
            continue;
        };
        let mut object = Mapping { at, entries: Vec::new() };
        let mut kept = Vec::with_capacity(args.len());
        for argument in args.drain(..) {
            if !is_dotted(&argument) {
                kept.push(argument);
                continue;
            }
            let keys: Vec<&str> =
                argument.name.get(name.len() + 1..).unwrap_or_default().split('.').collect();
            let value = match argument.value {
                Node::Scalar(text) => value(text),
                other => other,
            };
            insert(&mut object, &keys, argument.at, value);
        }
        kept.push(Argument { name: name.to_owned(), value: Node::Mapping(object), at });
        *args = kept;
    }
}

/// JSON where it is JSON, else the text.
fn value(text: Scalar) -> Node {
    match json::tree(&text.text, text.at, None) {
        Ok(node @ (Node::Sequence(_) | Node::Mapping(_))) => node,
        // A number or a text keeps its own place and spelling.
        _ => Node::Scalar(text),
    }
}

fn insert(object: &mut Mapping, keys: &[&str], at: crate::yaml::Position, value: Node) {
    let Some((key, rest)) = keys.split_first() else { return };
    let inner = if rest.is_empty() {
        value
    } else {
        let held = object.entries.iter().position(|entry| &*entry.key.text == *key);
        let mut inner = match held.map(|index| object.entries.remove(index).value) {
            Some(Node::Mapping(inner)) => inner,
            _ => Mapping { at, entries: Vec::new() },
        };
        insert(&mut inner, rest, at, value);
        Node::Mapping(inner)
    };
    object.entries.retain(|entry| &*entry.key.text != *key);
    let key = Scalar { at, text: (*key).into(), style: crate::yaml::ScalarStyle::Plain };
    object.entries.push(Entry { key, value: inner });
}
