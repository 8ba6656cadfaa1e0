//! The copy: written, cleared of what does not compile, and built.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use crate::state::{Mutant, Scratch, State};
use crate::suite;
use crate::weave::{self, SWITCH};

/// A line of `cargo --message-format=json`.
#[derive(Deserialize)]
struct Line {
    reason: String,
    message: Option<Diagnostic>,
    executable: Option<PathBuf>,
    profile: Option<Profile>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

#[derive(Deserialize)]
struct Diagnostic {
    level: String,
    message: String,
    code: Option<Code>,
    spans: Vec<Span>,
    rendered: Option<String>,
}

#[derive(Deserialize)]
struct Code {
    code: String,
}

#[derive(Deserialize)]
struct Span {
    file_name: String,
    byte_start: usize,
    is_primary: bool,
}

pub(crate) fn build(scratch: &Scratch, repository: &Path, mut mutants: Vec<Mutant>) -> Result<()> {
    copy(repository, &scratch.tree())?;
    let library = scratch.tree().join("src/lib.rs");
    let text = fs::read_to_string(&library)?;
    fs::write(&library, text + SWITCH)?;
    loop {
        let woven = write(repository, &scratch.tree(), &mut mutants)?;
        scratch.write_mutants(&mutants)?;
        let lines = cargo(&scratch.tree(), &["check", "--lib"])?;
        let errors: Vec<Diagnostic> = lines
            .into_iter()
            .filter_map(|line| line.message)
            .filter(|message| message.level == "error")
            .collect();
        if errors.is_empty() {
            break;
        }
        let mut dropped = BTreeSet::new();
        for error in &errors {
            drop_owners(error, &woven, &mut mutants, &mut dropped);
        }
        eprintln!("{} errors, {} mutants dropped", errors.len(), dropped.len());
        if dropped.is_empty() {
            let texts: Vec<&str> = errors.iter().filter_map(|error| error.rendered.as_deref()).collect();
            bail!("errors that belong to no mutant:\n{}", texts.concat());
        }
    }
    let woven = mutants.iter().filter(|mutant| mutant.state == State::Woven).count();
    eprintln!("{woven} of {} mutants are woven; building the tests", mutants.len());
    let targets = env::var("ACCSIM_TARGETS").unwrap_or("--tests".to_owned());
    let arguments = ["test", "--no-run"].into_iter().chain(targets.split_whitespace());
    let lines = cargo(&scratch.tree(), &arguments.collect::<Vec<_>>())?;
    let binaries: Vec<PathBuf> = lines
        .into_iter()
        .filter(|line| {
            line.reason == "compiler-artifact" && line.profile.as_ref().is_some_and(|one| one.test)
        })
        .filter_map(|line| line.executable)
        .collect();
    ensure!(!binaries.is_empty(), "the tests do not build");
    suite::list(scratch, &binaries)
}

/// What is committed or staged; what the folder has built stays.
fn copy(repository: &Path, tree: &Path) -> Result<()> {
    if let Ok(entries) = fs::read_dir(tree) {
        for entry in entries {
            let path = entry?.path();
            if path.ends_with("target") {
                continue;
            } else if path.is_dir() {
                fs::remove_dir_all(path)?;
            } else {
                fs::remove_file(path)?;
            }
        }
    }
    let prefix = format!("--prefix={}/", tree.display());
    let status =
        Command::new("git").args(["checkout-index", "--all", &prefix]).current_dir(repository).status()?;
    ensure!(status.success(), "git checkout-index: {status}");
    Ok(())
}

/// Writes every source that has mutants, and says what was written.
fn write(repository: &Path, tree: &Path, mutants: &mut [Mutant]) -> Result<BTreeMap<String, String>> {
    let mut files: BTreeMap<String, Vec<&mut Mutant>> = BTreeMap::new();
    for mutant in mutants {
        files.entry(mutant.file.clone()).or_default().push(mutant);
    }
    let mut woven = BTreeMap::new();
    for (file, mut of_file) in files {
        let source = fs::read_to_string(repository.join(&file)).with_context(|| file.clone())?;
        let text = weave::weave(&source, &mut of_file).with_context(|| file.clone())?;
        let path = tree.join(&file);
        // Cargo goes by times.
        if fs::read_to_string(&path)? != text {
            fs::write(path, &text)?;
        }
        woven.insert(file, text);
    }
    Ok(woven)
}

fn drop_owners(
    error: &Diagnostic,
    woven: &BTreeMap<String, String>,
    mutants: &mut [Mutant],
    dropped: &mut BTreeSet<usize>,
) {
    let code = error.code.as_ref().map_or("", |code| code.code.as_str());
    let why = format!("{code} {}", error.message);
    // The deleted arm is needed: the compiler points at the whole match, and shows the arm.
    if code == "E0004" {
        let shown = error.rendered.as_deref().unwrap_or_default();
        for mutant in mutants.iter_mut().filter(|one| shown.contains(&format!("/*m{}*/", one.id))) {
            mutant.state = State::Unviable(why.clone());
            dropped.insert(mutant.id);
        }
        return;
    }
    for span in error.spans.iter().filter(|span| span.is_primary) {
        let Some(text) = woven.get(&span.file_name) else { continue };
        let (ids, says) = match weave::owners(text, span.byte_start) {
            Some(Ok(id)) => (vec![id], true),
            Some(Err(ids)) => (ids, false),
            None => continue,
        };
        for mutant in mutants.iter_mut().filter(|mutant| ids.contains(&mutant.id)) {
            // Branches of two types: the mutant is of the wrong one.
            let other_type = code == "E0308" && ids.len() == 1;
            let state = if says || other_type { State::Unviable } else { State::Unswitched };
            mutant.state = state(why.clone());
            dropped.insert(mutant.id);
        }
    }
}

fn cargo(tree: &Path, arguments: &[&str]) -> Result<Vec<Line>> {
    let output = Command::new("cargo")
        .args(arguments)
        .args(["--locked", "--message-format=json", "-j1"])
        .env_remove("CARGO_TARGET_DIR")
        .current_dir(tree)
        .stderr(Stdio::inherit())
        .output()
        .context("cargo")?;
    let text = String::from_utf8(output.stdout)?;
    Ok(text
        .lines()
        .filter(|line| line.starts_with('{'))
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect())
}
