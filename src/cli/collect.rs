//! `accsim collect`: accept lengths from counters.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::Args;

use super::format::{FormatFlags, RESULT};
use super::limits::LimitFlags;
use super::output::whole_file;
use super::{Exit, Global};
use crate::collect::{CurveFiles, Measured, Refusal, measure, read_matrix};
use crate::evidence::{Input, Limits, Snapshot, read_snapshot};
use crate::golden::PROVENANCE_DIR;
use crate::report::json::{self, CollectDocument};
use crate::report::text;

const USAGE: &str = "\
accsim collect [OPTIONS] --before <A> --after <B>
       accsim collect [OPTIONS] --matrix <DIR> -o <CURVE.yaml>";

/// Flags of `accsim collect`.
#[derive(Args, Clone, Debug)]
#[command(override_usage = USAGE)]
pub(crate) struct CollectArgs {
    /// Counters at the beginning: Prometheus text, or ATOM's `/debug/mtp_stats`; a folder has one file an endpoint
    #[arg(long, value_name = "A", requires = "after", required_unless_present = "matrix")]
    before: Option<PathBuf>,

    /// Counters of the same endpoints at the end
    #[arg(long, value_name = "B", requires = "before")]
    after: Option<PathBuf>,

    /// A folder of snapshots: matrix.yaml, and `thinking_on/k5/before.prom` and `after.prom` for each mode and draft length
    #[arg(long, value_name = "DIR", conflicts_with_all = ["before", "after", "json", "format"], requires = "output")]
    matrix: Option<PathBuf>,

    /// Curve file to write; its provenance goes into the folder provenance beside it
    #[arg(short, long, value_name = "CURVE.yaml", requires = "matrix", help_heading = RESULT)]
    output: Option<PathBuf>,

    /// Count for this model alone, by the counters' label `model_name`
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    #[command(flatten)]
    format: FormatFlags,

    #[command(flatten)]
    limits: LimitFlags,
}

pub(crate) fn run(
    args: &CollectArgs,
    global: &Global,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let limits = Limits::from(&args.limits);
    let model = args.model.as_deref();
    match (&args.before, &args.after, &args.matrix, &args.output) {
        (Some(before), Some(after), ..) => {
            let (before, after) = (snapshot(before, &limits)?, snapshot(after, &limits)?);
            two(args, measure(&before, &after, model), out, err)
        }
        (_, _, Some(folder), Some(file)) => curve(folder, file, model, &limits, global, err),
        _ => bail!("expected --before and --after, or --matrix and -o"),
    }
}

fn snapshot(path: &Path, limits: &Limits) -> anyhow::Result<Snapshot> {
    Ok(read_snapshot(&Input::from(path), limits)?)
}

fn two(
    args: &CollectArgs,
    measured: Result<Measured, Refusal>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    match measured {
        Ok(measured) if args.format.is_json() => json::write(out, &CollectDocument::of(&measured))?,
        Ok(measured) => text::collect::write(out, &measured)?,
        Err(refusal) if refusal.is_undecided() => {
            writeln!(err, "error: {refusal}")?;
            return Ok(Exit::Undecided);
        }
        Err(refusal) => return Err(refusal.into()),
    }
    Ok(Exit::Ok)
}

fn curve(
    folder: &Path,
    file: &Path,
    model: Option<&str>,
    limits: &Limits,
    global: &Global,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    if file.extension().is_none_or(|extension| extension != "yaml") {
        bail!("{}: a curve file is called NAME.yaml", file.display());
    }
    let matrix = read_matrix(folder, model, limits)?;
    let files = CurveFiles::of(&stem, &matrix)?;
    let beside = file.with_file_name(PROVENANCE_DIR);
    let provenance = beside.join(format!("{stem}.yaml"));
    // The folder alone: one that is named by mistake is not made on the way.
    match fs::create_dir(&beside) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => made.with_context(|| format!("cannot make {}", beside.display()))?,
    }
    write(&provenance, &files.provenance)?;
    write(file, &files.curve)?;
    if !global.quiet {
        writeln!(
            err,
            "{}: {} cells; its provenance is {}",
            file.display(),
            matrix.cells.len(),
            provenance.display()
        )?;
    }
    Ok(Exit::Ok)
}

fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    let written: io::Result<()> = whole_file(file, |created| created.write_all(text.as_bytes()));
    written.with_context(|| format!("cannot write {}", file.display()))
}
