//! `accsim throughput calibrate`: logs in, a model out.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;

use super::drawn::draw;
use super::read::{LogFlags, bytes, from_logs};
use crate::cli::apart::apart_from_logs;
use crate::cli::format::RESULT;
use crate::cli::output::{is_stdout, write_drawing, write_to};
use crate::cli::{Exit, global::Global};
use crate::report::json::{self, ModelDocument};
use crate::report::{plot, text};
use crate::throughput::{CalibrateError, CompareError, ServeError, check_against, read_client};

/// Flags of `accsim throughput calibrate`.
#[derive(Args, Clone, Debug)]
pub(crate) struct CalibrateArgs {
    /// Server logs of one model on one kind of hardware: other concurrencies, other draft lengths and runs without
    /// speculation all improve the model; each path is one run
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<PathBuf>,

    /// Write the model to FILE
    #[arg(short, long, value_name = "FILE", help_heading = RESULT)]
    output: Option<PathBuf>,

    /// Draw what the logs show as SVG into FILE, too
    #[arg(long, value_name = "FILE", help_heading = RESULT)]
    plot: Option<PathBuf>,

    /// What a benchmark client measured of the last log's run, to check the model against: JSON with phases and requests
    #[arg(long, value_name = "FILE")]
    client: Option<PathBuf>,

    #[command(flatten)]
    about: LogFlags,

    /// Print the model in place of its summary
    #[arg(long, help_heading = RESULT)]
    json: bool,
}

pub(super) fn run(
    args: &CalibrateArgs,
    global: &Global,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let inputs: Vec<PathBuf> = args.logs.iter().chain(&args.client).cloned().collect();
    apart_from_logs(&inputs, [&args.output, &args.plot].map(Option::as_deref))?;
    let client = args
        .client
        .as_deref()
        .map(|path| read_client(&bytes(path)?).with_context(|| path.display().to_string()))
        .transpose()?;
    let (calibrated, all_read) = from_logs(&args.logs, &args.about, global, err)?;
    let mut model = match calibrated {
        Ok(model) => model,
        Err(error) => {
            let exit = exit_of(&error);
            tell(&error, &args.logs, all_read, err)?;
            return Ok(if all_read { exit } else { exit.worst(Exit::Failed) });
        }
    };
    let checks = match client.map(|client| check_against(&mut model, &client)).transpose() {
        Ok(checks) => checks,
        // A refused law is a result of calibrate; there is only nothing to check then.
        Err(CompareError::Serve(ServeError::Refused { .. })) => {
            let client = args.client.as_deref().unwrap_or(Path::new("")).display();
            writeln!(err, "note: not checked against {client}: the step law is refused")?;
            None
        }
        Err(error) => {
            let client = args.client.as_deref().unwrap_or(Path::new("")).display().to_string();
            return Err(anyhow::Error::from(error).context(client));
        }
    };
    let document = ModelDocument::new(&model);
    let is_printed = args.json || args.output.as_deref().is_some_and(is_stdout);
    if let Some(file) = args.output.as_deref().filter(|file| !is_stdout(file)) {
        write_to(Some(file), out, |out| json::write(out, &document))?;
    }
    let figures = plot::measured(&model);
    if args.plot.is_some() {
        write_drawing(args.plot.as_deref(), out, |out| plot::write_svg("What the logs show", &figures, out))?;
    }
    if is_printed {
        json::write(out, &document)?;
    } else if !(global.quiet && args.output.is_some()) {
        text::throughput::model(out, &model)?;
        draw(global, &figures, out)?;
        if let Some(checks) = &checks {
            text::throughput::checks(out, checks)?;
        }
    }
    Ok(if all_read { Exit::Ok } else { Exit::Failed })
}

/// Says why logs give no model. That a log could not be read is said already, and why nothing was in it with that.
pub(super) fn tell(
    error: &CalibrateError,
    logs: &[PathBuf],
    all_read: bool,
    err: &mut dyn Write,
) -> std::io::Result<()> {
    if *error != CalibrateError::NoDecodeLines {
        return writeln!(err, "error: {error}");
    }
    if !all_read {
        return Ok(());
    }
    let names: Vec<String> = logs.iter().take(3).map(|log| log.display().to_string()).collect();
    let more = logs.len().saturating_sub(names.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    writeln!(err, "error: {}{more}: {error}; give the server's own log", names.join(", "))
}

/// Nothing that can be told is no failure of the command; a log that contradicts itself is.
pub(super) fn exit_of(error: &CalibrateError) -> Exit {
    match error {
        CalibrateError::NoDecodeLines
        | CalibrateError::NoEngineLines { .. }
        | CalibrateError::NoThroughput { .. }
        | CalibrateError::NothingSteady { .. } => Exit::Undecided,
        CalibrateError::ClockBack { .. }
        | CalibrateError::ClockJumps { .. }
        | CalibrateError::NoDraftLength { .. }
        | CalibrateError::OtherServer { .. }
        | CalibrateError::SameRun { .. }
        | CalibrateError::AcceptLength { .. }
        | CalibrateError::DraftLength { .. } => Exit::Failed,
    }
}

/// A model without a step law cannot answer; everything else that gives no server is a bad question.
pub(super) fn refusal(error: &ServeError, err: &mut dyn Write) -> std::io::Result<Option<Exit>> {
    if !matches!(error, ServeError::Refused { .. }) {
        return Ok(None);
    }
    writeln!(err, "refused: {error}")?;
    Ok(Some(Exit::Undecided))
}
