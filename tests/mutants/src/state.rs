//! What one command leaves for the next, in the scratch folder.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// One mutant of the sample.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Mutant {
    pub(crate) id: usize,
    /// As cargo-mutants prints it.
    pub(crate) name: String,
    pub(crate) file: String,
    pub(crate) room: String,
    pub(crate) genre: Genre,
    pub(crate) replacement: String,
    pub(crate) return_type: String,
    /// Where what is replaced begins; both count from one.
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) state: State,
}

/// Kinds of mutants, as cargo-mutants names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Genre {
    FnValue,
    BinaryOperator,
    UnaryOperator,
    MatchArm,
    MatchArmGuard,
    StructField,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum State {
    /// Behind its switch.
    Woven,
    /// Does not compile, and why.
    Unviable(String),
    /// Cannot stand behind a switch, and why.
    Unswitched(String),
}

/// One test of one binary.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Test {
    pub(crate) binary: PathBuf,
    pub(crate) name: String,
    /// How long it took alone; `None` for one that does not pass on the copy and is left out.
    pub(crate) took: Option<Duration>,
    /// Mutants that it reached.
    pub(crate) reached: Vec<usize>,
}

/// What became of one mutant.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Outcome {
    /// The test that failed.
    Caught(String),
    /// The test that did not end.
    TimedOut(String),
    /// How many tests reached it and passed.
    Survived(usize),
}

/// The scratch folder.
pub(crate) struct Scratch {
    folder: PathBuf,
}

impl Scratch {
    pub(crate) fn new(folder: PathBuf) -> Result<Self> {
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        Ok(Self { folder: folder.canonicalize()? })
    }

    /// The copy of the repository.
    pub(crate) fn tree(&self) -> PathBuf {
        self.folder.join("tree")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(crate) fn mutants(&self) -> Result<Vec<Mutant>> {
        read(&self.path("mutants.json"))
    }

    pub(crate) fn write_mutants(&self, mutants: &[Mutant]) -> Result<()> {
        write(&self.path("mutants.json"), &mutants)
    }

    pub(crate) fn tests(&self) -> Result<Vec<Test>> {
        read(&self.path("tests.json"))
    }

    pub(crate) fn write_tests(&self, tests: &[Test]) -> Result<()> {
        write(&self.path("tests.json"), &tests)
    }

    /// By the name of the mutant, so that they outlive another weave; the last word counts.
    pub(crate) fn outcomes(&self) -> Result<BTreeMap<String, Outcome>> {
        let Ok(text) = fs::read_to_string(self.path("outcomes.jsonl")) else { return Ok(BTreeMap::new()) };
        text.lines().map(|line| Ok(serde_json::from_str::<(String, Outcome)>(line)?)).collect()
    }

    pub(crate) fn add_outcome(&self, mutant: &Mutant, outcome: &Outcome) -> Result<()> {
        let mut file = fs::File::options().create(true).append(true).open(self.path("outcomes.jsonl"))?;
        let mut line = serde_json::to_string(&(&mutant.name, outcome))?;
        line.push('\n');
        Ok(file.write_all(line.as_bytes())?)
    }

    pub(crate) fn write_outcomes(&self, outcomes: &BTreeMap<String, Outcome>) -> Result<()> {
        let mut text = String::new();
        for outcome in outcomes {
            text += &serde_json::to_string(&outcome)?;
            text.push('\n');
        }
        Ok(fs::write(self.path("outcomes.jsonl"), text)?)
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    serde_json::from_str(&text).with_context(|| path.display().to_string())
}

fn write<T: Serialize>(path: &Path, value: &T) -> Result<()> {
    fs::write(path, serde_json::to_string_pretty(value)?).with_context(|| path.display().to_string())
}
