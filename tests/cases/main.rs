//! The worked cases of the folder beside the repository, run through the program. Without the folder nothing runs.

// Helpers outside `#[test]` functions may do what tests may do: a failed assumption is a failed test.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod expectation;
mod runner;
#[path = "../common/schema.rs"]
mod schema;

use runner::Suite;

/// Cases that the program should pass by now, by the number in front of their file's name.
const CASES: &[&str] = &["01", "02", "03", "04", "05", "08", "09", "10", "11", "13", "14", "17", "18", "21", "22", "24", "25", "26", "33", "36", "44", "46", "47", "48", "49", "53", "55", "58", "59", "61", "63", "64", "66", "68", "73", "74", "75"];

/// Subcommands that exist by now; a case's further commands (`more`) with another one are left out.
const COMMANDS: &[&str] = &["audit", "curves", "env"];

#[test]
fn the_listed_cases_pass() {
    let Some(suite) = Suite::open(COMMANDS) else { return };
    let failures: Vec<String> = CASES.iter().flat_map(|case| suite.run(case)).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
