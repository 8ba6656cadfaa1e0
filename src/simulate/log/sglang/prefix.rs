//! What stands before a line: the time and the tags of its rank.

use std::fmt::Write as _;

use super::plan::{Parallel, SglangPlan};
use super::shape::{TagName, Voices};
use crate::evidence::Tags;
use crate::simulate::log::text::Piece;
use crate::simulate::log::time::Stamp;

/// One process that prints the lines of a data-parallel rank.
#[derive(Clone, Debug)]
pub(super) struct Voice {
    /// ` DP0 TP0] `
    pub(super) text: Vec<Piece>,
    pub(super) tags: Tags,
}

/// How the times are written.
pub(super) fn stamp(plan: &SglangPlan) -> Stamp {
    match (plan.grammar().prefix.dated, plan.log().milliseconds) {
        (false, _) => Stamp::Clock,
        (true, false) => Stamp::Seconds,
        (true, true) => Stamp::Milliseconds,
    }
}

/// The processes that print the lines of data-parallel rank `rank`: its first tensor-parallel rank in every pipeline
/// stage, in some releases all of them.
pub(super) fn voices(plan: &SglangPlan, rank: u32) -> Vec<Voice> {
    let (log, grammar) = (plan.log(), plan.grammar());
    let sizes = log.parallel;
    let of_rank = if sizes.dp_attention { sizes.tp / sizes.dp } else { sizes.tp };
    let first = if sizes.dp_attention { rank * of_rank } else { 0 };
    let everybody = log.all_schedulers && grammar.all_schedulers == Voices::All;
    let count = if everybody { of_rank } else { 1 };
    let stages = 0..sizes.pp;
    stages
        .flat_map(|stage| (first..first + count).map(move |tp| (stage, tp)))
        .map(|(stage, tp)| {
            let mut text = String::new();
            for name in grammar.prefix.order {
                let (tag, number, is_shown) = tag(*name, &sizes, (rank, tp, stage), grammar.prefix.always_tp);
                if is_shown {
                    // Writing to a string cannot fail.
                    let _ = write!(text, " {tag}{number}");
                }
            }
            let tags = Tags::parse(text.as_bytes());
            text.push_str("] ");
            Voice { text: Piece::split(&text).collect(), tags }
        })
        .collect()
}

/// Name, number, and whether it is printed: where the group has more than one rank.
fn tag(
    name: TagName,
    sizes: &Parallel,
    (dp, tp, pp): (u32, u32, u32),
    always_tp: bool,
) -> (&'static str, u32, bool) {
    match name {
        TagName::Dp => ("DP", dp, sizes.dp > 1),
        TagName::Tp => ("TP", tp, sizes.tp > 1 || always_tp),
        TagName::Ep => ("EP", tp / (sizes.tp / sizes.ep).max(1), sizes.ep > 1),
        TagName::Pp => ("PP", pp, sizes.pp > 1),
    }
}
