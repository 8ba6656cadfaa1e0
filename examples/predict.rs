//! Beyond one run, as a library: tokens a second of the same server at other accept lengths.
//!
//! `cargo run --example predict`

use std::error::Error;
use std::path::Path;

use accsim::evidence::{Input, Limits, Reader};
use accsim::throughput::{Observer, Options, Prediction, Question, calibrate, predict};

const LOG: &str = "tests/data/h200/e3k3_al299.log";

fn main() -> Result<(), Box<dyn Error>> {
    use std::io::Write as _;

    let mut out = std::io::stdout().lock();
    for found in predictions(Path::new(LOG), &[2.0, 2.75, 2.99])? {
        let length = found.question.accept_length;
        let (low, high) = found.band;
        writeln!(
            out,
            "{length:.2}: {:.0} tokens/s ({low:.0} to {high:.0}), {}",
            found.tps,
            found.basis.name()
        )?;
    }
    Ok(())
}

fn predictions(log: &Path, lengths: &[f64]) -> Result<Vec<Prediction>, Box<dyn Error>> {
    let mut observer = Observer::new(None);
    observer.begin(&log.to_string_lossy());
    let mut reader = Reader::new(Limits::default());
    let errors = reader.read(&Input::from(log), &mut |place, record| observer.record(place, record));
    if let Some(error) = errors.into_iter().next() {
        return Err(error.into());
    }
    let model = calibrate(&observer.finish()?, &Options::default())?;
    let ask = |accept_length: &f64| predict(&model, &Question::running(*accept_length, Some(3), 16));
    Ok(lengths.iter().map(ask).collect::<Result<_, _>>()?)
}

#[test]
fn the_example_predicts_by_the_ratio_of_lengths() {
    let found = predictions(Path::new(LOG), &[2.0, 2.75, 2.99]).unwrap();
    let bases: Vec<_> = found.iter().map(|one| one.basis.name()).collect();
    assert_eq!(bases, ["ratio", "ratio", "measured"]);
    assert!(found.iter().all(|one| one.band.0 < one.tps && one.tps < one.band.1));
    assert!(found.is_sorted_by(|one, next| one.tps < next.tps));
}
