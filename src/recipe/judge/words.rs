//! Accept lengths and targets in messages.

use crate::engine::{Engine, General};
use crate::recipe::context::Golden;

/// A length with the two decimals of the curves, or more where it has them.
pub(super) fn length(value: f64) -> String {
    let short = format!("{value:.2}");
    let is_short = short.parse::<f64>().is_ok_and(|read| (read - value).abs() < 1e-9);
    if is_short { short } else { General(value).to_string() }
}

/// A pin in the engine's own unit, where that is another one.
pub(super) fn written(engine: Option<Engine>, accept_length: f64) -> String {
    match engine {
        Some(Engine::Trtllm) => {
            format!("{} (written {})", length(accept_length), General(accept_length - 1.0))
        }
        _ => length(accept_length),
    }
}

/// `dsv4_mtp thinking_on, draft length 3`.
pub(super) fn cell(golden: &Golden, mode: crate::golden::Thinking, draft_length: Option<u32>) -> String {
    let curve = golden.curve.as_deref().unwrap_or("no curve");
    match draft_length {
        Some(draft_length) => format!("{curve} {mode}, draft length {draft_length}"),
        None => format!("{curve} {mode}"),
    }
}
