//! README and docs say what is so: commands run as shown, names and paths exist.
//!
//! `SNAPSHOTS=overwrite cargo test --test docs` writes what the commands print into the pages. A line `...` stands
//! for any lines, `[..]` for anything within a line, and both survive that; an output that is all `...` does not.

#![cfg(feature = "cli")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "Clippy's leave for tests ends at the test functions; their helpers fail the same way"
)]

mod book;
mod console;
mod release;

use std::fs;
use std::path::{Path, PathBuf};

use snapbox::assert::DEFAULT_ACTION_ENV;
use snapbox::cmd::Command;
use snapbox::filter::NormalizeToExpected;
use snapbox::{Assert, Data, IntoData};

use console::{Action, Piece, Step, as_shown, pieces};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Every page, as path from the root.
fn pages() -> Vec<String> {
    let mut pages = vec!["README.md".to_owned()];
    let mut folders = vec![PathBuf::from("docs"), PathBuf::from("golden_al")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(Path::new(ROOT).join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = folder.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path.to_str().unwrap().to_owned());
            }
        }
    }
    pages.sort();
    pages
}

fn read(page: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(page)).unwrap()
}

fn accsim(args: &[&str]) -> Command {
    let command = Command::new(env!("CARGO_BIN_EXE_accsim"))
        .args(args)
        .current_dir(ROOT)
        .stdin("")
        .env("NO_COLOR", "1")
        .env("COLUMNS", "100");
    std::env::vars_os().map(|(name, _)| name).fold(command, |command, name| {
        if name.to_string_lossy().starts_with("ACCSIM_") { command.env_remove(name) } else { command }
    })
}

/// What the step shows when it is run now, elisions kept where they still fit.
fn rerun(step: &Step<'_>) -> Result<String, String> {
    let command = match step.action()? {
        Action::Run(args) => accsim(&args),
        Action::Shell(line) => {
            Command::new("sh").args(["-c", line]).current_dir(ROOT).stdin("").env("LC_ALL", "C")
        }
        Action::Skip => return Ok(step.shown.to_owned()),
    };
    let output = command.stderr_to_stdout().output().unwrap();
    let code = output.status.code().ok_or("ended by a signal")?;
    let actual = as_shown(code, std::str::from_utf8(&output.stdout).unwrap())
        .map_err(|reason| format!("line {}: {reason}", step.line))?;
    let (body, gap) = step.split_shown();
    let expected = if step.shows_nothing() { "" } else { body };
    let kept = NormalizeToExpected::new().redact().normalize(actual.into_data(), &expected.into_data());
    Ok(format!("{kept}{gap}"))
}

#[test]
fn commands_print_what_the_pages_show() {
    let mut faults = Vec::new();
    for page in pages() {
        let text = read(&page);
        let rebuilt: Result<String, String> = pieces(&text).and_then(|pieces| {
            pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Text(text) => Ok((*text).to_owned()),
                    Piece::Step(step) => rerun(step),
                })
                .collect()
        });
        let verdict = rebuilt.and_then(|rebuilt| {
            let shown = Data::read_from(&Path::new(ROOT).join(&page), None);
            Assert::new()
                .action_env(DEFAULT_ACTION_ENV)
                .try_eq(Some(&page), rebuilt.into_data(), shown.raw())
                .map_err(|fault| fault.to_string())
        });
        if let Err(fault) = verdict {
            faults.push(format!("{page}: {fault}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

/// A check that finds no pages or no commands would always pass.
#[test]
fn pages_and_commands_are_found() {
    let pages = pages();
    for page in ["README.md", "docs/ARCHITECTURE.md", "docs/guide.md"] {
        assert!(pages.iter().any(|found| found == page), "{pages:?}");
    }
    for page in ["README.md", "docs/guide.md"] {
        let text = read(page);
        let shown = text.lines().filter(|line| line.starts_with("$ ")).count();
        let steps = pieces(&text).unwrap().into_iter().filter_map(|piece| match piece {
            Piece::Step(step) => Some(step.action().unwrap()),
            Piece::Text(_) => None,
        });
        let (run, skipped): (Vec<_>, Vec<_>) = steps.partition(|action| *action != Action::Skip);
        assert!(!run.is_empty(), "{page}");
        assert_eq!(run.len() + skipped.len(), shown, "{page}");
    }
}

/// `code` spans of a page, fenced blocks left out.
fn spans(text: &str) -> Vec<String> {
    let mut is_fenced = false;
    let mut spans = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        } else if !is_fenced {
            spans.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    spans
}

#[test]
fn commands_named_in_passing_exist() {
    let mut named = 0;
    for page in pages() {
        for span in spans(&read(&page)) {
            let Some(rest) = span.strip_prefix("accsim ") else { continue };
            let is_name = |word: &&str| word.chars().all(|letter| letter.is_ascii_lowercase());
            let mut args: Vec<&str> = rest.split_whitespace().take_while(is_name).collect();
            args.push("--help");
            let output = accsim(&args).output().unwrap();
            assert!(output.status.success(), "{page}: `{span}`: {}", String::from_utf8_lossy(&output.stderr));
            named += 1;
        }
    }
    assert!(named > 0);
}

#[test]
fn every_command_is_in_the_readme() {
    let help = accsim(&["--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let rows = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names: Vec<&str> = rows
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| !name.is_empty() && *name != "help")
        .collect();
    assert!(names.contains(&"man"), "{help}");
    let spans = spans(&read("README.md"));
    for name in names {
        let mention = format!("accsim {name}");
        assert!(spans.iter().any(|span| span.starts_with(&mention)), "README does not name {mention}");
    }
}

#[test]
fn links_within_the_project_lead_somewhere() {
    let mut followed = 0;
    for page in pages() {
        let text = read(&page);
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = target.split('#').next().unwrap();
            if file.is_empty() || file.contains("://") {
                continue;
            }
            let path = Path::new(ROOT).join(&page).parent().unwrap().join(file);
            assert!(path.exists(), "{page}: {target}");
            followed += 1;
        }
    }
    assert!(followed > 0);
}

#[test]
fn paths_named_in_passing_exist() {
    let mut named = 0;
    for page in pages() {
        for span in spans(&read(&page)) {
            let is_ours = ["src/", "tests/", "docs/", "benches/", "golden_al/", ".ci/", "python/"]
                .iter()
                .any(|folder| span.starts_with(folder));
            let is_plain =
                span.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-./".contains(letter));
            if is_ours && is_plain {
                assert!(Path::new(ROOT).join(&span).exists(), "{page}: `{span}`");
                named += 1;
            }
        }
    }
    assert!(named > 0);
}

#[test]
fn every_room_is_on_the_map() {
    let map = spans(&read("docs/ARCHITECTURE.md"));
    let mut rooms = 0;
    for entry in fs::read_dir(Path::new(ROOT).join("src")).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            let room = format!("src/{}/", entry.file_name().to_str().unwrap());
            assert!(map.contains(&room), "the map lacks {room}");
            rooms += 1;
        }
    }
    assert!(rooms > 1);
}
