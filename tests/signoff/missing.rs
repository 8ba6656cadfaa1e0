//! What is missing makes its items undecidable, and says what would decide them.

use crate::support::{FLAGS, Folder, item, statuses};

/// Takes something away from the run that holds in every item; what cannot be decided then.
pub(crate) fn undecided(change: impl FnOnce(&Folder), flags: &str) -> (Vec<String>, serde_json::Value) {
    let folder = Folder::several_points();
    change(&folder);
    let (code, document) = folder.document(&format!("signoff run {flags}"));
    assert_eq!(code, 3, "{document:#}");
    let found = statuses(&document);
    assert!(found.values().all(|status| status != "fails"), "{found:?}");
    let changed = found.into_iter().filter(|(_, status)| status != "holds").map(|(id, _)| id);
    (changed.collect(), document)
}

#[test]
fn each_missing_file() {
    let c16 = "run/c16/logs/node1_agg_w0.out";
    let cases: [(&str, &[&str], &str); 6] = [
        ("run/points.csv", &["pareto"], "--points POINTS.csv"),
        ("run/recipe.yaml", &["draft-path", "image", "recipe-pins"], "--recipe FILE"),
        ("run/c16/logs/agentic/profile_export_aiperf.json", &["requests"], "C16: no export of its client"),
        ("run/eval/results.json", &["evaluation-scores"], "lm-eval"),
        ("run/eval/env.txt", &["evaluation-unset"], "environment dump"),
        ("run/eval/logs/node1_agg_w0.out", &["evaluation-real"], "no server log"),
    ];
    for (file, expected, hint) in cases {
        let folder = Folder::several_points();
        folder.remove(file);
        let (_, document) = folder.document(&format!("signoff run {FLAGS}"));
        let found = statuses(&document);
        let changed: Vec<&String> =
            found.iter().filter(|(_, status)| *status != "holds").map(|(id, _)| id).collect();
        assert_eq!(changed, expected, "{file}");
        let messages: String = changed.iter().map(|id| item(&document, id)["message"].to_string()).collect();
        assert!(messages.contains(hint), "{file}: {messages}");
        assert!(found.values().all(|status| status != "fails"), "{file}: {found:?}");
    }
    let (changed, document) = undecided(|folder| folder.remove("run/c16/env.txt"), FLAGS);
    // What a release makes of settings that nobody knows is not known either.
    assert_eq!(
        changed,
        ["engine-version", "forbidden-variables", "golden-accept-length", "image", "method", "token-mode"]
    );
    assert!(item(&document, "method")["message"].as_str().unwrap().starts_with("C16: "));
    let (changed, _) = undecided(|folder| folder.remove(c16), FLAGS);
    for id in ["accept-length", "graph-flag", "largest-batch", "dtype", "chat-endpoints", "no-overrides"] {
        assert!(changed.iter().any(|other| other == id), "{id}: {changed:?}");
    }
}

#[test]
fn a_point_of_the_table_without_any_file() {
    let (changed, document) = undecided(
        |folder| {
            for name in
                ["logs/node1_agg_w0.out", "logs/agentic/profile_export_aiperf.json", "env.txt", "config.yaml"]
            {
                folder.remove(&format!("run/c16/{name}"));
            }
        },
        FLAGS,
    );
    assert!(changed.len() > 10, "{changed:?}");
    let message = item(&document, "golden-accept-length")["message"].as_str().unwrap().to_owned();
    assert_eq!(message, "C16 stands in the table of points and no log of it was found");
}

#[test]
fn what_nobody_stated() {
    let flags = FLAGS.replace("--model h200qwen ", "").replace("--threshold gsm8k=0.9", "");
    let (changed, document) = undecided(|_| {}, &flags);
    assert_eq!(changed, ["evaluation-scores", "golden-accept-length"]);
    let message = item(&document, "golden-accept-length")["message"].as_str().unwrap().to_owned();
    assert!(message.contains("give --model"), "{message}");
    let message = item(&document, "evaluation-scores")["message"].as_str().unwrap().to_owned();
    assert!(message.contains("--threshold gsm8k=LEAST"), "{message}");
}

#[test]
fn a_version_that_no_tag_names() {
    let (changed, document) = undecided(
        |folder| {
            for file in
                ["run/recipe.yaml", "run/c1/env.txt", "run/c4/env.txt", "run/c16/env.txt", "run/c32/env.txt"]
                    .into_iter()
                    .chain([
                        "run/c1/config.yaml",
                        "run/c4/config.yaml",
                        "run/c16/config.yaml",
                        "run/c32/config.yaml",
                    ])
            {
                folder.edit(file, "v0.5.16-cu130", "nightly-dev-20260818-c0b6474b");
            }
        },
        FLAGS,
    );
    assert_eq!(changed, ["engine-version"]);
    let message = item(&document, "engine-version")["message"].as_str().unwrap().to_owned();
    assert!(message.contains("--engine-version"), "{message}");
}

#[test]
fn an_export_that_counts_no_errors() {
    let export = "run/c4/logs/agentic/profile_export_aiperf.json";
    let (changed, _) = undecided(|folder| folder.edit(export, "\"error_summary\": [],", ""), FLAGS);
    assert_eq!(changed, ["requests"]);
}

#[test]
fn lines_that_do_not_name_a_graph() {
    let (changed, document) = undecided(
        |folder| {
            let log = folder.read("run/c1/logs/node1_agg_w0.out");
            let lines = log.lines().map(|line| {
                if line.contains("Decode batch") {
                    line.replace("cuda graph: True, ", "")
                } else {
                    line.to_owned()
                }
            });
            folder.write("run/c1/logs/node1_agg_w0.out", &lines.collect::<Vec<_>>().join("\n"));
        },
        FLAGS,
    );
    assert_eq!(changed, ["graph-flag"], "{document:#}");
}

#[test]
fn an_empty_folder_decides_nothing() {
    let folder = Folder::empty();
    std::fs::create_dir(folder.path.join("run")).unwrap();
    let (code, document) = folder.document("signoff run");
    assert_eq!(code, 3);
    assert!(statuses(&document).values().all(|status| status == "cannot-decide"), "{document:#}");
}

/// A script shows what it may do, not what was done: neither its branches nor its silence decide anything.
#[test]
fn a_script_is_no_environment() {
    let script = "#!/bin/bash\nif [ \"$EVAL_ONLY\" != true ]; then\n  export SGLANG_SIMULATE_ACC_LEN=3.51 SGLANG_SIMULATE_ACC_METHOD=match-expected \
         SGLANG_SIMULATE_ACC_TOKEN_MODE=real-draft-token\nfi\n";
    let folder = Folder::several_points();
    folder.write("run/eval/start.sh", script);
    let (code, document) = folder.document(&format!("signoff run {FLAGS}"));
    assert_eq!(code, 0, "{document:#}");
    folder.remove("run/eval/env.txt");
    let (code, document) = folder.document(&format!("signoff run {FLAGS}"));
    assert_eq!((code, item(&document, "evaluation-unset")["status"].as_str()), (3, Some("cannot-decide")));
}
