//! `accsim signoff launch-diff`.

use std::io::{Read as _, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use clap::{Args, ValueEnum};

use super::command::{profile, small};
use crate::cli::Exit;
use crate::cli::apart::apart;
use crate::cli::format::RESULT;
use crate::cli::output::write_to;
use crate::evidence::{Input, Limits, Place, Reader, TextSink};
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
    #[arg(long, value_name = "FORMAT", default_value = "markdown", help_heading = RESULT)]
    format: DiffFormat,

    /// The same as --format json
    #[arg(long, help_heading = RESULT)]
    json: bool,

    /// Write the result to FILE in place of standard output
    #[arg(short, long, value_name = "FILE", help_heading = RESULT)]
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
    apart([&args.left, &args.right, &args.profile].map(Path::new), [args.output.as_deref()])?;
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

/// The text of a compressed file; `None` where it is not compressed.
fn unpacked(path: &Path) -> anyhow::Result<Option<String>> {
    const STARTS: [&[u8]; 3] = [&[0x1f, 0x8b], &[0x28, 0xb5, 0x2f, 0xfd], &[0xfd, b'7', b'z', b'X', b'Z', 0]];
    if path == Path::new("-") {
        return Ok(None);
    }
    let mut start = Vec::new();
    let file = std::fs::File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    file.take(6).read_to_end(&mut start).with_context(|| format!("cannot read {}", path.display()))?;
    if !STARTS.iter().any(|mark| start.starts_with(mark)) {
        return Ok(None);
    }
    let mut sink = Unpacked::default();
    let errors = Reader::new(Limits::default()).read_texts(&[Input::from(path)], &mut sink);
    if let Some(error) = errors.first() {
        bail!("{error}");
    }
    ensure!(sink.files == 1, "{}: expected one compressed text, found {}", path.display(), sink.files);
    ensure!(!sink.is_too_large, "{} is larger than 64 MiB", path.display());
    Ok(Some(sink.text))
}

/// The lines of the one text in a compressed file.
#[derive(Default)]
struct Unpacked {
    text: String,
    files: u32,
    is_too_large: bool,
}

impl TextSink for Unpacked {
    fn begin(&mut self, _file: u32, _name: &str, _input: &str) -> bool {
        self.files = self.files.saturating_add(1);
        self.files == 1
    }

    fn line(&mut self, _place: Place, text: &[u8]) {
        const MOST: usize = 64 << 20;
        self.is_too_large |= self.text.len().saturating_add(text.len()) > MOST;
        if !self.is_too_large {
            self.text.push_str(&String::from_utf8_lossy(text));
            self.text.push('\n');
        }
    }
}

/// The launches of a file; a variant of a recipe may stand behind its name.
fn launches(given: &str) -> anyhow::Result<Launches> {
    let (path, selector) = Selector::split(given);
    let text = unpacked(Path::new(path))?.map_or_else(|| small(Path::new(path)), Ok)?;
    let name = [".gz", ".zst", ".xz"].iter().find_map(|ending| path.strip_suffix(ending)).unwrap_or(path);
    read_launches(name, &text, selector.as_ref()).with_context(|| given.to_owned())
}
