//! What a calibration knows.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::throughput::step::{PrefillLaw, StepLaw};

use super::coefficient::Loose;
use super::missing::Missing;

/// Factor within which lengths and contexts of requests are the same.
const SAME_WORKLOAD: f64 = 1.05;

/// A calibrated server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// The law without speculation and the one with it, as far as the logs hold them.
    pub laws: Vec<Law>,
    /// What was measured, by draft length and batch.
    pub levels: Vec<Level>,
    /// The logs that it comes from.
    pub sources: Vec<Source>,
    /// What the server was asked for, as far as the logs tell.
    pub workload: Workload,
    /// Data-parallel ranks; batches and contexts are those of one.
    pub ranks: u32,
    /// Most prompt tokens of a prefill batch (`chunked_prefill_size`), where known.
    pub batch_tokens: Option<u32>,
    /// Most running requests of a rank, where known.
    pub most_running: Option<u32>,
    /// Whether steps are launched before the results of the last are looked at, where known.
    #[serde(default)]
    pub overlap: Option<bool>,
}

/// What is known of the step law, without speculation or with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Law {
    /// Draft lengths of the logs (k); 0 alone for the law without speculation; empty where nothing tells it.
    pub draft_lengths: Vec<u32>,
    /// Tokens verified a request and step (q), for each draft length.
    pub verified: BTreeMap<u32, u32>,
    /// Whether prefill shares the server; if not, it costs its decoding nothing.
    pub colocated: bool,
    /// Windows that count.
    pub windows: u64,
    /// What was covered: answers beyond are extrapolated.
    pub ranges: Ranges,
    /// The coefficients, or why there are none.
    pub outcome: Outcome,
}

/// The coefficients, or why there are none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "kebab-case")]
pub enum Outcome {
    /// The coefficients could be told apart.
    Fitted(Box<Fitted>),
    /// They could not. Questions at measured batches are answered still.
    Refused {
        /// What is missing, most telling first.
        missing: Vec<Missing>,
        /// Seconds a step more for each running request, contexts growing along (Theil 1950, Sen 1968); none with one batch.
        slope_s_per_request: Option<f64>,
    },
}

/// Coefficients and how good they are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fitted {
    /// Time of a step.
    pub step: StepLaw,
    /// Cost of prefill on the same server.
    pub prefill: PrefillLaw,
    /// Coefficients that stand for another too, as `a` for `a + d*k` with one draft length.
    pub merged: Vec<Merged>,
    /// Quality of the fit.
    pub quality: Quality,
    /// Coefficients of bootstrap resamples, in the order of `columns`.
    #[serde(default)]
    pub resamples: Resamples,
    /// Coefficients that the logs do not tell to [`IDENTIFIED`](super::IDENTIFIED): their sum over a step is known better than each of them.
    #[serde(default)]
    pub loose: Vec<Loose>,
}

/// A coefficient that is part of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Merged {
    /// One draft length: a stands for a + d*k.
    DraftIntoFixed,
    /// Prompts of one length, one a batch: p1 stands for p1 + p0/length.
    BatchIntoPrompt,
}

/// Quality of a fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quality {
    /// Condition number of the weighted design, columns scaled to length 1.
    pub condition_number: f64,
    /// Median of the relative residuals' absolute values.
    pub median_residual: f64,
    /// Their 90th percentile.
    pub p90_residual: f64,
    /// Error in tokens a second at a batch that the fit did not see, median over the batches; none with fewer than four.
    pub left_out_median: Option<f64>,
    /// The largest of them.
    pub left_out_largest: Option<f64>,
}

/// Bootstrap resamples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resamples {
    /// Stretches that were drawn from.
    pub stretches: u64,
    /// One row a resample: a, b, c, d, p0, p1 and the slope of the bend, in seconds.
    pub rows: Vec<[f64; 7]>,
}

/// What logs covered, smallest and largest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ranges {
    /// Running requests.
    pub running: (u32, u32),
    /// KV tokens a request, mean of a window.
    pub context: (f64, f64),
    /// Accept length, mean of a batch.
    pub accept_length: (f64, f64),
}

/// What was measured at one draft length and batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// Draft tokens (k); 0 without speculation; none where nothing tells them.
    pub drafts: Option<u32>,
    /// Requests running on a rank (N).
    pub running: u32,
    /// Data-parallel ranks that had requests; none: all of them.
    #[serde(default)]
    pub busy: Option<u32>,
    /// Output tokens of a request of these runs, mean; none where the logs do not tell.
    #[serde(default)]
    pub output: Option<f64>,
    /// Windows that count.
    pub windows: u64,
    /// Mean accept length, over tokens.
    pub accept_length: f64,
    /// Output tokens a second of a rank, prefill included.
    pub tps: f64,
    /// 5 % and 95 % points of a bootstrap over stretches of lines.
    pub tps_band: (f64, f64),
    /// Seconds a step without prefill: by the law, else of windows without a prefill line; none where neither is there.
    pub step_s: Option<f64>,
    /// KV tokens a request; none where the log does not show them.
    pub context: Option<f64>,
    /// KV tokens of the longest request, as far as the log shows them.
    pub longest: f64,
    /// Share of the time spent in prefill; none where it cannot be told.
    pub prefill_share: Option<f64>,
    /// 5 % and 95 % points of it.
    pub prefill_share_band: Option<(f64, f64)>,
}

/// A log that a model comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The input, as it was named.
    pub name: String,
    /// When the server started, as its log says.
    pub started: Option<String>,
    /// Draft tokens (k); 0 without speculation; none where nothing tells them.
    pub drafts: Option<u32>,
    /// Verify steps a decode line.
    pub interval: u32,
    /// Decode lines.
    pub decode_lines: u64,
    /// Prefill lines.
    pub prefill_lines: u64,
    /// Copies passed over.
    pub duplicates: u64,
    /// Lines that count.
    pub used: u64,
    /// Lines that do not, by reason.
    pub excluded: BTreeMap<String, u64>,
    /// Mean input tokens of a request of this run, where its log tells.
    #[serde(default)]
    pub input: Option<f64>,
    /// Mean output tokens of a request of this run, where its log tells.
    #[serde(default)]
    pub output: Option<f64>,
    /// Mean KV tokens of a running request, where its log tells.
    #[serde(default)]
    pub context: Option<f64>,
}

/// What the server was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Mean input tokens of a request.
    pub input: Option<f64>,
    /// Share of them found in the prefix cache.
    pub cached: f64,
    /// Mean output tokens of a request.
    pub output: Option<f64>,
}

impl Model {
    /// The windows at a draft length with so many requests on each of so many busy ranks.
    #[must_use]
    pub fn level(&self, drafts: Option<u32>, running: u32, busy: u32) -> Option<&Level> {
        let busy_of = |level: &Level| level.busy.unwrap_or(self.ranks.max(1));
        self.levels
            .iter()
            .find(|level| (level.drafts, level.running, busy_of(level)) == (drafts, running, busy))
    }

    /// Whether requests are like those of the logs, to 5 %: mean input and output tokens, and mean context while they run, each
    /// between those of the runs of this law. What no log tells is no difference.
    #[must_use]
    pub fn covers(&self, law: &Law, input: f64, output: f64, context: f64) -> bool {
        let is_inside = |asked: f64, known: &mut dyn Iterator<Item = f64>| {
            let (low, high) =
                known.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
            low > high || (low / SAME_WORKLOAD..=high * SAME_WORKLOAD).contains(&asked)
        };
        let runs = || {
            self.sources
                .iter()
                .filter(|source| (source.drafts == Some(0)) == law.is_plain() && source.used > 0)
        };
        // Models of earlier calibrations know no more than means over all runs.
        let inputs: Vec<f64> = runs().filter_map(|run| run.input).collect();
        let outputs: Vec<f64> = runs().filter_map(|run| run.output).collect();
        let contexts: Vec<f64> = runs().filter_map(|run| run.context).collect();
        let levels = self.levels.iter().filter(|level| (level.drafts == Some(0)) == law.is_plain());
        let of_levels: Vec<f64> = levels.filter_map(|level| level.context).collect();
        let known = |own: Vec<f64>, else_: Vec<f64>| if own.is_empty() { else_ } else { own };
        is_inside(input, &mut known(inputs, self.workload.input.into_iter().collect()).into_iter())
            && is_inside(output, &mut known(outputs, self.workload.output.into_iter().collect()).into_iter())
            && is_inside(context, &mut known(contexts, of_levels).into_iter())
    }

    /// Most requests that all ranks together run at a time, where known.
    #[must_use]
    pub fn most_running_of_all(&self) -> Option<u32> {
        let ranks = self.ranks.max(1);
        self.most_running.map(|most| most.div_ceil(ranks).max(1).saturating_mul(ranks))
    }

    /// The law for a draft length: that without speculation for 0, the other for `None` too.
    #[must_use]
    pub fn law(&self, drafts: impl Into<Option<u32>>) -> Option<&Law> {
        let is_plain = drafts.into() == Some(0);
        self.laws.iter().find(|law| law.is_plain() == is_plain)
    }

    /// Whether the logs hold speculation whose draft length nothing tells.
    #[must_use]
    pub fn is_draft_length_unknown(&self) -> bool {
        self.laws.iter().any(|law| law.draft_lengths.is_empty())
    }

    /// All draft lengths above 0 that the logs hold, ascending.
    #[must_use]
    pub fn draft_lengths(&self) -> Vec<u32> {
        self.laws
            .iter()
            .filter(|law| !law.is_plain())
            .flat_map(|law| law.draft_lengths.iter().copied())
            .collect()
    }
}

impl Law {
    /// Whether it is the law without speculation.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.draft_lengths == [0]
    }

    /// Tokens verified a request and step at a draft length: as the logs say, else k + 1.
    #[must_use]
    pub fn verified(&self, drafts: u32) -> u32 {
        self.verified.get(&drafts).copied().unwrap_or(drafts.saturating_add(1))
    }

    /// The largest accept length that a step can have.
    #[must_use]
    pub fn most(&self, drafts: u32) -> u32 {
        drafts.saturating_add(1).max(self.verified(drafts))
    }

    /// The coefficients, where they could be told apart.
    #[must_use]
    pub fn fitted(&self) -> Option<&Fitted> {
        match &self.outcome {
            Outcome::Fitted(fitted) => Some(fitted),
            Outcome::Refused { .. } => None,
        }
    }
}
