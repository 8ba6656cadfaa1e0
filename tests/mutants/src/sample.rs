//! The mutants that cargo-mutants finds, and a seeded sample of them from every room.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::index;
use serde::Deserialize;

use crate::state::{Genre, Mutant, State};

const ROOMS: [&str; 5] = ["golden", "law", "replay", "audit", "throughput"];

/// However small a room is.
const LEAST: usize = 40;

#[derive(Deserialize)]
struct Listed {
    name: String,
    file: String,
    genre: Genre,
    replacement: String,
    function: Option<Function>,
    span: Span,
}

#[derive(Deserialize)]
struct Function {
    return_type: String,
}

#[derive(Deserialize)]
struct Span {
    start: Place,
}

#[derive(Deserialize)]
struct Place {
    line: usize,
    column: usize,
}

/// About `count` mutants: from each room its share, or [`LEAST`].
pub(crate) fn sample(repository: &Path, seed: u64, count: u64) -> Result<Vec<Mutant>> {
    let listed = list(repository)?;
    let all = listed.len();
    let count = usize::try_from(count)?;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut mutants = Vec::new();
    for room in ROOMS {
        let folder = format!("src/{room}/");
        let listed: Vec<&Listed> = listed.iter().filter(|one| one.file.starts_with(&folder)).collect();
        let share = (count * listed.len()).div_ceil(all).max(LEAST).min(listed.len());
        eprintln!("{room}: {share} of {}", listed.len());
        let mut taken = index::sample(&mut random, listed.len(), share).into_vec();
        taken.sort_unstable();
        for one in taken {
            let found = listed[one];
            mutants.push(Mutant {
                id: mutants.len() + 1,
                name: found.name.clone(),
                file: found.file.clone(),
                room: room.to_owned(),
                genre: found.genre,
                replacement: found.replacement.clone(),
                return_type: found.function.as_ref().map(|one| one.return_type.clone()).unwrap_or_default(),
                line: found.span.start.line,
                column: found.span.start.column,
                state: State::Woven,
            });
        }
    }
    Ok(mutants)
}

fn list(repository: &Path) -> Result<Vec<Listed>> {
    let output = Command::new("cargo")
        .args(["mutants", "--list", "--json"])
        .args(ROOMS.iter().flat_map(|room| ["--file".to_owned(), format!("src/{room}/**")]))
        .current_dir(repository)
        .output()
        .context("cargo mutants")?;
    ensure!(output.status.success(), "cargo mutants: {}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}
