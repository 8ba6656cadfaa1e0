//! What was found in the files of a run, as plain values.

use std::collections::BTreeMap;

use super::layout::FileKind;
use super::profile::Threshold;
use crate::audit::PointReport;
use crate::engine::EngineVersion;
use crate::evidence::{Mode, Place};
use crate::golden::Target;
use crate::recipe::{Document, Judged, Way};

/// Everything that the rules look at.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Names of the files, in the order of [`Place::file`].
    pub files: Vec<String>,
    /// The points of the curve.
    pub points: Vec<Point>,
    /// Evaluation runs.
    pub evaluations: Vec<Point>,
    /// What belongs to all points: recipes, launchers, exports that name no point.
    pub shared: Facts,
    /// The curve's points as a table, with its file's name.
    pub table: Option<Table>,
    /// What recipes and launchers pin, held against the golden curves, each with its file's number.
    pub pins: Vec<(u32, Judged)>,
    /// What the user stated, not what was read.
    pub stated: Stated,
}

/// What the user stated about the run.
#[derive(Clone, Debug, Default)]
pub struct Stated {
    /// The golden cell.
    pub target: Option<Target>,
    /// Why there is none although a model was named.
    pub no_target: Option<String>,
    /// The engine's version.
    pub version: Option<EngineVersion>,
    /// Draft models that are meant to differ from the model.
    pub draft_paths: Vec<String>,
    /// Least scores by task, over those of the profile.
    pub thresholds: Vec<(String, Threshold)>,
}

/// One point of the curve, or one evaluation run.
#[derive(Clone, Debug, Default)]
pub struct Point {
    /// The folder it lies in, or the name of its log.
    pub name: String,
    /// Requests at a time, where a path or an export says it.
    pub concurrency: Option<u64>,
    /// Its servers: one, or one a worker.
    pub servers: Vec<Server>,
    /// What its own files say.
    pub facts: Facts,
}

impl Point {
    /// Its servers that generate: all but those that only prefill.
    pub fn generating(&self) -> impl Iterator<Item = &Server> {
        self.servers.iter().filter(|server| server.mode != Some(Mode::Prefill))
    }

    /// How a message calls it.
    #[must_use]
    pub fn label(&self) -> String {
        self.concurrency.map_or_else(|| self.name.clone(), |concurrency| format!("C{concurrency}"))
    }
}

/// One server's log, judged.
#[derive(Clone, Debug)]
pub struct Server {
    /// The audit of its lines.
    pub report: PointReport,
    /// What the worker does, where its log's name says so.
    pub mode: Option<Mode>,
    /// The first line with the largest batch of its rank: the batch, and where.
    pub largest: Option<(u32, Place)>,
    /// The first decode line without a captured graph.
    pub graph_off: Option<Place>,
    /// Its arguments as its log echoes them.
    pub arguments: Vec<Argument>,
    /// The `server_args` line.
    pub started: Option<Place>,
    /// Whether that line is whole.
    pub is_whole: bool,
}

/// One argument of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Its name, with underscores.
    pub name: String,
    /// Its value, only where a rule names it: nothing else of a server's arguments is kept.
    pub value: Option<String>,
    /// A number that differs where values do.
    pub digest: u64,
    /// The line.
    pub place: Place,
}

/// What the texts of a point say, of what rules ask for.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Names with their values.
    pub sightings: Vec<Sighting>,
    /// Requests that a server logged.
    pub access: Access,
    /// What clients exported.
    pub clients: Vec<Client>,
    /// Scores of evaluations.
    pub scores: Vec<Score>,
    /// Files that show an environment: absence means something there.
    pub environments: Vec<u32>,
    /// Launchers.
    pub launchers: Vec<u32>,
    /// Recipes and configurations.
    pub recipes: Vec<u32>,
    /// Recipes and launchers that start servers, each with its file's number.
    pub documents: Vec<(u32, Document)>,
    /// Files that were not understood, and why.
    pub unread: Vec<Unread>,
}

/// A name that a rule asks for, with the value that a file gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// What kind of name.
    pub seen: Seen,
    /// The name, as the rule writes it.
    pub name: String,
    /// Its value.
    pub value: String,
    /// What kind of file.
    pub origin: Origin,
    /// It belongs to a server that only prefills.
    pub is_prefill: bool,
    /// In which run of a script.
    pub way: Way,
    /// The condition of a script that only the run decides, where the value hangs on one.
    pub condition: Option<String>,
    /// Where it stands.
    pub place: Place,
}

impl Sighting {
    /// One that any run has, on no condition.
    #[must_use]
    pub fn new(
        seen: Seen,
        name: impl Into<String>,
        value: impl Into<String>,
        origin: Origin,
        place: Place,
    ) -> Self {
        let (name, value) = (name.into(), value.into());
        Self { seen, name, value, origin, is_prefill: false, way: Way::Any, condition: None, place }
    }
}

/// A file that was not understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {why}")]
pub struct Unread {
    /// Its name.
    pub file: String,
    /// What is wrong with it.
    pub why: String,
    /// What it should have been.
    pub kind: FileKind,
}

/// The kinds of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Seen {
    /// An environment variable.
    Variable,
    /// An argument of the server.
    Argument,
    /// The container's image.
    Image,
    /// The engine's version.
    Version,
}

/// What kind of file says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// A recipe.
    Recipe,
    /// The configuration that was made of it.
    Config,
    /// A launcher's script.
    Launcher,
    /// An environment, dumped or traced, or a server's own document.
    Environment,
    /// A log.
    Log,
}

impl Origin {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Recipe => "recipe",
            Self::Config => "config",
            Self::Launcher => "launcher",
            Self::Environment => "environment",
            Self::Log => "log",
        }
    }

    /// The word behind its article.
    #[must_use]
    pub fn with_article(self) -> String {
        let article = if self == Self::Environment { "an" } else { "a" };
        format!("{article} {}", self.name())
    }
}

/// Requests that servers logged, by method and path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// By `POST /v1/chat/completions`; queries are cut off.
    pub calls: BTreeMap<String, AccessCount>,
    /// Calls of further paths than are told apart, with the first of them.
    pub others: Option<(u64, Place)>,
}

/// Requests of one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessCount {
    /// How many.
    pub count: u64,
    /// The first.
    pub first: Place,
    /// How many got a status of 400 or more.
    pub refused: u64,
    /// The first of those, with its status.
    pub first_refused: Option<(u16, Place)>,
}

/// What one client exported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// What wrote it.
    pub format: &'static str,
    /// A field that should be a number and is none.
    pub odd_field: Option<String>,
    /// Requests at a time.
    pub concurrency: Option<u64>,
    /// Requests that came to their end.
    pub completed: Option<u64>,
    /// Requests that ended in an error; `None` where the export does not say.
    pub failed: Option<u64>,
    /// Requests that were sent and neither came to their end nor ended in an error.
    pub unaccounted: u64,
    /// Whether the run was broken off.
    pub cancelled: bool,
    /// Where it says so.
    pub place: Place,
}

/// One score of one task.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// The task: `gsm8k`.
    pub task: String,
    /// The metric: `exact_match,strict-match`.
    pub metric: String,
    /// Its value.
    pub value: f64,
    /// Where.
    pub place: Place,
}

/// A table of points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Its file's name.
    pub file: String,
    /// Names of its columns.
    pub columns: Vec<String>,
    /// Its rows.
    pub rows: Vec<TableRow>,
}

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub struct TableRow {
    /// Line of the file.
    pub line: u64,
    /// Its cells.
    pub cells: Vec<String>,
}

impl Run {
    /// The name of a file.
    #[must_use]
    pub fn file(&self, number: u32) -> &str {
        usize::try_from(number).ok().and_then(|number| self.files.get(number)).map_or("", String::as_str)
    }
}
