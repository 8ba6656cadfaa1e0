//! What each point was told.

use crate::engine::Drafter;
use crate::signoff::facts::{Facts, Origin, Point, Run, Seen, Sighting};
use crate::signoff::item::{Evidence, Outcome, Weighing};
use crate::signoff::layout::{FileKind, kind_of};
use crate::signoff::profile::check::Variable;

/// Lengths closer than this are one to two decimals.
const SAME: f64 = 0.005;

/// Whether two lengths are one to two decimals; what is no number is none.
fn is_same(length: f64, other: f64) -> bool {
    (length - other).abs() < SAME
}

/// What its own files, or else those of the whole run, give to variables of these names; a server that only prefills does
/// not count.
pub(super) fn values<'a>(run: &'a Run, point: &'a Point, names: &[String]) -> Vec<&'a Sighting> {
    let of = |sightings: &'a [Sighting]| -> Vec<&'a Sighting> {
        let is_asked =
            |seen: &&Sighting| seen.seen == Seen::Variable && !seen.is_prefill && names.contains(&seen.name);
        sightings.iter().filter(is_asked).collect()
    };
    let own = of(&point.facts.sightings);
    let found = if own.is_empty() { of(&run.shared.sightings) } else { own };
    let (scripts, ran): (Vec<&Sighting>, Vec<&Sighting>) =
        found.into_iter().partition(|seen| seen.origin == Origin::Launcher);
    // What ran says more than a script, of which nobody knows the branch that was taken.
    let is_one = scripts.iter().all(|seen| Some(&seen.value) == scripts.first().map(|first| &first.value));
    match (ran.is_empty(), is_one) {
        (false, _) => ran,
        (true, true) => scripts,
        (true, false) => Vec::new(),
    }
}

/// Whether files show an environment: what is absent from a script may be there all the same.
pub(super) fn shows_environment(run: &Run, facts: &Facts) -> bool {
    facts.environments.iter().any(|file| kind_of(run.file(*file)) != FileKind::Text(Origin::Launcher))
}

pub(super) fn shown(run: &Run, sighting: &Sighting) -> Evidence {
    Evidence::at(run, sighting.place, format!("{}={}", sighting.name, sighting.value))
}

/// Says that no point was found, where none was.
pub(super) fn need_points(run: &Run, weighing: &mut Weighing) {
    if run.points.is_empty() {
        weighing
            .miss("no server log of a point was found; give the folder with the logs of the curve's points");
    }
    for concurrency in unmatched(run) {
        weighing.miss(format!("C{concurrency} stands in the table of points and no log of it was found"));
    }
}

/// Rows of the table that no point has files of.
fn unmatched(run: &Run) -> Vec<u64> {
    let Some(table) = &run.table else { return Vec::new() };
    let Some(column) = ["concurrency", "conc"].iter().find_map(|name| table.column(name)) else {
        return Vec::new();
    };
    let covers = |point: &Point, wanted: u64| {
        point.concurrency == Some(wanted)
            || point.facts.clients.iter().any(|client| client.concurrency == Some(wanted))
    };
    // Points that do not say what they are may be any.
    if run.points.iter().any(|point| {
        point.concurrency.is_none() && !point.facts.clients.iter().any(|client| client.concurrency.is_some())
    }) {
        return Vec::new();
    }
    let rows = table.rows.iter().filter_map(|row| row.cell(column).parse::<u64>().ok());
    rows.filter(|wanted| !run.points.iter().any(|point| covers(point, *wanted))).collect()
}

pub(in crate::signoff) fn golden_length(run: &Run, names: &[String]) -> Outcome {
    let mut weighing = Weighing::default();
    need_points(run, &mut weighing);
    let target = run.stated.target.as_ref();
    let golden = target.filter(|target| target.cell().is_some());
    if golden.is_none() {
        weighing.miss(run.stated.no_target.clone().unwrap_or_else(|| {
            "no golden cell was named; give --model (and --method, --draft-length where the log does not tell)".to_owned()
        }));
    }
    let mut origins = Vec::new();
    for point in &run.points {
        let label = point.label();
        let found = values(run, point, names);
        if found.is_empty() {
            weighing.miss(format!(
                "{label}: no {} in its log, environment, launcher or recipe; give its environment dump or the launcher's trace",
                names.first().map_or("", String::as_str)
            ));
        }
        for sighting in found {
            let evidence = shown(run, sighting);
            let name = sighting.origin.name();
            if !origins.contains(&name) {
                origins.push(name);
            }
            match (sighting.value.parse::<f64>(), golden) {
                (Ok(length), Some(golden)) if !is_same(length, golden.accept_length().get()) => {
                    weighing.fail(
                        format!("{label}: {} injected, golden is {}", sighting.value, golden.accept_length()),
                        [evidence],
                    );
                }
                (Ok(_), _) => weighing.show(evidence),
                (Err(_), _) if sighting.value.starts_with('(') => {
                    weighing.miss(format!("{label}: {} is {}", sighting.name, sighting.value));
                }
                (Err(_), _) => {
                    weighing.fail(format!("{label}: {} is no number", sighting.name), [evidence]);
                }
            }
        }
    }
    let count = run.points.len();
    let message = match golden.and_then(|golden| Some((golden, golden.cell()?))) {
        Some((golden, cell)) => format!(
            "{} at {count} of {count} points, seen in {}; {} {}, draft length {}, from {}",
            golden.accept_length(),
            origins.join(" and "),
            cell.curve,
            cell.thinking,
            cell.draft_length,
            cell.source
        ),
        None => String::new(),
    };
    weighing.conclude(message)
}

pub(in crate::signoff) fn variable(run: &Run, variable: &Variable) -> Outcome {
    let mut weighing = Weighing::default();
    need_points(run, &mut weighing);
    let name = &variable.name;
    let mut unread = 0;
    for point in &run.points {
        let label = point.label();
        let found = values(run, point, std::slice::from_ref(name));
        for sighting in &found {
            let evidence = shown(run, sighting);
            if variable.equals.contains(&sighting.value) {
                weighing.show(evidence);
            } else if sighting.value.starts_with('(') {
                weighing.miss(format!("{label}: {name} is {}", sighting.value));
            } else {
                let wanted = variable.equals.join(" or ");
                weighing
                    .fail(format!("{label}: {name} is {}, expected {wanted}", sighting.value), [evidence]);
            }
        }
        if found.is_empty() {
            if never_reads(point, &variable.not_read_by) {
                unread += 1;
            } else {
                weighing.miss(format!(
                    "{label}: no {name} in its log, environment, launcher or recipe; give its environment dump or the \
                     launcher's trace"
                ));
            }
        }
    }
    let count = run.points.len();
    let rest = if unread > 0 {
        format!("; not read by {} at {unread}", variable.not_read_by.join(", "))
    } else {
        String::new()
    };
    let told = count - unread;
    weighing.conclude(format!("{} at {told} of {count} points{rest}", variable.equals.join(" or ")))
}

/// Whether all servers of a point draft by an algorithm that does not read a variable.
fn never_reads(point: &Point, algorithms: &[String]) -> bool {
    let drafts = |name: &str| name.parse::<Drafter>().ok();
    let is_listed = |name: &str| {
        algorithms.iter().any(|other| drafts(other).is_some_and(|other| Some(other) == drafts(name)))
    };
    let mut servers = point.generating().peekable();
    servers.peek().is_some()
        && servers.all(|server| {
            let algorithm =
                server.report.server.as_ref().and_then(|start| start.speculative_algorithm.as_deref());
            algorithm.is_some_and(is_listed)
        })
}
