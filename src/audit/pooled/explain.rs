//! Findings about sums, in plain words, each with its next step.

use crate::engine::Engine;
use crate::golden::Target;

use super::super::explain::{count, error, note, warning};
use super::super::finding::{Finding, FindingCode};
use super::super::mechanism::{Mechanism, Other};
use super::super::point::Observed;
use super::evidence::{PooledEvidence, PooledSource};
use super::judge::{Analysis, other_length};
use super::mark::Mark;

/// Which export of an engine decides, where its log does not.
pub(in crate::audit) fn export(engine: Engine) -> &'static str {
    match engine {
        Engine::Trtllm => {
            "its iteration log never shows acceptance; read /metrics (specDecodingStats: numAcceptedTokens and \
             numRequestsWithDraftTokens) during the run, or the Prometheus counters \
             trtllm_spec_decode_accepted_tokens_total and trtllm_spec_decode_drafted_tokens_total before and after it"
        }
        Engine::Tilert => {
            "no log line and no metric of it that shows acceptance is known; its settings can be checked"
        }
        Engine::Vllm => {
            "read the counters vllm:spec_decode_num_accepted_tokens_total and vllm:spec_decode_num_drafts_total before \
             and after the run"
        }
        Engine::Atom => {
            "read /debug/mtp_stats, or the counters atom:mtp_accepted_tokens_total and atom:mtp_decode_steps_total"
        }
        Engine::Sglang => "read its decode lines",
    }
}

/// The draft length of the evidence against the target's.
pub(super) fn about_length(seen: &Observed, analysis: &Analysis, target: Option<&Target>) -> Option<Finding> {
    let (target, length) = (target?, analysis.pool.draft_length()?);
    let wanted = target.max_accept_length().checked_sub(1).filter(|wanted| *wanted != length)?;
    let first = seen.line_log.first;
    Some(error(
        FindingCode::DraftLengthMismatch,
        first,
        format!(
            "{} are drafted a step, and the target is for {wanted}; take the golden cell of this draft length, or start \
             the server with num_speculative_tokens {wanted}",
            count(length.into(), "token")
        ),
    ))
}

/// Scraped servers of different draft lengths.
pub(super) fn about_scraped(evidence: &PooledEvidence) -> Option<Finding> {
    let (one, other) = other_length(evidence).filter(|_| evidence.source == PooledSource::Counters)?;
    Some(error(
        FindingCode::MultipleServers,
        evidence.first,
        format!(
            "the scraped servers draft {one} and {other} tokens a step: their accept lengths do not compare; audit the \
             counters of each draft length apart"
        ),
    ))
}

/// What the lines show, whatever law is behind them.
pub(super) fn about_lines(
    seen: &Observed,
    analysis: Option<&Analysis>,
    engine: Option<Engine>,
) -> Vec<Finding> {
    let log = &seen.line_log;
    let mut findings = Vec::new();
    if let (None, Some(engine)) = (analysis, engine) {
        findings.push(nothing(seen, engine));
    }
    if let Some((other, place)) = log.other {
        findings.push(warning(
            FindingCode::MultipleServers,
            Some(place),
            format!(
                "lines of {} stand in the log too: pass --engine, or give each server's log apart",
                other.title()
            ),
        ));
    }
    if seen.skipped.counts.duplicate > 0 {
        findings.push(note(
            FindingCode::DuplicateLines,
            log.first_duplicate,
            format!("{} counted once", count(seen.skipped.counts.duplicate, "repeated line")),
        ));
    }
    if log.idle > 0 {
        findings.push(note(
            FindingCode::IdleWindow,
            log.first_idle,
            format!(
                "{} idle time: vLLM's clock runs on while nothing is drafted, so throughput there is no speed; counts are \
                 right",
                count(log.idle, "window held").replace("window held", "window").replace("windows held", "windows")
                    + if log.idle == 1 { " holds" } else { " hold" }
            ),
        ));
    }
    if log.bounded > 0 {
        findings.push(warning(
            FindingCode::NotVerifyAll,
            log.first_bounded,
            format!(
                "{} drafted not the same number of tokens in every step, so their steps are known within bounds only; adaptive \
                 draft lengths may realise less than a forced length; the counter vllm:spec_decode_num_drafts_total is \
                 exact",
                count(log.bounded, "window")
            ),
        ));
    }
    if log.rates_off > 0 {
        findings.push(warning(
            FindingCode::AcceptRateDisagrees,
            log.first_rate_off,
            format!("the printed rate is not accepted over drafted in {}", count(log.rates_off, "window")),
        ));
    }
    if let Some(analysis) = analysis {
        let is_shared = analysis.estimate.steps + 0.5 < analysis.pool.steps();
        if is_shared {
            findings.push(note(
                FindingCode::RanksShareDraws,
                log.first,
                format!(
                    "of {} steps {:.0} count as draws of their own: {}",
                    analysis.pool.whole_steps(),
                    analysis.estimate.steps,
                    if analysis.source == PooledSource::Requests && analysis.engine == Engine::Sglang {
                        "a verify step draws once for its whole batch, and which requests shared a batch is not told; \
                         the steps of the longest request are sure to be draws of their own"
                    } else if matches!(analysis.engine, Engine::Atom | Engine::Trtllm) {
                        "replicas of this engine repeat the same sequence"
                    } else {
                        "windows scatter more than single draws do, as requests with equal seeds make them"
                    }
                ),
            ));
        }
    }
    findings
}

fn nothing(seen: &Observed, engine: Engine) -> Finding {
    let log = &seen.line_log;
    if log.lines == 0 && seen.skipped.counts.out_of_scope > 0 {
        return warning(
            FindingCode::NoDecodeLines,
            None,
            format!(
                "all of {} lie outside of --since, --until and --skip-lines; this log's times have no year or no date",
                count(seen.skipped.counts.out_of_scope, "line")
            ),
        );
    }
    if log.lines == 0 && !matches!(engine, Engine::Tilert) {
        return warning(
            FindingCode::NoDecodeLines,
            None,
            format!(
                "no line of {} that could show acceptance: it ran without speculative decoding, or too short; {}",
                engine.title(),
                export(engine)
            ),
        );
    }
    let message = if log.legacy > 0 {
        format!(
            "{} without an accept length and without a draft length: vLLM before 0.9 prints none, and V0 counts matches \
             behind a rejection as accepted (vllm-project/vllm#9565); use a later version, or {}",
            count(log.legacy, "line"),
            export(engine)
        )
    } else {
        format!("{}: {}", engine.title(), export(engine))
    };
    warning(FindingCode::NoSpeculativeFields, log.first, message)
}

/// What the law means, and what to do about it.
pub(super) fn about_mechanism(
    seen: &Observed,
    analysis: &Analysis,
    target: Option<&Target>,
) -> Option<Finding> {
    let target = target?;
    let (length, max) = (target.accept_length(), target.max_accept_length());
    let place = seen.line_log.first;
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
        return Some(one_off(seen, target, f64::from(shown)));
    }
    match analysis.mechanisms.best {
        Some(Mechanism::Rounded) => Some(error(
            FindingCode::TargetRounded,
            place,
            format!(
                "every step shows {}.00 exactly: the engine ignored the fraction of {length}; TensorRT-LLM before \
                 NVIDIA/TensorRT-LLM#13569 (2026-05) and its two-model path read whole numbers only",
                constant.unwrap_or(0)
            ),
        )),
        Some(Mechanism::Real) => Some(error(
            FindingCode::RealAcceptance,
            place,
            if constant == Some(1) {
                format!("every step shows 1.00: no draft was accepted, and nothing was simulated at {length}")
            } else {
                format!(
                    "the drafts look judged, not accepted by a forced length of {length}: their shares fall off from \
                     position to position; check that the setting reached the server ({})",
                    setting(analysis.engine)
                )
            },
        )),
        Some(Mechanism::OtherCell) => match analysis.mechanisms.other.as_ref()? {
            Other::OneOff(value) => Some(one_off(seen, target, *value)),
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
        None if analysis.mark == Mark::Falling => Some(warning(
            FindingCode::RealAcceptance,
            place,
            "the shares of the positions bear no mark of synthetic_acceptance_length: they are those of \
             synthetic_acceptance_rates, or of judged drafts; only the mean speaks here, and a log with the server's \
             configuration would tell"
                .to_owned(),
        )),
        _ => None,
    }
}

fn one_off(seen: &Observed, target: &Target, value: f64) -> Finding {
    let length = target.accept_length();
    let direction = if value < length.get() { "below" } else { "above" };
    error(
        FindingCode::OffByOne,
        seen.line_log.first,
        format!(
            "the steps show a simulated {value:.2}, one token {direction} the target {length}: TensorRT-LLM's variable counts \
             accepted drafts, which is the accept length minus 1; the other engines are given the accept length itself"
        ),
    )
}

/// The setting of an engine that forces a length.
fn setting(engine: Engine) -> &'static str {
    match engine {
        Engine::Vllm => "rejection_sample_method synthetic and synthetic_acceptance_length",
        Engine::Trtllm => "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS",
        Engine::Atom => "--spec-decode-acceptance-length",
        Engine::Tilert => "TILERT_SIMULATE_ACC_LEN",
        Engine::Sglang => "SGLANG_SIMULATE_ACC_LEN",
    }
}
