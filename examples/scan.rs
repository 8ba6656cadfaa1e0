//! Reads logs as an audit does, on one thread, and adds nothing up: what is left of an audit's time is its statistics.
//! `benches/anchors.sh` times it.
//!
//! ```console
//! $ cargo run --release --example scan -- decode.log
//! ```

use std::error::Error;
use std::io::Write;
use std::path::Path;

use accsim::evidence::{Batch, Input, Part, Place, Reader, Record, RecordSink};

/// Counts decode lines.
#[derive(Default)]
struct Lines(usize);

impl RecordSink for Lines {
    fn begin(&mut self, _file: u32, _name: &str, _input: &str) {}

    fn record(&mut self, _place: Place, record: &Record<'_>) {
        self.0 += usize::from(matches!(record, Record::Decode(_)));
    }

    fn batch(&mut self, batch: &Batch<'_>) {
        batch.parts(&mut |part| {
            if let Part::Decodes(lines) = part {
                self.0 += lines.len();
            }
        });
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let inputs: Vec<Input> = std::env::args().skip(1).map(|path| Input::from(Path::new(&path))).collect();
    let mut lines = Lines::default();
    let errors = Reader::default().read_into(&inputs, &mut lines);
    writeln!(std::io::stdout(), "{} decode lines", lines.0)?;
    match errors.into_iter().next() {
        Some(error) => Err(error.to_string().into()),
        None => Ok(()),
    }
}
