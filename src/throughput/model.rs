//! What a calibration knows, and its file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::step::{PrefillLaw, StepLaw};

/// What a model file calls itself.
pub const MODEL_KIND: &str = "accsim-throughput-model";

/// The version of the model file that this program reads and writes.
pub const MODEL_VERSION: u32 = 1;

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
    /// Coefficients that the logs do not tell to [`IDENTIFIED`]: their sum over a step is known better than each of them.
    #[serde(default)]
    pub loose: Vec<Loose>,
}

/// A coefficient is told by the logs when it is known to this share of itself.
pub const IDENTIFIED: f64 = 0.02;

/// A coefficient of a law.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Coefficient {
    /// a: any step.
    Step,
    /// b: a verified token.
    Token,
    /// c: a KV token.
    Context,
    /// d: a draft pass.
    Draft,
    /// p0: a prefill batch.
    PrefillBatch,
    /// p1: a prompt token.
    PromptToken,
    /// The slope of the bend.
    Bend,
}

impl Coefficient {
    /// Every one, in the order of the resamples' columns.
    pub const ALL: [Self; 7] = [
        Self::Step,
        Self::Token,
        Self::Context,
        Self::Draft,
        Self::PrefillBatch,
        Self::PromptToken,
        Self::Bend,
    ];

    /// What would tell it.
    #[must_use]
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Step => "run low concurrency longer",
            Self::Token | Self::Bend => "run higher concurrency, and longer",
            Self::Context => "run a second, longer input length, and longer",
            Self::Draft => "run draft lengths further apart",
            Self::PrefillBatch => "run inputs of very different lengths, short ones among them",
            Self::PromptToken => "run longer inputs, and longer",
        }
    }
}

/// A coefficient that the logs do not tell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Loose {
    /// Which one.
    pub coefficient: Coefficient,
    /// Where it may lie, in seconds.
    pub low_s: f64,
    /// The other end.
    pub high_s: f64,
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
    /// Error in tokens a second at a batch that the fit did not see, median over the batches; none with fewer than three.
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

/// What is missing to tell the coefficients apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Missing {
    /// Nothing tells the draft length, so tokens verified a step are not known.
    DraftLength,
    /// The log does not show how many KV tokens are held.
    KvTokens,
    /// Fewer than three batches.
    Levels {
        /// Batches that there are.
        found: Vec<u32>,
    },
    /// Contexts grow in step with the batch.
    Contexts {
        /// Largest context a request over the smallest.
        spread: f64,
    },
    /// Prefill shares the server, and the log has no prefill lines.
    PrefillLines,
    /// The design is too close to singular.
    Condition {
        /// Condition number.
        found: f64,
        /// Largest allowed.
        most: f64,
    },
    /// The law does not describe the windows.
    Residuals {
        /// Median relative residual.
        found: f64,
        /// Largest allowed.
        most: f64,
    },
    /// Too few windows.
    Windows {
        /// Windows that count.
        found: u64,
        /// Fewest that do.
        least: u64,
    },
}

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::DraftLength => {
                f.write_str("nothing tells how many tokens are drafted a step: name them with --draft-length")
            }
            Self::KvTokens => f.write_str(
                "the log does not say how many KV tokens are held: vLLM prints a share of its cache, so name the cache's size with \
                 --kv-cache-tokens (`GPU KV cache size` at the server's start)",
            ),
            Self::Levels { found } => write!(
                f,
                "only {} different numbers of running requests ({found:?}): run two more concurrency levels",
                found.len()
            ),
            Self::Contexts { spread } => write!(
                f,
                "contexts grow in step with the batch (a request holds the same tokens to within {:.0} %): run a second input \
                 length",
                (spread - 1.0) * 100.0
            ),
            Self::PrefillLines => write!(
                f,
                "prefill shares the server, but the log has no prefill lines: keep the server's info lines, or name a decode \
                 server with --role decode"
            ),
            Self::Condition { found, most } => write!(
                f,
                "the coefficients cannot be told apart (condition number {found:.1}, at most {most:.0}): run a second input \
                 length, and concurrency levels further apart"
            ),
            Self::Residuals { found, most } => write!(
                f,
                "the law misses the median line by {:.1} % (at most {:.0} %): look for what changed during the run, and run \
                 it again without it",
                found * 100.0,
                most * 100.0
            ),
            Self::Windows { found, least } => {
                write!(f, "only {found} steady decode lines (at least {least}): run longer")
            }
        }
    }
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

/// Why a text is no model.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// Not JSON, or fields that a model does not have.
    #[error("no model of accsim")]
    Syntax(#[from] serde_json::Error),
    /// JSON of something else.
    #[error("no model of accsim: \"kind\" is {found}; expected \"{MODEL_KIND}\"")]
    Kind {
        /// What stands there.
        found: String,
    },
    /// A model of another version.
    #[error(
        "the model file has version {found}; this program reads version {MODEL_VERSION}: calibrate again on the logs"
    )]
    Version {
        /// Its version.
        found: String,
    },
    /// Numbers that no calibration gives.
    #[error("the model holds {what}: calibrate again on the logs")]
    Number {
        /// What is wrong.
        what: &'static str,
    },
}

/// Reads a model file.
pub fn read_model(text: &[u8]) -> Result<Model, ModelError> {
    let mut document: serde_json::Value = serde_json::from_slice(text)?;
    let field = |name: &str| document.get(name).cloned().unwrap_or(serde_json::Value::Null);
    let (kind, version) = (field("kind"), field("version"));
    if kind.as_str() != Some(MODEL_KIND) {
        return Err(ModelError::Kind { found: kind.to_string().chars().take(40).collect() });
    }
    if version.as_u64() != Some(u64::from(MODEL_VERSION)) {
        return Err(ModelError::Version { found: version.to_string().chars().take(40).collect() });
    }
    let body = document.get_mut("model").map(serde_json::Value::take).unwrap_or_default();
    let model: Model = serde_json::from_value(body)?;
    model.check()?;
    Ok(model)
}

impl Model {
    /// Whether its numbers are such as a calibration gives.
    fn check(&self) -> Result<(), ModelError> {
        let fault = |what| Err(ModelError::Number { what });
        if self.ranks == 0 || self.ranks > 65_536 {
            return fault("a number of ranks outside 1-65536");
        }
        for law in &self.laws {
            if law.draft_lengths.iter().any(|drafts| *drafts > 1_000_000) {
                return fault("a draft length above 1000000");
            }
            if let Outcome::Fitted(fitted) = &law.outcome {
                let prefill = [fitted.prefill.p0_s, fitted.prefill.p1_s];
                let resampled = fitted.resamples.rows.iter().flatten().copied();
                if !fitted.step.is_physical() || !prefill.into_iter().chain(resampled).all(super::step::is_cost)
                {
                    return fault("a coefficient that is negative, above 3600 s, or no number");
                }
                let first = fitted.step.fixed_s(1, 0, 1) + fitted.step.kv_s(1.0, 1.0);
                if first < LEAST_STEP_S {
                    return fault("a step that takes no time");
                }
            }
            let ranges = [law.ranges.context, law.ranges.accept_length];
            if ranges.into_iter().any(|(low, high)| !(is_figure(low) && is_figure(high) && low <= high)) {
                return fault("a covered range that is no range");
            }
        }
        for level in &self.levels {
            let positive = [level.accept_length, level.tps, level.context.unwrap_or(1.0)];
            let all = [level.tps_band.0, level.tps_band.1, level.longest, level.step_s.unwrap_or(0.0)];
            let all = all.into_iter().chain([level.output.unwrap_or(1.0)]).chain(positive);
            if level.running == 0 || !all.into_iter().all(is_figure) || positive.contains(&0.0) {
                return fault("a measured level without requests, tokens or context");
            }
            let shares = level.prefill_share_band.map_or([0.0; 2], |(low, high)| [low, high]);
            if shares.into_iter().chain(level.prefill_share).any(|share| !(0.0..1.0).contains(&share)) {
                return fault("a prefill share outside 0-1");
            }
        }
        let workload = &self.workload;
        let lengths = [workload.input, workload.output].into_iter().flatten();
        if !(0.0..=1.0).contains(&workload.cached) || lengths.into_iter().any(|length| !(1.0..=LONGEST).contains(&length)) {
            return fault("a workload without tokens");
        }
        Ok(())
    }

    /// The windows at a draft length with so many requests on each of so many busy ranks.
    #[must_use]
    pub fn level(&self, drafts: Option<u32>, running: u32, busy: u32) -> Option<&Level> {
        let busy_of = |level: &Level| level.busy.unwrap_or(self.ranks.max(1));
        self.levels.iter().find(|level| {
            (level.drafts, level.running, busy_of(level)) == (drafts, running, busy)
        })
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

/// Least seconds of a step with one request.
const LEAST_STEP_S: f64 = 1e-9;

/// Longest mean length of a request, in tokens.
const LONGEST: f64 = 1e9;

/// Figures that a calibration gives: finite, not below 0, and far from where sums of them overflow.
fn is_figure(value: f64) -> bool {
    (0.0..=1e15).contains(&value)
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
