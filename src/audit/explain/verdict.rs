//! Findings that follow from the verdict, and every reason in one sentence.

use std::fmt;

use super::super::decision::{Reason, Shortfall, Verdict};
use super::super::finding::{Finding, FindingCode, Severity};
use super::super::injection::first_length;
use super::super::mechanism::{Mechanism, Other};
use super::super::observed::Observed;
use super::super::pooled::export;
use super::replay::Chance;
use super::{count, error, warning};
use crate::engine::Engine;
use crate::replay::ReplayStatus;

/// Too few lines is a finding; every other reason has one already or needs none.
pub(crate) fn about_verdict(seen: &Observed, reason: &Reason) -> Option<Finding> {
    match reason {
        Reason::SimulatedEvaluation(_) | Reason::SimulationSet => Some(error(
            FindingCode::SimulationInEval,
            first_length(&seen.injected).map(|setting| setting.place).or(seen.first_line),
            format!(
                "{reason}{}; clear the settings (`accsim env {} --format unset` prints what) and run the evaluation \
                 again: its scores are worth nothing",
                first_length(&seen.injected)
                    .map(|setting| format!(", by {}={}", setting.name, setting.value))
                    .unwrap_or_default(),
                seen.engine_hint()
                    .map_or_else(|| "...".to_owned(), |engine| format!("--engine {}", engine.name())),
            ),
        )),
        Reason::EvaluationUndecided => {
            Some(warning(FindingCode::ShortRun, None, format!("{reason}; a longer run will show")))
        }
        Reason::ShortRun(shortfall) => Some(warning(FindingCode::ShortRun, None, shortfall.to_string())),
        Reason::NoScatter(_) => Some(warning(FindingCode::ShortRun, None, reason.to_string())),
        Reason::UnknownInterval { .. } => {
            Some(warning(FindingCode::ShortRun, seen.first_line, reason.to_string()))
        }
        _ => None,
    }
}

/// What an `inconsistent` point shows, where no other finding says it.
pub(crate) fn unexplained(
    seen: &Observed,
    verdict: Verdict,
    reason: &Reason,
    findings: &[Finding],
) -> Option<Finding> {
    let is_said = findings.iter().any(|finding| finding.severity == Severity::Error);
    (verdict == Verdict::Inconsistent && !is_said).then(|| {
        let place = match reason {
            Reason::ImpossibleLine { place, .. } => *place,
            _ => None,
        };
        error(
            FindingCode::OtherTarget,
            place.or(seen.first_line),
            format!(
                "{reason}; compare the accept length and the method that this run was given with the target, and run it \
                 again"
            ),
        )
    })
}

/// Sums that stay as few however long a run is.
fn one_sum(engine: Engine, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(
        f,
        "the counters give one sum, which does not tell how single steps scatter, and a longer run would not either: give {}",
        by_position(engine)
    )
}

/// The export of an engine that tells steps apart.
pub(crate) fn by_position(engine: Engine) -> &'static str {
    match engine {
        Engine::Vllm => {
            "the server's log, or the counters by position too (vllm:spec_decode_num_accepted_tokens_per_pos)"
        }
        Engine::Trtllm => {
            "the counters by position (trtllm_spec_decode_accepted_tokens_total{token_position})"
        }
        Engine::Atom => {
            "the counter of steps by their accepted tokens (atom:mtp_decode_steps), /debug/mtp_stats, or the server's log"
        }
        Engine::Sglang | Engine::Tilert => "the server's log",
    }
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.more_lines, self.interval) {
            (Some(more), _) => write!(
                f,
                "too short to decide within {:.3} tokens: about {} of independent steps needed",
                self.margin,
                count(more, "more line")
            ),
            (None, Some(interval)) => write!(
                f,
                "undecided: the mean lies more than {:.3} tokens from the target, yet {:.3} to {:.3} does not exclude \
                 it; a longer run will show",
                self.margin, interval.low, interval.high
            ),
            (None, None) => write!(
                f,
                "too short to decide: the lines do not tell how much they scatter; at least 5 are needed"
            ),
        }
    }
}

/// One sentence.
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDecodeLines => write!(f, "the log holds no decode line"),
            Self::NoneInScope(lines) => {
                write!(f, "none of {} lies within what was asked for", count(*lines, "decode line"))
            }
            Self::NoAcceptLengths => write!(f, "no decode line has an accept length"),
            Self::NothingDrafted => write!(f, "nothing was drafted in what the log and the counters show"),
            Self::NoExport(engine) => write!(f, "{}: {}", engine.title(), export(*engine)),
            Self::EvidenceDisagrees => {
                write!(f, "the kinds of evidence for this run contradict each other")
            }
            Self::NoTarget => write!(
                f,
                "no target is known: name one by --model, --method and --draft-length, or by --accept-length"
            ),
            Self::OtherServer(code) => f.write_str(other_server(*code)),
            Self::OtherMechanism { engine, mechanism, constant, other } => {
                other_mechanism(f, *engine, *mechanism, *constant, other.as_ref())
            }
            Self::ImpossibleLine { hundredths, support: (lo, hi), .. } => {
                let shown = f64::from(*hundredths) / 100.0;
                if lo == hi {
                    write!(f, "a line shows {shown:.2}, where the target makes every line {lo}.00")
                } else {
                    write!(f, "a line shows {shown:.2}, and the target allows {lo}.00 to {hi}.00 only")
                }
            }
            Self::OffLattice(lattice) => write!(
                f,
                "{} of {} of constant batch show a value that no whole number of draws gives: the draws were not \
                 shared by the batch",
                lattice.misses,
                count(lattice.lines, "line")
            ),
            Self::WrongScatter(scatter) => write!(
                f,
                "the lines scatter too {} for the target (D {:.1} over {})",
                if scatter.is_too_wide() { "widely" } else { "little" },
                scatter.d,
                count(scatter.lines, "line")
            ),
            Self::LawRejected { unknown_target } => law_rejected(f, *unknown_target),
            Self::UnknownInterval { inferred, possible, verdict } => write!(
                f,
                "the log does not say how many verify steps a line stands for: with {inferred} the run would be {verdict}, \
                 with {possible} it would not, and the lines are too few to tell; name the number by --decode-log-interval"
            ),
            Self::WrongMean(interval) => write!(
                f,
                "the mean lies between {:.3} and {:.3} (99.9 %), which excludes the target",
                interval.low, interval.high
            ),
            Self::MixedServers => {
                write!(f, "servers with different settings wrote the log, so its lines are no one sample")
            }
            Self::OnlySums => write!(
                f,
                "of lines only sums are here, which do not tell all that the lines would; audit all logs of this point in one \
                 command"
            ),
            Self::WithinMargin { interval, margin } => write!(
                f,
                "the mean lies between {:.3} and {:.3}, within {margin:.3} tokens of the target",
                interval.low, interval.high
            ),
            Self::ShortRun(shortfall) => shortfall.fmt(f),
            Self::SimulatedEvaluation(Mechanism::Constant) => {
                write!(
                    f,
                    "every line shows the same whole number, which judged drafts do not: the run was simulated"
                )
            }
            Self::SimulatedEvaluation(mechanism) => {
                write!(f, "the lines are those of a simulation ({mechanism}), not of judged drafts")
            }
            Self::SimulationSet => write!(f, "the run was told to simulate acceptance"),
            Self::RealAsExpected => {
                write!(f, "no simulation gives these lines: the drafts were really judged")
            }
            Self::LooksReal => write!(
                f,
                "no forced accept length gives these shares of the positions: the drafts look judged, and nothing here \
                 says that they were not"
            ),
            Self::NothingAccepted => write!(
                f,
                "every line shows 1.00: no draft was accepted, which a simulated 1 cannot be told from"
            ),
            Self::NoScatter(engine) => one_sum(*engine, f),
            Self::EvaluationUndecided => {
                f.write_str("the lines can be real acceptance, and can be simulated")
            }
            Self::Replayed { .. } | Self::OtherTarget { .. } | Self::ReplayRequired(_) => by_draws(self, f),
        }
    }
}

/// The lines speak against the target's law, and perhaps for one at this length.
fn law_rejected(f: &mut fmt::Formatter<'_>, unknown_target: Option<f64>) -> fmt::Result {
    match unknown_target {
        Some(length) => {
            write!(f, "the lines look like a simulation at about {length:.2}, a value that nobody named here")
        }
        None => write!(f, "the lines are far more likely under another law than under the target's"),
    }
}

/// What a server was told that is not the target's.
fn other_server(code: FindingCode) -> &'static str {
    match code {
        FindingCode::MethodMismatch => "the server drafts in another way than the target's curve",
        FindingCode::OtherTarget => "the run was told to simulate another accept length than the target",
        FindingCode::NotVerifyAll => {
            "the server did not verify every draft, and then no accept length above 1 is simulated"
        }
        _ => "the server's draft length is not the target's",
    }
}

/// Reasons that follow from the server's own draws.
fn by_draws(reason: &Reason, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match reason {
        Reason::Replayed { law, log10_chance } => write!(
            f,
            "the lines are the server's own draws for {law}, recomputed from its seed; chance of an accident below {}",
            Chance(*log10_chance)
        ),
        Reason::OtherTarget { law } => {
            write!(f, "the lines are the server's own draws for {law}, recomputed from its seed")
        }
        Reason::ReplayRequired(ReplayStatus::Contradicted) => {
            write!(f, "replay was required, and the lines are not the server's own draws")
        }
        Reason::ReplayRequired(_) => write!(f, "replay was required, and proves nothing here"),
        _ => Ok(()),
    }
}

/// Which law wrote the lines in place of the target's.
fn other_mechanism(
    f: &mut fmt::Formatter<'_>,
    engine: Engine,
    mechanism: Mechanism,
    constant: Option<u32>,
    other: Option<&Other>,
) -> fmt::Result {
    let is_sglang = engine == Engine::Sglang;
    let shows = if is_sglang { "line shows" } else { "step emits" };
    let every = constant.map_or_else(String::new, |length| format!("every {shows} exactly {length}.00: "));
    match (mechanism, other) {
        (Mechanism::Rounded, _) if is_sglang => write!(
            f,
            "{every}the target was rounded once, as SGLang 0.5.16 and 0.5.17 do with DSPARK (use 0.5.18 or \
             later)"
        ),
        (Mechanism::Rounded, _) if engine == Engine::Trtllm => write!(
            f,
            "{every}the fraction of the target was ignored, as readers of whole numbers do \
             (NVIDIA/TensorRT-LLM#13569 came after them)"
        ),
        (Mechanism::Rounded, _) => write!(f, "{every}the fraction of the target was lost"),
        (Mechanism::Multinomial, _) => {
            write!(f, "the lengths were drawn by `multinomial`, not by `match-expected`")
        }
        (Mechanism::PerRequest, _) => {
            write!(f, "every request drew its own length, where a simulated step draws one for the batch")
        }
        (Mechanism::Real, _) => write!(f, "{every}this is real acceptance, not a simulated one"),
        (Mechanism::Mixed, _) => {
            write!(
                f,
                "the lines follow one law first and another one later: two runs, or settings that changed"
            )
        }
        (Mechanism::OtherCell, Some(Other::Cell(cell))) => {
            write!(
                f,
                "another golden value than the target was simulated, {} or one near it",
                cell.accept_length
            )
        }
        (Mechanism::OtherCell, Some(Other::OneOff(value))) => {
            write!(f, "a value one token off was simulated: {value:.2}")
        }
        _ => write!(f, "{every}another value than the target was simulated"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_server_was_told_has_words_of_its_own() {
        let codes = [
            FindingCode::MethodMismatch,
            FindingCode::OtherTarget,
            FindingCode::NotVerifyAll,
            FindingCode::DraftLengthMismatch,
        ];
        let words: std::collections::BTreeSet<&str> = codes.into_iter().map(other_server).collect();
        assert_eq!(words.len(), codes.len());
        assert!(other_server(FindingCode::MethodMismatch).contains("another way"));
    }
}
