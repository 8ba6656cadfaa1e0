//! Parts of points whose evidence comes as sums: the lines of vLLM, ATOM and TensorRT-LLM, counters and requests.

use std::fs;
use std::path::Path;

use super::{TARGET, accsim, code, json, text, write};

const COUNTERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/counters");

/// The parts of all files of `run`, each for itself, merged in some orders, against one pass over the folder.
fn compare(folder: &Path, target: &str) {
    let one = json(&accsim(folder, &format!("audit run {target} --json")));
    let mut names: Vec<String> = fs::read_dir(folder.join("run"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let mut parts = Vec::new();
    for (number, name) in names.iter().enumerate() {
        let line = format!("audit run/{name} --partial --point run {target} -o p{number}.json");
        let output = accsim(folder, &line);
        assert_eq!(code(&output), 0, "{}", text(&output.stderr));
        let size = fs::metadata(folder.join(format!("p{number}.json"))).unwrap().len();
        assert!(size < 64 << 10, "{name}: {size}");
        parts.push(format!("p{number}.json"));
    }
    let whole = accsim(folder, &format!("audit run --partial {target} -o whole.json"));
    assert_eq!(code(&whole), 0, "{}", text(&whole.stderr));
    let forth = parts.join(" ");
    parts.reverse();
    let back = parts.join(" ");
    let nested = accsim(folder, &format!("merge {back} --partial -o nested.json"));
    assert_eq!(code(&nested), 0, "{}", text(&nested.stderr));
    for given in [forth.as_str(), back.as_str(), "whole.json", "nested.json p0.json whole.json"] {
        assert_eq!(
            json(&accsim(folder, &format!("merge {given} --json"))),
            one,
            "{names:?} {target} {given}"
        );
    }
}

fn folder_of(files: &[(&str, String)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("run")).unwrap();
    for (name, content) in files {
        write(folder.path(), &format!("run/{name}"), content);
    }
    folder
}

fn simulated(flags: &str, seed: u64) -> String {
    let folder = tempfile::tempdir().unwrap();
    let line = format!("simulate {TARGET} {flags} --lines 120 --seed {seed} --emit-log log");
    let output = accsim(folder.path(), &line);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    fs::read_to_string(folder.path().join("log")).unwrap()
}

#[test]
fn windows_of_other_engines_merge_to_one_pass() {
    for engine in ["vllm", "vllm --engine-version 0.9.2", "atom"] {
        let flags = format!("--engine {engine}");
        let (first, second) = (simulated(&flags, 1), simulated(&flags, 2));
        // A copy of some lines under another name, too.
        let copy: String = first.lines().skip(20).take(30).map(|line| format!("{line}\n")).collect();
        let folder = folder_of(&[("a.log", first), ("b.log", second), ("c.log", copy)]);
        for target in [TARGET, "", "--accept-length 2.5 --max-accept-length 6", "--expect-real"] {
            compare(folder.path(), target);
        }
    }
}

#[test]
fn a_named_engine_is_named_to_the_merge_too() {
    let folder = folder_of(&[("a.log", simulated("--engine vllm", 1)), ("b.log", simulated("", 2))]);
    for engine in ["auto", "vllm", "sglang", "atom"] {
        compare(folder.path(), &format!("{TARGET} --engine {engine}"));
    }
}

#[test]
fn counters_and_requests_merge_to_one_pass() {
    let file = |name: &str| (name.to_owned(), fs::read_to_string(Path::new(COUNTERS).join(name)).unwrap());
    for names in [
        &["vllm_before.prom", "vllm_after.prom"][..],
        &["atom_before.prom", "atom_after.prom", "atom_mtp_stats.json"],
        &["trtllm_before.prom", "trtllm_after.prom", "trtllm_metrics.json"],
        &["aiperf_server_metrics.json"],
        &["aiperf_server_metrics.jsonl"],
        &["sglang.prom", "sglang_requests.jsonl", "sglang_server_info.json"],
        &["vllm_request.json", "vllm_contradiction.prom", "vllm_restarted.prom"],
    ] {
        let files: Vec<(String, String)> = names.iter().map(|name| file(name)).collect();
        let files: Vec<(&str, String)> =
            files.iter().map(|(name, content)| (name.as_str(), content.clone())).collect();
        let folder = folder_of(&files);
        compare(folder.path(), TARGET);
    }
}

/// What is no server's log is known for that from its part too.
#[test]
fn a_stray_file_is_named_by_its_part() {
    let stray = "draft acceptance = 0.57576 (  171 accepted /   297 generated)\n".repeat(3);
    let folder = folder_of(&[("a.log", stray)]);
    compare(folder.path(), TARGET);
}

/// More windows than a part keeps: the verdict of one pass stands for its own logs, and for no others.
#[test]
fn too_many_windows_are_judged_where_they_are() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("run")).unwrap();
    for (name, lines, seed) in [("a.log", 4000, 1), ("b.log", 50, 2)] {
        let line =
            format!("simulate {TARGET} --engine vllm --lines {lines} --seed {seed} --emit-log run/{name}");
        assert_eq!(code(&accsim(folder.path(), &line)), 0);
    }
    let one = json(&accsim(folder.path(), &format!("audit run {TARGET} --json")));
    let parts = [("run", "run"), ("run/a.log", "a"), ("run/b.log", "b")];
    for (path, name) in parts {
        let line = format!("audit {path} --partial --point run {TARGET} -o {name}.json");
        let output = accsim(folder.path(), &line);
        assert_eq!(code(&output), 0, "{}", text(&output.stderr));
        assert!(fs::metadata(folder.path().join(format!("{name}.json"))).unwrap().len() < 64 << 10);
    }
    for given in ["run.json", "b.json run.json a.json"] {
        let found = json(&accsim(folder.path(), &format!("merge {given} --json")));
        assert_eq!(found["points"][0]["verdict"], one["points"][0]["verdict"], "{given}");
        for same in ["accept_len", "pooled", "spec_lines", "findings", "mechanism"] {
            assert_eq!(found["points"][0][same], one["points"][0][same], "{given} {same}");
        }
    }
    // A part that nobody can judge is named, be it written or read; it may find its verdict again.
    let lost = accsim(folder.path(), "merge a.json b.json --partial -o lost.json");
    assert_eq!(code(&lost), 2);
    assert!(text(&lost.stderr).contains("run/a.log holds more windows"), "{}", text(&lost.stderr));
    let again = json(&accsim(folder.path(), "merge lost.json run.json --json"));
    assert_eq!(again["points"][0]["accept_len"], one["points"][0]["accept_len"]);
    let kept = accsim(folder.path(), "merge run.json b.json --partial -o kept.json");
    assert_eq!((code(&kept), text(&kept.stderr).as_str()), (0, ""));
    let apart = accsim(folder.path(), "merge a.json b.json");
    assert!(!text(&apart.stderr).contains("first lines and sums"), "{}", text(&apart.stderr));
    let apart = accsim(folder.path(), "merge a.json b.json --json");
    assert_eq!(code(&apart), 2);
    assert!(
        text(&apart.stderr).contains("more windows, counters, requests or ranks"),
        "{}",
        text(&apart.stderr)
    );
}
