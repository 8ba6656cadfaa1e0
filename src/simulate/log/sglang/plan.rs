//! What an SGLang log shall hold, checked.

use crate::engine::EngineVersion;
use crate::evidence::GraphLabel;

use super::run::{Caps, Run};
use super::shape::{Grammar, Head};
use super::table::{self, OLDEST, UNKNOWN};
use crate::simulate::log::{Damage, LocalTime, PlanError};

/// Most ranks of one kind.
const MAX_RANKS: u32 = 4096;

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
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the server's own")]
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
        let grammar = table::at(&log.version);
        check_fields(&log, &grammar)?;
        check_parallel(&log.parallel)?;
        if log.runs.is_empty() {
            return Err(PlanError::NoRun);
        }
        log.runs.iter().try_for_each(Run::check)?;
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
        use super::shape::GraphNames as Names;
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
        ("number of the forward pass", !log.numbered || shape.head != Head::Point, "0.5.4"),
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
