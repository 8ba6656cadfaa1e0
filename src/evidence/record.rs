//! Records: what the readers make of a log.

use std::fmt;

use crate::engine::Engine;

use super::counters::{CounterRecord, Exporter};
use super::pattern::begins_like;
use super::{Batch, EngineLine, Tags};

/// A number that the engine printed with two decimals, in hundredths: exact, ordered, hashable.
///
/// ```
/// use accsim::evidence::Hundredths;
///
/// let printed = Hundredths::new(352);
/// assert_eq!(printed.to_string(), "3.52");
/// assert_eq!(printed.as_f64(), 3.52);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hundredths(u32);

impl Hundredths {
    /// `count` hundredths.
    #[must_use]
    pub fn new(count: u32) -> Self {
        Self(count)
    }

    /// How many hundredths.
    #[must_use]
    pub fn count(self) -> u32 {
        self.0
    }

    /// The value as a double, as the nearest one to the printed text.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / 100.0
    }
}

impl fmt::Display for Hundredths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}", self.0 / 100, self.0 % 100)
    }
}

/// Where a record stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Index of the file in the order of reading.
    pub file: u32,
    /// Physical line, from 1.
    pub line: u64,
}

/// One thing that a log says.
#[derive(Clone, Debug, PartialEq)]
pub enum Record<'a> {
    /// A decode line of SGLang.
    Decode(DecodeLine<'a>),
    /// A prefill line of SGLang.
    Prefill(PrefillLine<'a>),
    /// A server's arguments: a new run begins.
    Start(Box<ServerStart>),
    /// `Cache flushed successfully!`: the engine's counters start anew.
    CacheFlush(CacheFlush<'a>),
    /// A setting of simulated acceptance that a shell or a program echoed.
    Setting(EchoedSetting<'a>),
    /// Figures of a counter, a request or an endpoint.
    Counters(Box<CounterRecord>),
    /// A line of another engine than SGLang.
    Engine(Box<EngineLine>),
    /// A line that looked like a record and is none.
    Skipped(Skipped<'a>),
}

/// Takes the records of logs while they are read.
pub trait RecordSink {
    /// The log with index `file` begins: its name, and the input that led to it, as they are named to the user.
    fn begin(&mut self, file: u32, name: &str, input: &str);

    /// The next record of that log.
    fn record(&mut self, place: Place, record: &Record<'_>);

    /// The next records of that log. Whoever does not need them whole takes them faster so.
    fn batch(&mut self, batch: &Batch<'_>) {
        batch.for_each(&mut |place, record| self.record(place, record));
    }

    /// That log has ended.
    fn end(&mut self) {}
}

/// `None` takes nothing.
impl<S: RecordSink> RecordSink for Option<S> {
    fn begin(&mut self, file: u32, name: &str, input: &str) {
        if let Some(sink) = self {
            sink.begin(file, name, input);
        }
    }

    fn record(&mut self, place: Place, record: &Record<'_>) {
        if let Some(sink) = self {
            sink.record(place, record);
        }
    }

    fn batch(&mut self, batch: &Batch<'_>) {
        if let Some(sink) = self {
            sink.batch(batch);
        }
    }

    fn end(&mut self) {
        if let Some(sink) = self {
            sink.end();
        }
    }
}

/// One decode line: what `decode_log_interval` verify steps of one scheduler added up to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecodeLine<'a> {
    /// The engine's own time.
    pub timestamp: Option<Timestamp<'a>>,
    /// Rank tags.
    pub tags: Tags,
    /// Forward pass number, where the engine prints it.
    pub iteration: Option<u64>,
    /// `#running-req`: requests in the batch of the window's last step.
    pub running_req: u32,
    /// `accept len`: tokens per verify step and request, bonus token included.
    pub accept_len: Option<Hundredths>,
    /// `accept rate`; its definition depends on the version.
    pub accept_rate: Option<Hundredths>,
    /// `cuda graph: True` and its relatives.
    pub graph: Option<Graph>,
    /// `gen throughput (token/s)`: per second of wall time since the previous line, idle time included.
    pub gen_throughput_tps: Option<f64>,
    /// `#queue-req`: requests waiting.
    pub queue_req: u32,
    /// `cap len` or `block accept len` is present: the server did not verify every draft.
    pub capped: bool,
    /// The message behind the head, as printed, colours removed: see [`Fields`](super::Fields).
    pub message: &'a [u8],
}

/// The engine's own time as printed (`2026-10-12 01:02:03`, `2026-10-12 01:02:03.001`, `04:40:55`): local, without a
/// zone. Times of one form order as their text does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp<'a>(&'a [u8]);

impl<'a> Timestamp<'a> {
    /// The time that `text` begins with.
    #[must_use]
    pub fn parse(text: &'a [u8]) -> Option<Self> {
        let clock = |at: usize| begins_like(text.get(at..)?, b"00:00:00");
        let end = if clock(0).is_some() {
            8
        } else {
            begins_like(text, b"0000-00-00 ").and_then(|()| clock(11))?;
            19
        };
        let fraction = text.get(end..).and_then(|rest| rest.strip_prefix(b"."));
        let digits = fraction.map_or(0, |rest| rest.iter().take_while(|byte| byte.is_ascii_digit()).count());
        let digits = if digits == 0 { 0 } else { 1 + digits };
        text.get(..end + digits).map(Self)
    }

    /// Text that is known to have the form of a time.
    pub(in crate::evidence) fn of_digits(text: &'a [u8]) -> Self {
        Self(text)
    }

    /// The printed text.
    #[must_use]
    pub fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    /// The printed text; it is ASCII by construction.
    #[must_use]
    pub fn as_str(self) -> &'a str {
        std::str::from_utf8(self.0).unwrap_or("")
    }
}

/// Whether a step replayed a captured graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Graph {
    /// Device whose graph it is.
    pub label: GraphLabel,
    /// `True` or `False`.
    pub on: bool,
}

/// The device in `cuda graph`, `npu graph`, ...
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GraphLabel {
    /// NVIDIA and AMD.
    Cuda,
    /// CPU; 0.5.3 to 0.5.8 print it on every device but CUDA.
    Cpu,
    /// Ascend.
    Npu,
    /// Moore Threads.
    Musa,
}

impl GraphLabel {
    /// The word before `graph`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cuda => "cuda",
            Self::Cpu => "cpu",
            Self::Npu => "npu",
            Self::Musa => "musa",
        }
    }
}

/// One prefill line: requests join the batch. Its figures are read on demand, see [`PrefillLine::figures`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrefillLine<'a> {
    /// The engine's own time.
    pub timestamp: Option<Timestamp<'a>>,
    /// Rank tags.
    pub tags: Tags,
    /// Forward pass number, where the engine prints it.
    pub iteration: Option<u64>,
    /// The message behind the head, as printed, colours removed: see [`Fields`](super::Fields).
    pub message: &'a [u8],
}

/// The figures of a prefill line; what is cut is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PrefillFigures {
    /// `#new-seq`: requests that join the batch.
    pub new_seq: Option<u32>,
    /// `#new-token`: prompt tokens computed in this step.
    pub new_tokens: Option<u64>,
    /// `#cached-token`: prompt tokens found in the prefix cache.
    pub cached_tokens: Option<u64>,
    /// `token usage` of a single plain pool, as a share.
    pub token_usage: Option<Hundredths>,
    /// `#running-req`: requests that were running before.
    pub running_req: Option<u32>,
    /// `#queue-req`: requests waiting.
    pub queue_req: Option<u32>,
    /// `cuda graph: True` and its relatives; no sample of the decode graph.
    pub graph: Option<Graph>,
    /// `input throughput (token/s)`.
    pub input_throughput_tps: Option<f64>,
}

/// `Cache flushed successfully!`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CacheFlush<'a> {
    /// The engine's own time.
    pub timestamp: Option<Timestamp<'a>>,
    /// Rank tags.
    pub tags: Tags,
}

/// A setting of simulated acceptance, as a log echoes it: `SGLANG_SIMULATE_ACC_LEN=3.51`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EchoedSetting<'a> {
    /// Name of the variable.
    pub name: &'a str,
    /// Its value, without quotes.
    pub value: &'a str,
}

/// A text that looked like a record and is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Skipped<'a> {
    /// Why it is none.
    pub reason: SkipReason,
    /// The text: at most 64 bytes before its head, then all up to where the next record begins.
    pub text: &'a [u8],
}

/// What a `server_args` line says, as far as an audit needs it.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ServerStart {
    /// The engine's own time, as printed; local, without a zone.
    pub timestamp: Option<String>,
    /// `speculative_algorithm`, as printed.
    pub speculative_algorithm: Option<String>,
    /// `speculative_num_steps`.
    pub num_steps: Option<u32>,
    /// `speculative_eagle_topk`.
    pub eagle_topk: Option<u32>,
    /// `speculative_num_draft_tokens`.
    pub num_draft_tokens: Option<u32>,
    /// `speculative_dspark_block_size`, or `speculative_dflash_block_size`.
    pub block_size: Option<u32>,
    /// `decode_log_interval`: verify steps per decode line.
    pub decode_log_interval: Option<u32>,
    /// `random_seed`.
    pub random_seed: Option<u64>,
    /// `tp_size`.
    pub tp_size: Option<u32>,
    /// `dp_size`.
    pub dp_size: Option<u32>,
    /// `disaggregation_mode`: `null`, `prefill`, `decode`.
    pub disaggregation_mode: Option<String>,
    /// `cuda_graph_bs_decode`, or `cuda_graph_bs`: batch sizes that have a graph, as printed; at most 4096 of them.
    pub graph_batches: Vec<u32>,
    /// `chunked_prefill_size`: prompt tokens of a prefill batch.
    pub chunked_prefill_size: Option<u32>,
    /// `disable_overlap_schedule`: whether a step waits for the results of the last.
    pub overlap_disabled: Option<bool>,
    /// `max_running_requests`.
    pub max_running_requests: Option<u32>,
    /// `model_path`, as printed.
    pub model_path: Option<String>,
    /// `disable_cuda_graph`: whether every step is launched kernel by kernel.
    pub graphs_disabled: Option<bool>,
}

/// Why a line that looked like a record is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SkipReason {
    /// Cut, spliced, or elided by hand.
    Truncated,
    /// The same line again: another rank of the same scheduler, or the same log twice.
    Duplicate,
    /// Prose, documentation, or a line of another kind.
    Lookalike,
    /// NaN or infinite acceptance fields.
    NotFinite,
}

impl SkipReason {
    /// The word for it in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Truncated => "truncated",
            Self::Duplicate => "duplicate",
            Self::Lookalike => "lookalike",
            Self::NotFinite => "not_finite",
        }
    }
}

/// The kinds of [`Record`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecordKind {
    /// [`Record::Decode`].
    Decode,
    /// [`Record::Prefill`].
    Prefill,
    /// [`Record::Start`].
    ServerArgs,
    /// [`Record::CacheFlush`].
    CacheFlush,
    /// [`Record::Setting`].
    Setting,
    /// [`CounterRecord::Counters`].
    Counters,
    /// [`CounterRecord::Request`].
    Request,
    /// [`CounterRecord::Iteration`].
    IterationJson,
    /// [`CounterRecord::Debug`].
    DebugStats,
    /// [`CounterRecord::ServerInfo`].
    ServerInfo,
    /// A window of vLLM's speculative decoding.
    Spec,
    /// The same of an era that prints no accept length and begins with `Speculative metrics`.
    SpecLegacy,
    /// A window of a vLLM engine.
    Engine,
    /// An iteration of TensorRT-LLM.
    Iter,
    /// Statistics of an interval of ATOM.
    Interval,
    /// Statistics of ATOM since its start.
    Cumulative,
    /// The acceptance that ATOM was told to force.
    ForcedTarget,
    /// [`Record::Skipped`].
    Rejected,
}

impl RecordKind {
    /// All kinds.
    pub const ALL: [Self; 18] = [
        Self::Decode,
        Self::Prefill,
        Self::ServerArgs,
        Self::CacheFlush,
        Self::Setting,
        Self::Counters,
        Self::Request,
        Self::IterationJson,
        Self::DebugStats,
        Self::ServerInfo,
        Self::Spec,
        Self::SpecLegacy,
        Self::Engine,
        Self::Iter,
        Self::Interval,
        Self::Cumulative,
        Self::ForcedTarget,
        Self::Rejected,
    ];

    /// The word for it in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Decode => "decode",
            Self::Prefill => "prefill",
            Self::ServerArgs => "server_args",
            Self::CacheFlush => "cache_flush",
            Self::Setting => "setting",
            Self::Counters => "counters",
            Self::Request => "request",
            Self::IterationJson => "iteration_json",
            Self::DebugStats => "debug_stats",
            Self::ServerInfo => "server_info",
            Self::Spec => "spec",
            Self::SpecLegacy => "spec_legacy",
            Self::Engine => "engine",
            Self::Iter => "iter",
            Self::Interval => "interval",
            Self::Cumulative => "cumulative",
            Self::ForcedTarget => "forced_target",
            Self::Rejected => "rejected",
        }
    }
}

impl EchoedSetting<'_> {
    /// The engine that reads the setting, by its name. vLLM and ATOM share the name of K; it counts as vLLM's.
    #[must_use]
    pub fn engine(&self) -> Engine {
        let begins = |start: &str| self.name.starts_with(start);
        if begins("TLLM_") {
            Engine::Trtllm
        } else if begins("TILERT_") {
            Engine::Tilert
        } else if begins("spec_decode_") {
            Engine::Atom
        } else if begins("synthetic_") || begins("num_spec") || begins("rejection_") {
            Engine::Vllm
        } else {
            Engine::Sglang
        }
    }
}

impl Record<'_> {
    /// The engine whose record it is.
    #[must_use]
    pub fn engine(&self) -> Engine {
        match self {
            Self::Setting(setting) => setting.engine(),
            Self::Engine(line) => line.engine(),
            Self::Counters(record) => record.exporter().map_or(Engine::Sglang, Exporter::engine),
            _ => Engine::Sglang,
        }
    }

    /// Which kind of record it is.
    #[must_use]
    pub fn kind(&self) -> RecordKind {
        match self {
            Self::Decode(_) => RecordKind::Decode,
            Self::Prefill(_) => RecordKind::Prefill,
            Self::Start(_) => RecordKind::ServerArgs,
            Self::CacheFlush(_) => RecordKind::CacheFlush,
            Self::Setting(_) => RecordKind::Setting,
            Self::Counters(counters) => counters.kind(),
            Self::Engine(line) => line.kind(),
            Self::Skipped(_) => RecordKind::Rejected,
        }
    }
}
