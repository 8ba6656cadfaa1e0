//! The server's arguments against the target, and against each other.

use crate::engine::Drafter;
use crate::evidence::{Place, ServerStart};
use crate::golden::Target;

use super::super::finding::{Finding, FindingCode};
use super::super::observed::Observed;
use super::super::server::{drafter, max_accept_length};
use super::{error, note, warning};

/// Findings that the `server_args` lines alone give.
pub(crate) fn about_server(seen: &Observed, target: Option<&Target>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(target) = target {
        let method = seen.servers.iter().find_map(|(server, place)| other_method(server, target, place));
        let length = seen.servers.iter().find_map(|(server, place)| other_length(server, target, place));
        findings.extend(method.into_iter().chain(length));
    }
    if let Some(change) = seen.servers.change() {
        let (before, after) = (settings(change.before), settings(change.after));
        findings.push(if change.is_other_file {
            error(
                FindingCode::MultipleServers,
                Some(change.place),
                format!(
                    "the point holds a server with {before} and one with {after}: they are no one sample; audit each log \
                     by itself"
                ),
            )
        } else {
            error(
                FindingCode::ConfigChangedMidRun,
                Some(change.place),
                format!(
                    "the log goes from a server with {before} to one with {after}; split it there and audit each part"
                ),
            )
        });
    } else if seen.servers.count() > 1 {
        findings.push(warning(
            FindingCode::MultipleServers,
            seen.servers.second(),
            format!(
                "the log holds {} server starts with the same speculative arguments; its lines are judged together, so \
                 make sure that all belong to this run",
                seen.servers.count()
            ),
        ));
    }
    findings
}

/// The steps of a line as the caller gives them against the server's arguments. Those of the caller count.
pub(crate) fn about_interval(seen: &Observed, given: Option<u32>) -> Option<Finding> {
    let given = given?;
    let logged = |server: &ServerStart| server.decode_log_interval.filter(|logged| *logged != given);
    let (logged, place) = seen.servers.iter().find_map(|(server, place)| Some((logged(server)?, place)))?;
    Some(warning(
        FindingCode::DecodeLogIntervalMismatch,
        Some(place),
        format!(
            "--decode-log-interval {given} was given, and the server's arguments say {logged}: the lines were judged as \
             {given} verify steps each; drop the flag unless the arguments are known to be another server's"
        ),
    ))
}

fn other_method(server: &ServerStart, target: &Target, place: Place) -> Option<Finding> {
    let cell = target.cell()?;
    let (wanted, runs): (Drafter, Drafter) = (cell.method.parse().ok()?, drafter(server)?);
    // SGLang serves multi-token prediction heads under the name EAGLE.
    let is_same_thing = |drafter| matches!(drafter, Drafter::Mtp | Drafter::NextN | Drafter::Eagle);
    if wanted == runs || (is_same_thing(wanted) && is_same_thing(runs)) {
        return None;
    }
    let curve = &cell.curve;
    Some(if wanted.family() == runs.family() {
        note(
            FindingCode::MethodMismatch,
            Some(place),
            format!(
                "the server drafts with {runs}, curve {curve} is for {wanted}: both are of the EAGLE family; check that \
                 this curve is the one for this model"
            ),
        )
    } else {
        error(
            FindingCode::MethodMismatch,
            Some(place),
            format!(
                "the server drafts with {runs}, curve {curve} is for {wanted}: another way of drafting; audit against \
                 the curve of {runs}, or run with {wanted}"
            ),
        )
    })
}

fn other_length(server: &ServerStart, target: &Target, place: Place) -> Option<Finding> {
    let (wanted, max) = (target.max_accept_length(), max_accept_length(server)?);
    (wanted != max).then(|| {
        error(
            FindingCode::DraftLengthMismatch,
            Some(place),
            format!(
                "the server ({}) emits at most {max} tokens per verify step, the target is for at most {wanted}: draft \
                 length {} in place of {}; pick the cell of draft length {}, or run with {}",
                settings(server),
                max.saturating_sub(1),
                wanted.saturating_sub(1),
                max.saturating_sub(1),
                wanted.saturating_sub(1)
            ),
        )
    })
}

/// The arguments that matter, as a reader would name them.
fn settings(server: &ServerStart) -> String {
    let number = |name: &str, value: Option<u32>| value.map(|value| format!("{name} {value}"));
    let algorithm = server.speculative_algorithm.clone().unwrap_or_else(|| "no speculation".to_owned());
    // For block drafters the printed steps mean nothing.
    let steps = server.num_steps.filter(|_| server.block_size.is_none());
    let parts = [
        Some(algorithm),
        number("num_steps", steps),
        number("block size", server.block_size),
        number("num_draft_tokens", server.num_draft_tokens),
        number("topk", server.eagle_topk.filter(|topk| *topk > 1)),
        number("decode_log_interval", server.decode_log_interval.filter(|interval| *interval != 40)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
