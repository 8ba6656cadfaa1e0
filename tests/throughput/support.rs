//! The server of the model's description, and logs of it.

use std::path::{Path, PathBuf};

use accsim::evidence::{Limits, Reader};
use accsim::law::{AcceptanceLaw, Setting};
use accsim::simulate::log::LocalTime;
use accsim::throughput::sim::{LogWriter, Server, Traffic, simulate_logged};
use accsim::throughput::{CalibrateError, Lengths, Model, Observer, Options, PrefillLaw, StepLaw, calibrate};
use snapbox::cmd::{Command, OutputAssert};

/// Worked constants: a 12 ms, b 6 us, c 20 ns, p1 20 us.
pub(crate) fn step() -> StepLaw {
    StepLaw { a_s: 0.012, b_s: 6e-6, c_s: 2e-8, ..StepLaw::default() }
}

pub(crate) fn prefill() -> PrefillLaw {
    PrefillLaw { p0_s: 0.0, p1_s: 2e-5 }
}

pub(crate) fn law(accept_length: f64, drafts: u32) -> AcceptanceLaw {
    AcceptanceLaw::match_expected(Setting::new(accept_length, drafts + 1).unwrap())
}

pub(crate) fn server(drafts: u32, accept_length: f64) -> Server {
    Server::new(step(), prefill(), drafts, law(accept_length, drafts))
}

pub(crate) fn lengths(text: &str) -> Lengths {
    text.parse().unwrap()
}

/// The log of a simulated server.
pub(crate) fn log(server: &Server, traffic: &Traffic, seed: u64) -> Vec<u8> {
    let mut text = Vec::new();
    let start: LocalTime = "2026-10-12T01:02:03".parse().unwrap();
    let mut writer = LogWriter::new(server, 40, start, &mut text);
    simulate_logged(server, traffic, seed, 0, 40, &mut |event| writer.event(event)).unwrap();
    writer.finish().unwrap();
    text
}

/// Calibrates on logs, each a run of its own.
pub(crate) fn calibrated(logs: &[Vec<u8>]) -> Result<Model, CalibrateError> {
    calibrated_with(logs, &Options::default())
}

pub(crate) fn calibrated_with(logs: &[Vec<u8>], options: &Options) -> Result<Model, CalibrateError> {
    let mut observer = Observer::new(None);
    for (number, log) in logs.iter().enumerate() {
        observer.begin(&format!("log {number}"));
        let mut reader = Reader::new(Limits::default());
        let errors =
            reader.read_stream("memory", &mut &log[..], &mut |place, record| observer.record(place, record));
        assert!(errors.is_empty());
    }
    calibrate(&observer.finish().unwrap(), options)
}

pub(crate) fn h200(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/h200").join(name)
}

pub(crate) fn near(found: f64, expected: f64, share: f64) {
    assert!((found / expected - 1.0).abs() <= share, "{found} is not within {share} of {expected}");
}

pub(crate) fn run(args: &[&str]) -> OutputAssert {
    Command::new(env!("CARGO_BIN_EXE_accsim")).args(args).env("NO_COLOR", "1").assert()
}

pub(crate) fn stdout(args: &[&str]) -> String {
    String::from_utf8(run(args).success().get_output().stdout.clone()).unwrap()
}

pub(crate) fn json(args: &[&str]) -> serde_json::Value {
    let document: serde_json::Value = serde_json::from_str(&stdout(args)).unwrap();
    assert_eq!(document["schema_version"], 1);
    document
}
