//! What an audit has to say besides numbers.

use std::fmt;

use crate::evidence::Place;

/// One remark, with what to do next in its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was found.
    pub code: FindingCode,
    /// How much it matters.
    pub severity: Severity,
    /// What it means and what to do next, in plain words.
    pub message: String,
    /// A line that shows it.
    pub evidence: Option<Place>,
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Good to know.
    Note,
    /// The numbers can be used, with care.
    Warning,
    /// The run is not what the target asks for, or its lines cannot be judged together.
    Error,
}

/// The name that reports carry.
impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// What a finding is about. The printed names are a contract with other programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingCode {
    /// The server rounded the target to a whole number once.
    TargetRounded,
    /// The server drew with method `multinomial`.
    MultinomialBias,
    /// Nothing was simulated: the drafts were really judged.
    RealAcceptance,
    /// The target lies above what a step can emit, and the server cut it.
    Clamped,
    /// The accept length is one token away from the target.
    OffByOne,
    /// Another golden cell explains the lines.
    OtherGoldenCell,
    /// A line shows more tokens than a step can emit.
    AcceptLenAboveMax,
    /// The server did not verify every draft.
    NotVerifyAll,
    /// Ranks drew the same sequence: they are one sample.
    RanksShareDraws,
    /// Lines that occur more than once.
    DuplicateLines,
    /// Arguments that matter changed within the log.
    ConfigChangedMidRun,
    /// The log holds more than one server.
    MultipleServers,
    /// Decode lines without a captured graph.
    CudaGraphOff,
    /// The server drafts another number of tokens than the target is for.
    DraftLengthMismatch,
    /// Idle time before a line: its throughput is no speed.
    IdleWindow,
    /// The run was given another target than the one it is audited against.
    OtherTarget,
    /// An evaluation run was simulated.
    SimulationInEval,
    /// The server drafts with another algorithm than the target's.
    MethodMismatch,
    /// Accept length and accept rate of the lines do not fit together.
    AcceptRateDisagrees,
    /// Decode lines without an accept length.
    NoSpeculativeFields,
    /// No decode lines at all.
    NoDecodeLines,
    /// Too few lines for a verdict.
    ShortRun,
    /// Counters of a server that was started anew, or of other servers, between the scrapes.
    CounterReset,
    /// Counts that cannot all be right.
    CountsContradict,
    /// A document of counters or requests that ends in the middle, or is damaged there.
    DocumentCut,
    /// A gauge, or a server's own average, where counts are needed.
    GaugeOnly,
    /// The lines are not the server's own draws.
    ReplayContradicted,
    /// Log, counters and requests of one run show different accept lengths.
    EvidenceDisagrees,
    /// The caller gave another number of verify steps a line than the server's arguments.
    DecodeLogIntervalMismatch,
    /// Of some lines only sums are known: the point was put together of parts.
    JudgedBySums,
}

impl FindingCode {
    /// The name that programs read.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::TargetRounded => "target-rounded",
            Self::MultinomialBias => "multinomial-bias",
            Self::RealAcceptance => "real-acceptance",
            Self::Clamped => "clamped",
            Self::OffByOne => "off-by-one",
            Self::OtherGoldenCell => "other-golden-cell",
            Self::AcceptLenAboveMax => "accept-len-above-max",
            Self::NotVerifyAll => "not-verify-all",
            Self::RanksShareDraws => "ranks-share-draws",
            Self::DuplicateLines => "duplicate-lines",
            Self::ConfigChangedMidRun => "config-changed-mid-run",
            Self::MultipleServers => "multiple-servers",
            Self::CudaGraphOff => "cuda-graph-off",
            Self::DraftLengthMismatch => "draft-length-mismatch",
            Self::IdleWindow => "idle-window",
            Self::OtherTarget => "other-target",
            Self::SimulationInEval => "simulation-in-eval",
            Self::MethodMismatch => "method-mismatch",
            Self::AcceptRateDisagrees => "accept-rate-disagrees",
            Self::NoSpeculativeFields => "no-speculative-fields",
            Self::NoDecodeLines => "no-decode-lines",
            Self::ShortRun => "short-run",
            Self::CounterReset => "counter-reset",
            Self::CountsContradict => "counts-contradict",
            Self::DocumentCut => "document-cut",
            Self::GaugeOnly => "gauge-only",
            Self::ReplayContradicted => "replay-contradicted",
            Self::EvidenceDisagrees => "evidence-disagrees",
            Self::DecodeLogIntervalMismatch => "decode-log-interval-mismatch",
            Self::JudgedBySums => "judged-by-sums",
        }
    }
}

impl fmt::Display for FindingCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
