//! Windows of vLLM: when their steps are known.

use super::VllmSpec;
use crate::evidence::{SkipReason, StepCount};

fn parse(message: &str) -> Result<VllmSpec, SkipReason> {
    VllmSpec::parse(b"(APIServer pid=1) INFO 05-03 18:50:55 [metrics.py:101] ", message.as_bytes(), false)
}

#[test]
fn steps_are_known_where_the_figures_agree() {
    let line = |length: &str, accepted: u32, drafted: u32, shares: &str| {
        parse(&format!(
            " Mean acceptance length: {length}, Accepted: {accepted} tokens, Drafted: {drafted} tokens, Per-position acceptance \
             rate: {shares}, Avg Draft acceptance rate: 50.0%"
        ))
        .unwrap()
    };
    let steps = |line: &VllmSpec| line.window(None).map(|window| window.steps);
    assert_eq!(steps(&line("2.16", 150, 387, "0.543, 0.357, 0.264")), Some(StepCount::Exact(129)));
    // Fewer drafts than K in some steps: D/K is not N.
    let changing = line("2.50", 1500, 2700, "0.800, 0.500, 0.200");
    assert_eq!(changing.steps(), Some(900));
    assert_eq!(steps(&changing), Some(StepCount::Between(997, 1003)));
    // Nothing accepted: N lies between D/K and D.
    assert_eq!(steps(&line("1.00", 0, 301, "0.000, 0.000, 0.000")), Some(StepCount::Between(101, 301)));
}

#[test]
fn fields_in_any_order_and_a_missing_tail() {
    let line =
        parse(" Drafted: 600 tokens, Accepted: 240 tokens, Mean acceptance length: 2.20, Per-position accep")
            .unwrap();
    assert_eq!((line.accepted, line.drafted, line.accept_len), (240, 600, Some(2.2)));
    assert!(line.per_position.is_empty() && line.draft_length.is_none());
    assert_eq!((line.pid, line.timestamp.as_deref()), (Some(1), Some("05-03 18:50:55")));
    // A share that the line's end cuts is none.
    let cut = parse(
        " Mean acceptance length: 2.20, Accepted: 240 tokens, Drafted: 600 tokens, Per-position acceptance rate: 0.600, 0.4",
    );
    assert_eq!(cut.unwrap().per_position, [0.6]);
}

#[test]
fn what_is_no_window() {
    for (message, reason) in [
        (" Mean acceptance length: nan, Accepted: 0 tokens, Drafted: 0 tokens", SkipReason::NotFinite),
        (" Accepted: 0 tokens, Drafted: 0 tokens", SkipReason::NotFinite),
        (" Mean acceptance length: 2.20, Accepted: 24", SkipReason::Truncated),
        (" Mean acceptance length: 2.20, Accepted: 700 tokens, Drafted: 600 tokens", SkipReason::Truncated),
        (" are printed every ten seconds", SkipReason::Lookalike),
        ("", SkipReason::Lookalike),
    ] {
        assert_eq!(parse(message), Err(reason), "{message}");
    }
}
