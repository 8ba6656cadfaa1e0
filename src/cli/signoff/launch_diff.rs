//! `accsim signoff launch-diff`.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use clap::{Args, ValueEnum};

use super::command::{profile, small};
use crate::cli::Exit;
use crate::cli::output::write_to;
use crate::recipe::Selector;
use crate::report::{SignoffRun, json, junit, markdown};
use crate::signoff::launch::{Launches, launch_diff, read_launches};
use crate::signoff::{Status, redact};

/// Flags of `accsim signoff launch-diff`.
#[derive(Args, Clone, Debug)]
pub(super) struct LaunchDiffArgs {
    /// A launch: a command or script, a recipe (recipe.yaml:variant picks one), the log of a server, JSON; - for
    /// standard input
    #[arg(value_name = "A")]
    left: String,

    /// The launch to compare it with
    #[arg(value_name = "B")]
    right: String,

    /// Rules: a built-in profile, or a TOML file
    #[arg(long, value_name = "NAME|FILE.toml", default_value = "agentx")]
    profile: String,

    /// How to print the result
    #[arg(long, value_name = "FORMAT", default_value = "markdown")]
    format: DiffFormat,

    /// The same as --format json
    #[arg(long)]
    json: bool,

    /// Write the result to FILE in place of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DiffFormat {
    /// For people, and to paste
    Markdown,
    /// One document, see docs/schema/signoff.schema.json
    Json,
    /// Test cases for a CI system
    Junit,
}

pub(super) fn run(args: &LaunchDiffArgs, out: &mut dyn Write) -> anyhow::Result<Exit> {
    ensure!(args.left != "-" || args.right != "-", "standard input can be read once");
    let profile = profile(&args.profile)?;
    let (left, right) = (launches(&args.left)?, launches(&args.right)?);
    let signoff = launch_diff(&profile, (&args.left, &left), (&args.right, &right));
    let named = |name: &str, launches: &Launches| -> Vec<String> {
        launches.notes.iter().map(|note| redact(&format!("{name}: {note}"))).collect()
    };
    let notes = [named(&args.left, &left), named(&args.right, &right)].concat();
    let report = SignoffRun { signoff: &signoff, errors: &[], notes: &notes };
    let format = if args.json { DiffFormat::Json } else { args.format };
    write_to(args.output.as_deref(), out, |out| match format {
        DiffFormat::Markdown => markdown::write_launch_diff(&report, out),
        DiffFormat::Json => json::write(out, &json::SignoffDocument::new(&report)),
        DiffFormat::Junit => junit::write_signoff(&report, out),
    })?;
    Ok(match signoff.status() {
        Status::Holds => Exit::Ok,
        Status::Fails => Exit::Wrong,
        Status::CannotDecide => Exit::Undecided,
    })
}

/// The launches of a file; a variant of a recipe may stand behind its name.
fn launches(name: &str) -> anyhow::Result<Launches> {
    let (path, selector) = Selector::split(name);
    let text = small(Path::new(path))?;
    read_launches(path, &text, selector.as_ref()).with_context(|| name.to_owned())
}
