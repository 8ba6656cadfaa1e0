//! `accsim throughput pareto`: which points of a table no other point beats.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context as _, anyhow, bail, ensure};
use clap::{Args, ValueEnum};

use super::drawn::{draw, shown};
use super::read::bytes;
use crate::cli::Exit;
use crate::cli::apart::apart;
use crate::cli::format::RESULT;
use crate::cli::global::Global;
use crate::cli::output::{is_svg, write_drawing, write_text, write_to};
use crate::golden::nearest;
use crate::report::json::{self, ParetoDocument};
use crate::report::{csv as csv_report, html, plot, text};
use crate::throughput::pareto;

/// Flags of `accsim throughput pareto`.
#[derive(Args, Clone, Debug)]
pub(crate) struct ParetoArgs {
    /// A CSV table with names of columns in its first row; - for standard input
    #[arg(value_name = "POINTS.csv")]
    points: PathBuf,

    /// Column that should be small
    #[arg(long, value_name = "COLUMN")]
    x: String,

    /// Column that should be large
    #[arg(long, value_name = "COLUMN")]
    y: String,

    /// How to print the result
    #[arg(long, value_name = "FORMAT", default_value = "text", overrides_with = "json", help_heading = RESULT)]
    format: ParetoFormat,

    /// The same as --format json
    #[arg(long, overrides_with = "format", help_heading = RESULT)]
    json: bool,

    /// Write the result to FILE in place of standard output; as text to a FILE.svg: a drawing
    #[arg(short, long, value_name = "FILE", help_heading = RESULT)]
    output: Option<PathBuf>,

    /// Write a page to look at to FILE, too
    #[arg(long, value_name = "FILE", help_heading = RESULT)]
    html: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ParetoFormat {
    /// For people
    Text,
    /// One JSON document
    Json,
    /// A table of all points with their standing
    Csv,
    /// A drawing of points and frontier
    Svg,
}

pub(super) fn run(
    args: &ParetoArgs,
    global: &Global,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    apart([args.points.as_path()], [&args.output, &args.html].map(Option::as_deref))?;
    let name = args.points.display().to_string();
    let text = if args.points.as_os_str() == "-" {
        let mut text = Vec::new();
        std::io::Read::read_to_end(&mut std::io::Read::take(std::io::stdin(), 256 << 20), &mut text)
            .context("cannot read standard input")?;
        text
    } else {
        bytes(&args.points)?
    };
    let (points, words) = read(&text, args).with_context(|| name.clone())?;
    if let Some((line, cell)) = words.first().filter(|_| !global.quiet && !args.is_json()) {
        let more = words.len() - 1;
        let more = if more > 0 { format!(" (and {more} more)") } else { String::new() };
        writeln!(err, "warning: {name}, line {line}: {cell} is no number, so its point is invalid{more}")?;
    }
    let standing = pareto(&points);
    let names = (args.x.as_str(), args.y.as_str());
    let format = match (args.json, args.format) {
        (true, _) => ParetoFormat::Json,
        (false, ParetoFormat::Text) if is_svg(args.output.as_deref()) => ParetoFormat::Svg,
        (false, format) => format,
    };
    if args.html.is_some() {
        let shown = shown(|out| text::throughput::pareto(out, &points, &standing, names))?;
        write_to(args.html.as_deref(), out, |out| {
            html::write_pareto(&points, &standing, names, &shown, out)
        })?;
    }
    let figures = plot::pareto(&points, &standing, names);
    let output = args.output.as_deref();
    match format {
        ParetoFormat::Text => write_text(output, out, |out| {
            text::throughput::pareto(out, &points, &standing, names)?;
            draw(global, &figures, out)
        }),
        ParetoFormat::Json => {
            write_to(output, out, |out| json::write(out, &ParetoDocument::new(&points, &standing)))
        }
        ParetoFormat::Csv => {
            write_to(output, out, |out| csv_report::throughput::pareto(out, &points, &standing, names))
        }
        ParetoFormat::Svg => {
            write_drawing(output, out, |out| plot::write_svg("Pareto frontier", &figures, out))
        }
    }?;
    Ok(Exit::Ok)
}

impl ParetoArgs {
    fn is_json(&self) -> bool {
        self.json || self.format == ParetoFormat::Json
    }
}

/// A point each row.
type Points = Vec<(f64, f64)>;

/// Cells that are words: the line, and what stands there.
type Words = Vec<(u64, String)>;

/// The two columns. A cell that is no number makes an invalid point, not an error; the words among them are told.
fn read(text: &[u8], args: &ParetoArgs) -> anyhow::Result<(Points, Words)> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text);
    let headers = reader.headers()?.clone();
    ensure!(!headers.is_empty(), "the table is empty; expected names of columns in its first row");
    let column = |name: &str| {
        headers.iter().position(|header| header == name).ok_or_else(|| {
            let nearest = nearest(name, headers.iter()).into_iter().next();
            let hint = nearest.map_or_else(String::new, |nearest| format!("; did you mean {nearest}?"));
            let all: Vec<&str> = headers.iter().collect();
            anyhow!("no column {name}{hint} (columns: {})", all.join(", "))
        })
    };
    let (x, y) = (column(&args.x)?, column(&args.y)?);
    let (mut points, mut words) = (Points::new(), Words::new());
    for record in reader.records() {
        let record = record?;
        let line = record.position().map_or(0, csv::Position::line);
        let mut number = |at: usize| {
            let cell = record.get(at).unwrap_or_default();
            cell.parse().unwrap_or_else(|_| {
                let shown: String = cell.chars().take(40).collect();
                words.push((
                    line,
                    if shown.is_empty() { "an empty cell".to_owned() } else { format!("'{shown}'") },
                ));
                f64::NAN
            })
        };
        points.push((number(x), number(y)));
    }
    if points.is_empty() {
        bail!("the table has no rows");
    }
    Ok((points, words))
}
