//! Measures how accurate the throughput model is on the logs of `tests/data/h200` and writes `docs/ACCURACY.md`.

mod report;

use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::write(root.join("docs/ACCURACY.md"), report::report(root)?)?;
    Ok(())
}
