//! Texts of hostile length made short.

use crate::evidence::ServerStart;

/// Longest text that is kept of a setting or an argument.
const MOST_TEXT: usize = 200;

/// Most batch sizes with a graph that are kept.
const MOST_BATCHES: usize = 512;

/// The arguments with no text longer than any that a server prints.
pub(super) fn clipped(arguments: &ServerStart) -> ServerStart {
    let mut arguments = arguments.clone();
    for text in [
        &mut arguments.timestamp,
        &mut arguments.speculative_algorithm,
        &mut arguments.disaggregation_mode,
        &mut arguments.model_path,
    ] {
        *text = text.take().map(|text| clip(&text).to_owned());
    }
    arguments.graph_batches.truncate(MOST_BATCHES);
    arguments
}

/// The beginning of a text.
pub(super) fn clip(text: &str) -> &str {
    let mut end = text.len().min(MOST_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or("")
}
