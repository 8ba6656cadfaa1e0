//! The audit's side of replay: which lines go there, and what its conclusion does to the verdict.

use crate::evidence::{CompactLine, Hundredths, Place, ServerStart};
use crate::golden::Target;
use crate::law::Setting;
use crate::replay::{
    Claim, DrawLaw, DrawMethod, Replay, ReplayBuilder, ReplayEvidence, ReplayLine, ReplayOptions,
    ReplayStatus, ServerDraws,
};

use super::decision::{Reason, Verdict};
use super::mechanism::{Mechanism, Mechanisms};
use super::options::{Options, ReplayMode};
use super::server;

/// Hands a point's lines on.
#[derive(Clone, Debug)]
pub(super) struct Feed {
    builder: ReplayBuilder,
    /// The arguments of the server at hand, and whether a line followed on them.
    server: Option<ServerDraws>,
    has_lines: bool,
}

impl Feed {
    pub(super) fn new(options: ReplayOptions) -> Self {
        Self { builder: ReplayBuilder::new(options), server: None, has_lines: false }
    }

    /// Another file of the point.
    pub(super) fn file(&mut self) {
        self.builder.gap();
    }

    /// A `server_args` line; `is_new` says that it is no other node of the server at hand.
    pub(super) fn start(&mut self, arguments: &ServerStart, is_new: bool) {
        let server = ServerDraws {
            seed: arguments.random_seed,
            interval: arguments.decode_log_interval,
            max_accept_length: server::max_accept_length(arguments),
            decode_only: arguments.disaggregation_mode.as_deref() == Some("decode"),
        };
        let is_node = self.server == Some(server) && !self.has_lines;
        if is_new && !is_node {
            self.builder.start(server);
            self.has_lines = false;
        }
        self.server = Some(server);
    }

    pub(super) fn flush(&mut self) {
        self.builder.flush();
    }

    /// The clock went back before a rank's next line: logs were joined here.
    pub(super) fn joined(&mut self, rank: usize) {
        self.builder.gap_of(rank);
    }

    /// A line that could not be read.
    pub(super) fn damaged(&mut self) {
        self.builder.damaged();
    }

    /// Whether lines and prefills need not be handed on one by one, until the next server starts.
    pub(super) fn only_counts(&self) -> bool {
        self.builder.only_counts()
    }

    /// A prefill line of any rank.
    pub(super) fn shows_prefills(&mut self) {
        self.builder.shows_prefills();
    }

    pub(super) fn prefill(&mut self, rank: usize, new_seq: Option<u32>) {
        self.builder.prefill(rank, new_seq);
    }

    /// Where a line stands is asked only where the draws are followed: to find out takes time.
    #[inline]
    pub(super) fn line(
        &mut self,
        rank: usize,
        line: &CompactLine,
        place: &impl Fn() -> Place,
        millis: impl Fn() -> Option<u64>,
        message: &[u8],
    ) {
        let hundredths = line.accept_len().map(Hundredths::count);
        if self.only_counts() {
            return self.count(rank, u64::from(hundredths.is_some()));
        }
        self.has_lines = true;
        let tokens = crate::evidence::leading_tokens(message);
        let line = ReplayLine {
            place: place(),
            hundredths,
            batch: line.running_req(),
            tokens,
            millis: millis(),
            throughput_hundredths: line.throughput_hundredths(),
        };
        self.builder.line(rank, line);
    }

    /// A line that was not asked for: its steps were drawn all the same.
    pub(super) fn pass(
        &mut self,
        rank: usize,
        line: &CompactLine,
        place: &impl Fn() -> Place,
        millis: impl Fn() -> Option<u64>,
        message: &[u8],
    ) {
        if !self.only_counts() {
            let tokens = crate::evidence::leading_tokens(message);
            let line = ReplayLine {
                place: place(),
                hundredths: None,
                batch: line.running_req(),
                tokens,
                millis: millis(),
                throughput_hundredths: line.throughput_hundredths(),
            };
            self.builder.line(rank, line);
        }
    }

    /// Lines of which only the number matters: those that have an accept length.
    pub(super) fn count(&mut self, rank: usize, lines: u64) {
        self.has_lines = true;
        self.builder.count(rank, lines);
    }

    pub(super) fn finish(self) -> ReplayEvidence {
        self.builder.finish()
    }
}

/// What the draws say about a target for which the statistics came to `verdict`, of a point with so many lines that
/// have an accept length.
pub(super) fn conclude(
    evidence: &ReplayEvidence,
    target: Option<&Target>,
    verdict: Verdict,
    lines: u64,
) -> Replay {
    let claim = target.map(|target| {
        let setting = Setting::new(target.accept_length().get(), target.max_accept_length()).ok();
        let law = setting.and_then(|setting| DrawLaw::new(DrawMethod::MatchExpected, setting));
        Claim { law: law.filter(|law| law.constant().is_none()), fits: verdict != Verdict::Inconsistent }
    });
    evidence.conclude(claim.as_ref(), lines)
}

/// The verdict with the proof that there is, or that was asked for. `is_mixed` says that servers with different settings
/// wrote the lines.
pub(super) fn decide(
    replay: &Replay,
    (verdict, reason): (Verdict, Reason),
    target: Option<&Target>,
    options: &Options,
    is_mixed: bool,
) -> (Verdict, Reason) {
    let is_required = options.replay == ReplayMode::Require;
    if let (true, true, Some(law)) = (options.expect_real, replay.is_simulated(), &replay.law) {
        let mechanism = match law.method() {
            DrawMethod::MatchExpected => Mechanism::MatchExpected,
            DrawMethod::Multinomial => Mechanism::Multinomial,
        };
        return (Verdict::Inconsistent, Reason::SimulatedEvaluation(mechanism));
    }
    match (replay.status, target, &replay.law) {
        // Whatever the lines prove, it was not this target's server.
        (ReplayStatus::Proved | ReplayStatus::OtherTarget, _, _)
            if matches!(reason, Reason::OtherServer(_)) =>
        {
            (verdict, reason)
        }
        (ReplayStatus::Proved, Some(_), Some(_)) if is_mixed => (Verdict::Insufficient, Reason::MixedServers),
        (ReplayStatus::Proved, Some(_), Some(law)) => {
            let log10_chance = replay.log10_chance.unwrap_or(0.0);
            (Verdict::Consistent, Reason::Replayed { law: *law, log10_chance })
        }
        (ReplayStatus::OtherTarget, Some(_), Some(law)) => {
            (Verdict::Inconsistent, Reason::OtherTarget { law: *law })
        }
        (ReplayStatus::Contradicted | ReplayStatus::Unavailable, Some(_), _)
            if is_required && verdict == Verdict::Consistent =>
        {
            (Verdict::Insufficient, Reason::ReplayRequired(replay.status))
        }
        _ => (verdict, reason),
    }
}

/// What is proved needs no odds: the law that drew the lines is known.
pub(super) fn identify(replay: &Replay, mechanisms: &mut Mechanisms) {
    let best = match (replay.status, replay.law.map(|law| law.method())) {
        (ReplayStatus::Proved | ReplayStatus::OtherTarget, Some(DrawMethod::Multinomial)) => {
            Mechanism::Multinomial
        }
        (ReplayStatus::Proved, Some(DrawMethod::MatchExpected)) => Mechanism::MatchExpected,
        (ReplayStatus::OtherTarget, Some(DrawMethod::MatchExpected)) => Mechanism::OtherCell,
        _ => return,
    };
    mechanisms.best = Some(best);
    mechanisms.cells_alike.clear();
    mechanisms.rejected.retain(|rejected| *rejected != best);
}
