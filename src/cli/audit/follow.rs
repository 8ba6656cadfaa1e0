//! `accsim audit --follow`: logs that are judged while they grow.

use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

use super::settings::SettingFiles;
use super::{AuditArgs, Judged, Replaying, Wanted, file_name, scope};
use crate::audit::{Options, PointBuilder, PointReport, Reason, judge_growing};
use crate::cli::progress::FollowLine;
use crate::evidence::{Follower, Input, Limits, LogFile, Place, PointBy, Record, RecordSink, point_name};

/// Time between two looks; a look that takes longer is followed by as long a rest.
const INTERVAL: Duration = Duration::from_millis(250);

/// Reads logs on until every point is decided, no log can grow any more, or none has for long enough.
#[expect(clippy::too_many_arguments, reason = "all that the flags came to")]
pub(super) fn follow(
    args: &AuditArgs,
    draws: bool,
    inputs: &[Input],
    replay: &Replaying,
    wanted: &Wanted,
    told: &mut SettingFiles,
    options: &Options,
    err: &mut dyn Write,
    is_quiet: bool,
) -> anyhow::Result<Judged> {
    let mut follower = Follower::new(inputs, &Limits::from(&args.limits))?;
    let mut growing = Growing::new(args, draws, &follower, replay);
    let line = FollowLine::show(is_quiet);
    let mut failures = Vec::new();
    let mut last = Instant::now();
    loop {
        let began = Instant::now();
        let polled = follower.poll(&mut growing);
        for error in follower.errors().iter().skip(failures.len()) {
            let _ = writeln!(err, "error: {error}");
            failures.push(error.to_string());
        }
        if std::mem::take(&mut growing.has_lines) {
            last = Instant::now();
        }
        told.look_anew(follower.files());
        growing.look(follower.files(), wanted, told, options, false)?;
        if growing.is_done(|file| follower.is_over(file)) {
            break;
        }
        if !polled.is_more {
            if args.idle_exit.is_some_and(|limit| last.elapsed() >= limit) {
                follower.finish(&mut growing);
                break;
            }
            line.say(&growing.state());
            let rest = INTERVAL.max(began.elapsed());
            thread::sleep(args.idle_exit.map_or(rest, |limit| rest.min(limit)));
        }
    }
    told.look_anew(follower.files());
    growing.look(follower.files(), wanted, told, options, true)?;
    drop(line);
    let mut notes = Vec::new();
    for (file, rotated, truncated) in follower.restarts() {
        let times = |number: u64| if number == 1 { "once".to_owned() } else { format!("{number} times") };
        for (number, what) in [(rotated, "rotated"), (truncated, "cut or written anew")] {
            if number > 0 {
                let (name, times) = (&file.name, times(number));
                notes.push(format!(
                    "note: {name}: {what} {times} while it was followed; its lines were counted from 1 again"
                ));
            }
        }
    }
    let mut points = Vec::new();
    for mut point in growing.points {
        notes.append(&mut point.notes);
        points.extend(point.report);
    }
    Ok(Judged { points, files: follower.files().to_vec(), failures, notes })
}

/// The points of all logs.
struct Growing {
    points: Vec<Growth>,
    /// The point of each log.
    of_file: Vec<usize>,
    current: Option<usize>,
    /// Whether a decode line came since this was asked.
    has_lines: bool,
}

/// One point.
struct Growth {
    name: String,
    /// `None` once the point is decided: what follows counts for nothing.
    builder: Option<PointBuilder>,
    /// Whether a record came since the last look.
    is_fresh: bool,
    /// Of the last look.
    report: Option<PointReport>,
    notes: Vec<String>,
}

impl Growing {
    fn new(args: &AuditArgs, draws: bool, follower: &Follower, replay: &Replaying) -> Self {
        let by = PointBy::from(args.point_by);
        let mut growing = Self { points: Vec::new(), of_file: Vec::new(), current: None, has_lines: false };
        for file in follower.files() {
            let name = point_name(&file.name, &file.input, by);
            let known = growing.points.iter().position(|point| point.name == name);
            growing.of_file.push(known.unwrap_or(growing.points.len()));
            if known.is_none() {
                let builder = replay.builder(name.clone()).with_scope(scope(args));
                let builder = if draws { builder.keeping_series() } else { builder };
                growing.points.push(Growth {
                    name,
                    builder: Some(builder),
                    is_fresh: false,
                    report: None,
                    notes: Vec::new(),
                });
            }
        }
        growing
    }

    /// Judges the points that have something new; the last time also those that had nothing.
    fn look(
        &mut self,
        files: &[LogFile],
        wanted: &Wanted,
        told: &mut SettingFiles,
        options: &Options,
        is_last: bool,
    ) -> anyhow::Result<()> {
        for point in &mut self.points {
            let is_due = std::mem::take(&mut point.is_fresh) || is_last;
            let Some(builder) = point.builder.as_ref().filter(|_| is_due) else { continue };
            let mut seen = builder.clone().finish();
            let max = told.tell(&mut seen, files);
            let names = |place: Place| file_name(files, told.names(), place.file);
            point.notes.clear();
            let target = match wanted.target(&seen, max, names, &mut point.notes) {
                // What is missing may stand in a line to come.
                Err(_) if !is_last => None,
                target => target?,
            };
            let report = judge_growing(&seen, target.as_ref(), options);
            if report.is_settled() {
                point.builder = None;
            }
            point.report = Some(report);
        }
        Ok(())
    }

    /// Whether no point can change any more.
    fn is_done(&self, is_over: impl Fn(u32) -> bool) -> bool {
        let is_open = |(file, point): (u32, &usize)| {
            !is_over(file) && self.points.get(*point).is_some_and(|point| point.builder.is_some())
        };
        !(0..).zip(&self.of_file).any(is_open)
    }

    /// How far it is: `following: 34 lines, mean 3.512, sequence 3.431 to 3.593, about 60 more lines`.
    fn state(&self) -> String {
        let decided = self.points.iter().filter(|point| point.builder.is_none()).count();
        let all = self.points.len();
        let Some(open) = self.points.iter().find(|point| point.builder.is_some()) else {
            return String::new();
        };
        let state = open.report.as_ref().map_or_else(|| "no record yet".to_owned(), state);
        if all == 1 {
            return format!("following: {state}");
        }
        format!("following: {decided} of {all} points decided; {}: {state}", open.name)
    }
}

/// What one point has so far, and what it lacks.
fn state(report: &PointReport) -> String {
    let lines = report.spec_lines;
    let mut parts = vec![format!("{lines} line{}", if lines == 1 { "" } else { "s" })];
    parts.extend(report.accept_len.map(|accept_len| format!("mean {:.3}", accept_len.mean)));
    parts.extend(
        report.sequence.map(|sequence| {
            format!("sequence {:.3} to {:.3}", sequence.interval.low, sequence.interval.high)
        }),
    );
    parts.extend(match &report.reason {
        Reason::ShortRun(shortfall) => {
            Some(shortfall.more_lines.map_or_else(|| "off".to_owned(), |more| format!("about {more} more")))
        }
        Reason::NoTarget => Some("no target known yet".to_owned()),
        _ => None,
    });
    parts.join(", ")
}

impl RecordSink for Growing {
    fn begin(&mut self, file: u32, _name: &str, _input: &str) {
        self.current = usize::try_from(file).ok().and_then(|file| self.of_file.get(file)).copied();
    }

    fn record(&mut self, place: Place, record: &Record<'_>) {
        self.has_lines |= matches!(record, Record::Decode(_));
        let point = self.current.and_then(|index| self.points.get_mut(index));
        if let Some(Growth { builder: Some(builder), is_fresh, .. }) = point {
            builder.add(place, record);
            *is_fresh = true;
        }
    }
}
