//! The `server_args` line, in both of its forms.

use std::fmt::Write as _;

use crate::engine::{DraftFamily, Release};

use super::plan::{Role, SglangPlan};
use super::run::Run;
use super::shape::ArgumentsForm;

/// Since when the arguments hold the block sizes (SGLang source).
const DFLASH_SINCE: Release = Release::new(0, 5, 13);
const DSPARK_SINCE: Release = Release::new(0, 5, 16);

/// A value as Python prints it.
enum Value {
    Text(&'static str),
    Number(u64),
    Flag(bool),
    None,
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<Option<u32>> for Value {
    fn from(number: Option<u32>) -> Self {
        number.map_or(Self::None, Self::from)
    }
}

/// All that stands behind the time of a run's first line.
pub(super) fn server_args(plan: &SglangPlan, run: &Run) -> String {
    let form = plan.grammar().arguments;
    let (open, close) = match form {
        ArgumentsForm::Call => ("ServerArgs(", ")"),
        ArgumentsForm::Dictionary => ("{", "}"),
    };
    let mut text = format!("server_args={open}");
    for (index, (name, value)) in arguments(plan, run).into_iter().enumerate() {
        let gap = if index == 0 { "" } else { ", " };
        // Writing to a string cannot fail.
        let _ = match form {
            ArgumentsForm::Call => write!(text, "{gap}{name}="),
            ArgumentsForm::Dictionary => write!(text, "{gap}'{name}': "),
        };
        let _ = match value {
            Value::Text(word) => write!(text, "'{word}'"),
            Value::Number(number) => write!(text, "{number}"),
            Value::Flag(flag) => text.write_str(if flag { "True" } else { "False" }),
            Value::None => text.write_str("None"),
        };
    }
    text.push_str(close);
    text
}

/// The arguments that say something about this log, in the order of the real line, which has hundreds.
fn arguments(plan: &SglangPlan, run: &Run) -> Vec<(&'static str, Value)> {
    let log = plan.log();
    let mut all = vec![
        ("model_path", Value::Text("models/target")),
        ("tokenizer_path", Value::Text("models/target")),
        ("device", Value::Text(log.device.name())),
        ("max_running_requests", run.load.max_running.into()),
        ("tp_size", log.parallel.tp.into()),
        ("pp_size", log.parallel.pp.into()),
        ("random_seed", run.random_seed.map_or(Value::None, Value::Number)),
        ("enable_metrics", Value::Flag(true)),
        ("enable_metrics_for_all_schedulers", Value::Flag(log.all_schedulers)),
        ("decode_log_interval", run.decode_log_interval.into()),
        ("dp_size", log.parallel.dp.into()),
        ("ep_size", log.parallel.ep.into()),
        ("enable_dp_attention", Value::Flag(log.parallel.dp_attention)),
    ];
    let drafter = run.speculation;
    let name = drafter.map_or(Value::None, |drafter| Value::Text(drafter.algorithm.name()));
    let number = |of: Option<u32>| Value::from(of);
    all.extend([
        ("speculative_algorithm", name),
        ("speculative_num_steps", number(drafter.map(|drafter| drafter.num_steps))),
        ("speculative_eagle_topk", number(drafter.and_then(|drafter| drafter.eagle_topk))),
        ("speculative_num_draft_tokens", number(drafter.map(|drafter| drafter.num_draft_tokens))),
    ]);
    let block = |family: DraftFamily| {
        drafter.filter(|drafter| drafter.algorithm.family() == family).and_then(|drafter| drafter.block_size)
    };
    if log.version.is_at_least(DFLASH_SINCE) {
        all.push(("speculative_dflash_block_size", number(block(DraftFamily::DFlash))));
        if log.version.is_at_least(DSPARK_SINCE) {
            all.push(("speculative_dspark_block_size", number(block(DraftFamily::DSpark))));
        }
        all.push(("speculative_adaptive", Value::Flag(false)));
    }
    let mode = if log.role == Role::Decode { "decode" } else { "null" };
    all.push(("disaggregation_mode", Value::Text(mode)));
    all
}
