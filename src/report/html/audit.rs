//! An audit to look at: verdicts, a table that sorts, plots of each point, findings that lead to their place, and the sign-off
//! text.

use std::io::{self, Write};

use askama::Template;

use super::page::Page;
use super::table::{Cell, Table};
use crate::audit::{Finding, Mechanism, PointReport, Reason, Verdict};
use crate::evidence::Hundredths;
use crate::replay::{Replay, ReplayStatus};
use crate::report::audit::{AuditRun, Summary, decimal, slips, target};
use crate::report::excerpt::printable;
use crate::report::markdown;
use crate::report::plot::{self, Drawing, Figure, Part};
use crate::report::text::audit::{REMARK, facts};

/// Points with plots; more are listed without.
const MOST_DRAWN: usize = 48;

/// Stretches of lines drawn over all points and ranks: they bound the size of the file.
const STRETCHES: usize = 6000;

/// Fewest stretches of a rank.
const LEAST_STRETCHES: usize = 24;

#[derive(Template)]
#[template(path = "audit.html")]
struct AuditPage<'a> {
    page: Page,
    verdict: Verdict,
    summary: String,
    target: Option<String>,
    errors: Vec<String>,
    notes: Vec<String>,
    remark: Option<&'static str>,
    table: Table,
    undrawn: usize,
    points: Vec<PointView<'a>>,
    signoff: String,
}

/// One point as the page shows it.
struct PointView<'a> {
    id: String,
    name: String,
    verdict: Verdict,
    reason: String,
    drawings: Vec<Drawing<'a>>,
    findings: Vec<FindingView>,
    replay: Option<ReplayView>,
    facts: Vec<(&'static str, String)>,
}

struct FindingView {
    number: usize,
    severity: String,
    code: &'static str,
    message: String,
    place: Option<String>,
    is_marked: bool,
}

struct ReplayView {
    sentence: String,
    file: String,
    lines: Vec<LineView>,
    slips: Option<String>,
}

struct LineView {
    place: u64,
    printed: String,
    expected: String,
    differs: bool,
}

/// Writes the page. Points are drawn where they kept their lines.
pub fn write_audit(run: &AuditRun<'_>, out: &mut dyn Write) -> io::Result<()> {
    let drawn = drawn(run.points);
    let figures: Vec<Vec<Figure>> = (1..)
        .zip(run.points)
        .map(|(number, point)| match drawn.stretches(number - 1, point) {
            0 => Vec::new(),
            stretches => plot::point(point, &id(number), stretches),
        })
        .collect();
    let undrawn =
        figures.iter().zip(run.points).filter(|(all, point)| all.is_empty() && point.series.is_some());
    let mut signoff = Vec::new();
    markdown::write_audit(run, &mut signoff)?;
    let holds = run.count(Verdict::Consistent) > 0;
    let page = AuditPage {
        page: Page::new("Accept length audit"),
        verdict: run.verdict,
        summary: summary(run),
        target: run.target().filter(|_| run.points.len() > 1).map(|known| printable(&target(known))),
        errors: run.errors.iter().map(|error| printable(error)).collect(),
        notes: run.notes.iter().map(|note| printable(note)).collect(),
        remark: holds.then_some(REMARK),
        table: table(run),
        undrawn: if drawn.is_cut { undrawn.count() } else { 0 },
        points: (1..)
            .zip(run.points)
            .zip(&figures)
            .map(|((number, point), figures)| view(run, point, id(number), figures))
            .collect(),
        signoff: String::from_utf8_lossy(&signoff).into_owned(),
    };
    page.write_into(out)?;
    writeln!(out)
}

fn id(number: usize) -> String {
    format!("p{number}")
}

/// Which points have plots, and how fine they are.
struct Drawn {
    which: Vec<bool>,
    stretches: usize,
    is_cut: bool,
}

fn drawn(points: &[PointReport]) -> Drawn {
    let mut order: Vec<usize> = (0..points.len()).collect();
    // A stable sort: points in their order.
    order.sort_by_key(|index| points.get(*index).is_some_and(|point| point.verdict == Verdict::Consistent));
    let mut which = vec![false; points.len()];
    let mut ranks = 0;
    for index in order.iter().take(MOST_DRAWN) {
        if let Some((slot, point)) = which.get_mut(*index).zip(points.get(*index)) {
            *slot = true;
            ranks += point.series.as_ref().map_or(0, |series| series.ranks.len());
        }
    }
    let stretches = (STRETCHES / ranks.max(1)).max(LEAST_STRETCHES);
    Drawn { which, stretches, is_cut: points.len() > MOST_DRAWN }
}

impl Drawn {
    /// Most stretches of each rank of a point; 0: no plots.
    fn stretches(&self, index: usize, point: &PointReport) -> usize {
        let is_drawn = self.which.get(index).copied().unwrap_or_default() && point.series.is_some();
        if is_drawn { self.stretches } else { 0 }
    }
}

fn summary(run: &AuditRun<'_>) -> String {
    let (holds, all) = (run.count(Verdict::Consistent), run.points.len());
    let summary = Summary::of(run.points);
    if all == 1 { summary.to_string() } else { format!("{holds} of {all} points consistent; {summary}") }
}

fn table(run: &AuditRun<'_>) -> Table {
    let names = [
        "point",
        "verdict",
        "#target",
        "#accept len",
        "interval",
        "#lines",
        "#batch",
        "mechanism",
        "#tokens/s",
        "#findings",
    ];
    let mut table = Table::new("One line a point; a click on a name sorts", &names);
    for (number, point) in (1..).zip(run.points) {
        let interval = point.accept_len.and_then(|accept_len| accept_len.interval);
        let mechanism = point.mechanisms.as_ref();
        table.rows.push(vec![
            Cell { href: Some(id(number)), ..Cell::text(printable(&point.name)) },
            Cell { badge: Some(point.verdict.name()), ..Cell::text(point.verdict.name()) },
            Cell::number(point.target.as_ref().map(|target| target.accept_length().get()), 2),
            Cell::number(point.accept_len.map(|accept_len| accept_len.mean), 3),
            interval.map_or_else(
                || Cell::text("–"),
                |it| Cell::shown(format!("{} to {}", decimal(it.low), decimal(it.high)), it.low),
            ),
            Cell::count(point.decode_lines),
            Cell::number(point.running_req.map(|(_, most)| f64::from(most)), 0),
            Cell::text(mechanism.map_or("–", |found| found.best.map_or("undetermined", Mechanism::name))),
            Cell::number(point.median_tps, 1),
            Cell::count(u64::try_from(point.findings.len()).unwrap_or(u64::MAX)),
        ]);
    }
    table
}

fn view<'a>(run: &AuditRun<'_>, point: &PointReport, id: String, figures: &'a [Figure]) -> PointView<'a> {
    let whence = match &point.reason {
        Reason::ImpossibleLine { place: Some(place), .. } => format!(" ({})", run.place(*place)),
        _ => String::new(),
    };
    let marked: Vec<usize> =
        figures.iter().flat_map(|figure| figure.marks.iter().map(|mark| mark.number)).collect();
    PointView {
        id,
        name: printable(&point.name),
        verdict: point.verdict,
        reason: printable(&format!("{}{whence}", point.reason)),
        drawings: figures.iter().map(Drawing::new).collect(),
        findings: (1..)
            .zip(&point.findings)
            .map(|(number, finding)| said(run, number, finding, marked.contains(&number)))
            .collect(),
        replay: point.told_replay().map(|replay| replayed(run, replay)),
        facts: facts(point).into_iter().map(|(name, value)| (name, printable(&value))).collect(),
    }
}

fn said(run: &AuditRun<'_>, number: usize, finding: &Finding, is_marked: bool) -> FindingView {
    FindingView {
        number,
        severity: finding.severity.to_string(),
        code: finding.code.name(),
        message: printable(&finding.message),
        place: finding.evidence.map(|place| printable(&run.place(place))),
        is_marked,
    }
}

fn replayed(run: &AuditRun<'_>, replay: &Replay) -> ReplayView {
    let is_known = replay.status != ReplayStatus::Unavailable;
    let first = replay.first_lines.first().filter(|_| is_known);
    let lines = replay.first_lines.iter().filter(|_| is_known).map(|line| LineView {
        place: line.place.line,
        printed: Hundredths::new(line.printed).to_string(),
        expected: Hundredths::new(line.expected).to_string(),
        differs: line.printed != line.expected,
    });
    ReplayView {
        sentence: printable(&replay.to_string()),
        file: printable(first.and_then(|line| run.file(line.place.file)).unwrap_or_default()),
        lines: lines.collect(),
        slips: slips(run, replay).filter(|_| is_known).map(|slips| printable(&slips)),
    }
}
