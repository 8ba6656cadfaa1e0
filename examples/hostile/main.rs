//! Runs the release binary over thousands of hostile files and holds it to what docs/SECURITY.md promises: no panic, no
//! signal, documented exit codes, bounded memory and time, a standard output that is empty or valid.
//!
//! ```console
//! cargo build --release
//! cargo run --release --example hostile                       # 2,400 files, the table of docs/SECURITY.md
//! cargo run --release --example hostile -- --files 300        # fewer
//! cargo run --release --example hostile -- --keep DIR         # leaves the files that broke a promise in DIR
//! ```
//!
//! The files come from seeds: what stands in `tests/data/`, `golden_al/` and `docs/`, damaged in every way of
//! `damage.rs`, and what `made.rs` builds. The same number makes the same files on any machine.

// A failed assumption of this program is its end.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stderr, clippy::print_stdout)]

mod commands;
mod corpus;
mod damage;
mod growth;
mod made;
mod run;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;

use rayon::prelude::*;

use corpus::Corpus;
use run::Runner;
use table::Table;

/// Files of a whole run.
const FILES: usize = 2_400;

struct Options {
    binary: PathBuf,
    files: usize,
    keep: Option<PathBuf>,
}

impl Options {
    fn parse() -> Result<Self, String> {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let mut options = Self { binary: default_binary(), files: FILES, keep: None };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let value = arguments.next().ok_or(format!("{argument} needs a value"))?;
            match argument.as_str() {
                "--binary" => options.binary = value.into(),
                "--files" => {
                    options.files = value.parse().map_err(|_| format!("no number of files: {value}"))?;
                }
                "--keep" => options.keep = Some(value.into()),
                other => {
                    return Err(format!("no argument '{other}'; there are --binary, --files and --keep"));
                }
            }
        }
        std::env::set_current_dir(root).map_err(|error| error.to_string())?;
        if !options.binary.is_file() {
            return Err(format!("no binary at {}: cargo build --release", options.binary.display()));
        }
        Ok(options)
    }
}

/// Beside this program: `target/release/examples/hostile` and `target/release/accsim`.
fn default_binary() -> PathBuf {
    let here = std::env::current_exe().unwrap();
    here.parent().and_then(|examples| examples.parent()).unwrap().join("accsim")
}

fn main() -> ExitCode {
    let options = match Options::parse() {
        Ok(options) => options,
        Err(message) => {
            eprintln!("hostile: {message}");
            return ExitCode::from(2);
        }
    };
    let scratch = tempfile::tempdir().unwrap();
    let runner = Runner::new(&options.binary);
    let corpus = Corpus::collect();
    let made = made::files();
    let damaged = options.files.saturating_sub(made.len());
    let outcomes: Vec<_> = (0..made.len() + damaged)
        .into_par_iter()
        .flat_map_iter(|number| {
            let file = made.get(number).cloned().unwrap_or_else(|| corpus.damaged(number));
            let folder = scratch.path().join(number.to_string());
            std::fs::create_dir(&folder).unwrap();
            let path = folder.join(&file.name);
            std::fs::write(&path, &file.bytes).unwrap();
            let outcomes: Vec<_> = commands::of(&file, &path)
                .into_iter()
                .map(|command| runner.run(&file, &command, &folder))
                .collect();
            if let Some(keep) =
                options.keep.as_ref().filter(|_| outcomes.iter().any(|outcome| outcome.fault.is_some()))
            {
                std::fs::create_dir_all(keep).unwrap();
                std::fs::copy(&path, keep.join(format!("{number}-{}", file.name))).unwrap();
            }
            std::fs::remove_dir_all(&folder).unwrap();
            outcomes
        })
        .collect();
    let table = Table::new(made.len() + damaged, &outcomes);
    print!("{table}");
    let growth = growth::measure(&runner, scratch.path());
    print!("{growth}");
    if table.holds() && growth.holds() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
