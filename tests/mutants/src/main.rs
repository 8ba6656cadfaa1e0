//! Mutation testing of accsim with one build instead of one for each mutant.
//!
//! `cargo mutants --list` says what may be changed. A seeded sample of that is written into one copy of the repository, each
//! mutant behind a switch that an environment variable throws. The tests are built once and run once to learn which of them
//! reach which mutant; then each mutant is thrown, and the tests that reach it run until one fails. `docs/TESTING.md` has
//! the commands and what they found.

mod build;
mod hunt;
mod node;
mod sample;
mod state;
mod suite;
mod table;
mod weave;

use std::env;
use std::path::PathBuf;

use anyhow::{Result, bail};

const USAGE: &str = "usage: accsim-mutants SCRATCH COMMAND...

  weave   list, sample, write the copy into SCRATCH and build its tests; a sample that SCRATCH has stays
  reach   run the tests that are new, with a note of the mutants that each reaches
  hunt    throw each mutant until a test fails; goes on where it was stopped
  again   forget the mutants that survived: the next hunt takes them up
  table   what was found, as Markdown

ACCSIM_SEED (13) and ACCSIM_COUNT (500) change the sample, ACCSIM_JOBS (2) the tests that run at once, and ACCSIM_TARGETS
(--tests) what is built: after a change to unit tests alone, `--lib` is enough.";

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let Some((scratch, commands)) = arguments.split_first().filter(|(_, commands)| !commands.is_empty())
    else {
        bail!("{USAGE}")
    };
    let scratch = state::Scratch::new(PathBuf::from(scratch))?;
    for command in commands {
        match command.as_str() {
            "weave" => {
                let repository =
                    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).canonicalize()?;
                let (seed, count) = (number("ACCSIM_SEED", 13)?, number("ACCSIM_COUNT", 500)?);
                let earlier = scratch.mutants().unwrap_or_default();
                let mutants = sample::sample(&repository, seed, count, &earlier)?;
                build::build(&scratch, &repository, mutants)?;
            }
            "reach" => suite::reach(&scratch, jobs()?)?,
            "hunt" => hunt::hunt(&scratch, jobs()?)?,
            "again" => hunt::again(&scratch)?,
            "table" => table::print(&scratch)?,
            _ => bail!("{USAGE}"),
        }
    }
    Ok(())
}

fn jobs() -> Result<usize> {
    Ok(usize::try_from(number("ACCSIM_JOBS", 2)?)?.max(1))
}

fn number(variable: &str, otherwise: u64) -> Result<u64> {
    match env::var(variable) {
        Ok(text) => Ok(text.parse()?),
        Err(_) => Ok(otherwise),
    }
}
