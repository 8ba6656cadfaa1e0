//! The worked cases of the folder beside the repository, run through the program. Without the folder nothing runs.

// Helpers outside `#[test]` functions may do what tests may do: a failed assumption is a failed test.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod expectation;
mod runner;
#[path = "../common/schema.rs"]
mod schema;

use runner::Suite;

/// Cases that the program should pass by now, by the number in front of their file's name.
const CASES: &[&str] = &[
    "01", "02", "03", "04", "05", "08", "09", "10", "11", "13", "14", "17", "18", "20", "21", "22", "24",
    "25", "26", "28", "30", "32", "39", "40", "42", "51", "54", "56", "58", "59", "61", "63", "64", "66",
    "68", "71", "75", "76", "78",
];

/// Subcommands that exist by now; a case's further commands (`more`) with another one are left out.
const COMMANDS: &[&str] = &["audit", "curves", "env", "recipe", "simulate"];

#[test]
fn the_listed_cases_pass() {
    let Some(suite) = Suite::open(COMMANDS) else { return };
    let failures: Vec<String> = CASES.iter().flat_map(|case| suite.run(case)).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
