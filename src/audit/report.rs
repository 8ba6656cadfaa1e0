//! What an audit found about one point.

use crate::engine::Engine;
use crate::evidence::{Pool, ServerStart, Tags};
use crate::golden::Target;
use crate::law::{AcceptanceLaw, Setting};
use crate::replay::{Replay, ReplayReason};

use super::decision::{MIN_LINES, Reason, Verdict};
use super::dispersion::LatticeCheck;
use super::estimate::MeanInterval;
use super::finding::Finding;
use super::injection::InjectedSetting;
use super::interval::DecodeInterval;
use super::mechanism::Mechanisms;
use super::options::{Confidence, Margin};
use super::pooled::PooledSource;
use super::sequential::Sequence;
use super::series::Series;
use super::skipped::Skipped;

/// One run of one server: what was measured, and what it means.
#[derive(Clone, Debug)]
pub struct PointReport {
    /// The name that the caller gave.
    pub name: String,
    /// Indices of the files that records came from, as in [`Place::file`](crate::evidence::Place::file).
    pub files: Vec<u32>,
    /// The engine that wrote the lines; `None` when nothing was recognised.
    pub engine: Option<Engine>,
    /// What the first server's own arguments say.
    pub server: Option<ServerStart>,
    /// What the run was meant to show.
    pub target: Option<Target>,
    /// How far the mean may lie from it.
    pub margin: Margin,
    /// Confidence of the interval that decides.
    pub confidence: Confidence,
    /// Settings of the simulation: as the log shows them, in the order of their lines, then those of files about the run.
    pub injected: Vec<InjectedSetting>,
    /// Decode lines with running requests.
    pub decode_lines: u64,
    /// Those of them with an accept length.
    pub spec_lines: u64,
    /// Lines that count for nothing.
    pub skipped: Skipped,
    /// Verify steps that a line stands for.
    pub interval: DecodeInterval,
    /// Verify steps of all speculative lines.
    pub steps: u64,
    /// Those of them that are independent draws: changing batches and ranks that share draws count less.
    pub independent_steps: f64,
    /// Mean pairwise correlation of the ranks' k-th lines, or 1 where too few lines tell.
    pub rank_correlation: Option<f64>,
    /// The ranks, by their tags.
    pub ranks: Vec<RankReport>,
    /// Accept lengths, where any line has one.
    pub accept_len: Option<AcceptLenReport>,
    /// What was seen while the log grew: then the interval of the accept lengths is this one's.
    pub sequence: Option<Sequence>,
    /// Smallest and largest `#running-req`.
    pub running_req: Option<(u32, u32)>,
    /// Decode lines with `cuda graph: True` (or another device's), and with `False`.
    pub graphs: (u64, u64),
    /// Largest `#queue-req`.
    pub max_queue_req: Option<u32>,
    /// Tokens per second of all ranks: the sum of each rank's median, and of each rank's mean, over lines without
    /// idle time. `None` too where servers that ran side by side wrote the logs of one rank.
    pub median_tps: Option<f64>,
    /// See `median_tps`.
    pub steady_mean_tps: Option<f64>,
    /// What a line should show.
    pub expected_line: Option<ExpectedLine>,
    /// Which law wrote the lines.
    pub mechanisms: Option<Mechanisms>,
    /// Steady lines on the lattice of one draw a step.
    pub lattice: Option<LatticeCheck>,
    /// Sums of accepted drafts and steps, where the evidence comes as sums.
    pub pooled: Option<Pool>,
    /// What these sums are from.
    pub pooled_from: Option<PooledSource>,
    /// What the server's own draws say, where the point was built with replay.
    pub replay: Option<Replay>,
    /// The lines in their order, where the point was built to keep them.
    pub series: Option<Series>,
    /// Remarks, the gravest first.
    pub findings: Vec<Finding>,
    /// The decision.
    pub verdict: Verdict,
    /// Why.
    pub reason: Reason,
}

impl PointReport {
    /// What a reader is told of the server's own draws: nothing where no line could show them, though it was looked for.
    pub(crate) fn told_replay(&self) -> Option<&Replay> {
        self.replay.as_ref().filter(|replay| replay.reason != Some(ReplayReason::OtherEvidence))
    }

    /// Whether more lines of a growing log would leave the verdict as it is.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        match self.verdict {
            Verdict::Consistent | Verdict::Inconsistent => true,
            Verdict::Insufficient => matches!(self.reason, Reason::MixedServers),
            // The first lines of a server may come before it drafts.
            Verdict::Unauditable => self.decode_lines >= MIN_LINES,
        }
    }
}

/// What one line shows when the target is simulated as it should be, in tokens per verify step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpectedLine {
    /// Standard deviation.
    pub sd: f64,
    /// 95 of 100 lines lie from here...
    pub low95: f64,
    /// ...to here.
    pub high95: f64,
    /// No line lies below.
    pub lo: u32,
    /// No line lies above.
    pub hi: u32,
}

impl ExpectedLine {
    /// The lines of `interval` steps that a target makes.
    pub(super) fn of(target: &Target, interval: u32) -> Option<Self> {
        let setting = Setting::new(target.accept_length().get(), target.max_accept_length()).ok()?;
        let law = AcceptanceLaw::match_expected(setting);
        let sd = law.line_sd(interval, 1);
        let (lo, hi) = (*law.support().start(), *law.support().end());
        let low95 = (law.mean() - 1.96 * sd).max(f64::from(lo));
        let high95 = (law.mean() + 1.96 * sd).min(f64::from(hi));
        Some(Self { sd, low95, high95, lo, hi })
    }
}

/// The lines of one rank.
#[derive(Clone, Debug, PartialEq)]
pub struct RankReport {
    /// Its tags, the lowest where several processes print for it.
    pub tags: Tags,
    /// Decode lines with running requests.
    pub lines: u64,
    /// Plain mean of the printed accept lengths, in tokens.
    pub accept_len: Option<f64>,
    /// Largest `#running-req`; `None` where some of its lines have no accept length and others ranks hide it.
    pub max_running_req: Option<u32>,
}

/// Accept lengths of one point, in tokens per verify step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AcceptLenReport {
    /// Plain mean of the printed values.
    pub mean: f64,
    /// Mean weighed by `#running-req`, which stands for the request-steps of a line.
    pub weighted: f64,
    /// Smallest printed value.
    pub min: f64,
    /// Largest printed value.
    pub max: f64,
    /// Interval for the mean of the steps; `None` where the lines do not tell how much they scatter.
    pub interval: Option<MeanInterval>,
    /// Its confidence.
    pub confidence: Confidence,
}
