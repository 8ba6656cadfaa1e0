//! Job one, as a library: a golden accept length, and the settings with which an engine version holds it.
//!
//! `cargo run --example recipe`

use std::error::Error;

use accsim::engine::{Drafter, Engine, Server, settings};
use accsim::golden::{Catalogue, Query};

fn main() -> Result<(), Box<dyn Error>> {
    use std::io::Write as _;

    let mut out = std::io::stdout().lock();
    for line in lines()? {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn lines() -> Result<Vec<String>, Box<dyn Error>> {
    let catalogue = Catalogue::builtin();
    let target = catalogue.lookup(&Query::new("dsv41flash", "dspark", 5))?.target;
    let mut lines = vec![format!("golden: {} tokens a verify step", target.accept_length())];

    let server = Server::new(Engine::Sglang).version("0.5.16".parse()?).drafter(Drafter::DSpark);
    let told = settings(&server, &target)?;
    for setting in &told.settings {
        lines.push(format!("{}={}", setting.name, setting.value.text()));
    }
    for warning in &told.warnings {
        lines.push(format!("warning: {}", warning.code.name()));
    }
    Ok(lines)
}

#[test]
fn the_example_says_this() {
    assert_eq!(
        lines().unwrap(),
        [
            "golden: 3.51 tokens a verify step",
            "SGLANG_SIMULATE_ACC_LEN=3.51",
            "SGLANG_SIMULATE_ACC_METHOD=match-expected",
            "SGLANG_SIMULATE_ACC_TOKEN_MODE=real-draft-token",
            "warning: dspark-rounds-target",
            "warning: token-mode-unsupported",
        ]
    );
}
