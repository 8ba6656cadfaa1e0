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
    tests.sort_by_key(|test| test.took);
    let mutants: Vec<Mutant> = scratch
        .mutants()?
        .into_iter()
        .filter(|mutant| mutant.state == State::Woven && !known.contains_key(&mutant.name))
        .collect();
    suite::each(mutants.len(), jobs, |at| {
        let mutant = &mutants[at];
        let outcome = throw(&tree, &tests, mutant)?;
        if let Outcome::Survived(tests) = outcome {
            eprintln!("survived {tests} tests: {}", mutant.name);
        }
        scratch.add_outcome(mutant, &outcome)
    })
}

/// Quickest tests first. A failure counts when it comes twice, and the test passes without the mutant.
fn throw(tree: &Path, tests: &[Test], mutant: &Mutant) -> Result<Outcome> {
    let mut passed = 0;
    for test in tests.iter().filter(|test| test.reached.contains(&mutant.id)) {
        let limit = test.took.unwrap_or_default() * 5 + Duration::from_secs(10);
        let run = |thrown| suite::run(tree, test, thrown, None, limit);
        let ended = run(Some(mutant.id))?;
        if ended == Ended::Passed || run(None)? != Ended::Passed {
            passed += 1;
            continue;
        }
        match ended {
            Ended::TimedOut => return Ok(Outcome::TimedOut(test.name.clone())),
            _ if run(Some(mutant.id))? != Ended::Passed => return Ok(Outcome::Caught(test.name.clone())),
            _ => passed += 1,
        }
    }
    Ok(Outcome::Survived(passed))
}

/// Forgets survivors.
pub(crate) fn again(scratch: &Scratch) -> Result<()> {
    let mut outcomes = scratch.outcomes()?;
    outcomes.retain(|_, outcome| !matches!(outcome, Outcome::Survived(_)));
    scratch.write_outcomes(&outcomes)
}
