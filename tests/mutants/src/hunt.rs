//! Each mutant against the tests that reach it.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use crate::state::{Mutant, Outcome, Scratch, State, Test};
use crate::suite::{self, Ended};

/// Throws every woven mutant that has no outcome yet.
pub(crate) fn hunt(scratch: &Scratch, jobs: usize) -> Result<()> {
    let known = scratch.outcomes()?;
    let tree = scratch.tree();
    let mut tests = scratch.tests()?;
    tests.retain(|test| test.took.is_some());
    let mut mutants: Vec<Mutant> = scratch
        .mutants()?
        .into_iter()
        .filter(|mutant| mutant.state == State::Woven && !known.contains_key(&mutant.name))
        .collect();
    // Those that take longest if they survive come last.
    mutants.sort_by_key(|mutant| tests.iter().filter(|test| test.reached.contains(&mutant.id)).count());
    suite::each(mutants.len(), jobs, |at| {
        let mutant = &mutants[at];
        let outcome = throw(&tree, &tests, mutant)?;
        if let Outcome::Survived(tests) = outcome {
            eprintln!("survived {tests} tests: {}", mutant.name);
        }
        scratch.add_outcome(mutant, &outcome)
    })
}

/// What comes first: quick tests, those that reach few mutants, which are about them, and those of the mutant's room.
fn cost(test: &Test, room: &str) -> u128 {
    let binary = test.binary.file_name().unwrap_or_default().to_string_lossy();
    let is_of_room = test.name.starts_with(&format!("{room}::")) || binary.starts_with(&format!("{room}-"));
    let apart = if is_of_room { 1 } else { 10 };
    let reached = test.reached.len() as u128 + 1;
    test.took.map_or(u128::MAX, |took| took.as_millis().max(50) * reached * apart)
}

/// A failure counts when the test passes without the mutant right after it.
fn throw(tree: &Path, tests: &[Test], mutant: &Mutant) -> Result<Outcome> {
    let mut passed = 0;
    let mut tests: Vec<&Test> = tests.iter().filter(|test| test.reached.contains(&mutant.id)).collect();
    tests.sort_by_key(|test| cost(test, &mutant.room));
    for test in tests {
        let limit = test.took.unwrap_or_default() * 5 + Duration::from_secs(10);
        let run = |thrown| suite::run(tree, test, thrown, None, limit);
        let ended = run(Some(mutant.id))?;
        if ended != Ended::Passed && run(None)? == Ended::Passed {
            let test = test.name.clone();
            return Ok(if ended == Ended::Failed { Outcome::Caught(test) } else { Outcome::TimedOut(test) });
        }
        passed += 1;
    }
    Ok(Outcome::Survived(passed))
}

/// Forgets survivors.
pub(crate) fn again(scratch: &Scratch) -> Result<()> {
    let mut outcomes = scratch.outcomes()?;
    outcomes.retain(|_, outcome| !matches!(outcome, Outcome::Survived(_)));
    scratch.write_outcomes(&outcomes)
}
