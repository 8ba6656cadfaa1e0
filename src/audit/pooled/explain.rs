//! Findings about sums, in plain words, each with its next step.

mod mechanism;

use crate::engine::Engine;
use crate::evidence::Place;
use crate::golden::Target;

use super::super::decision::Reason;
use super::super::explain::{by_position, count, error, note, warning};
use super::super::finding::{Finding, FindingCode, Severity};
use super::super::injection;
use super::super::observed::Observed;
use super::evidence::{PooledEvidence, PooledSource};
use super::judge::{Analysis, other_length};

pub(super) use mechanism::about_mechanism;

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
pub(super) fn about_length(analysis: &Analysis, target: Option<&Target>) -> Option<Finding> {
    let (target, length) = (target?, analysis.pool.draft_length()?);
    let wanted = target.max_accept_length().checked_sub(1).filter(|wanted| *wanted != length)?;
    Some(error(
        FindingCode::DraftLengthMismatch,
        analysis.first,
        format!(
            "{} are drafted a step, and the target is for {wanted}; take the golden cell of this draft length, or start \
             the server with {}",
            count(length.into(), "token"),
            drafts(analysis.engine, wanted)
        ),
    ))
}

/// An evaluation that looks right: a list of rates would look so too.
pub(super) fn about_rates(analysis: Option<&Analysis>) -> Finding {
    note(
        FindingCode::RealAcceptance,
        analysis.and_then(|analysis| analysis.first),
        "the shares of the positions fall off as judged drafts' do; those of synthetic_acceptance_rates can look the same, \
         and only the server's configuration rules them out: keep its start-up lines in the log"
            .to_owned(),
    )
}

/// What the verdict's reason means, and what can help.
pub(super) fn about_outcome(
    seen: &Observed,
    analysis: Option<&Analysis>,
    reason: &Reason,
) -> Option<Finding> {
    let blind = analysis.filter(|analysis| *reason == Reason::EvaluationUndecided && analysis.is_blind());
    match blind {
        Some(analysis) => Some(about_blindness(analysis, reason)),
        None => super::super::explain::about_verdict(seen, reason),
    }
}

/// An evaluation that no longer run decides.
fn about_blindness(analysis: &Analysis, reason: &Reason) -> Finding {
    let message = if analysis.pool.draft_length() == Some(1) {
        format!(
            "{reason}: with one draft a step both look alike, however long the run is; only the server's configuration tells \
             them apart, so keep its start-up lines in the log"
        )
    } else {
        format!(
            "{reason}: these figures say nothing of positions, and a longer run would not either; give {}",
            by_position(analysis.engine)
        )
    };
    warning(FindingCode::ShortRun, analysis.first, message)
}

/// A list of rates that was set, and windows of a forced length.
pub(super) fn about_told_rates(seen: &Observed, analysis: &Analysis) -> Option<Finding> {
    injection::rates(&seen.injected).filter(|_| analysis.mark.is_simulated())?;
    let setting = seen.injected.iter().find(|setting| setting.rates().is_some())?;
    let positions = analysis.pool.positions.iter().map(|position| format!("{:.3}", position.share()));
    let shown = if analysis.pool.positions.is_empty() {
        "two neighbouring lengths, or one".to_owned()
    } else {
        positions.collect::<Vec<String>>().join(", ")
    };
    Some(warning(
        FindingCode::MethodMismatch,
        Some(setting.place),
        format!(
            "the configuration and the windows disagree: {}={} was set here, and the shares of the positions are {shown}, as \
             a forced length gives them. The log's configuration is not that of the server that wrote its windows: keep the \
             start-up lines of that server, and no others, in the log",
            setting.name, setting.value
        ),
    ))
}

/// Windows of several settings.
pub(super) fn about_shift(analysis: &Analysis) -> Option<Finding> {
    let (low, high) = analysis.pool.range.filter(|_| analysis.is_shifted)?;
    Some(error(
        FindingCode::ConfigChangedMidRun,
        analysis.first,
        format!(
            "the windows show {low:.2} to {high:.2}, and scatter more than draws of one length can, also of requests with \
             equal seeds: logs of several settings, engines with different ones, or a server that was started anew with \
             another; audit each log, engine or part (--point-by segment) apart"
        ),
    ))
}

/// Evidence of other engines than the one that is judged, each with its count.
pub(in crate::audit) fn others(seen: &Observed, judged: Engine) -> Vec<Finding> {
    let log = &seen.line_log;
    let mut found: Vec<(Engine, u64, Option<Place>)> = Vec::new();
    found.push((Engine::Sglang, seen.decode_lines(), seen.first_line));
    found.extend(log.engine.map(|engine| (engine, log.lines, log.first)));
    found.extend(log.other.map(|other| (other.engine, other.lines, Some(other.first))));
    found.extend(log.left_out.map(|left_out| (left_out.engine, left_out.lines, Some(left_out.first))));
    let figures = seen.pooled.iter().filter(|evidence| evidence.source != PooledSource::Log);
    found.extend(figures.map(|evidence| (evidence.engine, evidence.lines(), evidence.first)));
    found.retain(|(engine, records, _)| *engine != judged && *records > 0);
    let why = seen.engine.map_or_else(
        || "pass --engine, or give each server's files apart".to_owned(),
        |named| format!("since --engine {} was given", named.name()),
    );
    found
        .into_iter()
        .map(|(engine, records, place)| {
            warning(
                FindingCode::MultipleServers,
                place,
                format!(
                    "{} of {} are here too, and the verdict is that of {}: {why}",
                    count(records, "record"),
                    engine.title(),
                    judged.title()
                ),
            )
        })
        .collect()
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
        findings.extend(nothing(seen, engine));
    }
    findings.extend(about_contradictions(seen));
    if let Some((place, drafted)) = log.fell {
        findings.push(warning(
            FindingCode::MultipleServers,
            Some(place),
            format!(
                "ATOM's sums since the start do not go on from the {drafted} drafted tokens of the line before: another \
                 process wrote here, a server that was started anew or a second scheduler; each one's sums count, as one \
                 sample, since all of them draw alike. Make sure that all belong to this run"
            ),
        ));
    }
    if let Some((servers, place)) = log.apart {
        findings.push(note(
            FindingCode::MultipleServers,
            Some(place),
            format!(
                "files hold windows of the same time, so they are of {servers} servers: each is a rank of its own, and their \
                 throughput is added up"
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
    if log.varied > 0 {
        findings.push(warning(
            FindingCode::NotVerifyAll,
            log.first_varied,
            format!(
                "{} drafted not the same number of tokens in every step{}; adaptive draft lengths may realise less than a \
                 forced length; the counter vllm:spec_decode_num_drafts_total is exact",
                count(log.varied, "window"),
                match log.bounded {
                    0 => String::new(),
                    bounded if bounded == log.varied => {
                        ", so their steps are known within bounds only".to_owned()
                    }
                    bounded => format!(", and the steps of {bounded} of them are known within bounds only"),
                }
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
        let is_shared = analysis.estimate.steps + 0.5 < analysis.pool.steps() && !analysis.is_shifted;
        if is_shared {
            findings.push(note(
                FindingCode::RanksShareDraws,
                analysis.first,
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

/// Figures of one line that cannot all be right.
fn about_contradictions(seen: &Observed) -> Option<Finding> {
    let log = &seen.line_log;
    let (place, what) = log.first_contradiction.as_ref()?;
    Some(warning(
        FindingCode::CountsContradict,
        Some(*place),
        format!(
            "{} with figures that cannot all be right, not used; the first: {what}. A server prints all of them from the \
             same counts, so the line was changed, or is of a build that counts otherwise",
            count(log.contradictions, "line")
        ),
    ))
}

/// What `--engine` leaves out, where nothing else is there.
pub(in crate::audit) fn left_out(seen: &Observed) -> Option<Finding> {
    let named = seen.engine?;
    let (other, lines, place) = match seen.line_log.left_out {
        Some(left_out) => (left_out.engine, left_out.lines, left_out.first),
        None if named != Engine::Sglang && seen.decode_lines() > 0 => {
            (Engine::Sglang, seen.decode_lines(), seen.first_line?)
        }
        None => return None,
    };
    Some(warning(
        FindingCode::NoDecodeLines,
        Some(place),
        format!(
            "nothing of {} is here; {} of {} left out, since --engine {} was given: pass --engine {}, or leave --engine \
             away",
            named.title(),
            count(lines, "record"),
            other.title(),
            named.name(),
            other.name()
        ),
    ))
}

/// Why nothing can be judged; `None` where a finding about figures says it.
fn nothing(seen: &Observed, engine: Engine) -> Option<Finding> {
    if let Some(finding) = left_out(seen) {
        return Some(finding);
    }
    let log = &seen.line_log;
    if log.lines == 0 && log.undrafted > 0 {
        return Some(warning(
            FindingCode::NoSpeculativeFields,
            log.first_undrafted,
            format!(
                "{} of {}, and nothing was drafted in {}: the figures are no numbers. The server has speculative decoding, \
                 and no request came to it in this time; audit a log of the run itself",
                count(log.undrafted, "window"),
                engine.title(),
                if log.undrafted == 1 { "it" } else { "any of them" },
            ),
        ));
    }
    let is_said = |finding: &Finding| {
        matches!(finding.code, FindingCode::NoSpeculativeFields | FindingCode::GaugeOnly)
            || finding.severity >= Severity::Warning
    };
    if log.lines == 0 && seen.figure_findings.iter().any(is_said) {
        return None;
    }
    // Every line contradicts itself, which another finding says.
    if log.lines > 0 && log.lines == log.contradictions {
        return None;
    }
    Some(no_lines(seen, engine))
}

fn no_lines(seen: &Observed, engine: Engine) -> Finding {
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
    let message = if log.legacy > 0 && engine == Engine::Atom {
        format!(
            "{} without a draft length that its drafted tokens are a multiple of: keep the server's start-up lines, which \
             name it, in the log, or {}",
            count(log.legacy, "line"),
            export(engine)
        )
    } else if log.legacy > 0 {
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

/// How an engine is told how many tokens it drafts a step.
fn drafts(engine: Engine, length: u32) -> String {
    match engine {
        Engine::Vllm => format!("num_speculative_tokens {length} in --speculative-config"),
        Engine::Trtllm => {
            format!("max_draft_len {length} in speculative_config (older: num_nextn_predict_layers)")
        }
        Engine::Atom => format!("--num-speculative-tokens {length}"),
        Engine::Tilert => format!("num-mtp {length}"),
        Engine::Sglang => {
            format!("--speculative-num-steps {length} (DSPARK: --speculative-dspark-block-size)")
        }
    }
}
