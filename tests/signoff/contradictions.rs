//! Files that say different things, that are damaged, or that leave something out: said, and never taken for true.

use crate::missing::undecided;
use crate::mutations::{LOG, flipped};
use crate::support::{FLAGS, Folder, IMAGE, item, statuses};

fn message(document: &serde_json::Value, id: &str) -> String {
    item(document, id)["message"].as_str().unwrap().to_owned()
}

const PINS: &str = "    engine: sglang\n    env:\n      SGLANG_SIMULATE_ACC_LEN: \"3.51\"\n      SGLANG_SIMULATE_ACC_METHOD: \
                    match-expected\n      SGLANG_SIMULATE_ACC_TOKEN_MODE: real-draft-token\n";

/// Takes the settings out of the dump of one point.
fn without_settings(folder: &Folder) {
    let kept: Vec<String> = folder
        .read("run/c4/env.txt")
        .lines()
        .filter(|line| !line.contains("SIMULATE"))
        .map(str::to_owned)
        .collect();
    folder.write("run/c4/env.txt", &(kept.join("\n") + "\n"));
}

#[test]
fn an_environment_without_what_the_recipe_pins() {
    let (changed, document) = undecided(
        |folder| {
            without_settings(folder);
            folder.edit("run/recipe.yaml", "    engine: sglang\n", PINS);
        },
        FLAGS,
    );
    assert_eq!(changed, ["engine-version", "golden-accept-length", "method", "token-mode"]);
    let found = message(&document, "golden-accept-length");
    assert!(
        found.contains("C4: run/recipe.yaml:") && found.contains("sets SGLANG_SIMULATE_ACC_LEN=3.51"),
        "{found}"
    );
    assert!(found.contains("its environment (run/c4/env.txt) has no such variable"), "{found}");
    assert_eq!(item(&document, "golden-accept-length")["evidence"][0]["file"], "run/recipe.yaml");
}

#[test]
fn an_environment_without_what_the_launcher_exports() {
    let (changed, document) = undecided(
        |folder| {
            without_settings(folder);
            folder.write(
                "run/launcher.sh",
                "#!/bin/bash\nexport SGLANG_SIMULATE_ACC_LEN=3.51 SGLANG_SIMULATE_ACC_METHOD=match-expected \
                 SGLANG_SIMULATE_ACC_TOKEN_MODE=real-draft-token\npython3 -m sglang.launch_server --model-path \
                 models/qwen3 --speculative-algorithm EAGLE3 --speculative-num-steps 5 \
                 --speculative-draft-model-path models/eagle3\n",
            );
        },
        FLAGS,
    );
    assert_eq!(changed, ["engine-version", "golden-accept-length", "method", "token-mode"]);
    let found = message(&document, "method");
    assert!(found.contains("run/launcher.sh:2 sets SGLANG_SIMULATE_ACC_METHOD=match-expected"), "{found}");
}

#[test]
fn damaged_lines_are_counted_and_decide_nothing() {
    let (changed, document) = undecided(
        |folder| {
            let log = folder.read(LOG);
            let decode = log.lines().rfind(|line| line.contains("Decode batch")).unwrap();
            let cut = decode.find("#token").unwrap() + 4;
            let odd = decode.replace("accept len: ", "accept len: nan # ");
            assert_ne!(odd, decode);
            let nan = {
                let at = decode.find("accept len: ").unwrap() + "accept len: ".len();
                let end = at + decode[at..].find(',').unwrap();
                format!("{}nan{}", &decode[..at], &decode[end..])
            };
            folder.write(LOG, &format!("{log}\n{}\n{nan}\n", &decode[..cut]));
        },
        FLAGS,
    );
    assert!(
        changed.contains(&"graph-flag".to_owned()) && changed.contains(&"largest-batch".to_owned()),
        "{changed:?}"
    );
    for id in ["graph-flag", "largest-batch"] {
        assert_eq!(message(&document, id), "C16: 2 damaged lines were skipped; give the log without them");
    }
}

#[test]
fn the_log_of_a_frontend_above_the_points_is_read() {
    let call = "2026-11-30 INFO: 10.0.0.1:1 - \"POST /v1/completions HTTP/1.1\" 200 OK\n";
    for file in ["run/frontend.log", "run/logs/router.out", "run/router/router.log"] {
        let (changed, document) = flipped(|folder| folder.write(file, call));
        assert_eq!(changed, ["chat-endpoints fails"], "{file}");
        assert_eq!(message(&document, "chat-endpoints"), "the run: POST /v1/completions called 1 time");
        assert_eq!(item(&document, "chat-endpoints")["evidence"][0]["file"], file);
    }
    let refused = call.replace("/v1/completions", "/v1/chat/completions").replace("200 OK", "503 X");
    let (changed, _) = flipped(|folder| folder.write("run/frontend.log", &refused));
    assert_eq!(changed, ["requests fails"]);
}

/// Workers behind a frontend log no request: its log stands for theirs.
#[test]
fn a_frontends_log_stands_for_those_of_its_workers() {
    let folder = Folder::several_points();
    let mut all = String::new();
    for concurrency in [1, 4, 16, 32] {
        let log = format!("run/c{concurrency}/logs/node1_agg_w0.out");
        let (calls, rest): (Vec<String>, Vec<String>) =
            folder.read(&log).lines().map(str::to_owned).partition(|line| line.contains("\"POST /v1"));
        all += &(calls.join("\n") + "\n");
        folder.write(&log, &rest.join("\n"));
    }
    let (_, document) = folder.document(&format!("signoff run {FLAGS}"));
    assert_eq!(item(&document, "chat-endpoints")["status"], "cannot-decide");
    folder.write("run/frontend.log", &all);
    let (code, document) = folder.document(&format!("signoff run {FLAGS}"));
    assert_eq!(code, 0, "{document:#}");
}

#[test]
fn a_point_that_is_left_out_of_the_table() {
    let (changed, document) = flipped(|folder| {
        let table = folder.read("run/points.csv");
        let kept = table.lines().filter(|line| !line.starts_with("16,"));
        folder.write("run/points.csv", &(kept.collect::<Vec<_>>().join("\n") + "\n64,20000,9.0,8.0\n"));
    });
    assert!(changed.contains(&"pareto fails".to_owned()), "{changed:?}");
    let found = message(&document, "pareto");
    assert!(found.contains("C16 (run/c16) ran and has no row in run/points.csv"), "{found}");
}

#[test]
fn a_point_with_two_rows() {
    let (changed, document) = flipped(|folder| {
        let table = folder.read("run/points.csv");
        let row = table.lines().nth(2).unwrap().to_owned();
        folder.write("run/points.csv", &format!("{table}{row}\n"));
    });
    assert_eq!(changed, ["pareto fails"]);
    let found = item(&document, "pareto");
    assert!(
        found["message"].as_str().unwrap().starts_with("C4 has more than one row in run/points.csv"),
        "{found:#}"
    );
    assert_eq!((&found["evidence"][0]["line"], &found["evidence"][1]["line"]), (&3.into(), &6.into()));
}

#[test]
fn a_place_without_the_image_is_named() {
    for (file, expected) in [
        ("run/c4/config.yaml", "C4: no image in a config"),
        ("run/c4/env.txt", "C4: no image in a log, environment or launcher's trace"),
    ] {
        let (changed, document) = undecided(
            |folder| {
                let old = folder.read(file);
                let kept = old.lines().filter(|line| !line.contains(IMAGE)).collect::<Vec<_>>().join("\n");
                folder.write(file, &(kept + "\nother: 1\n"));
            },
            FLAGS,
        );
        assert!(changed.contains(&"image".to_owned()), "{changed:?}");
        assert_eq!(message(&document, "image"), expected);
    }
}

#[test]
fn a_tag_alone_names_no_image() {
    let bare = |folder: &Folder| folder.edit("run/recipe.yaml", "@sha256:aaaa", "");
    let (changed, document) = undecided(bare, FLAGS);
    assert_eq!(changed, ["image"]);
    assert_eq!(
        message(&document, "image"),
        "run/recipe.yaml names a tag and no digest, and a tag can be moved"
    );
    let folder = Folder::several_points();
    bare(&folder);
    folder.edit("four.toml", "tag-suffices = false", "tag-suffices = true");
    assert_eq!(folder.document(&format!("signoff run {FLAGS}")).0, 0);
}

#[test]
fn a_release_that_nobody_has_read() {
    let flags = format!("{FLAGS} --engine-version 9.9.9");
    let (changed, document) = undecided(|_| {}, &flags);
    assert_eq!(changed, ["engine-version"]);
    let found = message(&document, "engine-version");
    assert!(
        found.ends_with("SGLang 9.9.9 is newer than any release that is known here (0.5.23 is the last)"),
        "{found}"
    );
    let folder = Folder::several_points();
    assert_eq!(folder.document(&format!("signoff run {FLAGS} --engine-version 0.5.23")).0, 0);
}

#[test]
fn files_that_cannot_be_read_are_named_by_their_items() {
    let scripts = [
        "draft-path",
        "forbidden-variables",
        "golden-accept-length",
        "image",
        "method",
        "no-overrides",
        "recipe-pins",
        "token-mode",
    ];
    let with_evaluation = [&["evaluation-unset"], scripts.as_slice()].concat();
    let mut shared: Vec<&str> = with_evaluation.clone();
    shared.sort_unstable();
    let cases: [(&str, &str, Vec<&str>); 6] = [
        ("run/other.yaml", "a: [1\nb: {", shared),
        ("run/c4/other.yaml", "a: [1\nb: {", scripts.to_vec()),
        ("run/c4/broken.json", "{\"a\": ", vec!["forbidden-variables", "no-overrides", "requests"]),
        (
            "run/c4/broken.jsonl",
            "{\"a\": 1}\n{\"a\"\n",
            vec!["forbidden-variables", "no-overrides", "requests"],
        ),
        (
            "run/eval/broken.json",
            "",
            vec!["evaluation-scores", "evaluation-unset", "forbidden-variables", "no-overrides"],
        ),
        ("run/other.csv", "concurrency,tps_per_gpu\n1,2,3\n", vec!["pareto"]),
    ];
    for (file, text, expected) in cases {
        let (changed, document) = undecided(|folder| folder.write(file, text), FLAGS);
        assert_eq!(changed, expected, "{file}");
        for id in expected {
            let found = message(&document, id);
            assert!(found.contains(&format!("not read: {file}: ")), "{file} {id}: {found}");
        }
    }
}

const EXPORT: &str = "run/c4/logs/agentic/profile_export_aiperf.json";

#[test]
fn a_count_that_is_text_is_read() {
    let errors = |count: &str| format!("\"error_summary\": [{{\"count\": {count}}}]");
    let (changed, document) =
        flipped(|folder| folder.edit(EXPORT, "\"error_summary\": []", &errors("\"2\"")));
    assert_eq!(changed, ["requests fails"]);
    assert_eq!(message(&document, "requests"), "C4: 2 requests ended in an error, 24 completed");
    for odd in ["\"two\"", "null", "{}"] {
        let (changed, document) =
            undecided(|folder| folder.edit(EXPORT, "\"error_summary\": []", &errors(odd)), FLAGS);
        assert_eq!(changed, ["requests"], "{odd}");
        let found = message(&document, "requests");
        assert_eq!(found, format!("C4: error_summary[].count in {EXPORT} is no number"), "{odd}");
    }
}

#[test]
fn an_export_with_fields_missing() {
    for (from, part) in [
        ("\"request_count\"", "does not say how many requests came to their end"),
        ("\"error_summary\"", "does not count errors"),
    ] {
        let (changed, document) = undecided(|folder| folder.edit(EXPORT, from, "\"other\""), FLAGS);
        assert_eq!(changed, ["requests"], "{from}");
        assert!(message(&document, "requests").contains(part), "{from}");
    }
    let (changed, document) = undecided(|folder| folder.write(EXPORT, "{\"a\": 1}"), FLAGS);
    assert!(changed.contains(&"requests".to_owned()), "{changed:?}");
    let found = message(&document, "requests");
    assert!(found.contains("no export of a client is recognised in it"), "{found}");
}

#[test]
fn an_export_of_another_concurrency() {
    let (changed, document) =
        flipped(|folder| folder.edit(EXPORT, "\"concurrency\": 4", "\"concurrency\": 16"));
    assert_eq!(changed, ["requests fails"]);
    assert_eq!(message(&document, "requests"), format!("C4: {EXPORT} was measured at concurrency 16"));
}

#[test]
fn an_evaluation_without_scores() {
    let (changed, document) = undecided(
        |folder| {
            for file in ["logs/node1_agg_w0.out", "env.txt"] {
                folder.write(&format!("run/eval2/{file}"), &folder.read(&format!("run/eval/{file}")));
            }
            std::fs::rename(folder.path.join("run/eval2"), folder.path.join("run/eval-2")).unwrap();
        },
        FLAGS,
    );
    assert_eq!(changed, ["evaluation-scores"]);
    assert_eq!(message(&document, "evaluation-scores"), "run/eval-2: no scores; give its results");
}

#[test]
fn a_percentage_is_not_held_against_a_share() {
    let percent = |folder: &Folder| folder.edit("run/eval/results.json", "0.953", "95.3");
    let (changed, document) = undecided(percent, FLAGS);
    assert_eq!(changed, ["evaluation-scores"]);
    let found = message(&document, "evaluation-scores");
    assert!(
        found.starts_with("gsm8k exact_match,strict-match: 95.3 against 0.9: above 1 it may be"),
        "{found}"
    );
    let (changed, _) = undecided(|_| {}, &FLAGS.replace("gsm8k=0.9", "gsm8k=90"));
    assert_eq!(changed, ["evaluation-scores"]);
    let (changed, _) = undecided(|_| {}, &FLAGS.replace("gsm8k=0.9", "gsm8k=90%"));
    assert_eq!(changed, ["evaluation-scores"]);
    for (least, code, status) in [("90%", 0, "holds"), ("96%", 1, "fails")] {
        let folder = Folder::several_points();
        percent(&folder);
        let flags = FLAGS.replace("gsm8k=0.9", &format!("gsm8k={least}"));
        let (found, document) = folder.document(&format!("signoff run {flags}"));
        assert_eq!((found, item(&document, "evaluation-scores")["status"].as_str()), (code, Some(status)));
    }
}

#[test]
fn a_draft_that_is_not_the_recipes() {
    let (changed, document) =
        flipped(|folder| folder.edit("run/recipe.yaml", "models/eagle3", "models/other"));
    assert_eq!(changed, ["draft-path fails"]);
    assert_eq!(
        message(&document, "draft-path"),
        "C1, C4, C16, C32: drafts with models/eagle3, the recipe states models/other"
    );
    // That it is the model itself does not help where the recipe says otherwise.
    let (changed, _) = flipped(|folder| {
        for concurrency in [1, 4, 16, 32] {
            let log = format!("run/c{concurrency}/logs/node1_agg_w0.out");
            let path = folder.read(&log);
            let model = path.split("model_path='").nth(1).unwrap().split('\'').next().unwrap().to_owned();
            folder.edit(
                &log,
                "speculative_draft_model_path='models/eagle3'",
                &format!("speculative_draft_model_path='{model}'"),
            );
        }
    });
    assert_eq!(changed, ["draft-path fails"]);
    let folder = Folder::several_points();
    folder.edit("run/recipe.yaml", "models/eagle3", "models/eagle3/");
    assert_eq!(folder.document(&format!("signoff run {FLAGS}")).0, 0);
    folder.edit("run/recipe.yaml", "models/eagle3/", "models/other");
    let stated = folder.document(&format!("signoff run {FLAGS} --draft-path models/eagle3")).1;
    assert_eq!(statuses(&stated)["draft-path"], "holds");
}

/// A dump of the environment shows that nothing was injected.
#[test]
fn a_dump_without_the_settings_fails() {
    let (changed, document) = flipped(without_settings);
    assert_eq!(
        changed,
        ["engine-version cannot-decide", "golden-accept-length fails", "method fails", "token-mode fails"]
    );
    for (id, name) in [
        ("golden-accept-length", "SGLANG_SIMULATE_ACC_LEN"),
        ("method", "SGLANG_SIMULATE_ACC_METHOD"),
        ("token-mode", "SGLANG_SIMULATE_ACC_TOKEN_MODE"),
    ] {
        let expected =
            format!("C4: {name} is not set: its environment (run/c4/env.txt) has no such variable");
        assert_eq!(message(&document, id), expected);
        assert_eq!(item(&document, id)["evidence"][0]["file"], "run/c4/env.txt");
    }
}

#[test]
fn an_environment_of_the_run_against_those_of_its_points() {
    for (file, text, id) in [
        ("run/env.txt", "PATH=/bin\nSGLANG_SIMULATE_ACC_LEN=3.61\n", "golden-accept-length"),
        ("run/env.txt", "PATH=/bin\nSGLANG_SIMULATE_ACC_METHOD=multinomial\n", "method"),
    ] {
        let (changed, document) = undecided(|folder| folder.write(file, text), FLAGS);
        assert!(changed.contains(&id.to_owned()), "{changed:?}");
        let found = message(&document, id);
        assert!(found.contains("run/c1/env.txt:") && found.contains("run/env.txt:2 sets "), "{found}");
    }
    let folder = Folder::several_points();
    folder.write("run/env.txt", "PATH=/bin\nSGLANG_SIMULATE_ACC_LEN=3.510\n");
    assert_eq!(folder.document(&format!("signoff run {FLAGS}")).0, 0);
    let (_, document) = flipped(|folder| {
        folder.write(
            "run/launcher.sh",
            "#!/bin/bash\nexport SGLANG_SIMULATE_ACC_LEN=3.61\npython3 -m sglang.launch_server --model-path models/qwen3 \
             --speculative-algorithm EAGLE3 --speculative-num-steps 5 --speculative-draft-model-path models/eagle3\n",
        );
    });
    let found = message(&document, "golden-accept-length");
    assert!(found.contains("run/launcher.sh:2 sets SGLANG_SIMULATE_ACC_LEN=3.61"), "{found}");
}

#[test]
fn a_launcher_with_an_open_quote_is_named() {
    let script = "#!/bin/bash\nexport X=\"abc\nexport SGLANG_NVFP4_CKPT_FP8_NEXTN_MOE=1\nsglang serve --model-path m\n";
    let (changed, document) = undecided(|folder| folder.write("run/launcher.sh", script), FLAGS);
    for id in ["forbidden-variables", "golden-accept-length", "no-overrides"] {
        assert!(changed.contains(&id.to_owned()), "{changed:?}");
        let found = message(&document, id);
        assert!(found.contains("run/launcher.sh: line 2: a quote is opened and never closed"), "{found}");
    }
}

#[test]
fn a_stated_draft_that_the_run_has_not() {
    let folder = Folder::several_points();
    let (code, document) = folder.document(&format!("signoff run {FLAGS} --draft-path models/other"));
    assert_eq!((code, statuses(&document)["draft-path"].as_str()), (1, "fails"));
    assert!(message(&document, "draft-path").contains("--draft-path states models/other"));
}

#[test]
fn two_runs_of_one_row() {
    let (changed, document) = flipped(|folder| {
        for file in
            ["logs/node1_agg_w0.out", "env.txt", "config.yaml", "logs/agentic/profile_export_aiperf.json"]
        {
            folder.write(&format!("run/again-c4/{file}"), &folder.read(&format!("run/c4/{file}")));
        }
    });
    assert_eq!(changed, ["pareto fails"]);
    let found = message(&document, "pareto");
    assert!(found.contains("C4 ran 2 times (") && found.contains("run/again-c4"), "{found}");
    assert!(found.contains("and has 1 row"), "{found}");
}

#[test]
fn an_export_with_numbers_that_are_none() {
    let folder = Folder::several_points();
    folder.edit(
        EXPORT,
        "\"error_summary\"",
        "\"x\": [NaN, -Infinity], \"y\": \"NaN \\\" NaN\", \"error_summary\"",
    );
    assert_eq!(folder.document(&format!("signoff run {FLAGS}")).0, 0);
}

#[test]
fn requests_that_nobody_accounts_for() {
    let export = |completed: u64| {
        format!(
            "{{\"duration\": 9.5, \"num_prompts\": 24, \"completed\": {completed}, \"failed\": 0, \"max_concurrency\": 4}}"
        )
    };
    let (changed, document) = flipped(|folder| folder.write(EXPORT, &export(20)));
    assert_eq!(changed, ["requests fails"]);
    assert_eq!(message(&document, "requests"), "C4: 4 requests neither completed nor failed");
    let folder = Folder::several_points();
    folder.write(EXPORT, &export(24));
    assert_eq!(folder.document(&format!("signoff run {FLAGS}")).0, 0);
}

#[test]
fn a_key_that_no_rule_names_is_not_quoted() {
    let (_, document) = undecided(|folder| folder.write("run/other.yaml", "hunter2: 1\nhunter2: 2\n"), FLAGS);
    let shown = document.to_string();
    assert!(shown.contains("duplicate key (not shown") && !shown.contains("hunter2"), "{shown}");
}
