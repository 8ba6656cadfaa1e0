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

/// About `count` mutants: from each room its share, or [`LEAST`]. Those of an `earlier` sample stay while the sources have them,
/// and new ones are drawn for what is wanting.
pub(crate) fn sample(repository: &Path, seed: u64, count: u64, earlier: &[Mutant]) -> Result<Vec<Mutant>> {
    let listed = list(repository)?;
    let all = listed.len();
    let count = usize::try_from(count)?;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut mutants = Vec::new();
    for room in ROOMS {
        let folder = format!("src/{room}/");
        let listed: Vec<&Listed> = listed.iter().filter(|one| one.file.starts_with(&folder)).collect();
        let share = (count * listed.len()).div_ceil(all).max(LEAST).min(listed.len());
        let mut taken = found_again(&listed, earlier);
        let kept = taken.len();
        let others: Vec<usize> = (0..listed.len()).filter(|at| !taken.contains(at)).collect();
        let drawn = index::sample(&mut random, others.len(), share.saturating_sub(kept));
        taken.extend(drawn.into_iter().map(|at| others[at]));
        eprintln!("{room}: {} of {}, {kept} of them from before", taken.len(), listed.len());
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

/// Where the mutants of an earlier sample stand now, in its order, so that all keep their numbers: each where it says the same in
/// the same file, nearest to where it stood.
fn found_again(listed: &[&Listed], earlier: &[Mutant]) -> Vec<usize> {
    let mut found = Vec::new();
    for mutant in earlier {
        let same = |one: &Listed| one.file == mutant.file && says(&one.name) == says(&mutant.name);
        let away = |one: &Listed| {
            (one.span.start.line.abs_diff(mutant.line), one.span.start.column.abs_diff(mutant.column))
        };
        let places = (0..listed.len()).filter(|at| !found.contains(at) && same(listed[*at]));
        found.extend(places.min_by_key(|at| away(listed[*at])));
    }
    found
}

/// The name of a mutant behind file, line and column.
fn says(name: &str) -> &str {
    name.splitn(4, ':').last().unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(file: &str, line: usize, says: &str) -> Listed {
        Listed {
            name: format!("{file}:{line}:5: {says}"),
            file: file.to_owned(),
            genre: Genre::FnValue,
            replacement: String::new(),
            function: None,
            span: Span { start: Place { line, column: 5 } },
        }
    }

    fn earlier(file: &str, line: usize, says: &str) -> Mutant {
        let Listed { name, file, genre, replacement, .. } = listed(file, line, says);
        let (room, return_type) = (String::new(), String::new());
        Mutant {
            id: 1,
            name,
            file,
            room,
            genre,
            replacement,
            return_type,
            line,
            column: 5,
            state: State::Woven,
        }
    }

    #[test]
    fn an_earlier_mutant_is_found_where_its_line_went() {
        let now = [
            listed("a.rs", 3, "replace f -> bool with true"),
            listed("a.rs", 14, "replace + with - in g"),
            listed("a.rs", 16, "replace + with - in g"),
            listed("b.rs", 10, "replace + with - in g"),
        ];
        let now: Vec<&Listed> = now.iter().collect();
        let at = |mutants: &[Mutant]| found_again(&now, mutants);
        assert_eq!(at(&[earlier("a.rs", 12, "replace + with - in g")]), [1]);
        // Two are two.
        let twice =
            [earlier("a.rs", 10, "replace + with - in g"), earlier("a.rs", 12, "replace + with - in g")];
        assert_eq!(at(&twice), [1, 2]);
        assert!(at(&[earlier("a.rs", 3, "replace f -> bool with false")]).is_empty());
        assert!(at(&[earlier("c.rs", 10, "replace + with - in g")]).is_empty());
    }
}
