//! The slow reader's second half: SGLANG.md section 5, rules 4 to 8, for what stands behind a head.

use std::collections::BTreeMap;

use regex::bytes::Regex;

use super::pattern::{
    BOOLEAN, CONTINUED, F2, GRAPH, INTEGER, MIXED, NAME, NEGATIVE_F2, NEGATIVE_INTEGER, NOT_FINITE, POOLS,
};
use super::reader::{Said, string, trimmed};

/// Names that have a meaning. One of them at the end of a longer name, with no blank before it, is the trace of a line
/// that was overwritten.
const KNOWN: [&str; 18] = [
    "#running-req",
    "#token",
    "token usage",
    "accept len",
    "accept rate",
    "cap len",
    "block accept len",
    "cuda graph",
    "cpu graph",
    "npu graph",
    "musa graph",
    "gen throughput (token/s)",
    "#queue-req",
    "#retracted-req",
    "#new-seq",
    "#new-token",
    "#cached-token",
    "input throughput (token/s)",
];

/// Splits at commas outside brackets; a bracket that never closes hides none.
fn pieces(message: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    let mut rest = message;
    while !rest.is_empty() {
        let mut depth = 0_usize;
        let mut end = None;
        for (index, byte) in rest.iter().enumerate() {
            match byte {
                b',' if depth == 0 => {
                    end = Some(index);
                    break;
                }
                b'(' | b'[' => depth += 1,
                b')' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        if depth > 0 {
            end = rest.iter().position(|byte| *byte == b',');
        }
        let end = end.unwrap_or(rest.len());
        pieces.push(&rest[..end]);
        rest = rest.get(end + 1..).unwrap_or(&[]);
    }
    pieces.into_iter().map(trimmed).filter(|piece| !piece.is_empty()).collect()
}

fn is_ellipsis(piece: &[u8]) -> bool {
    piece.starts_with(b"...") || piece.ends_with(b"...") || piece.starts_with("…".as_bytes())
}

/// A message without one known field: cut right behind its head, or prose.
fn unknown(message: &[u8], first: &[u8]) -> &'static str {
    let text = trimmed(message);
    if text.starts_with(first) || first.starts_with(text) { "truncated" } else { "lookalike" }
}

/// The fields that were read so far.
#[derive(Default)]
struct Fields {
    known: BTreeMap<String, Vec<u8>>,
    /// Names that have no meaning here. More than 32 in one line are damage, and so are more than 32 pool figures.
    foreign: Vec<Vec<u8>>,
    continued: usize,
}

impl Fields {
    /// Takes one piece: `Err` with what its damage is.
    fn take(
        &mut self,
        piece: &[u8],
        is_last: bool,
        check: impl Fn(&str, &[u8]) -> Option<bool>,
    ) -> Result<(), &'static str> {
        let colon = piece.iter().position(|byte| *byte == b':');
        let Some(colon) = colon else {
            let whole = CONTINUED.is_match(piece) && (is_last || !MIXED.is_match(piece));
            self.continued += usize::from(whole);
            let fits = whole && self.continued <= 32;
            return if fits {
                Ok(())
            } else {
                Err(if is_ellipsis(piece) { "lookalike" } else { "truncated" })
            };
        };
        let name = piece[..colon].trim_ascii_end();
        let value = piece[colon + 1..].trim_ascii_start();
        if colon == 0 || value.is_empty() {
            return Err(if is_ellipsis(piece) { "lookalike" } else { "truncated" });
        }
        let damage = if is_ellipsis(value) { "lookalike" } else { "truncated" };
        // More than a value in the middle of a message: two lines run together.
        if !is_last && MIXED.is_match(value) {
            return Err(damage);
        }
        match check(&string(name), value) {
            Some(true) => match self.known.insert(string(name), value.to_vec()) {
                // Two values of one name: two records were mixed.
                Some(_) => Err(damage),
                None => Ok(()),
            },
            Some(false) => Err(damage),
            None => {
                let spliced = KNOWN.iter().any(|known| {
                    name.strip_suffix(known.as_bytes())
                        .is_some_and(|rest| rest.last().is_some_and(|byte| !byte.is_ascii_whitespace()))
                });
                let fits = NAME.is_match(name)
                    && !spliced
                    && !is_ellipsis(value)
                    && self.foreign.len() < 32
                    && !self.foreign.iter().any(|seen| seen == name);
                self.foreign.push(name.to_vec());
                if fits { Ok(()) } else { Err(damage) }
            }
        }
    }

    fn get(&self, name: &str) -> Option<&[u8]> {
        self.known.get(name).map(Vec::as_slice)
    }

    /// The graph field under whatever label.
    fn graph(&self) -> Vec<(String, &[u8])> {
        let graphs = self.known.iter().filter(|(name, _)| GRAPH.is_match(name.as_bytes()));
        graphs.map(|(name, value)| (name.replace(" graph", ""), value.as_slice())).collect()
    }
}

fn is_integer(value: &[u8], most: u64) -> bool {
    INTEGER.captures(value).is_some_and(|digits| string(&digits[1]).parse::<u64>().unwrap() <= most)
}

/// A share or a length: two decimals that fit 32 bits as hundredths, `nan`, or less than nothing.
fn is_hundredths(value: &[u8]) -> bool {
    let plain = F2.captures(value).map(|digits| string(&digits[1]).replace('.', "").parse::<u128>().unwrap());
    plain.is_some_and(|hundredths| hundredths <= u128::from(u32::MAX))
        || NOT_FINITE.is_match(value)
        || NEGATIVE_F2.is_match(value)
}

fn is_speed(value: &[u8]) -> bool {
    F2.is_match(value) || NOT_FINITE.is_match(value) || NEGATIVE_F2.is_match(value)
}

/// The number at the start of a value, without leading zeros.
pub(crate) fn number(value: &[u8]) -> String {
    let text = string(value);
    let text = text.split(|letter: char| !letter.is_ascii_digit() && letter != '.').next().unwrap_or("");
    let plain = text.trim_start_matches('0');
    if plain.is_empty() || plain.starts_with('.') { format!("0{plain}") } else { plain.to_owned() }
}

fn say(said: &mut Said, name: &'static str, value: Option<&[u8]>, pattern: &Regex) {
    if let Some(value) = value.filter(|value| pattern.is_match(value)) {
        said.insert(name, number(value));
    }
}

fn say_speed(said: &mut Said, name: &'static str, value: Option<&[u8]>) {
    if let Some(value) = value.filter(|value| F2.is_match(value)) {
        said.insert(name, number(value).parse::<f64>().unwrap().to_string());
    }
}

fn say_graph(said: &mut Said, fields: &Fields) {
    for (label, on) in fields.graph() {
        said.insert("graph", format!("{label} {}", if on.starts_with(b"True") { "True" } else { "False" }));
    }
}

/// Rules 4 to 8 for a decode line.
pub(crate) fn decode(mut said: Said, message: &[u8]) -> Result<Said, &'static str> {
    let check = |name: &str, value: &[u8]| match name {
        "#running-req" | "#queue-req" => Some(is_integer(value, u32::MAX.into())),
        "#token" => {
            Some(POOLS.is_match(value) || is_integer(value, u64::MAX) || NEGATIVE_INTEGER.is_match(value))
        }
        "token usage" => Some(POOLS.is_match(value) || is_hundredths(value)),
        "accept len" | "accept rate" => Some(is_hundredths(value) && !NEGATIVE_F2.is_match(value)),
        "gen throughput (token/s)" => Some(is_speed(value)),
        name if GRAPH.is_match(name.as_bytes()) => Some(BOOLEAN.is_match(value)),
        _ => None,
    };
    let mut fields = Fields::default();
    let pieces = pieces(message);
    for (index, piece) in pieces.iter().enumerate() {
        let outcome = fields.take(piece, index + 1 == pieces.len(), check);
        // One graph field, whatever its label.
        let outcome = if fields.graph().len() > 1 { Err("truncated") } else { outcome };
        if let Err(damage) = outcome {
            let prose = damage == "truncated" && fields.known.is_empty();
            return Err(if prose { unknown(message, b"#running-req") } else { damage });
        }
    }
    if fields.get("#running-req").is_none() || fields.get("#queue-req").is_none() {
        return Err(if fields.known.is_empty() { unknown(message, b"#running-req") } else { "truncated" });
    }
    if ["accept len", "accept rate"]
        .iter()
        .any(|name| fields.get(name).is_some_and(|value| NOT_FINITE.is_match(value)))
    {
        return Err("not_finite");
    }
    for (name, field, pattern) in [
        ("running_req", "#running-req", &INTEGER),
        ("queue_req", "#queue-req", &INTEGER),
        ("tokens", "#token", &INTEGER),
        ("token_usage", "token usage", &F2),
        ("accept_len", "accept len", &F2),
        ("accept_rate", "accept rate", &F2),
    ] {
        say(&mut said, name, fields.get(field), pattern);
    }
    say_speed(&mut said, "gen_throughput", fields.get("gen throughput (token/s)"));
    say_graph(&mut said, &fields);
    let capped = fields.foreign.iter().any(|name| name == b"cap len" || name == b"block accept len");
    said.insert("capped", capped.to_string());
    Ok(said)
}

/// A prefill line: what stands before the first damage. A count at the very end may be cut unless `#queue-req` came.
pub(crate) fn prefill(mut said: Said, message: &[u8]) -> Result<Said, &'static str> {
    let check = |name: &str, value: &[u8]| match name {
        "#new-seq" | "#running-req" | "#queue-req" => Some(is_integer(value, u32::MAX.into())),
        "#new-token" | "#cached-token" => Some(is_integer(value, u64::MAX)),
        "token usage" => Some(POOLS.is_match(value) || is_hundredths(value)),
        "input throughput (token/s)" => Some(is_speed(value)),
        name if GRAPH.is_match(name.as_bytes()) => Some(BOOLEAN.is_match(value)),
        _ => None,
    };
    let mut fields = Fields::default();
    let pieces = pieces(message);
    let is_closed = message.trim_ascii_end().ends_with(b",");
    for (index, piece) in pieces.iter().enumerate() {
        let is_last = index + 1 == pieces.len();
        let is_cut = is_last && !is_closed && fields.get("#queue-req").is_none();
        let counts = [&b"#new-seq"[..], b"#new-token", b"#cached-token", b"#running-req"];
        let is_count = counts.iter().any(|name| piece.starts_with(name));
        let mut trial = Fields {
            known: fields.known.clone(),
            foreign: fields.foreign.clone(),
            continued: fields.continued,
        };
        match trial.take(piece, is_last, check) {
            Err("lookalike") => return Err("lookalike"),
            Err(_) => break,
            Ok(()) if is_cut && is_count => break,
            Ok(()) if trial.graph().len() > 1 => break,
            Ok(()) => fields = trial,
        }
    }
    if fields.known.is_empty() {
        return Err(unknown(message, b"#new-seq"));
    }
    if fields.get("#new-seq").is_none() && fields.get("#new-token").is_none() {
        return Err("truncated");
    }
    for (name, field, pattern) in [
        ("new_seq", "#new-seq", &INTEGER),
        ("new_tokens", "#new-token", &INTEGER),
        ("cached_tokens", "#cached-token", &INTEGER),
        ("running_req", "#running-req", &INTEGER),
        ("queue_req", "#queue-req", &INTEGER),
        ("token_usage", "token usage", &F2),
    ] {
        say(&mut said, name, fields.get(field), pattern);
    }
    say_speed(&mut said, "input_throughput", fields.get("input throughput (token/s)"));
    say_graph(&mut said, &fields);
    Ok(said)
}
