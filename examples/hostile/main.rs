//! Runs the release binary over thousands of hostile files and holds it to what docs/SECURITY.md promises: no panic, no
//! signal, documented exit codes, bounded memory, time that grows with the input and no faster, a standard output that is
//! empty or valid.
//!
//! ```console
//! cargo build --release
//! cargo run --example hostile                       # 2,400 files, the tables of docs/SECURITY.md
//! cargo run --example hostile -- --files 300        # fewer
//! cargo run --example hostile -- --commands 9       # every command for every file, in place of three in turn
//! cargo run --example hostile -- --keep DIR         # leaves the files that broke a promise in DIR
//! cargo run --example hostile -- --binary FILE      # another program than target/release/accsim
//! ```
//!
//! The files come from seeds of every format (`seeds.rs`), damaged in every way of `damage.rs`, and from what `made.rs`
//! builds. The same number makes the same file on any machine.
//!
//! The process that starts the program stays small: the system counts the memory of whoever starts a program to it. So a
//! second process of this program writes the files.

// A failed assumption of this program is its end.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

#[path = "../../tests/common/aiperf.rs"]
mod aiperf;
mod commands;
mod corpus;
mod damage;
mod format;
mod growth;
mod made;
#[path = "../../tests/sources/pack.rs"]
#[allow(dead_code, reason = "the tests of the readers use the rest")]
mod pack;
mod run;
mod seeds;
mod table;
mod valid;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use rayon::prelude::*;

use corpus::{Corpus, File};
use format::Format;
use run::{Given, Outcome, Runner};
use table::Table;

/// Files of a whole run.
const FILES: usize = 2_400;

/// Files that are written before they are read.
const AT_ONCE: usize = 48;

struct Options {
    binary: PathBuf,
    files: usize,
    /// Commands that a damaged file is given to, at most.
    commands: usize,
    keep: Option<PathBuf>,
    /// What the second process is told: the folder of the whole run, and the numbers of the files.
    make: Option<(PathBuf, usize, usize)>,
    /// The same for an input of a growing family: its folder, the family, the size.
    grow: Option<(PathBuf, usize, usize)>,
}

impl Options {
    fn parse() -> Result<Self, String> {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let mut options =
            Self { binary: default_binary(), files: FILES, commands: 3, keep: None, make: None, grow: None };
        let mut arguments = std::env::args().skip(1);
        let number = |value: &str| value.parse().map_err(|_| format!("no number: {value}"));
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
            match argument.as_str() {
                "--binary" => options.binary = value()?.into(),
                "--files" => options.files = number(&value()?)?,
                "--commands" => options.commands = number(&value()?)?,
                "--keep" => options.keep = Some(value()?.into()),
                "--make" => options.make = Some((value()?.into(), number(&value()?)?, number(&value()?)?)),
                "--grow" => options.grow = Some((value()?.into(), number(&value()?)?, number(&value()?)?)),
                other => {
                    return Err(format!(
                        "no argument '{other}'; there are --binary, --files, --commands and --keep"
                    ));
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

/// The release build beside the build that this program is of: `target/debug/examples/hostile`, `target/release/accsim`.
fn default_binary() -> PathBuf {
    let here = std::env::current_exe().unwrap();
    here.ancestors().nth(3).unwrap().join("release/accsim")
}

fn main() -> ExitCode {
    let options = match Options::parse() {
        Ok(options) => options,
        Err(message) => {
            eprintln!("hostile: {message}");
            return ExitCode::from(2);
        }
    };
    if let Some((folder, from, to)) = &options.make {
        make(&options.binary, folder, *from, *to);
        return ExitCode::SUCCESS;
    }
    if let Some((folder, family, size)) = &options.grow {
        growth::make(folder, *family, *size);
        return ExitCode::SUCCESS;
    }
    let scratch = tempfile::tempdir().unwrap();
    let runner = Runner::new(&options.binary);
    let mut outcomes = Vec::new();
    for from in (0..options.files).step_by(AT_ONCE) {
        let to = options.files.min(from + AT_ONCE);
        let given = ask_to_make(&options.binary, scratch.path(), from, to);
        outcomes.par_extend(
            given
                .into_par_iter()
                .flat_map_iter(|given| judge(&runner, &given, options.commands, options.keep.as_deref())),
        );
    }
    let table = Table::new(options.files, &outcomes);
    print!("{table}");
    let growth = growth::measure(&runner, scratch.path(), &|folder, family, size| {
        let status =
            this_program(&options.binary).arg("--grow").arg(folder).args(numbers(family, size)).status();
        assert!(status.unwrap().success(), "the input could not be made");
    });
    print!("{growth}");
    if table.holds() && growth.holds() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What is done with one file.
fn judge(runner: &Runner, given: &Given, most: usize, keep: Option<&Path>) -> Vec<Outcome> {
    let commands = commands::of(given.format, &given.path, given.number);
    // Damaged files are many: each gets some of the commands, the next of its format the next ones.
    let some = if given.number < made::MOST { commands.len() } else { most };
    let first = given.number / Format::ALL.len() * some;
    let turn = commands.iter().cycle().skip(first % commands.len()).take(some.min(commands.len()));
    let outcomes: Vec<_> = turn.map(|command| runner.run(given, command)).collect();
    if let Some(keep) = keep.filter(|_| outcomes.iter().any(|outcome| outcome.fault.is_some())) {
        fs::create_dir_all(keep).unwrap();
        let name = given.path.file_name().unwrap().to_str().unwrap();
        fs::copy(&given.path, keep.join(format!("{}-{name}", given.number))).unwrap();
    }
    fs::remove_dir_all(given.path.parent().unwrap()).unwrap();
    outcomes
}

fn this_program(binary: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg("--binary").arg(binary);
    command
}

fn numbers(one: usize, other: usize) -> [String; 2] {
    [one.to_string(), other.to_string()]
}

/// Has the files with these numbers written by a process of their own.
fn ask_to_make(binary: &Path, folder: &Path, from: usize, to: usize) -> Vec<Given> {
    let mut command = this_program(binary);
    let output =
        command.arg("--make").arg(folder).args(numbers(from, to)).stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "the files {from} to {to} could not be made");
    let lines = String::from_utf8(output.stdout).unwrap();
    lines
        .lines()
        .map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let [number, path, format, damage] = fields[..] else { panic!("{line}") };
            Given {
                number: number.parse().unwrap(),
                path: path.into(),
                format: Format::named(format).unwrap(),
                damage: damage.to_owned(),
            }
        })
        .collect()
}

/// Writes the files with these numbers, and a line on standard output for each.
fn make(binary: &Path, folder: &Path, from: usize, to: usize) {
    let seeds = folder.join("seeds");
    if !seeds.is_dir() {
        seeds::write(binary, &seeds);
    }
    let corpus = Corpus::read(&seeds);
    let made: Vec<File> = if from < made::MOST { made::files() } else { Vec::new() };
    assert!(made.len() <= made::MOST);
    let mut said = String::new();
    for number in from..to {
        let file = made.get(number).cloned().unwrap_or_else(|| corpus.damaged(number));
        let below = folder.join("files").join(number.to_string());
        fs::create_dir_all(&below).unwrap();
        let path = below.join(&file.name);
        fs::write(&path, &file.bytes).unwrap();
        let (path, format) = (path.to_str().unwrap(), file.format.folder());
        let _ = writeln!(said, "{number}\t{path}\t{format}\t{}", file.damage);
    }
    print!("{said}");
}
