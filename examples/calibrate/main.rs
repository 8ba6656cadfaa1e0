//! Measures how often the audit's verdicts are wrong: writes logs under known laws, reads and judges them as `accsim
//! audit` does, and counts.
//!
//! ```console
//! cargo run --release --example calibrate                      # rewrites docs/CALIBRATION.md
//! cargo run --release --example calibrate -- --pooled          # vLLM and ATOM alone: their section of the page
//! cargo run --release --example calibrate -- --only real --verbose # one kind of server, no page
//! cargo run --release --example calibrate -- --audits 200 --check   # what CI runs: no file, exit code 1 beyond a bound
//! ```

// A failed assumption of this program is its end.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stderr)]

mod growing;
mod page;
mod pooled;
mod run;
mod tally;
mod truth;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use rayon::prelude::*;

use run::{Auditor, Load};
use tally::Table;
use truth::{ASKED, Asked, SIZES, Truth};

/// Audits of each truth and size for the published page.
const AUDITS: u32 = 10_000;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (mut audits, mut check, mut verbose, mut only_pooled) = (AUDITS, false, false, false);
    let mut only: Option<String> = None;
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--audits" => audits = arguments.next().and_then(|number| number.parse().ok()).unwrap_or(AUDITS),
            "--check" => check = true,
            "--verbose" => verbose = true,
            "--pooled" => only_pooled = true,
            // The page needs all of it.
            "--only" => (only, check) = (arguments.next(), true),
            other => {
                eprintln!(
                    "calibrate: no argument '{other}'; there are --audits N, --check, --only TRUTH, --pooled and --verbose"
                );
                return ExitCode::from(2);
            }
        }
    }
    let begin = Instant::now();
    let auditor = Auditor::new();
    let mut table = Table::default();
    let is_asked = |truth: &Truth| {
        !only_pooled && only.as_ref().is_none_or(|only| format!("{truth:?}").eq_ignore_ascii_case(only))
    };
    for truth in Truth::ALL.into_iter().filter(is_asked) {
        let asked: Vec<&Asked> = ASKED.iter().filter(|asked| truth.differs(asked)).collect();
        for lines in SIZES {
            let outcomes = (0..audits).into_par_iter().map(|number| {
                // Targets and loads in turn, each pair of them equally often.
                let index = usize::try_from(number).unwrap();
                let load = Load::number(truth, index / asked.len());
                let asked = asked[index % asked.len()];
                (asked.length, load, auditor.audit(truth, asked, load, lines, number))
            });
            let cell = table.cell(truth, lines);
            for (asked, load, outcome) in outcomes.collect::<Vec<_>>() {
                if cell.add(outcome) && verbose {
                    eprintln!("  wrong: {asked} under {load:?}: {outcome:?}");
                }
            }
            eprintln!("{truth:?}, {lines} lines: {}", cell.summary());
        }
    }
    let rows = if only.is_some() { Vec::new() } else { pooled::measure(audits) };
    let grown =
        if only.is_some() || only_pooled { Vec::new() } else { growing::measure(&auditor, audits / 5) };
    let faults =
        [table.beyond_bounds(), growing::beyond_bounds(&grown), pooled::beyond_bounds(&rows)].concat();
    for fault in &faults {
        eprintln!("beyond its bound: {fault}");
    }
    if !check {
        let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "docs", "CALIBRATION.md"].iter().collect();
        let page = if only_pooled {
            page::with_pooled(&std::fs::read_to_string(&path).unwrap(), &rows)
        } else {
            page::page(&table, &grown, &rows, audits)
        };
        std::fs::write(&path, page).unwrap();
    }
    eprintln!("{:.0} s", begin.elapsed().as_secs_f64());
    if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
