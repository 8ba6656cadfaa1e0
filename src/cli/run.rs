//! From a command line and two streams to an exit code: colour, buffering, and readers that leave early.

use std::ffi::OsString;
use std::io::{self, BufWriter, LineWriter, Write};
use std::process::ExitCode;

use anstream::AutoStream;
use anstream::stream::{AsLockedWrite, RawStream};
use anstyle::{AnsiColor, Style};
use anyhow::Context as _;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, FromArgMatches as _};

use super::global::Color;
use super::{Cli, Exit, dispatch, help};
use crate::evidence::escaped;

/// Result bytes held back before the first write. An audit's report fits, so its verdict stands by the time a
/// closed pipe is noticed.
const BUFFER_BYTES: usize = 64 * 1024;

const ERROR: Style = AnsiColor::Red.on_default().bold();

/// Runs the program on the process's own arguments and streams.
#[must_use]
pub fn main() -> ExitCode {
    ExitCode::from(main_with(std::env::args_os()).code())
}

/// The same on other arguments, which start with the program's name: for programs that accsim is a part of.
pub fn main_with<I, T>(args: I) -> Exit
where
    I: IntoIterator<Item = T>,
    T: Into<OsString>,
{
    execute(args, io::stdout().lock(), io::stderr().lock())
}

/// Runs one command line; `args` starts with the program's name. The result goes to `out`, all else to `err`.
///
/// Neither stream counts as a terminal: under `--color auto` both get plain text.
///
/// A reader that closes `out` early ends the command quietly: with the code that it had reached when all but the
/// last buffer was written, else with 0.
///
/// ```
/// let (mut out, mut err) = (Vec::new(), Vec::new());
/// let exit = accsim::cli::run(["accsim", "curves", "lookup", "glm5.2", "mtp", "3"], &mut out, &mut err);
/// assert_eq!((exit.code(), out.as_slice()), (0, &b"2.99\n"[..]));
/// ```
pub fn run<I, T>(args: I, out: &mut (dyn Write + 'static), err: &mut (dyn Write + 'static)) -> Exit
where
    I: IntoIterator<Item = T>,
    T: Into<OsString>,
{
    execute(args, out, err)
}

fn execute<I, T, O, E>(args: I, out: O, err: E) -> Exit
where
    I: IntoIterator<Item = T>,
    T: Into<OsString>,
    O: RawStream + AsLockedWrite,
    E: RawStream + AsLockedWrite,
{
    let args: Vec<OsString> = args.into_iter().map(Into::into).collect();
    let parsed = parse(&args);
    let color = parsed.as_ref().map_or_else(|_| Color::named_in(&args), |cli| cli.global.color);
    let mut out = BufWriter::with_capacity(BUFFER_BYTES, AutoStream::new(out, color.into()));
    let mut err = Aside(LineWriter::new(AutoStream::new(err, color.into())));

    let done = match parsed {
        Ok(cli) => dispatch(&cli, &mut out, &mut err),
        Err(message) => usage(&message, &mut out, &mut err),
    };
    let flushed = out.flush();
    let error = match (done, flushed) {
        (Ok(exit), Ok(())) => return exit,
        (Ok(exit), Err(error)) if error.kind() == io::ErrorKind::BrokenPipe => return exit,
        (Ok(_), Err(error)) => anyhow::Error::new(error).context("cannot write the result"),
        (Err(error), _) if is_closed_pipe(&error) => return Exit::Ok,
        (Err(error), _) => error,
    };
    let _ = writeln!(err, "{ERROR}error:{ERROR:#} {}", harmless(&format!("{error:#}")));
    Exit::Failed
}

/// What is said beside a result: whether anybody hears it changes nothing of the work.
struct Aside<W>(W);

impl<W: Write> Write for Aside<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Whatever became of them: nobody is left to be told.
        let _ = self.0.write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let _ = self.0.flush();
        Ok(())
    }
}

fn parse(args: &[OsString]) -> Result<Cli, clap::Error> {
    let mut command = help::command(args);
    let matches = command.try_get_matches_from_mut(args)?;
    if asks_for_two_formats(&matches) {
        let message = "--json is short for --format json and goes with no other format";
        return Err(command.error(ErrorKind::ArgumentConflict, message));
    }
    Cli::from_arg_matches(&matches)
}

/// Whether a command line says `--json` and names another format.
fn asks_for_two_formats(matches: &ArgMatches) -> bool {
    if let Some((_, inner)) = matches.subcommand() {
        return asks_for_two_formats(inner);
    }
    let is_json = matches.try_get_one::<bool>("json").is_ok_and(|json| json.is_some_and(|json| *json));
    let is_named = |id| {
        matches.try_contains_id(id).is_ok() && matches.value_source(id) == Some(ValueSource::CommandLine)
    };
    is_json
        && is_named("format")
        && matches.get_raw("format").into_iter().flatten().any(|format| format != "json")
}

/// Help and version are results; every other message is an error.
fn usage(message: &clap::Error, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<Exit> {
    let text = message.render();
    if message.use_stderr() {
        let _ = write!(err, "{}", text.ansi());
        Ok(Exit::Failed)
    } else {
        write!(out, "{}", text.ansi()).context("cannot write the help")?;
        Ok(Exit::Ok)
    }
}

/// A message may quote what a file holds, or how it is called: its lines stay, and nothing else in it moves a terminal.
fn harmless(message: &str) -> String {
    let lines: Vec<_> = message.split('\n').map(escaped).collect();
    lines.join("\n")
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|io| io.kind() == io::ErrorKind::BrokenPipe)
    })
}
