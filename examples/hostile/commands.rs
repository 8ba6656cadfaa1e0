//! Which commands a file is given to.

use std::path::Path;

use crate::corpus::{File, Kind};

/// A command line, and what its standard output holds.
pub(crate) struct Command {
    pub(crate) words: Vec<String>,
    pub(crate) output: Output,
}

/// What stands on standard output when something does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// One JSON document.
    Json,
    /// A JSON document a line.
    JsonLines,
    /// Text without a control character but line ends and tabs.
    Text,
}

/// A real log, for commands that take a hostile file beside it.
const LOG: &str = "tests/data/h200/e3k3_al299.log";

/// The commands that read files of this kind, and two that read any file.
pub(crate) fn of(file: &File, path: &Path) -> Vec<Command> {
    let path = path.to_str().unwrap();
    let folder = Path::new(path).parent().unwrap().to_str().unwrap();
    let target = ["--accept-length", "3.51", "--max-accept-length", "6"];
    let mut commands = vec![
        command(Output::Json, &[&["audit", path, "--json"], &target[..]].concat()),
        command(Output::JsonLines, &["records", path, "--kind", "decode,prefill,rejected"]),
    ];
    let mut push = |output, words: &[&str]| commands.push(command(output, words));
    match file.kind {
        Kind::Log | Kind::Packed => {
            push(Output::Text, &[&["audit", path], &target[..]].concat());
            push(Output::Text, &[&["audit", path, "--format", "markdown"], &target[..]].concat());
            push(Output::Json, &["throughput", "predict", path, "--accept-length", "2.0", "--json"]);
            push(Output::Json, &["audit", path, "--expect-real", "--json"]);
        }
        Kind::Yaml => {
            push(Output::Json, &["curves", "check", path, "--json"]);
            push(Output::Text, &["curves", "show", path]);
            push(Output::Json, &["curves", "list", "--json", "--golden-dir", folder]);
            push(Output::Json, &["audit", LOG, "--recipe", path, "--json"]);
            push(Output::Json, &["recipe", "check", path, "--model", "dsv4", "--json"]);
            push(Output::Text, &["recipe", "inject", path, "--framework", "sglang", "--model", "dsv4"]);
        }
        Kind::Json => {
            push(Output::Json, &["throughput", "predict", path, "--accept-length", "2.0", "--json"]);
            push(Output::Json, &["collect", "--before", path, "--after", path, "--json"]);
            push(Output::Json, &["merge", path, "--format", "json"]);
            push(Output::Json, &["recipe", "check", path, "--json"]);
        }
        Kind::Csv => {
            push(
                Output::Json,
                &["throughput", "pareto", path, "--x", "e2e_s", "--y", "tps_per_gpu", "--json"],
            );
            push(Output::Json, &["audit", "--manifest", path, "--json"]);
        }
        Kind::Text => {
            push(Output::Json, &["audit", LOG, "--env", path, "--json"]);
            push(Output::Json, &["recipe", "check", path, "--model", "dsv4", "--json"]);
            push(Output::Json, &["collect", "--before", path, "--after", path, "--json"]);
            push(Output::Json, &["signoff", folder, "--format", "json"]);
            push(Output::Json, &["signoff", folder, "--profile", path, "--format", "json"]);
        }
    }
    commands
}

fn command(output: Output, words: &[&str]) -> Command {
    Command { words: words.iter().map(|word| (*word).to_owned()).collect(), output }
}
