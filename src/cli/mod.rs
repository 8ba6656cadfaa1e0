//! The command line: flags in, library call, report out, exit code. One file per command, and nothing here that is
//! worth a unit test of its own.

mod exit;
mod global;
mod limits;
mod progress;
mod select;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use exit::{EXIT_FAILED, EXIT_OK, EXIT_UNDECIDED, EXIT_WRONG, Exit};
pub use limits::LimitFlags;
pub use progress::ProgressLine;

use global::Global;

const EXIT_CODES: &str = "\
Exit codes:
  0  done; every check holds (an audit: every point is consistent)
  1  done; a check found something wrong (an audit: a point is inconsistent)
  2  the command could not be carried out: bad flag, unknown curve, missing cell, unreadable file
  3  cannot decide: no decode lines, no speculative fields, too few steps";

/// Golden accept lengths: curves, engine settings, and audits of server logs
#[derive(Debug, Parser)]
#[command(name = "accsim", version, after_help = EXIT_CODES, propagate_version = true)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {}

/// Runs the program on the process's own arguments and streams.
#[must_use]
pub fn main() -> ExitCode {
    let exit = run(std::env::args_os(), &mut io::stdout().lock(), &mut io::stderr().lock());
    ExitCode::from(exit.code())
}

/// Runs one command line; `args` starts with the program's name. The result goes to `out`, all else to `err`.
///
/// A reader that closes `out` early ends the command quietly.
pub fn run<I, T>(args: I, out: &mut dyn Write, err: &mut dyn Write) -> Exit
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(message) => return usage(&message, out, err),
    };
    match dispatch(&cli, out, err) {
        Ok(exit) => exit,
        Err(error) if is_closed_pipe(&error) => Exit::Ok,
        Err(error) => {
            // stderr may be closed too; there is nobody left to tell.
            let _ = writeln!(err, "error: {error:#}");
            Exit::Failed
        }
    }
}

fn dispatch(cli: &Cli, _out: &mut dyn Write, _err: &mut dyn Write) -> anyhow::Result<Exit> {
    match cli.command {}
}

fn usage(message: &clap::Error, out: &mut dyn Write, err: &mut dyn Write) -> Exit {
    if message.use_stderr() {
        let _ = write!(err, "{}", message.render());
        Exit::Failed
    } else {
        let _ = write!(out, "{}", message.render());
        Exit::Ok
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|io| io.kind() == io::ErrorKind::BrokenPipe)
    })
}
