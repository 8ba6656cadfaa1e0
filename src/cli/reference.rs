//! `accsim man --markdown`: every command with its flags, in Markdown, from the same definitions as help and manual.

use std::io::{self, Write};

use clap::builder::PossibleValue;
use clap::{Arg, Command};

use super::Exit;
use crate::report::markdown::{code, prose};

/// The heading of arguments without one of their own, as help has it.
const ARGUMENTS: &str = "Arguments";
const OPTIONS: &str = "Options";

/// Writes the page of a built command tree.
pub(super) fn write(root: &Command, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# Commands and flags\n")?;
    writeln!(
        out,
        "`accsim man --markdown` writes this page from the definitions that parse the command line; a test compares \
         the two. `--help` says the same in the terminal, `accsim man` as manual pages.\n"
    )?;
    writeln!(out, "## Exit codes\n")?;
    writeln!(out, "| code | meaning |\n|---|---|")?;
    for exit in Exit::ALL {
        writeln!(out, "| {} | {} |", exit.code(), prose(exit.meaning()))?;
    }
    writeln!(out, "\n## Options for every command\n\nThey stand before the command or behind it.\n")?;
    for arg in shown(root).filter(|arg| arg.is_global_set()) {
        write_arg(arg, out)?;
    }
    commands(root, out)
}

fn commands(parent: &Command, out: &mut dyn Write) -> io::Result<()> {
    for command in parent.get_subcommands().filter(|command| !command.is_hide_set()) {
        let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
        writeln!(out, "\n## {name}\n")?;
        for paragraph in about(command).split("\n\n") {
            writeln!(out, "{}\n", prose(&one_line(paragraph)))?;
        }
        if command.has_subcommands() {
            let inner = command.get_subcommands().filter(|inner| !inner.is_hide_set());
            let names: Vec<String> = inner.filter_map(|inner| inner.get_bin_name().map(code)).collect();
            writeln!(out, "{}", names.join(", "))?;
            commands(command, out)?;
            continue;
        }
        let usage = command.clone().render_usage().to_string();
        let usage = usage.strip_prefix("Usage:").unwrap_or(&usage).trim();
        writeln!(out, "```text")?;
        for line in usage.lines() {
            writeln!(out, "{}", line.trim())?;
        }
        writeln!(out, "```")?;
        for heading in headings(command) {
            writeln!(out, "\n{}:\n", prose(heading))?;
            for arg in own(command).filter(|arg| heading_of(arg) == heading) {
                write_arg(arg, out)?;
            }
        }
    }
    Ok(())
}

fn about(command: &Command) -> String {
    command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default()
}

fn shown(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|arg| !arg.is_hide_set())
}

/// The arguments that only this command has.
fn own(command: &Command) -> impl Iterator<Item = &Arg> {
    shown(command).filter(|arg| !arg.is_global_set() && !matches!(arg.get_id().as_str(), "help" | "version"))
}

fn heading_of(arg: &Arg) -> &str {
    match arg.get_help_heading() {
        Some(heading) => heading,
        None if arg.is_positional() => ARGUMENTS,
        None => OPTIONS,
    }
}

/// The headings in the order of their first arguments, those without one first.
fn headings(command: &Command) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for heading in [ARGUMENTS, OPTIONS].into_iter().chain(own(command).map(heading_of)) {
        if !found.contains(&heading) && own(command).any(|arg| heading_of(arg) == heading) {
            found.push(heading);
        }
    }
    found
}

fn write_arg(arg: &Arg, out: &mut dyn Write) -> io::Result<()> {
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut text = prose(&one_line(&help));
    let defaults = arg.get_default_values().iter().map(|value| value.to_string_lossy());
    let defaults: Vec<String> = defaults.map(|value| code(&value)).collect();
    let takes_values = arg.get_action().takes_values();
    if takes_values && !defaults.is_empty() && !arg.is_hide_default_value_set() {
        text = format!("{text} (default: {})", defaults.join(", "));
    }
    if let Some(variable) = arg.get_env() {
        text = format!("{text} (variable: {})", code(&variable.to_string_lossy()));
    }
    writeln!(out, "- {}: {text}", code(&spelled(arg)))?;
    if takes_values && !arg.is_hide_possible_values_set() {
        for value in arg.get_possible_values().iter().filter(|value| !value.is_hide_set()) {
            write_value(value, out)?;
        }
    }
    Ok(())
}

fn write_value(value: &PossibleValue, out: &mut dyn Write) -> io::Result<()> {
    match value.get_help() {
        Some(help) => {
            writeln!(out, "  - {}: {}", code(value.get_name()), prose(&one_line(&help.to_string())))
        }
        None => writeln!(out, "  - {}", code(value.get_name())),
    }
}

/// A flag with its short form and its value, or the value alone.
fn spelled(arg: &Arg) -> String {
    // As clap writes it in usage lines: `--margin <MARGIN>`, `<PATH>...`.
    let long = arg.to_string();
    match arg.get_short() {
        Some(short) if arg.get_long().is_some() => format!("-{short}, {long}"),
        _ => long,
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
