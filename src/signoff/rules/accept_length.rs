//! The audits of all points.

use super::settings::need_points;
use crate::audit::{Severity, Verdict};
use crate::law::float;
use crate::signoff::facts::Run;
use crate::signoff::item::{Evidence, Outcome, Weighing, counted};

pub(in crate::signoff) fn accept_length(run: &Run) -> Outcome {
    let mut weighing = Weighing::default();
    need_points(run, &mut weighing);
    let mut table = vec![
        ["point", "mean accept len", "decode lines", "largest batch of a rank", "graph", "verdict"]
            .map(str::to_owned)
            .to_vec(),
    ];
    let (mut means, mut sum, mut lines, mut farthest) = (Vec::new(), 0.0, 0, 0.0_f64);
    let mut target = None;
    for point in &run.points {
        let label = point.label();
        if point.generating().next().is_none() {
            weighing.miss(format!("{label}: no server log with decode lines"));
        }
        for server in point.generating() {
            let report = &server.report;
            let mean = report.accept_len.as_ref().map(|accept_len| accept_len.mean);
            let reason = report.reason.to_string();
            let first = server.largest.map(|(_, place)| place).or(server.started);
            let quote = mean.map_or_else(
                || reason.clone(),
                |mean| format!("mean accept len {mean:.3} over {}", counted(report.spec_lines, "line")),
            );
            let evidence = first.map(|place| {
                // The lines as a whole, not one of them.
                Evidence { line: None, ..Evidence::at(run, place, quote) }
            });
            match report.verdict {
                Verdict::Consistent => weighing.show_any(evidence),
                Verdict::Inconsistent => {
                    let codes: Vec<&str> = report
                        .findings
                        .iter()
                        .filter(|finding| finding.severity == Severity::Error)
                        .map(|finding| finding.code.name())
                        .collect();
                    let codes =
                        if codes.is_empty() { String::new() } else { format!(" ({})", codes.join(", ")) };
                    weighing.fail(format!("{label}: {reason}{codes}"), evidence);
                }
                Verdict::Insufficient | Verdict::Unauditable => weighing.miss(format!("{label}: {reason}")),
            }
            if let Some(mean) = mean {
                means.push(mean);
                sum += mean * float(report.spec_lines);
                lines += report.spec_lines;
            }
            if let (Some(mean), Some(wanted)) = (mean, &report.target) {
                farthest = farthest.max((mean - wanted.accept_length().get()).abs());
                target = Some(wanted.accept_length());
            }
            let graph = match report.graphs {
                (0, 0) => "-".to_owned(),
                (on, 0) if on == report.decode_lines => "True on all".to_owned(),
                (on, off) => format!("True {on}, False {off}"),
            };
            table.push(vec![
                label.clone(),
                mean.map_or_else(|| "-".to_owned(), |mean| format!("{mean:.3}")),
                report.decode_lines.to_string(),
                server.largest.map_or_else(|| "-".to_owned(), |(batch, _)| batch.to_string()),
                graph,
                report.verdict.name().to_owned(),
            ]);
        }
    }
    let range = match (means.iter().copied().reduce(f64::min), means.iter().copied().reduce(f64::max)) {
        (Some(low), Some(high)) => {
            format!("mean accept len {low:.3} to {high:.3}, over all {:.3}", sum / float(lines).max(1.0))
        }
        _ => "no accept length".to_owned(),
    };
    let against = target.map_or_else(String::new, |target| format!("; at most {farthest:.3} from {target}"));
    let message =
        format!("{range} ({}, {}){against}", counted(lines, "line"), counted(means.len(), "server"));
    let outcome = weighing.conclude(message.clone());
    // What was measured is said whatever came of it.
    let message = if outcome.message == message || means.is_empty() {
        outcome.message
    } else {
        format!("{}; {message}", outcome.message)
    };
    Outcome { table: if table.len() > 1 { table } else { Vec::new() }, message, ..outcome }
}
