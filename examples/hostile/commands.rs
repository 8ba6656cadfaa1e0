//! Which commands a file is given to.

use std::path::Path;

use crate::format::Format;

/// A command line, and what its standard output holds.
pub(crate) struct Command {
    /// As the table calls it: the words that name the command.
    pub(crate) name: &'static str,
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
    /// Rows that all have as many cells.
    Csv,
    /// One XML document.
    Xml,
    /// A page without a script but its own.
    Html,
    /// Text without a control character but line ends and tabs.
    Text,
}

/// A real log, for commands that take a hostile file beside it.
const LOG: &str = "tests/data/h200/e3k3_al299.log";

/// A real curve and a real model, for the same.
const CURVE: &str = "golden_al/glm5.2_mtp.yaml";
const MODEL: &str = "tests/data/throughput/h200_k3_k5.json";

const TARGET: &str = "--accept-length 3.51 --max-accept-length 6";

/// Reports of an audit; each file gets one of them.
const REPORTS: [(Output, &str); 5] = [
    (Output::Text, "text"),
    (Output::Text, "markdown"),
    (Output::Html, "html"),
    (Output::Xml, "junit"),
    (Output::Csv, "csv"),
];

/// The commands that read files of this format, and two that read any file. In a line FILE stands for the file, FOLDER for
/// the one that it lies in.
#[expect(clippy::too_many_lines, reason = "one format after the other")]
pub(crate) fn of(format: Format, path: &Path, number: usize) -> Vec<Command> {
    let (report, form) = REPORTS[number % REPORTS.len()];
    let audit = format!("FILE {TARGET} --format {form}");
    let mut lines = vec![
        (Output::Json, "audit", format!("FILE {TARGET} --json")),
        (
            Output::JsonLines,
            "records",
            "FILE --kind decode,prefill,setting,rejected,spec,engine,iter,interval".to_owned(),
        ),
    ];
    let mut add = |output, name, rest: &str| lines.push((output, name, rest.to_owned()));
    match format {
        Format::Sglang | Format::Vllm | Format::Trtllm | Format::Atom | Format::Packed => {
            add(report, "audit", &audit);
            add(Output::Json, "audit", "FILE --expect-real --json");
            add(Output::Csv, "records", "FILE --format csv");
            add(Output::Json, "throughput calibrate", "FILE --json");
            add(Output::Json, "throughput predict", "FILE --accept-length 2.0 --json");
            add(Output::Json, "signoff", "FOLDER --format json");
            add(Output::Text, "signoff launch-diff", &format!("FILE {LOG}"));
        }
        Format::Counters | Format::Export | Format::Parquet => {
            add(report, "audit", &audit);
            add(Output::Json, "audit", &format!("{LOG} FILE {TARGET} --json"));
            add(Output::Json, "collect", "--before FILE --after FILE --json");
            add(Output::Json, "signoff", "FOLDER --format json");
        }
        Format::Curve => {
            add(Output::Json, "curves check", "FILE --json");
            add(Output::Text, "curves show", "FILE");
            add(Output::Text, "curves plot", "FILE");
            add(Output::Json, "curves diff", &format!("FILE {CURVE} --json"));
            add(Output::Json, "curves list", "--json --golden-dir FOLDER");
            add(
                Output::Json,
                "audit",
                &format!("{LOG} --model glm5.2 --method mtp --draft-length 3 --json --golden-dir FOLDER"),
            );
        }
        Format::Recipe | Format::Launcher => {
            add(Output::Json, "recipe check", "FILE --model dsv4 --json --no-config");
            add(Output::Json, "recipe check", "FILE --model glm5.2 --format sarif --no-config");
            add(Output::Text, "recipe inject", "FILE --framework sglang --model dsv4");
            add(Output::Text, "recipe inject", "FILE --framework vllm --model glm5.2 --overrides");
            add(Output::Json, "audit", &format!("{LOG} --recipe FILE --json"));
            add(Output::Json, "simulate", "--recipe FILE --json");
            add(Output::Text, "signoff launch-diff", &format!("FILE {LOG}"));
        }
        Format::Settings => {
            add(Output::Json, "audit", &format!("{LOG} --env FILE --json"));
            add(Output::Json, "simulate", "--env FILE --json");
            add(Output::Json, "recipe check", "FILE --model dsv4 --json --no-config");
            add(Output::Json, "signoff", "FOLDER --format json");
        }
        Format::Manifest => {
            add(Output::Json, "audit --manifest", "--manifest FILE --json");
            add(Output::Csv, "audit --manifest", "--manifest FILE --format csv");
        }
        Format::Journal => {
            let manifest = "--manifest FOLDER/../../seeds/manifest/runs.csv --journal FILE";
            add(Output::Json, "audit --manifest", &format!("{manifest} --json"));
            add(Output::Csv, "audit --manifest", &format!("{manifest} --format csv"));
        }
        Format::Part => {
            add(Output::Json, "merge", "FILE --json");
            add(Output::Json, "merge", "FILE FILE --partial");
            add(report, "merge", &format!("FILE --format {form}"));
        }
        Format::Model => {
            add(Output::Json, "throughput predict", "FILE --accept-length 2.0,3.5 --json");
            add(
                Output::Json,
                "throughput simulate",
                "FILE --accept-length 2 --draft-length 3 --concurrency 4 --isl 64 --osl 64 --duration 5 --json",
            );
            add(
                Output::Csv,
                "throughput sweep",
                "FILE --curve glm5.2_mtp --duration 2 --replicates 1 --concurrency 1 --format csv",
            );
            add(Output::Json, "throughput calibrate", &format!("{LOG} --client FILE --json"));
        }
        Format::Table => {
            add(Output::Json, "throughput pareto", "FILE --x e2e_p90_s --y tps_per_gpu --json");
            add(Output::Csv, "throughput pareto", "FILE --x e2e_p90_s --y tps_per_gpu --format csv");
            add(Output::Xml, "throughput pareto", "FILE --x e2e_p90_s --y tps_per_gpu --format svg");
            add(
                Output::Json,
                "throughput simulate",
                &format!("{MODEL} --accept-length 2 --draft-length 3 --trace FILE --json"),
            );
            add(Output::Json, "audit --manifest", "--manifest FILE --json");
        }
        Format::Profile => {
            add(Output::Json, "signoff", "FOLDER --profile FILE --format json");
            add(Output::Json, "recipe check", "tests/data/recipes --config FILE --json");
            add(Output::Json, "signoff launch-diff", &format!("{LOG} {LOG} --profile FILE --json"));
        }
    }
    let file = path.to_str().unwrap();
    let folder = path.parent().unwrap().to_str().unwrap();
    let command = |(output, name, rest): (Output, &'static str, String)| {
        let words = name.split(' ').take_while(|word| !word.starts_with('-')).chain(rest.split(' '));
        let words = words.map(|word| word.replace("FILE", file).replace("FOLDER", folder)).collect();
        Command { name, words, output }
    };
    lines.into_iter().map(command).collect()
}
