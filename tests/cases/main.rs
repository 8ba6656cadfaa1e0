//! The worked cases of the folder beside the repository, run through the program. Without the folder nothing runs.

// Helpers outside `#[test]` functions may do what tests may do: a failed assumption is a failed test.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod expectation;
mod runner;
#[path = "../common/schema.rs"]
mod schema;

use runner::Suite;

/// The one case whose command is not accsim alone: it writes a log of gigabytes first; `benches/` does that.
const ELSEWHERE: &str = "80_huge_log_recipe.sh";

#[test]
fn every_case_passes() {
    let Some(suite) = Suite::open() else { return };
    let failures: Vec<String> = suite
        .cases()
        .filter(|(name, _)| *name != ELSEWHERE)
        .flat_map(|(name, case)| suite.run(name, case))
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
