//! The command tree as it is parsed and as help shows it.

use std::ffi::OsString;
use std::fmt::Write as _;

use clap::CommandFactory as _;

use super::global::GOLDEN_DIR;
use super::{Cli, Exit};

/// The command tree for one command line, with the exit codes in the help of every command.
pub(super) fn command(args: &[OsString]) -> clap::Command {
    let command = with_negative_numbers(with_exit_codes(Cli::command(), &exit_codes()));
    let is_empty = std::env::var_os(GOLDEN_DIR).is_some_and(|dir| dir.is_empty());
    if is_empty || args.len() < 2 {
        // An empty variable is an unset one. And clap takes a set one for an argument: the program's bare name
        // would no longer ask for help.
        command.mut_arg("golden_dir", |arg| arg.env(None::<&'static str>))
    } else {
        command
    }
}

/// A negative number is a value, refused with what was expected, and no unknown flag.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let is_number = |arg: &clap::Arg| {
        let is_valued = arg.get_action().takes_values() && !arg.is_positional();
        is_valued || arg.get_id() == "draft_length"
    };
    command
        .mut_args(|arg| if is_number(&arg) { arg.allow_negative_numbers(true) } else { arg })
        .mut_subcommands(with_negative_numbers)
}

fn with_exit_codes(command: clap::Command, codes: &str) -> clap::Command {
    let text = match command.get_after_help() {
        Some(own) => format!("{}\n\n{codes}", own.ansi()),
        None => codes.to_owned(),
    };
    command.after_help(text).mut_subcommands(|inner| with_exit_codes(inner, codes))
}

fn exit_codes() -> String {
    let mut text = String::from("Exit codes:");
    for exit in Exit::ALL {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n  {}  {}", exit.code(), exit.meaning());
    }
    text
}
