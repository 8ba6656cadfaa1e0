//! Flags of `accsim curves`, and its subcommands.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Args, Subcommand};

use crate::cli::apart::apart;
use crate::cli::format::{FormatFlags, RESULT};
use crate::cli::global::Global;
use crate::cli::number::whole;
use crate::cli::output::{is_svg, write_drawing, write_to};
use crate::cli::select::CellFlags;
use crate::cli::{Exit, catalogue};
use crate::golden::{Query, Severity, differences};
use crate::report::json::curves::{CurveDocument, CurveList, DiffDocument, LookupDocument};
use crate::report::{html, json, plot, text};

use super::check;
use super::named::Named;

/// Golden curves: what exists, what a cell says, what is wrong with a file
#[derive(Debug, Subcommand)]
pub(crate) enum CurvesCommand {
    /// List the curves with their draft lengths
    List {
        #[command(flatten)]
        format: FormatFlags,
    },
    /// Show one curve: where it comes from, and every cell
    Show {
        /// Name of a curve, or path of a curve file
        curve: String,
        #[command(flatten)]
        format: FormatFlags,
    },
    /// Print one golden accept length
    Lookup(LookupArgs),
    /// Check curve files; exit code 1 if one has an error
    Check {
        /// Files, directories, or - for stdin [default: the curves at hand]
        paths: Vec<PathBuf>,
        #[command(flatten)]
        format: FormatFlags,
    },
    /// Draw curves: in the terminal, as SVG, or as a page
    Plot {
        /// Names of curves, or paths of curve files [default: all curves at hand]
        curves: Vec<String>,
        /// Write to FILE in place of standard output; to a FILE.svg: a drawing
        #[arg(short, long, value_name = "FILE", help_heading = RESULT)]
        output: Option<PathBuf>,
        /// Write a page to look at to FILE in place of standard output
        #[arg(long, value_name = "FILE", conflicts_with = "output", help_heading = RESULT)]
        html: Option<PathBuf>,
    },
    /// Compare two curves cell by cell; exit code 1 if they differ
    Diff {
        /// Name of a curve, or path of a curve file
        a: String,
        /// Name of a curve, or path of a curve file
        b: String,
        #[command(flatten)]
        format: FormatFlags,
    },
}

#[derive(Args, Debug)]
pub(crate) struct LookupArgs {
    /// Model prefix: dsv41flash, glm5.2, qwen3.5, ...
    prefix: String,
    /// Drafting method: mtp, eagle3, dspark (eagle and nextn are aliases)
    method: String,
    /// Draft length: tokens drafted per verify step
    #[arg(value_name = "K", value_parser = whole::<u32>(1..))]
    draft_length: u32,
    #[command(flatten)]
    cell: CellFlags,
    #[command(flatten)]
    format: FormatFlags,
}

/// Runs one subcommand.
pub(crate) fn run(
    command: &CurvesCommand,
    global: &Global,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    match command {
        CurvesCommand::List { format } => list(*format, global, out, err),
        CurvesCommand::Show { curve, format } => show(curve, *format, global, out, err),
        CurvesCommand::Lookup(args) => lookup(args, global, out, err),
        CurvesCommand::Check { paths, format } => check::run(paths, *format, global, out, err),
        CurvesCommand::Plot { curves, output, html } => {
            draw(curves, output.as_deref(), html.as_deref(), global, out, err)
        }
        CurvesCommand::Diff { a, b, format } => diff(a, b, *format, global, out, err),
    }
}

fn list(
    format: FormatFlags,
    global: &Global,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let catalogue = catalogue::open(global)?;
    let mut curves = Vec::new();
    for entry in catalogue.entries() {
        match &entry.load().curve {
            Ok(curve) => curves.push((curve, entry.file())),
            Err(issue) => {
                let message = format!("{}: {issue}; left out", entry.file());
                catalogue::tell(global, Severity::Warning, &message, err)?;
            }
        }
    }
    for path in catalogue.unnamed() {
        let message = format!("{}: no lookup can use this file name; left out", path.display());
        catalogue::tell(global, Severity::Warning, &message, err)?;
    }
    if format.is_json() {
        json::write(out, &CurveList::new(curves))?;
    } else {
        text::curves::list(out, curves.iter().map(|(curve, _)| *curve))?;
    }
    Ok(Exit::Ok)
}

fn show(
    name: &str,
    format: FormatFlags,
    global: &Global,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let catalogue = catalogue::open(global)?;
    let named = Named::find(&catalogue, name)?;
    named.tell_issues(global, err)?;
    if named.curve.modes.is_empty() {
        bail!("{}: there is no usable cell to show; accsim curves check names every fault", named.file);
    }
    if format.is_json() {
        json::write(out, &CurveDocument::new(&named.curve, &named.file))?;
    } else {
        text::curves::show(out, &named.curve, &named.file)?;
    }
    Ok(Exit::Ok)
}

fn lookup(
    args: &LookupArgs,
    global: &Global,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let query = Query {
        thinking: args.cell.thinking.into(),
        draft_model: args.cell.draft_model.as_deref(),
        draft_sample_method: args.cell.draft_sample_method.as_deref(),
        ..Query::new(&args.prefix, &args.method, args.draft_length)
    };
    let found = catalogue::find(global, &query)?;
    catalogue::warn(global, &found, err)?;
    if args.format.is_json() {
        json::write(out, &LookupDocument::new(&found))?;
    } else {
        writeln!(out, "{}", found.target.accept_length())?;
    }
    Ok(Exit::Ok)
}

fn draw(
    names: &[String],
    output: Option<&Path>,
    page: Option<&Path>,
    global: &Global,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    apart(names.iter().map(Path::new), [output, page])?;
    let catalogue = catalogue::open(global)?;
    let mut curves = Vec::new();
    if names.is_empty() {
        let usable = catalogue
            .entries()
            .filter_map(|entry| Some((entry.load().curve.as_ref().ok()?.clone(), entry.file().to_string())));
        curves.extend(usable);
    }
    for name in names {
        let found = Named::find(&catalogue, name)?;
        found.tell_issues(global, err)?;
        curves.push((found.curve, found.file));
    }
    if is_svg(output) {
        let figures = plot::curves(curves.iter().map(|(curve, _)| curve));
        write_drawing(output, out, |out| plot::write_svg("Golden accept lengths", &figures, out))?;
        return Ok(Exit::Ok);
    }
    let chart = plot::chart(curves.iter().map(|(curve, _)| curve));
    if page.is_some() {
        let mut text = Vec::new();
        chart.draw(&mut text)?;
        let text = String::from_utf8_lossy(&text);
        write_to(page, out, |out| html::write_curves(&curves, &text, out))?;
        return Ok(Exit::Ok);
    }
    if chart.series.len() > plot::MOST_SERIES {
        let (found, most) = (chart.series.len(), plot::MOST_SERIES);
        bail!("found {found} curves and modes; a chart holds {most}: name the curves to draw");
    }
    write_to(output, out, |out| chart.draw(out))?;
    Ok(Exit::Ok)
}

fn diff(
    a: &str,
    b: &str,
    format: FormatFlags,
    global: &Global,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let catalogue = catalogue::open(global)?;
    let (left, right) = (Named::find(&catalogue, a)?, Named::find(&catalogue, b)?);
    left.tell_issues(global, err)?;
    right.tell_issues(global, err)?;
    let found = differences(&left.curve, &right.curve);
    if format.is_json() {
        json::write(out, &DiffDocument::new(a, b, &found))?;
    } else {
        text::curves::diff(out, a, b, &found)?;
    }
    Ok(if found.is_empty() { Exit::Ok } else { Exit::Wrong })
}
