//! What the law behind sums means, and what to do about it.

use crate::engine::Engine;
use crate::golden::Target;

use super::super::super::explain::{error, warning};
use super::super::super::finding::{Finding, FindingCode};
use super::super::super::mechanism::{Mechanism, Other};
use super::super::judge::Analysis;
use super::super::law::MISSING;
use super::super::mark::Mark;

/// What the law means, and what to do about it.
pub(in crate::audit::pooled) fn about_mechanism(
    analysis: &Analysis,
    target: Option<&Target>,
) -> Option<Finding> {
    let target = target?;
    let (length, max) = (target.accept_length(), target.max_accept_length());
    let place = analysis.first;
    let constant = analysis.mechanisms.constant;
    if target.is_above_max() && constant == Some(max) {
        return Some(error(
            FindingCode::Clamped,
            place,
            format!(
                "every step shows {max}.00: the target {length} lies above the most that a step can emit, and the engine cut it"
            ),
        ));
    }
    if analysis.estimate.mean > f64::from(max) + 0.005 {
        return Some(error(
            FindingCode::AcceptLenAboveMax,
            place,
            format!(
                "the mean {:.3} lies above the {max} tokens that a step of this draft length can emit",
                analysis.estimate.mean
            ),
        ));
    }
    if let Some(shown) = constant.filter(|shown| (length.get() - f64::from(*shown)).abs() - 1.0 < 1e-9)
        && ((length.get() - f64::from(shown)).abs() - 1.0).abs() < 1e-9
    {
        return Some(one_off(analysis, target, f64::from(shown)));
    }
    match analysis.mechanisms.best {
        Some(Mechanism::Rounded) => Some(error(
            FindingCode::TargetRounded,
            place,
            format!(
                "every step shows {}.00 exactly: the fraction of {length} is lost; {}",
                constant.unwrap_or(0),
                match analysis.engine {
                    Engine::Trtllm => {
                        "TensorRT-LLM before NVIDIA/TensorRT-LLM#13569 (2026-05), and its two-model path always, read \
                         TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS as a whole number"
                            .to_owned()
                    }
                    engine => format!(
                        "{} itself keeps it: check the value that {} was given",
                        engine.title(),
                        setting(engine)
                    ),
                }
            ),
        )),
        Some(Mechanism::Real) => Some(real(analysis, target)),
        Some(Mechanism::OtherCell) => match analysis.mechanisms.other.as_ref()? {
            Other::OneOff(value) => Some(one_off(analysis, target, *value)),
            Other::Cell(cell) => Some(error(
                FindingCode::OtherGoldenCell,
                place,
                format!(
                    "the steps show a simulated {}, not {length}: that is the value of {} {}, draft length {}; another cell \
                     was set",
                    cell.accept_length, cell.curve, cell.thinking, cell.draft_length
                ),
            )),
        },
        Some(Mechanism::Geometric) => Some(warning(
            FindingCode::MethodMismatch,
            place,
            "every position accepts at one conditional rate: an ATOM build before ROCm/ATOM#1948 with \
             --spec-decode-acceptance-rate; its mean is judged, its spread is not that of a forced length"
                .to_owned(),
        )),
        None if analysis.missing >= MISSING && analysis.mechanisms.is_target_beaten => {
            Some(about_missing(analysis, target))
        }
        None if matches!(analysis.mark, Mark::TwoPoint { is_exact: false, .. })
            && analysis.mechanisms.is_target_beaten =>
        {
            about_cut(analysis, target)
        }
        None if matches!(analysis.mark, Mark::Falling | Mark::Broken) => Some(warning(
            FindingCode::MethodMismatch,
            place,
            "synthetic_acceptance_rate was set, a single number whose law is not the same in every build before \
             vllm-project/vllm#40662: only the mean speaks here; set synthetic_acceptance_length"
                .to_owned(),
        )),
        _ => None,
    }
}

/// Steps with fewer drafts than others.
fn about_missing(analysis: &Analysis, target: &Target) -> Finding {
    let (mean, missing, length) = (analysis.estimate.mean, analysis.missing, target.accept_length());
    let drafted = crate::law::float(analysis.pool.drafted) / analysis.pool.steps().max(1.0);
    let is_cause = (mean..=mean + missing).contains(&length.get());
    error(
        FindingCode::NotVerifyAll,
        analysis.first,
        format!(
            "the draft length varied at run time: {drafted:.2} tokens were drafted a step on average, {:.2} fewer than the \
             most. A forced length accepts no draft that was not made: the steps show {mean:.3}, and {}. Run with one draft \
             length: without num_speculative_tokens_per_batch_size, a draft_len_schedule or adaptive verification",
            missing,
            if is_cause {
                format!("{length} may have been set and was not reached")
            } else {
                format!("what was set lies between that and {:.3}, so it was not {length}", mean + missing)
            }
        ),
    )
}

/// Steps of a forced length that were cut short.
fn about_cut(analysis: &Analysis, target: &Target) -> Option<Finding> {
    let Mark::TwoPoint { lo, .. } = analysis.mark else { return None };
    let (mean, steps) =
        analysis.pool.mean_uncut(lo).filter(|_| analysis.mechanisms.unknown_target.is_none())?;
    let share = 100.0 * (1.0 - steps / analysis.pool.steps().max(1.0));
    Some(error(
        FindingCode::NotVerifyAll,
        analysis.first,
        format!(
            "{share:.1} % of the steps of a forced length were cut short: they accepted fewer than the {} drafts that {} \
             accepts always, as with structured output, whose grammar refuses drafts, or with fewer drafts; the other steps \
             show {mean:.3}, and all of them {:.3}. Run without what cuts them short",
            lo.saturating_sub(1),
            target.accept_length(),
            analysis.estimate.mean
        ),
    ))
}

/// Drafts that were judged, or looked so.
fn real(analysis: &Analysis, target: &Target) -> Finding {
    let (length, setting) = (target.accept_length(), setting(analysis.engine));
    let message = if analysis.mechanisms.constant == Some(1) {
        format!(
            "every step shows 1.00: no draft was accepted, and nothing was simulated at {length}; check that {setting} reached \
             the server"
        )
    } else if analysis.mark == Mark::Broken {
        format!(
            "the drafts were not accepted by a forced length of {length}: those before the last one that ever was are not \
             accepted in every step, and those behind it never, as a list of rates or lengths that are no neighbours give \
             it; check what {setting} was set to"
        )
    } else {
        format!(
            "the drafts look judged, not accepted by a forced length of {length}: {}; check that {setting} reached the server{}",
            if analysis.pool.positions.is_empty() {
                "they are not those of two neighbouring lengths"
            } else {
                "their shares fall off from position to position"
            },
            if analysis.engine == Engine::Vllm && analysis.is_configured {
                ", and whether the configuration that the log shows is that of the server which wrote the windows"
            } else if analysis.engine == Engine::Vllm {
                ". A list of synthetic_acceptance_rates looks so too: where one was meant, keep the server's start-up \
                 lines, which show it, in the log"
            } else {
                ""
            }
        )
    };
    error(FindingCode::RealAcceptance, analysis.first, message)
}

fn one_off(analysis: &Analysis, target: &Target, value: f64) -> Finding {
    let (engine, length) = (analysis.engine, target.accept_length());
    let direction = if value < length.get() { "below" } else { "above" };
    error(
        FindingCode::OffByOne,
        analysis.first,
        format!(
            "the steps show a simulated {value:.2}, one token {direction} the target {length}: {}",
            match engine {
                Engine::Trtllm => {
                    "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS counts accepted drafts, which is the accept length minus 1"
                        .to_owned()
                }
                engine => format!(
                    "{} is the accept length itself, the target model's own token included (only TensorRT-LLM counts the \
                     accepted drafts alone)",
                    setting(engine)
                ),
            }
        ),
    )
}

/// The setting of an engine that forces a length.
fn setting(engine: Engine) -> &'static str {
    match engine {
        Engine::Vllm => "synthetic_acceptance_length (with rejection_sample_method synthetic)",
        Engine::Trtllm => "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS",
        Engine::Atom => "--spec-decode-acceptance-length",
        Engine::Tilert => "TILERT_SIMULATE_ACC_LEN",
        Engine::Sglang => "SGLANG_SIMULATE_ACC_LEN",
    }
}
