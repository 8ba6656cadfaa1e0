//! The words of one shell command.

use crate::engine::{Engine, SettingKind};

use super::error::FoundError;
use super::role::Role;
use super::spec::Argument;

/// What starts a server of which engine.
const SERVERS: [(&str, Engine); 6] = [
    ("sglang.launch_server", Engine::Sglang),
    ("vllm.entrypoints.openai.api_server", Engine::Vllm),
    ("trtllm-serve", Engine::Trtllm),
    ("atom.entrypoints.openai_server", Engine::Atom),
    ("dynamo.sglang", Engine::Sglang),
    ("dynamo.vllm", Engine::Vllm),
];

/// Takes a command's assignments and arguments in.
pub(super) fn command(role: &mut Role, words: &[String], line: usize) -> Result<(), FoundError> {
    let mut rest = words.iter().map(String::as_str).peekable();
    while let Some((name, value)) = rest.peek().and_then(|word| assignment(word)) {
        role.variable(name, value, line)?;
        rest.next();
    }
    match rest.peek().copied() {
        Some("export" | "declare" | "typeset" | "env" | "set") => environment(role, rest.skip(1), line),
        Some("unset") => {
            for name in rest.skip(1) {
                role.clear(SettingKind::Env, name);
            }
            Ok(())
        }
        Some(_) => {
            let words: Vec<&str> = rest.collect();
            if let [alone] = words.as_slice() {
                // What an evaluation run must leave out stands alone, without a value.
                role.clear(SettingKind::Arg, alone);
            }
            server(role, &words);
            arguments(role, &words, line)
        }
        None => Ok(()),
    }
}

/// `NAME=value`.
fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    is_name.then_some((name, value))
}

/// What `export` and `env` do with their words: set, or with `-u` take away.
fn environment<'a>(
    role: &mut Role,
    words: impl Iterator<Item = &'a str>,
    line: usize,
) -> Result<(), FoundError> {
    let words: Vec<&str> = words.collect();
    let mut rest = words.iter().copied().enumerate();
    while let Some((index, word)) = rest.next() {
        if let Some((name, value)) = assignment(word) {
            role.variable(name, value, line)?;
        } else if matches!(word, "-u" | "--unset") {
            if let Some((_, name)) = rest.next() {
                role.clear(SettingKind::Env, name);
            }
        } else if !word.starts_with('-') {
            // `env NAME=value command arguments`
            let command = words.get(index..).unwrap_or_default();
            server(role, command);
            return arguments(role, command, line);
        }
    }
    Ok(())
}

/// The engine that a command starts.
fn server(role: &mut Role, words: &[&str]) {
    let started =
        |word: &&str| SERVERS.iter().find(|(name, _)| word.ends_with(name)).map(|(_, engine)| *engine);
    let pair = words.iter().zip(words.iter().skip(1)).find_map(|(program, verb)| match (*program, *verb) {
        (program, "serve") if program.ends_with("vllm") => Some(Engine::Vllm),
        (program, "serve") if program.ends_with("sglang") => Some(Engine::Sglang),
        _ => None,
    });
    if let Some(engine) = words.iter().find_map(started).or(pair) {
        role.engine = Some(engine);
    }
}

/// `--name value`, `--name=value`, and the `-e NAME=value` of a container.
fn arguments(role: &mut Role, words: &[&str], line: usize) -> Result<(), FoundError> {
    let mut rest = words.iter().copied().peekable();
    while let Some(word) = rest.next() {
        if matches!(word, "-e" | "--env") {
            if let Some((name, value)) = rest.peek().and_then(|word| assignment(word)) {
                role.variable(name, value, line)?;
            }
            continue;
        }
        let Some(flag) = word.strip_prefix("--") else { continue };
        let (flag, value) = match flag.split_once('=') {
            Some((flag, value)) => (flag, Some(value)),
            None => (flag, rest.peek().copied()),
        };
        if let Some(value) = value {
            let name = flag.replace('_', "-");
            role.argument(Argument { name: &name, value, line })?;
        }
    }
    Ok(())
}
