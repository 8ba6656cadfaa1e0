//! Job two, as a library: does a server's log show the accept length that it was to show?
//!
//! `cargo run --example signoff -- tests/data/h200/e3k3_al299.log`

use std::error::Error;
use std::path::Path;

use accsim::audit::{Options, PointBuilder, PointReport, RivalCell, judge};
use accsim::evidence::{Input, Limits, Reader};
use accsim::golden::{Catalogue, Query};
use accsim::replay::ReplayOptions;

const LOG: &str = "tests/data/h200/e3k3_al299.log";

fn main() -> Result<(), Box<dyn Error>> {
    use std::io::Write as _;

    let log = std::env::args_os().nth(1).unwrap_or_else(|| LOG.into());
    let report = audit(Path::new(&log))?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}: {}", report.name, report.verdict)?;
    if let Some(seen) = &report.accept_len {
        writeln!(out, "mean {:.3} over {} verify steps", seen.mean, report.steps)?;
    }
    for finding in &report.findings {
        writeln!(out, "{} {}: {}", finding.severity, finding.code, finding.message)?;
    }
    Ok(())
}

fn audit(log: &Path) -> Result<PointReport, Box<dyn Error>> {
    let catalogue = Catalogue::builtin();
    let target = catalogue.lookup(&Query::new("glm5.2", "mtp", 3))?.target;
    // Other golden cells that the server may have been given by mistake.
    let options = Options { cells: RivalCell::all(&catalogue).collect(), ..Options::default() };

    // With replay the lines are laid against the server's own draws, where the log names its seed.
    let mut point = PointBuilder::new(log.to_string_lossy()).with_replay(ReplayOptions::default());
    let mut reader = Reader::new(Limits::default());
    let errors = reader.read(&Input::from(log), &mut |place, record| point.add(place, record));
    // Half a log must not pass for a whole one.
    if let Some(error) = errors.into_iter().next() {
        return Err(error.into());
    }
    Ok(judge(&point.finish(), Some(&target), &options))
}

#[test]
fn the_example_signs_the_log_off() {
    use accsim::audit::Verdict;

    let report = audit(Path::new(LOG)).unwrap();
    assert_eq!((report.verdict, report.steps), (Verdict::Consistent, 3440));
    assert_eq!(audit(Path::new("tests/data/h200/e3k5_al351.log")).unwrap().verdict, Verdict::Inconsistent);
    assert!(audit(Path::new("nowhere.log")).is_err());
}
