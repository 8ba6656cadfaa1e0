//! Captured graphs: batches within them, and lines that used them.

use super::settings::need_points;
use crate::audit::FindingCode;
use crate::signoff::facts::{Run, Server};
use crate::signoff::item::{Evidence, Outcome, Weighing, counted};
use crate::signoff::profile::check::LargestBatch;

pub(in crate::signoff) fn largest_batch(run: &Run, rule: &LargestBatch) -> Outcome {
    let mut weighing = Weighing::default();
    need_points(run, &mut weighing);
    let (mut most, mut captured_least) = (0, u32::MAX);
    for point in &run.points {
        let label = point.label();
        if point.generating().next().is_none() {
            weighing.miss(format!("{label}: no server log with decode lines"));
        }
        for server in point.generating() {
            need_whole_lines(&label, server, &mut weighing);
            let Some((batch, place)) = server.largest else {
                weighing.miss(format!("{label}: no decode line"));
                continue;
            };
            let line = Evidence::at(run, place, format!("#running-req: {batch}"));
            let Some((captured, name)) = captured(server, &rule.largest) else {
                weighing.miss(format!(
                    "{label}: the log does not say which batches have a graph; expected a server_args line with \
                     cuda_graph_bs"
                ));
                continue;
            };
            let sizes =
                server.started.map(|place| Evidence::at(run, place, format!("{name} up to {captured}")));
            if batch > captured {
                weighing.fail(
                    format!("{label}: a batch of {batch}, graphs are captured up to {captured}"),
                    [line].into_iter().chain(sizes),
                );
            } else {
                weighing.show(line);
                weighing.show_any(sizes);
            }
            most = most.max(batch);
            captured_least = captured_least.min(captured);
        }
    }
    weighing.conclude(format!(
        "at most {} on a rank, graphs captured up to {captured_least}",
        counted(most, "running request")
    ))
}

/// Says how many lines of a server were damaged: what they would say of their batch and graph is not known.
fn need_whole_lines(label: &str, server: &Server, weighing: &mut Weighing) {
    let skipped = &server.report.skipped;
    let damaged = skipped.truncated + skipped.not_finite;
    if damaged > 0 {
        let (lines, verb) = (counted(damaged, "damaged line"), if damaged == 1 { "was" } else { "were" });
        weighing.miss(format!("{label}: {lines} {verb} skipped; give the log without them"));
    }
}

/// The largest batch that has a graph, and the argument that says so.
fn captured<'a>(server: &Server, largest: &'a [String]) -> Option<(u32, &'a str)> {
    let listed = server.report.server.as_ref().and_then(|start| start.graph_batches.iter().max());
    if let Some(listed) = listed {
        return Some((*listed, "cuda_graph_bs"));
    }
    largest.iter().find_map(|name| {
        let argument = server.arguments.iter().find(|argument| argument.name == *name)?;
        Some((argument.value.as_deref()?.parse().ok()?, name.as_str()))
    })
}

pub(in crate::signoff) fn graph_flag(run: &Run) -> Outcome {
    let mut weighing = Weighing::default();
    need_points(run, &mut weighing);
    let mut lines = 0;
    for point in &run.points {
        let label = point.label();
        if point.generating().next().is_none() {
            weighing.miss(format!("{label}: no server log with decode lines"));
        }
        for server in point.generating() {
            need_whole_lines(&label, server, &mut weighing);
            let report = &server.report;
            let (on, off) = report.graphs;
            if report.decode_lines == 0 {
                weighing.miss(format!("{label}: no decode line"));
            } else if off > 0 {
                let finding =
                    report.findings.iter().find(|finding| finding.code == FindingCode::CudaGraphOff);
                let place = server.graph_off.or_else(|| finding.and_then(|finding| finding.evidence));
                let evidence = place.map(|place| Evidence::at(run, place, "cuda graph: False"));
                weighing.fail(
                    format!(
                        "{label}: {off} of {} without a captured graph",
                        counted(report.decode_lines, "decode line")
                    ),
                    evidence,
                );
            } else if on < report.decode_lines {
                weighing.miss(format!(
                    "{label}: {} of {} without a word on whether a graph was used (releases before 0.4.6.post5 say none)",
                    report.decode_lines - on,
                    counted(report.decode_lines, "decode line")
                ));
            } else {
                let place = server.largest.map(|(_, place)| place);
                if let Some(place) = place {
                    let evidence = Evidence::at(run, place, format!("graph: True on {on} lines"));
                    weighing.show(Evidence { line: None, ..evidence });
                }
            }
            lines += report.decode_lines;
        }
    }
    weighing.conclude(format!("True on {lines} of {}", counted(lines, "decode line")))
}
