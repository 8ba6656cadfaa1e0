//! What each point was told.

use crate::engine::Drafter;
use crate::recipe::Way;
use crate::signoff::facts::{Facts, Origin, Point, Run, Seen, Sighting};
use crate::signoff::item::{Evidence, Outcome, Weighing, counted};
use crate::signoff::layout::{FileKind, kind_of};
use crate::signoff::profile::check::Variable;
use crate::signoff::read::is_any;

/// Lengths closer than this are one to two decimals.
const SAME: f64 = 0.005;

/// Whether two lengths are one to two decimals; what is no number is none.
fn is_same(length: f64, other: f64) -> bool {
    (length - other).abs() < SAME
}

/// What a point was told under some names.
#[derive(Debug, Default)]
pub(super) struct Told<'a> {
    /// What counts: what its environment or log shows, else what recipes and launchers set.
    pub(super) found: Vec<&'a Sighting>,
    /// Why it decides nothing although something sets it, with what speaks for and against.
    pub(super) open: Option<(String, Vec<Evidence>)>,
    /// Nothing sets it, and a dump of the whole environment shows that: its number.
    pub(super) absent_from: Option<u32>,
}

/// What its own files, or else those of the whole run, give to variables of these names; a server that only prefills does
/// not count.
pub(super) fn values<'a>(run: &'a Run, point: &'a Point, names: &[String]) -> Told<'a> {
    let of = |sightings: &'a [Sighting]| -> (Vec<&'a Sighting>, Vec<&'a Sighting>) {
        let is_asked = |seen: &&Sighting| {
            seen.seen == Seen::Variable
                && !seen.is_prefill
                && seen.way != Way::Evaluation
                && is_any(names, &seen.name)
        };
        // What ran says more than a text that says what should.
        sightings.iter().filter(is_asked).partition(|seen| is_of_run(seen))
    };
    let (own, scripted) = of(&point.facts.sightings);
    let (shared, shared_scripted) = of(&run.shared.sightings);
    let own_dump = dumps(run, &point.facts).next();
    let found = if own.is_empty() && own_dump.is_none() { shared } else { own };
    let said = |seen: &Sighting| {
        let place = run.file(seen.place.file);
        format!("{place}:{} sets {}={}", seen.place.line, seen.name, seen.value)
    };
    if let Some(first) = found.first().copied() {
        let launchers = || {
            let launchers = scripted.iter().chain(&shared_scripted).copied();
            launchers.filter(|seen| seen.origin == Origin::Launcher)
        };
        // Another environment, or a launcher none of whose ways sets what ran.
        let of_run = of(&run.shared.sightings).0;
        let others = first_of(&found, of_run.into_iter(), false).or_else(|| {
            first_of(&found, launchers(), false).filter(|_| first_of(&found, launchers(), true).is_none())
        });
        let open = others.map(|other| {
            let why =
                format!("{} and {}; give the environment of this point alone", said(first), said(other));
            (why, vec![shown(run, first), shown(run, other)])
        });
        return Told { found, open, absent_from: None };
    }
    let scripted = if scripted.is_empty() { shared_scripted } else { scripted };
    let Some(first) = scripted.first() else {
        let mut whole = dumps(run, &point.facts).chain(dumps(run, &run.shared));
        let absent_from = whole.find(|file| is_whole_environment(run.file(*file)));
        return Told { absent_from, ..Told::default() };
    };
    let open = |why: String| {
        let open = Some((why, vec![shown(run, first)]));
        Told { open, ..Told::default() }
    };
    if let Some(dump) = own_dump.or_else(|| dumps(run, &run.shared).next()) {
        let dump = run.file(dump);
        return open(format!("{} and its environment ({dump}) has no such variable", said(first)));
    }
    if let Some((seen, condition)) = scripted.iter().find_map(|seen| Some((seen, seen.condition.as_ref()?))) {
        return open(format!("{} only where {condition} holds; give its environment dump", said(seen)));
    }
    let is_script = |seen: &&&Sighting| seen.origin == Origin::Launcher;
    let mut scripts = scripted.iter().filter(is_script);
    let one = scripts.next();
    if let Some((one, other)) = one.and_then(|one| Some((one, scripts.find(|seen| seen.value != one.value)?)))
    {
        return open(format!("{} and {}; give its environment dump", said(one), said(other)));
    }
    Told { found: scripted, ..Told::default() }
}

/// Whether two texts are one value, as numbers where they are such.
fn is_one(value: &str, other: &str) -> bool {
    match (value.parse::<f64>(), other.parse::<f64>()) {
        (Ok(value), Ok(other)) => is_same(value, other),
        _ => value == other,
    }
}

/// The first of `others` that surely sets a variable of one of `found` to the same value, or to another.
fn first_of<'a>(
    found: &[&'a Sighting],
    mut others: impl Iterator<Item = &'a Sighting>,
    same: bool,
) -> Option<&'a Sighting> {
    others.find(|other| {
        let is_sure = other.condition.is_none() && !other.value.starts_with('(');
        let mut own = found.iter().filter(|own| own.name == other.name);
        is_sure && own.any(|own| is_one(&own.value, &other.value) == same)
    })
}

/// Whether a file is a dump of a whole environment by its name: a trace shows what a script did, other documents a part.
fn is_whole_environment(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    let has = |word: &str| file.split(|letter: char| !letter.is_ascii_alphabetic()).any(|part| part == word);
    !has("trace") && (has("env") || has("environ") || has("environment"))
}

/// Says that a dump of a point's environment has no such variable.
fn fail_absent(run: &Run, label: &str, name: &str, dump: u32, weighing: &mut Weighing) {
    let file = run.file(dump).to_owned();
    let why = format!("{label}: {name} is not set: its environment ({file}) has no such variable");
    weighing.fail(why, [Evidence { file, line: None, value: format!("no {name}") }]);
}

fn is_of_run(seen: &Sighting) -> bool {
    matches!(seen.origin, Origin::Environment | Origin::Log)
}

/// Files that show a whole environment, not lines of a script's trace in a log.
fn dumps<'a>(run: &'a Run, facts: &'a Facts) -> impl Iterator<Item = u32> + 'a {
    let is_dump = |file: &u32| {
        matches!(
            kind_of(run.file(*file)),
            FileKind::Text(Origin::Environment) | FileKind::Json | FileKind::JsonLines
        )
    };
    facts.environments.iter().copied().filter(is_dump)
}

/// Whether files show an environment: what is absent from a script may be there all the same.
pub(super) fn shows_environment(facts: &Facts) -> bool {
    !facts.environments.is_empty()
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
        let Told { found, open, absent_from } = values(run, point, names);
        let first = names.first().map_or("", String::as_str);
        if let Some((why, evidence)) = open {
            weighing.doubt(format!("{label}: {why}"), evidence);
        } else if let Some(dump) = absent_from {
            fail_absent(run, &label, first, dump, &mut weighing);
        } else if found.is_empty() {
            weighing.miss(format!(
                "{label}: no {first} in its log, environment, launcher or recipe; give its environment dump or the launcher's \
                 trace"
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
            "{} at {count} of {}, seen in {}; {} {}, draft length {}, from {}",
            golden.accept_length(),
            counted(count, "point"),
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
        let Told { found, open, absent_from } = values(run, point, std::slice::from_ref(name));
        if let Some((why, evidence)) = open.clone().filter(|_| !found.is_empty()) {
            weighing.doubt(format!("{label}: {why}"), evidence);
        }
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
            } else if let Some((why, evidence)) = open {
                weighing.doubt(format!("{label}: {why}"), evidence);
            } else if let Some(dump) = absent_from {
                fail_absent(run, &label, name, dump, &mut weighing);
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
    let of = counted(count, "point");
    weighing.conclude(format!("{} at {told} of {of}{rest}", variable.equals.join(" or ")))
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
