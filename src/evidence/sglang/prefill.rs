//! One prefill line, as far as an audit needs it. What is cut is absent.

use crate::evidence::PrefillLine;

use super::fields::{Field, Fields};
use super::number::{integer, integer32};
use super::prefix::Prefix;

/// Reads the message behind a head; `None` when nothing in it is a prefill line's.
pub(super) fn parse(prefix: Prefix<'_>, message: &[u8]) -> Option<PrefillLine> {
    let mut line = PrefillLine {
        tags: prefix.tags,
        new_seq: None,
        new_tokens: None,
        cached_tokens: None,
        running_req: None,
    };
    for field in Fields::new(message) {
        let Field::Named { name, value } = field else { continue };
        match name {
            b"#new-seq" => line.new_seq = integer32(value),
            b"#new-token" => line.new_tokens = integer(value),
            b"#cached-token" => line.cached_tokens = integer(value),
            b"#running-req" => line.running_req = integer32(value),
            _ => {}
        }
    }
    (line.new_seq.is_some() || line.new_tokens.is_some()).then_some(line)
}
