//! What the lines themselves show, whatever law wrote them.

use crate::evidence::Place;
use crate::golden::Target;

use super::super::finding::{Finding, FindingCode};
use super::super::observed::Observed;
use super::super::pooled::left_out;
use super::super::rates::{RateCheck, Rates};
use super::super::sample::Sample;
use super::super::server::draft_tokens;
use super::super::speed::SpeedSummary;
use super::{count, error, note, warning};

/// Findings from the decode lines.
pub(crate) fn about_lines(
    seen: &Observed,
    sample: &Sample<'_>,
    speeds: &[SpeedSummary],
    target: Option<&Target>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(nothing_to_audit(seen));
    findings.extend(above_max(seen, sample, target));
    findings.extend(capped(seen, target));
    findings.extend(shared_draws(sample));
    findings.extend(duplicates(seen));
    findings.extend(graphs(seen));
    findings.extend(idle(speeds));
    findings.extend(side_by_side(seen));
    let at_hand = |place| seen.servers.at(place).and_then(draft_tokens);
    let apart = seen.rates.by_server(at_hand);
    findings.extend(apart.into_iter().find_map(|(server, pairs)| rates(&pairs, server, target)));
    findings
}

fn nothing_to_audit(seen: &Observed) -> Option<Finding> {
    if seen.decode_lines() == 0 && seen.skipped.counts.out_of_scope > 0 {
        Some(warning(
            FindingCode::NoDecodeLines,
            None,
            format!(
                "all of {} lie outside of --since, --until and --skip-lines; times are compared with those of the log, \
                 which have no zone, and a line without a date is outside of dates",
                count(seen.skipped.counts.out_of_scope, "decode line")
            ),
        ))
    } else if let Some(finding) = left_out(seen).filter(|_| seen.decode_lines() == 0) {
        Some(finding)
    } else if seen.decode_lines() == 0 {
        let (place, stray) = seen.stray.map_or_else(
            || (None, String::new()),
            |(stray, place)| (Some(place), format!("; this is {stray}")),
        );
        Some(warning(
            FindingCode::NoDecodeLines,
            place,
            format!(
                "no decode line with a running request, and no line of vLLM, TensorRT-LLM or ATOM; give the server's own \
                 log, not a client's summary{stray}"
            ),
        ))
    } else if seen.spec_lines() == 0 {
        Some(warning(
            FindingCode::NoSpeculativeFields,
            seen.first_line,
            format!(
                "none of {} has an accept length: the server ran without speculative decoding; check its \
                 speculative arguments",
                count(seen.decode_lines(), "decode line")
            ),
        ))
    } else {
        None
    }
}

fn above_max(seen: &Observed, sample: &Sample<'_>, target: Option<&Target>) -> Option<Finding> {
    let max = target.map(Target::max_accept_length).or_else(|| seen.max_accept_length())?;
    let above: Vec<_> = sample
        .ranks
        .iter()
        .flat_map(|rank| rank.values.iter())
        .filter(|value| value.hundredths > max.saturating_mul(100))
        .collect();
    let largest = above.iter().map(|value| value.hundredths).max()?;
    let lines: u64 = above.iter().map(|value| value.sums.lines).sum();
    Some(error(
        FindingCode::AcceptLenAboveMax,
        above.iter().map(|value| value.first).min(),
        format!(
            "{} more than {max} tokens per verify step, up to {:.2}: impossible with draft length {}; the draft \
             length is another one, or the counter runs past the end of sequences",
            if lines == 1 { "1 line shows".to_owned() } else { format!("{lines} lines show") },
            f64::from(largest) / 100.0,
            max.saturating_sub(1)
        ),
    ))
}

/// Not every draft is verified: then no accept length above 1 can have been simulated.
fn capped(seen: &Observed, target: Option<&Target>) -> Option<Finding> {
    let is_impossible = target.is_some_and(|target| target.accept_length().get() > 1.0);
    let finding = if is_impossible { error } else { warning };
    (seen.capped_lines > 0).then(|| {
        finding(
            FindingCode::NotVerifyAll,
            seen.first_capped,
            format!(
                "{} with `cap len` or `block accept len`: the server did not verify every draft, and then a simulated \
                 accept length above 1 is impossible; run with SGLANG_RAGGED_VERIFY_MODE=static to simulate one",
                count(seen.capped_lines, "line")
            ),
        )
    })
}

fn shared_draws(sample: &Sample<'_>) -> Option<Finding> {
    let correlation = sample.correlation.as_ref().filter(|correlation| correlation.is_shared())?;
    let ranks = sample.ranks.len();
    let message = if correlation.is_measured {
        format!(
            "{ranks} ranks drew the same sequence (correlation {:.3} of their lines): they count as one sample, not as \
             {ranks}",
            correlation.rho
        )
    } else if correlation.is_summed {
        format!(
            "of some lines only sums are here, so nothing tells whether the {ranks} ranks drew the same sequence, as SGLang's \
             ranks do: they count as one sample"
        )
    } else {
        format!(
            "too few or constant lines to see whether the {ranks} ranks drew the same sequence, as SGLang's ranks do: \
             they count as one sample"
        )
    };
    Some(note(FindingCode::RanksShareDraws, None, message))
}

fn duplicates(seen: &Observed) -> Option<Finding> {
    (seen.skipped.counts.duplicate > 0).then(|| {
        note(
            FindingCode::DuplicateLines,
            seen.first_duplicate,
            format!(
                "{} repeat an earlier one (a log joined with itself, or printed by several ranks of one scheduler) and \
                 count once",
                count(seen.skipped.counts.duplicate, "line")
            ),
        )
    })
}

fn graphs(seen: &Observed) -> Option<Finding> {
    let (on, off) = (seen.graphs_on, seen.graphs_off);
    (off > 0).then(|| {
        warning(
            FindingCode::CudaGraphOff,
            seen.first_graph_off,
            format!(
                "{off} of {} ran without a captured graph: slower than the server can be; raise \
                 --cuda-graph-max-bs above the largest batch, or find out why graphs are off",
                count(on + off, "decode line")
            ),
        )
    })
}

fn idle(speeds: &[SpeedSummary]) -> Option<Finding> {
    let lines: u64 = speeds.iter().map(|speed| speed.idle_lines).sum();
    let place: Option<Place> = speeds.iter().filter_map(|speed| speed.first_idle).min();
    (lines > 0).then(|| {
        note(
            FindingCode::IdleWindow,
            place,
            format!(
                "{} idle time: not counted for the throughput; the accept length does not suffer",
                if lines == 1 { "1 line spans".to_owned() } else { format!("{lines} lines span") }
            ),
        )
    })
}

fn side_by_side(seen: &Observed) -> Option<Finding> {
    let place = seen.beside()?;
    Some(warning(
        FindingCode::MultipleServers,
        Some(place),
        "logs of one point overlap in time under the same rank: servers that ran side by side wrote them; the throughput of \
         one of them is not the point's, so it is left out; audit each worker apart, by --point-by worker or path"
            .to_owned(),
    ))
}

/// Accept lengths and rates of one server, with its draft tokens where its arguments tell.
fn rates(pairs: &Rates, server: Option<u32>, target: Option<&Target>) -> Option<Finding> {
    let expected = server.or_else(|| target.map(Target::max_accept_length));
    match pairs.check(expected) {
        RateCheck::Absent | RateCheck::Agrees { .. } => None,
        RateCheck::TwoBuilds { other } => Some(warning(
            FindingCode::MultipleServers,
            Some(other),
            "the accept rate changes its definition within the log: two builds of the server wrote it; audit them \
             apart"
                .to_owned(),
        )),
        RateCheck::OtherDraftTokens { draft_tokens, place } => {
            let expected = expected.unwrap_or_default();
            let source = if server.is_some() { "the server's arguments name" } else { "the target is for" };
            let code = if server.is_some() {
                FindingCode::AcceptRateDisagrees
            } else {
                FindingCode::DraftLengthMismatch
            };
            Some(warning(
                code,
                Some(place),
                format!(
                    "accept length and accept rate fit {draft_tokens} draft tokens, {source} {expected}; check the \
                     draft length of the run"
                ),
            ))
        }
        RateCheck::Disagrees { unbounded, place } => {
            let why = if unbounded {
                "it is tokens over num_steps, as in some builds of October 2025, and no share of anything"
            } else {
                "no definition of any release fits both"
            };
            Some(warning(
                FindingCode::AcceptRateDisagrees,
                Some(place),
                format!(
                    "accept rate does not follow from accept length: {why}; the accept length counts, the rate is not \
                     used"
                ),
            ))
        }
    }
}
