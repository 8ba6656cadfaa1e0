//! Evaluation runs: judged drafts, no simulation, scores.

use super::settings::{shown, shows_environment};
use crate::audit::Verdict;
use crate::recipe::Way;
use crate::signoff::facts::{Point, Run, Score, Seen, Sighting};
use crate::signoff::item::{Evidence, Outcome, Weighing, counted};
use crate::signoff::profile::Threshold;
use crate::signoff::profile::check::{Knobs, Scores};
use crate::signoff::read::{is_any, underscored};

fn need_evaluations(run: &Run, weighing: &mut Weighing) {
    if run.evaluations.is_empty() {
        weighing.miss("no evaluation run was found; give its folder (a word of its path is eval), or map it");
    }
}

pub(in crate::signoff) fn evaluation_real(run: &Run) -> Outcome {
    let mut weighing = Weighing::default();
    need_evaluations(run, &mut weighing);
    let mut means = Vec::new();
    for point in &run.evaluations {
        let name = &point.name;
        if point.generating().next().is_none() {
            weighing.miss(format!("{name}: no server log with decode lines"));
        }
        for server in point.generating() {
            let report = &server.report;
            let reason = report.reason.to_string();
            let algorithm = report.server.as_ref().and_then(|start| start.speculative_algorithm.clone());
            let mean = report.accept_len.as_ref().map(|accept_len| accept_len.mean);
            let quote = format!(
                "{}{}",
                algorithm
                    .map_or_else(String::new, |algorithm| format!("speculative_algorithm {algorithm}, ")),
                mean.map_or_else(
                    || "no accept length".to_owned(),
                    |mean| format!("mean accept len {mean:.3}")
                )
            );
            let place = server.largest.map(|(_, place)| place).or(server.started);
            let evidence =
                place.map(|place| Evidence { line: None, ..Evidence::at(run, place, quote.clone()) });
            match report.verdict {
                Verdict::Consistent => {
                    weighing.show_any(evidence);
                    means.push(format!("{name}: {quote}"));
                }
                Verdict::Inconsistent => weighing.fail(format!("{name}: {reason}"), evidence),
                Verdict::Insufficient | Verdict::Unauditable => weighing.miss(format!("{name}: {reason}")),
            }
        }
    }
    weighing.conclude(means.join("; "))
}

pub(in crate::signoff) fn evaluation_unset(run: &Run, knobs: &Knobs) -> Outcome {
    let mut weighing = Weighing::default();
    need_evaluations(run, &mut weighing);
    // A script of the whole run is another one where it knows EVAL_ONLY.
    let shared = run.shared.sightings.iter().filter(|seen| seen.way == Way::Evaluation);
    for sighting in shared {
        set(run, "the run", sighting, false, knobs, &mut weighing);
    }
    for point in &run.evaluations {
        let Point { facts, name, .. } = point;
        let is_shown = shows_environment(facts);
        for sighting in facts.sightings.iter().filter(|seen| seen.way != Way::Benchmark) {
            set(run, name, sighting, is_shown, knobs, &mut weighing);
        }
        if !is_shown {
            weighing.miss(format!(
                "{name}: no environment dump or launcher's trace, so what is absent cannot be seen"
            ));
        }
    }
    weighing.conclude(format!("none in {}", counted(run.evaluations.len(), "evaluation run")))
}

/// A setting of simulated acceptance in an evaluation.
fn set(run: &Run, whose: &str, sighting: &Sighting, is_shown: bool, knobs: &Knobs, weighing: &mut Weighing) {
    let is_named = match sighting.seen {
        Seen::Variable => is_any(&knobs.names, &sighting.name),
        Seen::Argument => knobs.arguments.iter().any(|name| underscored(name) == sighting.name),
        Seen::Image | Seen::Version => false,
    };
    // What an engine prints of a setting that nobody gave.
    if !is_named || ["None", "null"].contains(&sighting.value.as_str()) {
        return;
    }
    let origin = sighting.origin.with_article();
    let what = format!("{whose}: {}={} in {origin}", sighting.name, sighting.value);
    match &sighting.condition {
        None => weighing.fail(what, [shown(run, sighting)]),
        Some(_) if is_shown => {}
        Some(condition) => {
            weighing.doubt(format!("{what}, only where {condition} holds"), [shown(run, sighting)]);
        }
    }
}

pub(in crate::signoff) fn scores(run: &Run, rule: &Scores) -> Outcome {
    let mut weighing = Weighing::default();
    let mut thresholds = rule.thresholds.clone();
    for (task, stated) in &run.stated.thresholds {
        let metric = thresholds.get(task).and_then(|threshold| threshold.metric.clone());
        thresholds.insert(task.clone(), Threshold { metric, ..stated.clone() });
    }
    let all: Vec<_> = run.evaluations.iter().map(|point| &point.facts).chain([&run.shared]).collect();
    let scores = || all.iter().flat_map(|facts| &facts.scores);
    if scores().next().is_none() {
        weighing.miss("no scores were found; give the results of the evaluation (lm-eval's results JSON)");
    } else if run.evaluations.len() > 1 || run.shared.scores.is_empty() {
        // Scores that lie beside the folders are those of an evaluation that stands alone, and of no other.
        for point in run.evaluations.iter().filter(|point| point.facts.scores.is_empty()) {
            weighing.miss(format!("{}: no scores; give its results", point.name));
        }
    }
    let mut reached = Vec::new();
    for score in scores() {
        let quote = format!("{} {}: {}", score.task, score.metric, score.value);
        let evidence = Evidence::at(run, score.place, quote.clone());
        let Some(threshold) = thresholds.get(&score.task) else {
            weighing.miss(format!(
                "{}: nobody says what score suffices; give --threshold {}=LEAST or state it in the profile",
                score.task, score.task
            ));
            weighing.show(evidence);
            continue;
        };
        if threshold.metric.as_ref().is_some_and(|metric| *metric != score.metric) {
            continue;
        }
        let least = threshold.shown();
        match (threshold.percent, score.value) {
            (false, value) if value > 1.0 || threshold.least > 1.0 => weighing.doubt(
                format!(
                    "{quote} against {least}: above 1 it may be a percentage; state that (--threshold {}=90%, or percent = true \
                     in the profile)",
                    score.task
                ),
                [evidence],
            ),
            (true, value) if value <= 1.0 && threshold.least > 1.0 => weighing.doubt(
                format!("{quote} against {least}: it may be a share of 1; state the least as a share"),
                [evidence],
            ),
            // Not a number is not enough either.
            (_, value) if value >= threshold.least => {
                weighing.show(evidence);
                reached.push(format!("{quote}, at least {least}"));
            }
            _ => weighing.fail(format!("{quote}, below {least}"), [evidence]),
        }
    }
    for (task, threshold) in &thresholds {
        let is_asked = |score: &&Score| {
            score.task == *task && threshold.metric.as_ref().is_none_or(|metric| *metric == score.metric)
        };
        if !scores().any(|score| is_asked(&score)) {
            weighing.miss(format!("{task}: no score was found; give its results"));
        }
    }
    weighing.conclude(reached.join("; "))
}
