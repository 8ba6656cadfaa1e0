//! From folders to the facts of a run: texts first, then the servers' lines.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use super::command::SignoffArgs;
use super::points::Points;
use super::servers::{Building, Seen, server_of};
use crate::audit::{Observed, Options, ReplayMode, RivalCell, injected_length, judge};
use crate::cli::progress::ProgressLine;
use crate::cli::select::ThinkingFlag;
use crate::cli::{Global, catalogue};
use crate::engine::{Drafter, sglang::MaxRule};
use crate::evidence::{Input, Limits, Place, ReadError, Reader, ServerStart, TextSink};
use crate::golden::{Query, SettingSource, Target, Thinking};
use crate::recipe;
use crate::replay::{ReplayOptions, StatedTarget};
use crate::signoff::{
    Asked, FileKind, Map, Origin, Point, Profile, Run, Seen as Kind, Server, Stated, Table, TextRead,
    TextReader, Unread, is_evaluation_log, kind_of, read_table, redact,
};

/// Files as the user named them.
pub(super) struct Named<'a> {
    pub(super) runs: &'a [PathBuf],
    pub(super) evaluations: &'a [PathBuf],
    pub(super) recipes: &'a [PathBuf],
    pub(super) masters: &'a [PathBuf],
    pub(super) environments: &'a [PathBuf],
    pub(super) points: Option<&'a Path>,
    pub(super) map: &'a Map,
}

/// What came of the files.
pub(super) struct Gathered {
    pub(super) run: Run,
    /// What could not be read; on stderr already.
    pub(super) errors: Vec<String>,
    pub(super) notes: Vec<String>,
}

/// One text with what was read in it.
pub(super) struct File {
    pub(super) name: String,
    pub(super) input: String,
    pub(super) read: TextRead,
    /// Whether the user named it for all points.
    pub(super) is_shared: bool,
}

pub(super) fn gather(
    args: &SignoffArgs,
    named: &Named<'_>,
    profile: &Profile,
    global: &Global,
    err: &mut dyn Write,
    is_quiet: bool,
) -> anyhow::Result<Gathered> {
    let asked = Asked::by(profile);
    let paths =
        |paths: &[PathBuf]| -> Vec<Input> { paths.iter().map(|path| Input::from(path.as_path())).collect() };
    let logs: Vec<Input> = [paths(named.runs), paths(named.evaluations)].concat();
    let points: Vec<PathBuf> = named.points.map(Path::to_owned).into_iter().collect();
    let others = [paths(named.recipes), paths(named.masters), paths(named.environments), paths(&points)];
    let inputs = [logs.clone(), others.concat()].concat();
    let shown = |inputs: &[PathBuf]| -> Vec<String> { paths(inputs).iter().map(Input::name).collect() };

    let mut texts = Texts {
        asked: &asked,
        recipes: shown(named.recipes),
        masters: shown(named.masters),
        environments: shown(named.environments),
        tables: shown(&points),
        map: named.map,
        files: Vec::new(),
        current: None,
    };
    let mut reader = Reader::new(Limits::from(&args.limits));
    let progress = ProgressLine::show(reader.progress(), is_quiet);
    let mut failed = reader.read_texts(&inputs, &mut texts);
    drop(progress);
    let mut files = texts.finish();
    for file in files.iter().filter(|file| file.is_shared) {
        if let Some(unread) = file.read.facts.unread.first() {
            bail!("{unread}");
        }
    }
    let mut notes: Vec<String> = reader.passed_over().iter().map(ToString::to_string).collect();
    let table = table(profile, &mut files)?;
    notes.extend(unfound(named.map, &files));

    let options = Options {
        margin: args.margin,
        confidence: crate::audit::Confidence::default(),
        decode_log_interval: None,
        expect_real: false,
        cells: RivalCell::all(&catalogue::open(global)?).collect(),
        replay: ReplayMode::Auto,
    };
    let (seen, servers_files, errors) = servers(args, named, &logs, &files, &options, global, is_quiet);
    for error in errors {
        if !failed.iter().any(|known| known.name == error.name) {
            failed.push(error);
        }
    }
    let errors: Vec<String> = failed.iter().map(|error| redact(&error.to_string())).collect();
    for error in &errors {
        let _ = writeln!(err, "error: {error}");
    }

    let file_names: Vec<String> = files.iter().map(|file| file.name.clone()).collect();
    if servers_files.iter().zip(&file_names).any(|(left, right)| left != right) {
        bail!("the files changed while they were read");
    }
    let stated = Stated {
        version: args.engine_version.clone(),
        draft_paths: args.draft_path.clone(),
        thresholds: args.threshold.clone(),
        ..stated(args, global, &seen, &mut notes)?
    };
    let pins = pins(args, named, global, &files)?;
    let sorted = Points::sort(named, seen, files, &mut notes);
    let judged = |placed: super::points::Placed, is_evaluation: bool| -> anyhow::Result<Point> {
        let mut point = Point {
            name: placed.name,
            concurrency: placed.concurrency,
            facts: placed.facts,
            servers: Vec::new(),
        };
        for (seen, begun) in placed.servers {
            let target = if is_evaluation { None } else { target(&stated, &seen.observed, &point) };
            let options = Options { expect_real: is_evaluation, ..options.clone() };
            let report = judge(&seen.observed, target.as_ref(), &options);
            let (arguments, line, is_whole) = match begun {
                Some((arguments, place, is_whole)) => (arguments, Some(place), is_whole),
                None => (Vec::new(), None, false),
            };
            let (mode, largest, graph_off) = (seen.mode, seen.largest, seen.graph_off);
            point.servers.push(Server {
                report,
                mode,
                largest,
                graph_off,
                arguments,
                started: line,
                is_whole,
            });
        }
        Ok(point)
    };
    let mut run = Run { files: file_names, shared: sorted.shared, table, pins, ..Run::default() };
    for placed in sorted.curve {
        run.points.push(judged(placed, false)?);
    }
    for placed in sorted.evaluations {
        run.evaluations.push(judged(placed, true)?);
    }
    run.stated = stated;
    Ok(Gathered { run, errors, notes })
}

/// Files that were not understood, and patterns of the map that no file is like.
fn unfound(map: &Map, files: &[File]) -> Vec<String> {
    let unread = files.iter().flat_map(|file| &file.read.facts.unread);
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let unmatched = map.unmatched(&names);
    let unmatched = unmatched.into_iter().map(|(point, pattern)| {
        format!("the map's {point} names {pattern}, and no file of that name was found")
    });
    unread.map(|unread| format!("not read: {unread}")).chain(unmatched).collect()
}

/// The lines of all servers, and the names of the files they came from.
fn servers(
    args: &SignoffArgs,
    named: &Named<'_>,
    logs: &[Input],
    files: &[File],
    options: &Options,
    global: &Global,
    is_quiet: bool,
) -> (Vec<Seen>, Vec<String>, Vec<ReadError>) {
    let mut cells: Vec<f64> = options.cells.iter().map(|cell| cell.accept_length.get()).collect();
    let sightings = files.iter().flat_map(|file| &file.read.facts.sightings);
    let lengths = sightings.filter(|seen| seen.seen == Kind::Variable && seen.name.ends_with("_LEN"));
    cells.extend(lengths.filter_map(|seen| seen.value.parse::<f64>().ok()).filter(|length| *length >= 1.0));
    let stated = args.draft_length.and_then(|_| golden(args, global, None).ok()).map(|target| StatedTarget {
        accept_length: target.accept_length().get(),
        max_accept_length: Some(target.max_accept_length()),
    });
    let replay = ReplayOptions { stated, cells, ..ReplayOptions::default() };
    let mapped = |log: &str| named.map.of(log).map(|point| point.name.clone());
    let mut reader = Reader::new(Limits::from(&args.limits)).with_threads(global.thread_count());
    let progress = ProgressLine::show(reader.progress(), is_quiet);
    let server = |log: &str, input: &str| server_of(log, input, &mapped);
    let (servers, errors) = reader.read_groups(logs, server, |name| {
        name.as_ref().map(|name| Building::new(name.clone(), replay.clone()))
    });
    drop(progress);
    let files = reader.files().iter().map(|file| file.name.clone()).collect();
    let seen = servers.into_iter().filter_map(|(_, server)| server?.finish());
    (seen.collect(), files, errors)
}

/// The golden cell; its method and draft length as a server's arguments say where no flag does.
fn golden(args: &SignoffArgs, global: &Global, start: Option<&ServerStart>) -> Result<Target, NoTarget> {
    let Some(prefix) = &args.model else {
        return Err("no golden cell was named; give --model (and --method, --draft-length where the log does not tell)".into());
    };
    let algorithm = start.and_then(|start| start.speculative_algorithm.clone());
    let Some(method) = args.method.clone().or_else(|| algorithm.clone()) else {
        return Err("no log names a drafting algorithm; give --method".into());
    };
    let drafter = algorithm.and_then(|name| name.parse::<Drafter>().ok());
    let from_log = || {
        let (start, rule) = (start?, MaxRule::of(drafter?.family()));
        match rule {
            MaxRule::NumStepsPlusOne => start.num_steps,
            MaxRule::BlockSizePlusOne => start.block_size,
            MaxRule::BlockSize => start.block_size?.checked_sub(1),
            MaxRule::DraftTokens => start.num_draft_tokens?.checked_sub(1),
        }
    };
    let Some(draft_length) = args.draft_length.or_else(from_log) else {
        return Err("no log names a draft length; give --draft-length".into());
    };
    let query = Query {
        prefix,
        method: &method,
        draft_length,
        thinking: args.cell.thinking.into(),
        draft_model: args.cell.draft_model.as_deref(),
        draft_sample_method: args.cell.draft_sample_method.as_deref(),
    };
    catalogue::find(global, &query).map(|found| found.target).map_err(NoTarget::Refused)
}

/// Why there is no golden cell.
enum NoTarget {
    /// Neither flags nor logs say which.
    Unknown(String),
    /// There is none of what they say.
    Refused(anyhow::Error),
}

impl From<&str> for NoTarget {
    fn from(why: &str) -> Self {
        Self::Unknown(why.to_owned())
    }
}

fn stated(
    args: &SignoffArgs,
    global: &Global,
    seen: &[Seen],
    notes: &mut Vec<String>,
) -> anyhow::Result<Stated> {
    // An evaluation may draft otherwise; it is asked last.
    let start = seen.iter().find_map(|seen| {
        let start = seen.observed.server()?;
        (seen.mode != Some(crate::evidence::Mode::Prefill) && !is_evaluation_log(&seen.log, &seen.input))
            .then_some(start)
            .filter(|start| start.speculative_algorithm.is_some())
    });
    match golden(args, global, start) {
        Ok(target) => Ok(Stated { target: Some(target), ..Stated::default() }),
        Err(NoTarget::Refused(error)) => Err(error),
        Err(NoTarget::Unknown(why)) => {
            if args.model.is_some() {
                notes.push(why.clone());
            }
            Ok(Stated { no_target: Some(why), ..Stated::default() })
        }
    }
}

/// What a server is judged against: the golden cell, else what its point was told.
fn target(stated: &Stated, seen: &Observed, point: &Point) -> Option<Target> {
    if let Some(target) = &stated.target {
        return Some(target.clone());
    }
    let told: Vec<crate::audit::InjectedSetting> = point
        .facts
        .sightings
        .iter()
        .filter(|seen| seen.seen == Kind::Variable && !seen.is_prefill)
        .map(|seen| crate::audit::InjectedSetting {
            name: seen.name.clone(),
            value: seen.value.clone(),
            place: seen.place,
            source: SettingSource::Env,
            is_beside: false,
        })
        .collect();
    let max = seen.max_accept_length()?;
    let (length, setting) = injected_length(&told, max.checked_sub(1))?;
    Target::injected(length, max, setting.source, format!("line {}", setting.place.line)).ok()
}

/// What recipes and launchers pin, held against the golden curves.
fn pins(
    args: &SignoffArgs,
    named: &Named<'_>,
    global: &Global,
    files: &[File],
) -> anyhow::Result<Vec<(u32, recipe::Judged)>> {
    let catalogue = catalogue::open(global)?;
    let mut masters = Vec::new();
    for path in named.masters {
        let name = path.display().to_string();
        masters
            .push(recipe::parse_master(&name, &super::command::small(path)?).with_context(|| name.clone())?);
    }
    let options = recipe::Options {
        model: args.model.as_deref(),
        // `on` is the default of a flag that nobody gave; then the file says.
        thinking: (args.cell.thinking == ThinkingFlag::Off).then_some(Thinking::Off),
        masters: &masters,
        scenario: None,
        selector: None,
    };
    let documents = files.iter().flat_map(|file| {
        file.read.facts.documents.iter().map(|(number, document)| (*number, file.name.as_str(), document))
    });
    Ok(documents
        .map(|(number, name, document)| (number, recipe::judge(document, name, &catalogue, &options)))
        .collect())
}

/// The table of points: the one that was named, or the only one that has the columns.
fn table(profile: &Profile, files: &mut [File]) -> anyhow::Result<Option<Table>> {
    let axis = profile.rules.iter().find_map(|rule| match &rule.check {
        crate::signoff::Check::Pareto(pareto) => Some(pareto.y.as_str()),
        _ => None,
    });
    let mut found = Vec::new();
    for file in files {
        let Some(text) = &file.read.table else { continue };
        match read_table(&file.name, text) {
            Ok(table) if file.is_shared => return Ok(Some(table)),
            Ok(table) => {
                if axis.is_some_and(|axis| table.column(axis).is_some()) {
                    found.push(table);
                }
            }
            Err(error) if file.is_shared => bail!("{}: {error}", file.name),
            // Clients write tables of other forms, which are none of the curve.
            Err(_) if axis.is_none_or(|axis| memchr::memmem::find(text, axis.as_bytes()).is_none()) => {}
            Err(why) => {
                let unread = Unread { file: file.name.clone(), why, kind: FileKind::Table };
                file.read.facts.unread.push(unread);
            }
        }
    }
    if found.len() > 1 {
        let names: Vec<&str> = found.iter().map(|table| table.file.as_str()).collect();
        bail!("several tables of points: {}; name one by --points", names.join(", "));
    }
    Ok(found.pop())
}

/// Reads every text by its kind.
struct Texts<'a> {
    asked: &'a Asked,
    recipes: Vec<String>,
    masters: Vec<String>,
    environments: Vec<String>,
    tables: Vec<String>,
    map: &'a Map,
    files: Vec<File>,
    current: Option<(TextReader<'a>, String, String, bool)>,
}

impl Texts<'_> {
    fn end(&mut self) {
        if let Some((reader, name, input, is_shared)) = self.current.take() {
            let read = reader.finish(&name);
            self.files.push(File { name, input, read, is_shared });
        }
    }

    fn finish(mut self) -> Vec<File> {
        self.end();
        self.files
    }
}

impl TextSink for Texts<'_> {
    fn begin(&mut self, file: u32, name: &str, input: &str) -> bool {
        self.end();
        let is_named = |names: &[String]| names.iter().any(|known| known == input);
        let own = kind_of(name);
        let (kind, is_shared) = if is_named(&self.tables) {
            (FileKind::Table, true)
        } else if is_named(&self.recipes) {
            (FileKind::Yaml(Origin::Recipe), true)
        } else if is_named(&self.masters) {
            (FileKind::Yaml(Origin::Config), true)
        } else if is_named(&self.environments) {
            (if own == FileKind::Json { own } else { FileKind::Text(Origin::Environment) }, true)
        } else if self.map.ignores(name) {
            (FileKind::Other, false)
        } else {
            (own, false)
        };
        self.current =
            Some((TextReader::new(self.asked, kind, file), name.to_owned(), input.to_owned(), is_shared));
        kind != FileKind::Other
    }

    fn line(&mut self, place: Place, text: &[u8]) {
        if let Some((reader, ..)) = &mut self.current {
            reader.line(place, text);
        }
    }
}
