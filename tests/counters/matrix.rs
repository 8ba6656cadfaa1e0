//! `collect --matrix`: a curve from a folder.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use accsim::cli::Exit;

use super::support::{Ran, accsim, text_of};

const ABOUT: &str = "\
model: deepseek-v4.1-flash
method: dspark
draft_sample_method: probabilistic
image: \"vllm:nightly\"
dataset: \"SPEED-Bench Qualitative, coding\"
output_len: 4096
measured_on: \"deepseek-v4.1-flash, B300, vLLM DSpark\"
sampling:
  all: {temperature: 1.0, top_p: 0.95}
  thinking_off: {temperature: 0.6}
chat_template_kwargs:
  thinking_on: {thinking: true}
source:
  repository: example/benchmarks
  commit: 0123abcd
  where: main
  source_run: \"https://example.org/runs/42\"
";

/// A scrape after `drafts` steps in which every place was accepted as often as `accepted_at` says.
fn scrape(drafts: u64, accepted_at: &[u64]) -> String {
    let mut text = "# TYPE vllm:spec_decode_num_drafts counter\n".to_owned();
    let length = u64::try_from(accepted_at.len()).unwrap();
    let accepted: u64 = accepted_at.iter().sum();
    for (name, value) in
        [("num_drafts", drafts), ("num_draft_tokens", drafts * length), ("num_accepted_tokens", accepted)]
    {
        writeln!(text, "vllm:spec_decode_{name}_total{{model_name=\"m\"}} {value}.0").unwrap();
    }
    for (place, accepted) in accepted_at.iter().enumerate() {
        writeln!(
            text,
            "vllm:spec_decode_num_accepted_tokens_per_pos_total{{model_name=\"m\",position=\"{place}\"}} {accepted}"
        )
        .unwrap();
    }
    text
}

fn cell(folder: &Path, name: &str, drafts: u64, accepted_at: &[u64]) {
    let cell = folder.join(name);
    fs::create_dir_all(&cell).unwrap();
    fs::write(cell.join("before.prom"), scrape(0, &vec![0; accepted_at.len()])).unwrap();
    fs::write(cell.join("after.prom"), scrape(drafts, accepted_at)).unwrap();
}

/// Two modes with two draft lengths.
fn matrix() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::write(root.join("matrix.yaml"), ABOUT).unwrap();
    cell(root, "thinking_on/k1", 1000, &[806]);
    cell(root, "thinking_on/k3", 1000, &[800, 600, 449]);
    cell(root, "thinking_off/k1", 1000, &[850]);
    cell(root, "thinking_off/k3", 1000, &[850, 700, 502]);
    folder
}

fn collect(folder: &Path, file: &Path) -> Ran {
    accsim(&["collect", "--matrix", folder.to_str().unwrap(), "-o", file.to_str().unwrap()])
}

#[test]
fn one_scrape_for_two_cells_is_refused() {
    let (folder, out) = (matrix(), tempfile::tempdir().unwrap());
    cell(folder.path(), "thinking_off/k3", 1000, &[800, 600, 449]);
    let ran = collect(folder.path(), &out.path().join("curve.yaml"));
    assert_ne!(ran.exit, Exit::Ok);
    assert!(ran.err.contains("is the same as that of thinking_on"), "{}", ran.err);
    assert!(!out.path().join("curve.yaml").exists());
}

#[test]
fn a_curve_and_its_provenance_that_pass_the_check() {
    let (folder, out) = (matrix(), tempfile::tempdir().unwrap());
    let file = out.path().join("dsv41flash_dspark.yaml");
    let ran = collect(folder.path(), &file);
    assert_eq!(ran.exit, Exit::Ok, "{}", ran.err);
    let text = text_of(&file);
    assert!(text.ends_with(
        "deepseek-v4.1-flash:\n  thinking_on:\n    1: 1.81\n    3: 2.85\n  thinking_off:\n    1: 1.85\n    3: 3.05\n"
    ), "{text}");
    assert!(text.starts_with("# Source GitHub Actions run: https://example.org/runs/42\n"));
    assert!(
        text.contains("# thinking_on k=3: AR=0.6163; accepted=1849; proposed=3000; drafts=1000\n"),
        "{text}"
    );
    let checked = accsim(&["curves", "check", out.path().to_str().unwrap(), "--json"]);
    assert_eq!(checked.exit, Exit::Ok);
    let document = checked.json();
    let grave: Vec<_> = document["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["severity"] != "note")
        .collect();
    assert!(grave.is_empty(), "{grave:?}");
    let golden = out.path().to_str().unwrap();
    let looked = accsim(&["--golden-dir", golden, "curves", "lookup", "dsv41flash", "dspark", "3"]);
    assert_eq!(looked.out, b"2.85\n", "{}", looked.err);
    let provenance = text_of(&out.path().join("provenance/dsv41flash_dspark.yaml"));
    for words in
        ["status: committed", "method: dspark", "where: main", "output_len: 4096", "independent: false"]
    {
        assert!(provenance.contains(words), "{words}: {provenance}");
    }
}

/// What `spoil` makes of the folder is refused with `words`, and no file is left.
fn refused(spoil: impl FnOnce(&Path), words: &str) {
    let (folder, out) = (matrix(), tempfile::tempdir().unwrap());
    spoil(folder.path());
    let ran = collect(folder.path(), &out.path().join("x_mtp.yaml"));
    assert_eq!(ran.exit, Exit::Failed, "{words}");
    assert!(ran.err.contains(words), "{words}: {}", ran.err);
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 0, "{words}");
}

#[test]
fn a_missing_cell_is_refused() {
    refused(
        |root| fs::remove_dir_all(root.join("thinking_off/k3")).unwrap(),
        "thinking_off has no snapshots for the draft length 3",
    );
    refused(|root| fs::remove_file(root.join("thinking_on/k1/after.prom")).unwrap(), "found 0");
    refused(
        |root| {
            let cells = "cells: {thinking_on: [1, 2, 3], thinking_off: [1, 3]}\n";
            fs::write(root.join("matrix.yaml"), format!("{ABOUT}{cells}")).unwrap();
        },
        "thinking_on has no snapshots for the draft length 2",
    );
    refused(
        |root| {
            let cells = "cells: {thinking_on: [1, 3], thinking_off: [1]}\n";
            fs::write(root.join("matrix.yaml"), format!("{ABOUT}{cells}")).unwrap();
        },
        "does not name",
    );
}

#[test]
fn a_counter_that_went_backwards_is_refused() {
    refused(
        |root| fs::write(root.join("thinking_on/k1/before.prom"), scrape(2000, &[1600])).unwrap(),
        "went backwards",
    );
}

#[test]
fn positions_that_contradict_the_total_are_refused() {
    refused(
        |root| {
            let text = scrape(1000, &[800, 600, 449]).replace("position=\"1\"} 600", "position=\"1\"} 601");
            fs::write(root.join("thinking_on/k3/after.prom"), text).unwrap();
        },
        "thinking_on, draft length 3: the counters contradict each other",
    );
}

#[test]
fn a_folder_of_another_draft_length_is_refused() {
    refused(|root| cell(root, "thinking_on/k3", 1000, &[800, 600, 400, 300]), "no draft length of 3");
    refused(|root| cell(root, "thinking_on/k3", 1000, &[800, 600]), "no draft length of 3");
}

/// A curve is of judged drafts, of enough steps, of one model, and of the modes that there are.
#[test]
fn what_is_no_golden_measurement_is_refused() {
    for accepted_at in [[1000, 510, 0], [1000, 1000, 510], [840, 830, 0]] {
        refused(|root| cell(root, "thinking_on/k3", 1000, &accepted_at), "simulated acceptance");
    }
    refused(|root| cell(root, "thinking_on/k1", 4, &[3]), "4 verify steps are too few");
    refused(
        |root| fs::create_dir(root.join("thinking-on")).unwrap(),
        "expected a folder named thinking_on or",
    );
    refused(
        |root| {
            for file in ["before.prom", "after.prom"] {
                let path = root.join("thinking_off/k3").join(file);
                let text = text_of(&path).replace("model_name=\"m\"", "model_name=\"other\"");
                fs::write(path, text).unwrap();
            }
        },
        "the served model is other, and m in the cells before",
    );
}

#[test]
fn what_is_no_cell_or_no_description_is_refused() {
    refused(|root| fs::create_dir(root.join("thinking_on/five")).unwrap(), "expected a folder named k");
    refused(|root| fs::remove_file(root.join("matrix.yaml")).unwrap(), "matrix.yaml");
    refused(|root| fs::write(root.join("matrix.yaml"), format!("{ABOUT}colour: red\n")).unwrap(), "colour");
    refused(
        |root| fs::write(root.join("matrix.yaml"), ABOUT.replace("vllm:nightly", "a\\nb")).unwrap(),
        "image holds a line break",
    );
    refused(
        |root| {
            fs::remove_dir_all(root.join("thinking_on")).unwrap();
            fs::remove_dir_all(root.join("thinking_off")).unwrap();
        },
        "expected folders thinking_on",
    );
}

#[test]
fn a_name_that_no_lookup_finds_is_refused() {
    let (folder, out) = (matrix(), tempfile::tempdir().unwrap());
    for name in ["Upper.yaml", "x_mtp.yml", "x mtp.yaml"] {
        let ran = collect(folder.path(), &out.path().join(name));
        assert_eq!(ran.exit, Exit::Failed, "{name}");
        assert_eq!(fs::read_dir(out.path()).unwrap().count(), 0, "{name}");
    }
}
