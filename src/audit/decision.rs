//! From the statistics to a verdict, by fixed rules, the first that applies.

use std::fmt;

use crate::engine::Engine;
use crate::evidence::Place;
use crate::golden::Target;
use crate::law::{TwoPoint, float};
use crate::replay::{DrawLaw, ReplayStatus};

use super::dispersion::{Dispersion, LatticeCheck};
use super::estimate::{Estimate, MeanInterval, lines_needed};
use super::finding::{Finding, FindingCode, Severity};
use super::mechanism::{Mechanism, Mechanisms, Other};
use super::options::{Confidence, Options};

/// Slack of honest engines, in tokens: they miss their target by up to 0.0101 over 200,000 steps.
pub(super) const SLACK: f64 = 0.015;

/// Least evidence for `consistent`.
pub(super) const MIN_LINES: u64 = 5;
pub(super) const MIN_STEPS: f64 = 200.0;

/// What an audit says about one point, or about all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The run shows the target.
    Consistent,
    /// It does not.
    Inconsistent,
    /// The lines do not decide, or no target is known.
    Insufficient,
    /// The log holds no accept lengths.
    Unauditable,
}

impl Verdict {
    /// Every verdict, the best first.
    pub const ALL: [Self; 4] = [Self::Consistent, Self::Insufficient, Self::Unauditable, Self::Inconsistent];

    /// The name that programs read.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Consistent => "consistent",
            Self::Inconsistent => "inconsistent",
            Self::Insufficient => "insufficient",
            Self::Unauditable => "unauditable",
        }
    }

    /// The one of two that stands for both: `inconsistent` before what cannot be decided, `consistent` last.
    #[must_use]
    pub fn worst(self, other: Self) -> Self {
        let rank = |verdict| match verdict {
            Self::Consistent => 0,
            Self::Insufficient => 1,
            Self::Unauditable => 2,
            Self::Inconsistent => 3,
        };
        if rank(self) >= rank(other) { self } else { other }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why the verdict is what it is.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// No decode line at all.
    NoDecodeLines,
    /// All decode lines were left out by what was asked for.
    NoneInScope(u64),
    /// Decode lines without accept lengths.
    NoAcceptLengths,
    /// Speculative decoding is there, and nothing was drafted.
    NothingDrafted,
    /// An engine whose log never shows acceptance.
    NoExport(Engine),
    /// Log, counters and requests show different accept lengths.
    EvidenceDisagrees,
    /// Nothing to compare with.
    NoTarget,
    /// The server's arguments are not the target's.
    OtherServer(FindingCode),
    /// Another law than the target's wrote the lines.
    OtherMechanism {
        /// The engine whose evidence shows it.
        engine: Engine,
        /// The law.
        mechanism: Mechanism,
        /// The one length that every line shows, if it is one.
        constant: Option<u32>,
        /// The value that was simulated in place of the target.
        other: Option<Other>,
    },
    /// A line that the target's law cannot print.
    ImpossibleLine {
        /// The first such line.
        place: Option<Place>,
        /// Printed value, in hundredths.
        hundredths: u32,
        /// What lines can show, in tokens.
        support: (u32, u32),
    },
    /// Steady lines off the lattice of one draw a step.
    OffLattice(LatticeCheck),
    /// The scatter is not that of the target's law.
    WrongScatter(Dispersion),
    /// The target's law is far less likely than another one, though it is not clear which.
    LawRejected {
        /// The lines look simulated at about this length, which nobody named.
        unknown_target: Option<f64>,
    },
    /// Nothing tells how many steps a line stands for, and the verdict depends on it.
    UnknownInterval {
        /// Steps of a line that explain the values.
        inferred: u32,
        /// Steps that explain them too, for which the verdict would be another.
        possible: u32,
        /// The verdict for the former.
        verdict: Verdict,
    },
    /// The 99.9 % interval excludes the target.
    WrongMean(MeanInterval),
    /// Servers with different settings wrote the log.
    MixedServers,
    /// Of lines only sums are known, which do not tell all that the lines would.
    OnlySums,
    /// The interval lies within the margin.
    WithinMargin {
        /// The interval that decides.
        interval: MeanInterval,
        /// Margin, in tokens.
        margin: f64,
    },
    /// More lines are needed.
    ShortRun(Shortfall),
    /// One sum, which does not tell how single steps scatter, of an engine whose other exports do.
    NoScatter(Engine),
    /// An evaluation run that was told to simulate.
    SimulationSet,
    /// An evaluation run whose lines were simulated, by this law.
    SimulatedEvaluation(Mechanism),
    /// An evaluation run whose lines no simulation gives.
    RealAsExpected,
    /// An evaluation run whose drafts look judged, of an engine that may have been given a list of rates, which looks so too.
    LooksReal,
    /// An evaluation run in which no draft was ever accepted.
    NothingAccepted,
    /// An evaluation run whose lines may be real, or simulated.
    EvaluationUndecided,
    /// The lines are the server's own draws for the target.
    Replayed {
        /// What was drawn.
        law: DrawLaw,
        /// Decimal logarithm of the chance of an accident.
        log10_chance: f64,
    },
    /// The lines are the server's own draws for something else.
    OtherTarget {
        /// What was drawn.
        law: DrawLaw,
    },
    /// A proof by the server's own draws was asked for, and there is none.
    ReplayRequired(ReplayStatus),
}

/// What is missing for a verdict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shortfall {
    /// The interval that decides, where there is one.
    pub interval: Option<MeanInterval>,
    /// Margin, in tokens.
    pub margin: f64,
    /// More independent lines that an honest run should need; `None` when the mean lies outside the margin, so that
    /// more lines would prove a deviation if they go on like this.
    pub more_lines: Option<u64>,
}

/// Everything the rules look at.
pub(super) struct Case<'a> {
    pub(super) target: &'a Target,
    pub(super) options: &'a Options,
    pub(super) interval: u32,
    pub(super) findings: &'a [Finding],
    pub(super) mechanisms: &'a Mechanisms,
    pub(super) lattice: LatticeCheck,
    pub(super) estimate: &'a Estimate,
    /// A printed value, in hundredths, that the target's law cannot give, and its first line.
    pub(super) outside: Option<(u32, Option<Place>)>,
    pub(super) law: TwoPoint,
    /// Servers with different settings wrote the log.
    pub(super) is_mixed: bool,
    /// Of lines only sums are known, and these do not tell how they scatter.
    pub(super) is_untested: bool,
    /// Of lines only sums are known.
    pub(super) is_summed: bool,
}

/// An error that says the server is not the target's, or was told another one.
pub(super) fn other_server(findings: &[Finding]) -> Option<FindingCode> {
    findings.iter().filter(|finding| finding.severity == Severity::Error).map(|finding| finding.code).find(
        |code| {
            matches!(
                code,
                FindingCode::MethodMismatch | FindingCode::DraftLengthMismatch | FindingCode::OtherTarget
            )
        },
    )
}

impl Case<'_> {
    /// The verdict, and the most telling of the reasons for it: where several rules say `inconsistent`, the one that a
    /// reader can act on.
    pub(super) fn decide(&self) -> (Verdict, Reason) {
        if let Some(reason) = self.contradiction() {
            return (Verdict::Inconsistent, reason);
        }
        if self.is_mixed {
            return (Verdict::Insufficient, Reason::MixedServers);
        }
        let target = self.target.accept_length().get();
        let margin = self.options.margin.tokens(target);
        let interval = self.estimate.interval(self.options.confidence);
        let is_enough = self.estimate.lines >= MIN_LINES && self.estimate.steps >= MIN_STEPS;
        match interval {
            // More lines would not help.
            None if self.is_summed => (Verdict::Insufficient, Reason::OnlySums),
            Some(interval) if is_enough && interval.is_within(target, margin) => {
                if self.is_untested {
                    return (Verdict::Insufficient, Reason::OnlySums);
                }
                (Verdict::Consistent, Reason::WithinMargin { interval, margin })
            }
            _ => (Verdict::Insufficient, Reason::ShortRun(self.shortfall(interval, margin))),
        }
    }

    /// Whether the server is not the target's.
    pub(super) fn is_other_server(&self) -> bool {
        other_server(self.findings).is_some()
    }

    /// What speaks against the target.
    pub(super) fn contradiction(&self) -> Option<Reason> {
        if let Some(code) = other_server(self.findings) {
            return Some(Reason::OtherServer(code));
        }
        let mechanisms = self.mechanisms;
        if let Some(mechanism) = mechanisms.best.filter(|best| *best != Mechanism::MatchExpected) {
            let (constant, other) = (mechanisms.constant, mechanisms.other.clone());
            let engine = Engine::Sglang;
            return Some(Reason::OtherMechanism { engine, mechanism, constant, other });
        }
        if let Some((hundredths, place)) = self.outside {
            let support = (self.law.lo(), self.law.hi());
            return Some(Reason::ImpossibleLine { place, hundredths, support });
        }
        let target = self.target.accept_length().get();
        let proof = self.estimate.interval(Confidence::proof());
        if let Some(proof) = proof.filter(|proof| proof.is_outside(target, SLACK)) {
            return Some(Reason::WrongMean(proof));
        }
        if let Some(scatter) = mechanisms.dispersion.filter(Dispersion::rejects) {
            return Some(Reason::WrongScatter(scatter));
        }
        if self.lattice.rejects() {
            return Some(Reason::OffLattice(self.lattice));
        }
        let unknown_target = mechanisms.unknown_target;
        mechanisms.is_target_beaten.then_some(Reason::LawRejected { unknown_target })
    }

    fn shortfall(&self, interval: Option<MeanInterval>, margin: f64) -> Shortfall {
        let target = self.target.accept_length().get();
        let room = margin - (self.estimate.mean - target).abs();
        let have = self.estimate.steps / f64::from(self.interval);
        let needed = lines_needed(target, margin, self.options.confidence, self.interval).max(MIN_LINES);
        let more_lines = (room > 0.0).then(|| {
            // Half the width that is there now, shrunk to what the mean leaves of the margin.
            let reach = interval.map_or(0.0, |interval| {
                (interval.high - self.estimate.mean).max(self.estimate.mean - interval.low)
            });
            let at_this_mean = have * (reach / room).powi(2);
            let lines = float(needed).max(at_this_mean) - have;
            crate::law::whole(lines.ceil()).max(MIN_LINES.saturating_sub(self.estimate.lines)).max(1)
        });
        Shortfall { interval, margin, more_lines }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PointBuilder, judge};
    use super::*;
    use crate::evidence::Scanner;

    /// 4 lines of the 17 that 3.5 within 0.07 takes: each stands for 40 steps.
    #[test]
    fn a_short_run_says_how_many_lines_are_missing() {
        let mut builder = PointBuilder::new("p");
        for (second, length) in ["3.45", "3.55", "3.40", "3.60"].into_iter().enumerate() {
            let line = format!(
                "[2026-10-12 01:02:0{second} TP0] Decode batch, #running-req: 1, #token: 9, token usage: 0.05, accept len: \
                 {length}, accept rate: 0.50, cuda graph: True, gen throughput (token/s): 400.25, #queue-req: 0\n"
            );
            Scanner::new(0).lines(line.as_bytes(), &mut |place, record| builder.add(place, record));
        }
        let options = Options { decode_log_interval: Some(40), ..Options::default() };
        let report = judge(&builder.finish(), Some(&Target::explicit(3.5, 6).unwrap()), &options);
        let Reason::ShortRun(shortfall) = report.reason else { panic!("{:?}", report.reason) };
        assert_eq!((lines_needed(3.5, 0.07, options.confidence, 40), shortfall.more_lines), (17, Some(13)));
    }
}
