//! Evaluation runs: judged drafts, no simulation, scores.

use super::settings::{shown, shows_environment};
use crate::audit::Verdict;
use crate::signoff::facts::{Origin, Point, Run, Seen};
use crate::signoff::item::{Evidence, Outcome, Weighing};
use crate::signoff::profile::Threshold;
use crate::signoff::profile::check::Scores;

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

pub(in crate::signoff) fn evaluation_unset(run: &Run, names: &[String]) -> Outcome {
    let mut weighing = Weighing::default();
    need_evaluations(run, &mut weighing);
    for point in &run.evaluations {
        for sighting in &point.facts.sightings {
            // A script may set it in a branch that no evaluation takes: that is for the rule about recipes and launchers.
            let is_script = sighting.origin == Origin::Launcher;
            if sighting.seen == Seen::Variable && !is_script && names.contains(&sighting.name) {
                let what = format!("{}={}", sighting.name, sighting.value);
                weighing.fail(
                    format!("{}: {what} in a {}", point.name, sighting.origin.name()),
                    [shown(run, sighting)],
                );
            }
        }
        let Point { facts, name, .. } = point;
        if !shows_environment(run, facts) {
            weighing.miss(format!(
                "{name}: no environment dump or launcher's trace, so what is absent cannot be seen"
            ));
        }
    }
    weighing.conclude(format!(
        "none of {} variables in {} evaluation runs",
        names.len(),
        run.evaluations.len()
    ))
}

pub(in crate::signoff) fn scores(run: &Run, rule: &Scores) -> Outcome {
    let mut weighing = Weighing::default();
    let mut thresholds = rule.thresholds.clone();
    for (task, least) in &run.stated.thresholds {
        let metric = thresholds.get(task).and_then(|threshold| threshold.metric.clone());
        thresholds.insert(task.clone(), Threshold { metric, least: *least });
    }
    let all: Vec<_> = run.evaluations.iter().map(|point| &point.facts).chain([&run.shared]).collect();
    let scores = || all.iter().flat_map(|facts| &facts.scores);
    if scores().next().is_none() {
        weighing.miss("no scores were found; give the results of the evaluation (lm-eval's results JSON)");
    }
    let mut reached = Vec::new();
    for score in scores() {
        let quote = format!("{} {}: {}", score.task, score.metric, score.value);
        let evidence = Evidence::at(run, score.place, quote.clone());
        match thresholds.get(&score.task) {
            None => {
                weighing.miss(format!(
                    "{}: nobody says what score suffices; give --threshold {}=LEAST or state it in the profile",
                    score.task, score.task
                ));
                weighing.show(evidence);
            }
            Some(Threshold { metric: Some(metric), .. }) if *metric != score.metric => {}
            // Not a number is not enough either.
            Some(threshold) if score.value >= threshold.least => {
                weighing.show(evidence);
                reached.push(format!("{quote}, at least {}", threshold.least));
            }
            Some(threshold) => {
                weighing.fail(format!("{quote}, below {}", threshold.least), [evidence]);
            }
        }
    }
    for (task, threshold) in &thresholds {
        let is_asked = |score: &&crate::signoff::facts::Score| {
            score.task == *task && threshold.metric.as_ref().is_none_or(|metric| *metric == score.metric)
        };
        if !scores().any(|score| is_asked(&score)) {
            weighing.miss(format!("{task}: no score was found; give its results"));
        }
    }
    weighing.conclude(reached.join("; "))
}
