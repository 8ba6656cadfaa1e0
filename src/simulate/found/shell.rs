//! Environments and traces of a shell, line by line: `NAME=value` of an env file or a dump, `export`, `unset`, the flags of
//! `docker run`, and the same behind the `+` of `set -x`.

use super::command::command;
use super::error::{FoundError, FoundErrorKind};
use super::knobs::variable_in;
use super::role::Role;

/// Reads the lines in order; what a line sets replaces what an earlier one set.
pub(super) fn read(text: &str) -> Result<Role, FoundError> {
    let mut role = Role::default();
    let mut lines = (1..).zip(text.lines());
    while let Some((number, first)) = lines.next() {
        let mut logical = first.to_owned();
        // A command over several lines ends each but the last with a backslash.
        while logical.ends_with('\\')
            && let Some((_, next)) = lines.next()
        {
            logical.pop();
            logical.push(' ');
            logical.push_str(next);
        }
        for simple in commands(&logical) {
            line(&mut role, simple, number)?;
        }
    }
    role.guess_engine();
    Ok(role)
}

/// The commands of a line: what unquoted semicolons part. A quote that never closes keeps the rest together.
fn commands(line: &str) -> Vec<&str> {
    let (mut commands, mut begin, mut quote, mut escaped) = (Vec::new(), 0, None, false);
    for (at, character) in line.char_indices() {
        match (quote, character) {
            _ if escaped => escaped = false,
            (None | Some('"'), '\\') => escaped = true,
            (Some(open), _) if character == open => quote = None,
            (None, '"' | '\'') => quote = Some(character),
            (None, '#') if line.get(..at).is_some_and(|before| before.trim().is_empty()) => break,
            (None, ';') => {
                commands.extend(line.get(begin..at));
                begin = at + 1;
            }
            _ => {}
        }
    }
    commands.extend(line.get(begin..));
    commands
}

fn line(role: &mut Role, text: &str, number: usize) -> Result<(), FoundError> {
    let text = traced(text);
    let mut words = shlex::Shlex::new(text);
    let split: Vec<String> = words.by_ref().collect();
    if words.had_error {
        // A quote that this line opens and another one closes: nothing to do with us, unless it names a setting.
        return match variable_in(text) {
            Some(_) if !text.trim_start().starts_with('#') => {
                Err(FoundErrorKind::NoCommand(text.to_owned()).at(number))
            }
            _ => Ok(()),
        };
    }
    command(role, &split, number)
}

/// The command behind the `+` of a trace.
fn traced(text: &str) -> &str {
    let text = text.trim_start();
    let command = text.trim_start_matches('+');
    if command.len() < text.len() && command.starts_with(' ') { command.trim_start() } else { text }
}
