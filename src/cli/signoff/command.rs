//! Flags of `accsim signoff`, and what they come to.

use std::fs;
use std::io::{Read as _, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail, ensure};
use clap::{Args, Subcommand, ValueEnum};

use super::gather::{Named, gather};
use super::launch_diff::{self, LaunchDiffArgs};
use crate::audit::Margin;
use crate::cli::apart::{apart, apart_from_logs};
use crate::cli::format::RESULT;
use crate::cli::limits::LimitFlags;
use crate::cli::number::whole;
use crate::cli::output::write_to;
use crate::cli::select::CellFlags;
use crate::cli::{Exit, Global};
use crate::engine::EngineVersion;
use crate::golden::nearest;
use crate::report::{SignoffRun, json, junit, markdown};
use crate::signoff::{Map, Profile, Status, Threshold, decide, redact};

const FILES: &str = "Files that the folders do not hold, or that are not recognised in them";
const STATED: &str = "What nobody can read from files";

const USAGE: &str = "\
accsim signoff [OPTIONS] <RUN_DIR>...
       accsim signoff launch-diff [OPTIONS] <A> <B>
       accsim signoff profile [NAME]";

/// Flags of `accsim signoff`.
#[derive(Args, Clone, Debug)]
#[command(override_usage = USAGE, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct SignoffArgs {
    #[command(subcommand)]
    other: Option<SignoffCommand>,

    /// Folders or archives of the run: server logs, recipes, launcher traces, client exports, evaluation logs
    #[arg(required = true, value_name = "RUN_DIR")]
    runs: Vec<PathBuf>,

    /// Rules: a built-in profile, or a TOML file
    #[arg(long, value_name = "NAME|FILE.toml", default_value = "agentx")]
    profile: String,

    /// Model prefix of the golden curve
    #[arg(long, value_name = "PREFIX")]
    pub(super) model: Option<String>,

    /// Drafting method [default: the algorithm that the servers' logs name]
    #[arg(long, value_name = "METHOD", requires = "model")]
    pub(super) method: Option<String>,

    /// Draft length [default: as the servers' logs say]
    #[arg(long, value_name = "K", requires = "model", value_parser = whole::<u32>(1..))]
    pub(super) draft_length: Option<u32>,

    #[command(flatten)]
    pub(super) cell: CellFlags,

    /// How far a mean may lie from the target: a share of it (2%), or tokens (0.05)
    #[arg(long, value_name = "MARGIN", default_value = "2%", allow_hyphen_values = true)]
    pub(super) margin: Margin,

    /// A recipe of the run
    #[arg(long, value_name = "FILE", help_heading = FILES)]
    recipe: Vec<PathBuf>,

    /// A master configuration
    #[arg(long, value_name = "FILE", help_heading = FILES)]
    master: Vec<PathBuf>,

    /// Points of the curve: a CSV table
    #[arg(long, value_name = "POINTS.csv", help_heading = FILES)]
    points: Option<PathBuf>,

    /// An environment dump or a launcher's trace that holds for all points
    #[arg(long, value_name = "FILE", help_heading = FILES)]
    env: Vec<PathBuf>,

    /// A folder, archive or log of an evaluation run
    #[arg(long, value_name = "PATH", help_heading = FILES)]
    eval: Vec<PathBuf>,

    /// Which files belong to which point: a TOML file with [[point]] and [[evaluation]]
    #[arg(long, value_name = "FILE.toml", help_heading = FILES)]
    map: Option<PathBuf>,

    /// Release of the engine, where no image's tag or package list names it
    #[arg(long, value_name = "V", help_heading = STATED)]
    pub(super) engine_version: Option<EngineVersion>,

    /// A draft model that is meant to differ from the model
    #[arg(long, value_name = "PATH", help_heading = STATED)]
    pub(super) draft_path: Vec<String>,

    /// Least score of an evaluation's task: a share of 1, or a percentage (gsm8k=90%) where the scores are
    #[arg(long, value_name = "TASK=LEAST", help_heading = STATED, value_parser = threshold)]
    pub(super) threshold: Vec<(String, Threshold)>,

    #[command(flatten)]
    pub(super) limits: LimitFlags,

    /// How to print the result
    #[arg(long, value_name = "FORMAT", default_value = "markdown", help_heading = RESULT)]
    format: SignoffFormat,

    /// The same as --format json
    #[arg(long, help_heading = RESULT)]
    json: bool,

    /// Write the result to FILE in place of standard output
    #[arg(short, long, value_name = "FILE", help_heading = RESULT)]
    output: Option<PathBuf>,
}

/// `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SignoffFormat {
    /// To paste as the additional-detail section of a sign-off
    Markdown,
    /// One document, see docs/schema/signoff.schema.json
    Json,
    /// Test cases for a CI system
    Junit,
}

#[derive(Clone, Debug, Subcommand)]
enum SignoffCommand {
    /// Compare two launch commands flag by flag
    ///
    /// Each is a shell command or script, a recipe, the log of a server, or JSON. Aliases, quoting, order and defaults
    /// do not count; what differs is sorted into what the profile expects to differ and what not.
    LaunchDiff(LaunchDiffArgs),
    /// Print a built-in profile, to be copied and changed
    Profile {
        /// Its name
        #[arg(default_value = "agentx")]
        name: String,
    },
}

/// Reads `--threshold`.
fn threshold(text: &str) -> Result<(String, Threshold), String> {
    let wrong = || "expected TASK=LEAST, like gsm8k=0.9 or gsm8k=90%".to_owned();
    let (task, least) = text.rsplit_once('=').filter(|(task, _)| !task.is_empty()).ok_or_else(wrong)?;
    let (number, percent) = least.strip_suffix('%').map_or((least, false), |number| (number, true));
    let least = number.parse::<f64>().ok().filter(|least| least.is_finite()).ok_or_else(wrong)?;
    Ok((task.to_owned(), Threshold { metric: None, least, percent }))
}

pub(crate) fn run(
    args: &SignoffArgs,
    global: &Global,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    match &args.other {
        Some(SignoffCommand::LaunchDiff(args)) => return launch_diff::run(args, out),
        Some(SignoffCommand::Profile { name }) => {
            let text = Profile::text(name).ok_or_else(|| unknown_profile(name))?;
            out.write_all(text.as_bytes())?;
            return Ok(Exit::Ok);
        }
        None => {}
    }
    ensure!(
        args.runs.iter().chain(&args.eval).all(|path| path != Path::new("-")),
        "signoff reads its files twice; standard input can be read once"
    );
    ensure!(
        args.model.is_some() || (args.cell.draft_model.is_none() && args.cell.draft_sample_method.is_none()),
        "--draft-model and --draft-sample-method pick a golden cell; name its model by --model"
    );
    let lists = [&args.runs, &args.eval, &args.recipe, &args.master, &args.env].into_iter().flatten();
    let inputs: Vec<PathBuf> = lists.chain(&args.points).chain(&args.map).cloned().collect();
    apart_from_logs(&inputs, [args.output.as_deref()])?;
    apart([Path::new(&args.profile)], [args.output.as_deref()])?;
    let profile = profile(&args.profile)?;
    let map = match &args.map {
        Some(path) => Map::parse(&small(path)?).with_context(|| path.display().to_string())?,
        None => Map::default(),
    };
    let named = Named {
        runs: &args.runs,
        evaluations: &args.eval,
        recipes: &args.recipe,
        masters: &args.master,
        environments: &args.env,
        points: args.points.as_deref(),
        map: &map,
    };
    let is_json = args.json || args.format == SignoffFormat::Json;
    let mut gathered = gather(args, &named, &profile, global, err, global.quiet || is_json)?;
    let signoff = decide(&profile, &gathered.run);
    gathered.notes.iter_mut().for_each(|note| *note = redact(note));
    for note in gathered.notes.iter().filter(|_| !global.quiet && !is_json) {
        let _ = writeln!(err, "note: {note}");
    }
    let report = SignoffRun { signoff: &signoff, errors: &gathered.errors, notes: &gathered.notes };
    let format = if args.json { SignoffFormat::Json } else { args.format };
    write_to(args.output.as_deref(), out, |out| match format {
        SignoffFormat::Markdown => markdown::write_signoff(&report, out),
        SignoffFormat::Json => json::write(out, &json::SignoffDocument::new(&report)),
        SignoffFormat::Junit => junit::write_signoff(&report, out),
    })?;
    let exit = match signoff.status() {
        Status::Holds => Exit::Ok,
        Status::Fails => Exit::Wrong,
        Status::CannotDecide => Exit::Undecided,
    };
    Ok(if gathered.errors.is_empty() { exit } else { exit.worst(Exit::Failed) })
}

fn unknown_profile(name: &str) -> anyhow::Error {
    let known: Vec<&str> = Profile::names().collect();
    let near = nearest(name, known.iter().copied()).into_iter().next();
    let hint = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
    anyhow!("no profile {name}{hint} (built in: {}; a file's name ends in .toml)", known.join(", "))
}

/// A built-in profile by its name, or a file.
pub(super) fn profile(name: &str) -> anyhow::Result<Profile> {
    let is_file = Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"));
    if !is_file && !Path::new(name).exists() {
        return Profile::builtin(name).ok_or_else(|| unknown_profile(name));
    }
    Profile::parse(&small(Path::new(name))?).with_context(|| name.to_owned())
}

/// The text of a file that people write.
pub(super) fn small(path: &Path) -> anyhow::Result<String> {
    const MOST: u64 = 64 << 20;
    let context = || format!("cannot read {}", path.display());
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin().take(MOST + 1).read_to_end(&mut bytes).with_context(context)?;
    } else {
        fs::File::open(path)
            .with_context(context)?
            .take(MOST + 1)
            .read_to_end(&mut bytes)
            .with_context(context)?;
    }
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MOST {
        bail!("{} is larger than 64 MiB", path.display());
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
