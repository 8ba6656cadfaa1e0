//! What an SGLang log shall hold, checked.

use std::ops::RangeInclusive;

use crate::engine::{DraftFamily, Drafter, EngineVersion, sglang::MaxRule};
use crate::evidence::{GraphLabel, Hundredths};

use super::shape::{self, Grammar, NEWEST, OLDEST, UNKNOWN};
use crate::simulate::log::{Damage, LocalTime};

/// Most ranks of one kind.
const MAX_RANKS: u32 = 4096;

/// Most requests in one rank's batch.
const MAX_RUNNING: u32 = 1 << 16;

/// Longest input and output of a request, in tokens.
const MAX_TOKENS: u32 = 1 << 24;

/// Most decode lines of a cycle of clients.
const MAX_CYCLE: u64 = 1 << 40;

/// Most verify steps per decode line.
const MAX_INTERVAL: u32 = 1 << 20;

/// What an SGLang log shall hold. [`SglangPlan::new`] checks it.
///
/// ```
/// use accsim::simulate::log::{Run, SglangLog, SglangPlan};
///
/// let log = SglangLog::new("0.5.18".parse()?, "2026-10-12T01:02:03".parse()?, vec![Run::new(60)]);
/// assert!(SglangPlan::new(log).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SglangLog {
    /// The release whose lines are written: 0.3.6 to 0.5.23.
    pub version: EngineVersion,
    /// When the log begins.
    pub start: LocalTime,
    /// `SGLANG_LOG_MS=1`: times with milliseconds.
    pub milliseconds: bool,
    /// `SGLANG_LOG_FORWARD_ITERS=1`: `Decode batch [N]`, from 0.5.4.post1 on.
    pub numbered: bool,
    /// Where the model runs.
    pub device: Device,
    /// What holds the tokens.
    pub pools: Pools,
    /// Process groups.
    pub parallel: Parallel,
    /// `--enable-metrics-for-all-schedulers`: every tensor-parallel rank prints its own copy, in 0.4.10 to 0.5.9.
    pub all_schedulers: bool,
    /// Whether data-parallel ranks draw the same sequence, as real ones do.
    pub ranks_share_draws: bool,
    /// Whether the server prefills too.
    pub role: Role,
    /// `--enable-mfu-metrics`, from 0.5.10 on.
    pub mfu: bool,
    /// Suffix with the share of time that forward passes take, from 0.5.11 on.
    pub occupancy: bool,
    /// The servers that wrote the log, one after the other.
    pub runs: Vec<Run>,
    /// Lines that are no decode lines.
    pub noise: Noise,
    /// What happened to the file.
    pub damage: Damage,
    /// Seed of everything but the accept lengths.
    pub seed: u64,
}

/// The device, for the name before `graph`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// NVIDIA and AMD.
    #[default]
    Cuda,
    /// CPU.
    Cpu,
    /// Ascend.
    Npu,
    /// Intel.
    Xpu,
    /// Moore Threads.
    Musa,
}

/// What holds the tokens of the running requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pools {
    /// One pool: `#token`.
    #[default]
    Plain,
    /// A sliding-window pool beside the full one, from 0.4.9 on.
    SlidingWindow,
    /// Linear attention: states beside the full pool, from 0.5.4 on.
    Mamba,
    /// Both, from 0.5.10 on.
    SlidingWindowAndMamba,
    /// Tokens in the device's and in the host's memory, from 0.5.11 on.
    Hisparse,
}

/// Sizes of the process groups; each at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parallel {
    /// Tensor-parallel ranks of the server; with attention-DP they hold all data-parallel ranks.
    pub tp: u32,
    /// Data-parallel ranks, each with its own batch and its own lines.
    pub dp: u32,
    /// Expert-parallel ranks.
    pub ep: u32,
    /// Pipeline stages; each prints its own copy of a line.
    pub pp: u32,
    /// `--enable-dp-attention`: the data-parallel ranks divide the tensor-parallel ones.
    pub dp_attention: bool,
}

impl Parallel {
    /// One process.
    pub const ONE: Self = Self { tp: 1, dp: 1, ep: 1, pp: 1, dp_attention: false };
}

impl Device {
    /// The name in the arguments.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Cuda => "cuda",
            Self::Cpu => "cpu",
            Self::Npu => "npu",
            Self::Xpu => "xpu",
            Self::Musa => "musa",
        }
    }
}

/// Which part of serving the server does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// Prefill and decode.
    #[default]
    Both,
    /// Decode only: requests come prefilled from another server. From 0.4.6 on.
    Decode,
}

/// One start of a server, and what it then did.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Speculative decoding; none prints lines without accept lengths.
    pub speculation: Option<Speculation>,
    /// `--decode-log-interval`: verify steps per decode line.
    pub decode_log_interval: u32,
    /// `random_seed` of the `server_args` line.
    pub random_seed: u64,
    /// Decode lines of each data-parallel rank.
    pub lines: u64,
    /// What clients ask for.
    pub load: Load,
    /// Times without a request, in the order of the lines they follow.
    pub pauses: Vec<Pause>,
}

/// The drafter's settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speculation {
    /// `speculative_algorithm`.
    pub algorithm: Drafter,
    /// `speculative_num_steps`; the block drafters print 1.
    pub num_steps: u32,
    /// `speculative_eagle_topk`.
    pub eagle_topk: Option<u32>,
    /// `speculative_num_draft_tokens`, at least 2.
    pub num_draft_tokens: u32,
    /// `speculative_dspark_block_size` or `speculative_dflash_block_size`.
    pub block_size: Option<u32>,
    /// What DSPARK prints when it does not verify everything, from 0.5.16 on.
    pub caps: Caps,
}

impl Speculation {
    /// A chain of EAGLE drafts: `num_steps` steps, top-k 1.
    #[must_use]
    pub fn eagle(num_steps: u32) -> Self {
        Self::of(Drafter::Eagle3, num_steps)
    }

    /// The settings of an algorithm that drafts `draft_length` tokens a verify step.
    #[must_use]
    pub fn of(algorithm: Drafter, draft_length: u32) -> Self {
        let draft_tokens = draft_length.saturating_add(1);
        // Values may be printed resolved: NEXTN and MTP servers are EAGLE servers.
        let printed = match algorithm {
            Drafter::NextN | Drafter::Mtp => Drafter::Eagle,
            other => other,
        };
        let family = algorithm.family();
        let is_chain = matches!(family, DraftFamily::Eagle | DraftFamily::Standalone);
        Self {
            algorithm: printed,
            num_steps: if is_chain { draft_length } else { u32::from(family != DraftFamily::Ngram) },
            // An n-gram tree of ten branches is the default; the others draft chains.
            eagle_topk: Some(if family == DraftFamily::Ngram { 10 } else { 1 }),
            num_draft_tokens: draft_tokens,
            block_size: match family {
                DraftFamily::DSpark => Some(draft_length),
                DraftFamily::DFlash => Some(draft_tokens),
                _ => None,
            },
            caps: Caps::default(),
        }
    }

    /// Most tokens that one verify step can emit.
    #[must_use]
    pub fn max_accept_length(&self) -> u32 {
        let rule = MaxRule::of(self.algorithm.family());
        match rule {
            MaxRule::NumStepsPlusOne => rule.max(self.num_steps),
            MaxRule::DraftTokens => rule.max(self.num_draft_tokens),
            MaxRule::BlockSizePlusOne | MaxRule::BlockSize => {
                self.block_size.map_or(self.num_draft_tokens, |block| rule.max(block))
            }
        }
    }
}

/// Fields of a DSPARK server with a cap; each is printed where it has a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caps {
    /// `cap len`.
    pub cap_len: Option<Hundredths>,
    /// `block accept len`.
    pub block_accept_len: Option<Hundredths>,
    /// `est uncap acc len`: the estimate and the two ends of its interval.
    pub uncapped: Option<[Hundredths; 3]>,
}

/// A closed loop of clients: each sends its next request when the last one is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// Clients per data-parallel rank. Between two numbers they come and go: a quarter of a cycle each they join, stay,
    /// leave, stay away.
    pub running: RangeInclusive<u32>,
    /// Decode lines of such a cycle, at least 1.
    pub cycle_lines: u64,
    /// `max_running_requests`: what is above it waits in the queue.
    pub max_running: Option<u32>,
    /// Input tokens of a request, uniform.
    pub input: RangeInclusive<u32>,
    /// Output tokens of a request, uniform.
    pub output: RangeInclusive<u32>,
    /// Largest batch with a captured graph; larger ones print `False`.
    pub max_graph_batch: Option<u32>,
}

impl Load {
    /// As many clients throughout; 512 tokens in and out.
    #[must_use]
    pub fn constant(running: u32) -> Self {
        Self {
            running: running..=running,
            cycle_lines: 120,
            max_running: None,
            input: 512..=512,
            output: 512..=512,
            max_graph_batch: None,
        }
    }

    pub(in crate::simulate::log) fn check(&self) -> Result<(), PlanError> {
        ordered("running requests", &self.running, MAX_RUNNING)?;
        ordered("input tokens", &self.input, MAX_TOKENS)?;
        ordered("output tokens", &self.output, MAX_TOKENS)?;
        PlanError::range("the most running requests", self.max_running.unwrap_or(1), 1, MAX_RUNNING)?;
        let (what, low, high, found) = ("lines of a cycle", 1, MAX_CYCLE, self.cycle_lines);
        if (low..=high).contains(&found) { Ok(()) } else { Err(PlanError::Range { what, low, high, found }) }
    }

    /// Clients of a rank that has printed so many lines.
    pub(in crate::simulate::log) fn clients(&self, printed: u64) -> u64 {
        let (low, high) = (u64::from(*self.running.start()), u64::from(*self.running.end()));
        if low == high {
            return low;
        }
        let quarter = self.cycle_lines.div_ceil(4);
        let of_cycle = printed % quarter.saturating_mul(4);
        let passed = of_cycle % quarter;
        match of_cycle / quarter {
            0 => low + (high - low) * passed / quarter,
            1 => high,
            2 => high - (high - low) * passed / quarter,
            _ => low,
        }
    }
}

/// A time without a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// After this many decode lines of each rank no more requests are sent; the pause begins when the last is done.
    pub after_lines: u64,
    /// How long it lasts, in seconds.
    pub seconds: u32,
    /// Whether `/flush_cache` is called in it: the window at hand is lost, and the next begins anew.
    pub flush_cache: bool,
}

impl Run {
    /// EAGLE3 with 5 steps, 16 requests, 40 steps a line.
    #[must_use]
    pub fn new(lines: u64) -> Self {
        Self {
            speculation: Some(Speculation::eagle(5)),
            decode_log_interval: 40,
            random_seed: 320_846_001,
            lines,
            load: Load::constant(16),
            pauses: Vec::new(),
        }
    }
}

/// Lines that are no decode lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noise {
    /// Whether finished requests leave an access-log line.
    pub access_log: bool,
    /// Decode lines in a thousand lines: access-log and statistics lines are added up to it. Where prefill lines and
    /// those of finished requests are more than the rest already, the share is smaller.
    pub decode_per_mille: Option<u32>,
}

impl Default for Noise {
    fn default() -> Self {
        Self { access_log: true, decode_per_mille: None }
    }
}

/// Why a log cannot be planned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// No lines of this release are known.
    #[error("SGLang {0}: the lines of {OLDEST} to {NEWEST} are known")]
    Version(EngineVersion),
    /// The release does not print such a field.
    #[error("SGLang {version} prints no {what}; {since} is the first that does")]
    NotPrinted {
        /// What was asked for.
        what: &'static str,
        /// The release.
        version: EngineVersion,
        /// The first that has it.
        since: &'static str,
    },
    /// A number outside its range.
    #[error("{what} must lie between {low} and {high}, found {found}")]
    Range {
        /// The number.
        what: &'static str,
        /// Smallest value.
        low: u64,
        /// Largest value.
        high: u64,
        /// What was given.
        found: u64,
    },
    /// A range that ends before it begins.
    #[error("{what}: {low} is above {high}")]
    Empty {
        /// The range.
        what: &'static str,
        /// Its lower end.
        low: u32,
        /// Its upper end.
        high: u32,
    },
    /// A group that does not divide evenly.
    #[error("{parts} {of} ranks do not divide {whole} tensor-parallel ranks evenly")]
    Division {
        /// The group.
        of: &'static str,
        /// Its size.
        parts: u32,
        /// Tensor-parallel ranks.
        whole: u32,
    },
    /// Rates of exclusive damage add up to more than one.
    #[error("truncated, interleaved, duplicated and glued lines are more than all lines: their rates add up to {0}")]
    Damage(String),
    /// Damage to lines of an engine other than SGLang.
    #[error("only SGLang's lines can be cut, mixed, repeated, glued or coloured; wrappers and crlf suit every engine")]
    DamageOfLines,
    /// No server, so no line.
    #[error("a log needs at least one run of a server")]
    NoRun,
}

impl SglangLog {
    /// A log of one process with plain lines.
    #[must_use]
    pub fn new(version: EngineVersion, start: LocalTime, runs: Vec<Run>) -> Self {
        Self {
            version,
            start,
            milliseconds: false,
            numbered: false,
            device: Device::Cuda,
            pools: Pools::Plain,
            parallel: Parallel::ONE,
            all_schedulers: false,
            ranks_share_draws: true,
            role: Role::Both,
            mfu: false,
            occupancy: false,
            runs,
            noise: Noise::default(),
            damage: Damage::default(),
            seed: 0,
        }
    }
}

/// An [`SglangLog`] that can be written.
#[derive(Clone, Debug)]
pub struct SglangPlan {
    log: SglangLog,
    grammar: Grammar,
}

impl SglangPlan {
    /// Checks a log.
    pub fn new(log: SglangLog) -> Result<Self, PlanError> {
        if !log.version.is_at_least(OLDEST) || log.version.is_at_least(UNKNOWN) {
            return Err(PlanError::Version(log.version));
        }
        let grammar = shape::at(&log.version);
        check_fields(&log, &grammar)?;
        check_parallel(&log.parallel)?;
        if log.runs.is_empty() {
            return Err(PlanError::NoRun);
        }
        log.runs.iter().try_for_each(check_run)?;
        let share = log.noise.decode_per_mille.unwrap_or(1);
        PlanError::range("decode lines per mille", share, 1, 1000)?;
        log.damage.check()?;
        Ok(Self { log, grammar })
    }

    /// What it was made of.
    #[must_use]
    pub fn log(&self) -> &SglangLog {
        &self.log
    }

    pub(super) fn grammar(&self) -> &Grammar {
        &self.grammar
    }

    /// The name before `graph`.
    pub(super) fn graph_label(&self) -> Option<GraphLabel> {
        use shape::GraphNames as Names;
        let names = self.grammar.decode.graph?;
        Some(match (self.log.device, names) {
            (Device::Cuda, _) | (_, Names::Cuda) => GraphLabel::Cuda,
            (Device::Cpu, _) | (_, Names::CpuElsewhere) => GraphLabel::Cpu,
            (Device::Npu, Names::Npu | Names::Musa) => GraphLabel::Npu,
            (Device::Musa, Names::Musa) => GraphLabel::Musa,
            _ => GraphLabel::Cuda,
        })
    }
}

fn check_fields(log: &SglangLog, grammar: &Grammar) -> Result<(), PlanError> {
    let shape = &grammar.decode;
    let (pools, pools_known, since) = match log.pools {
        Pools::Plain => ("", true, ""),
        Pools::SlidingWindow => ("sliding-window pool", shape.swa.is_some(), "0.4.9"),
        Pools::Mamba => ("mamba pool", shape.mamba, "0.5.4"),
        Pools::SlidingWindowAndMamba => ("sliding-window and mamba pools", shape.swa_with_mamba, "0.5.10"),
        Pools::Hisparse => ("pools of device and host", shape.hisparse, "0.5.11"),
    };
    let has_caps =
        log.runs.iter().filter_map(|run| run.speculation).any(|drafter| drafter.caps != Caps::default());
    let wishes = [
        (pools, pools_known, since),
        (
            "number of the forward pass",
            !log.numbered || shape.head != shape::Head::Point,
            "0.5.4",
        ),
        ("field of a decode server", log.role == Role::Both || shape.transfer.is_some(), "0.4.6"),
        ("MFU metrics", !log.mfu || shape.mfu, "0.5.10"),
        ("forward occupancy", !log.occupancy || shape.occupancy.is_some(), "0.5.11"),
        ("cap len", !has_caps || shape.caps, "0.5.16"),
    ];
    match wishes.into_iter().find(|(_, known, _)| !known) {
        Some((what, _, since)) => Err(PlanError::NotPrinted { what, version: log.version.clone(), since }),
        None => Ok(()),
    }
}

fn check_parallel(parallel: &Parallel) -> Result<(), PlanError> {
    for (what, size) in [
        ("tensor-parallel ranks", parallel.tp),
        ("data-parallel ranks", parallel.dp),
        ("expert-parallel ranks", parallel.ep),
        ("pipeline stages", parallel.pp),
    ] {
        PlanError::range(what, size, 1, MAX_RANKS)?;
    }
    let uneven = |of, parts: u32| PlanError::Division { of, parts, whole: parallel.tp };
    if parallel.dp_attention && !parallel.tp.is_multiple_of(parallel.dp) {
        return Err(uneven("data-parallel", parallel.dp));
    }
    if !parallel.tp.is_multiple_of(parallel.ep) {
        return Err(uneven("expert-parallel", parallel.ep));
    }
    Ok(())
}

fn check_run(run: &Run) -> Result<(), PlanError> {
    PlanError::range("the decode log interval", run.decode_log_interval, 1, MAX_INTERVAL)?;
    run.load.check()?;
    if let Some(drafter) = run.speculation {
        PlanError::range("draft tokens", drafter.num_draft_tokens, 2, 1 << 16)?;
        PlanError::range("draft steps", drafter.num_steps, 0, 1 << 16)?;
    }
    Ok(())
}

fn ordered(what: &'static str, range_of: &RangeInclusive<u32>, most: u32) -> Result<(), PlanError> {
    let (low, high) = (*range_of.start(), *range_of.end());
    PlanError::range(what, low, 1, most)?;
    PlanError::range(what, high, 1, most)?;
    if low > high { Err(PlanError::Empty { what, low, high }) } else { Ok(()) }
}

impl PlanError {
    /// Checks a number against its range.
    pub(in crate::simulate::log) fn range(
        what: &'static str,
        found: u32,
        low: u32,
        high: u32,
    ) -> Result<(), Self> {
        if (low..=high).contains(&found) {
            Ok(())
        } else {
            Err(Self::Range { what, low: low.into(), high: high.into(), found: found.into() })
        }
    }
}
