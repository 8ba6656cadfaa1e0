//! Two launches, flag by flag.

use serde_json::Value;

use crate::support::{Folder, h200, item, snapshot, text};

const SHELL: &str = "#!/bin/bash\nexport SGLANG_SIMULATE_ACC_LEN=3.51\nTP=4\npython3 -m sglang.launch_server \\\n  --model-path \
                     models/qwen3 --tp $TP --speculative-algo EAGLE3 --speculative-num-steps 5 \\\n  --mem-fraction-static \
                     0.50 --cuda-graph-bs 1 2 4 --trust-remote-code --dtype auto\n";

const RECIPE: &str = "model:\n  path: models/qwen3\nroles:\n  agg:\n    engine: sglang\n    env:\n      SGLANG_SIMULATE_ACC_LEN: \
                      \"3.510\"\n    args:\n      model-path: models/qwen3\n      tensor-parallel-size: 4\n      \
                      speculative-algorithm: EAGLE3\n      speculative-num-steps: 5\n      mem-fraction-static: .5\n      \
                      cuda-graph-bs-decode: [1, 2, 4]\n      trust-remote-code: true\n";

const JSON: &str = r#"{"engine": "sglang", "env": {"SGLANG_SIMULATE_ACC_LEN": 3.51},
    "args": {"cuda_graph_bs_decode": [1, 2, 4], "tp_size": 4, "model_path": "models/qwen3", "speculative_algorithm": "EAGLE3",
    "speculative_num_steps": 5, "mem_fraction_static": 0.5, "trust_remote_code": true}}"#;

const WORDS: &str = r#"{"env": {"SGLANG_SIMULATE_ACC_LEN": "3.51"}, "argv": ["python3", "-m", "sglang.launch_server",
    "--model", "models/qwen3", "--tensor-parallel-size=4", "--speculative-algorithm", "EAGLE3", "--speculative-num-steps", "5",
    "--mem-fraction-static", "0.5", "--cuda-graph-bs", "1", "2", "4", "--trust-remote-code"]}"#;

fn folder() -> Folder {
    let folder = Folder::empty();
    for (name, text) in [("a.sh", SHELL), ("b.yaml", RECIPE), ("c.json", JSON), ("d.json", WORDS)] {
        folder.write(name, text);
    }
    folder
}

/// Aliases, quoting, order, defaults and forms do not count.
#[test]
fn one_launch_in_every_form_is_equal() {
    let folder = folder();
    let forms = ["a.sh", "b.yaml", "c.json", "d.json"];
    for left in forms {
        for right in forms {
            let (code, document) = folder.document(&format!("signoff launch-diff {left} {right}"));
            assert_eq!(code, 0, "{left} {right}: {document:#}");
        }
    }
}

#[test]
fn differences_are_sorted_by_the_profile() {
    let folder = folder();
    let changed = SHELL
        .replace("TP=4", "TP=8")
        .replace("--dtype auto", "--dtype bfloat16 --speculative-eagle-topk 2")
        .replace("3.51", "3.61");
    folder.write("e.sh", &changed);
    let (code, document) = folder.document("signoff launch-diff a.sh e.sh");
    assert_eq!(code, 1);
    let arguments = item(&document, "launch-arguments");
    let expected = [
        ["dtype", "auto", "bfloat16", "no"],
        ["speculative_eagle_topk", "(absent)", "2", "no"],
        ["tp_size", "4", "8", "yes"],
    ];
    assert_eq!(rows(arguments), expected, "{document:#}");
    assert_eq!(arguments["evidence"][0]["line"], 6);
    let environment = item(&document, "launch-environment");
    assert_eq!(rows(environment), [["SGLANG_SIMULATE_ACC_LEN", "3.51", "3.61", "no"]]);
    snapshot("launch_diff.md", text(&folder.run("signoff launch-diff a.sh e.sh").stdout));
}

fn rows(item: &Value) -> Vec<Vec<&str>> {
    let rows = item["table"]["rows"].as_array().unwrap();
    rows.iter()
        .map(|row| row.as_array().unwrap().iter().map(|cell| cell.as_str().unwrap()).collect())
        .collect()
}

/// What may differ alone is no fault.
#[test]
fn expected_differences_hold() {
    let folder = folder();
    folder.write("e.sh", &SHELL.replace("TP=4", "TP=8"));
    let (code, document) = folder.document("signoff launch-diff a.sh e.sh");
    assert_eq!(code, 0);
    let message = item(&document, "launch-arguments")["message"].as_str().unwrap().to_owned();
    assert!(message.contains("1 differ as expected"), "{message}");
}

/// Two servers of the recorded runs: what they printed themselves.
#[test]
fn lines_of_servers_are_compared() {
    let folder = Folder::empty();
    for name in ["e3k5_al351.log", "dp2_k5_al351.log", "dspark_k5_al351.log"] {
        std::fs::copy(h200().join(name), folder.path.join(name)).unwrap();
    }
    let (code, document) = folder.document("signoff launch-diff e3k5_al351.log dp2_k5_al351.log");
    // Their arguments differ as points of a curve may; nobody shows their environments.
    assert_eq!(item(&document, "launch-arguments")["status"], "holds", "{document:#}");
    assert_eq!(item(&document, "launch-environment")["status"], "cannot-decide");
    assert_eq!(code, 3);
    let (code, document) = folder.document("signoff launch-diff e3k5_al351.log dspark_k5_al351.log");
    assert_eq!(code, 1);
    let found = rows(item(&document, "launch-arguments"));
    let algorithm = found.iter().find(|row| row[0] == "speculative_algorithm").unwrap();
    assert_eq!(algorithm, &["speculative_algorithm", "EAGLE3", "DSPARK", "no"]);
}

/// A launch against what its server printed: what the server worked out for itself is no difference.
#[test]
fn a_command_is_compared_with_its_servers_line() {
    let folder = Folder::empty();
    std::fs::copy(h200().join("e3k5_al351.log"), folder.path.join("server.log")).unwrap();
    let command = "python3 -m sglang.launch_server --model models/qwen3 --speculative-algorithm EAGLE3 \
                   --speculative-num-steps 5 --speculative-eagle-topk 1 --speculative-num-draft-tokens 6 \
                   --speculative-draft-model-path models/eagle3 --load-format dummy --skip-tokenizer-init \
                   --disable-radix-cache --enable-metrics\n";
    folder.write("launch.sh", command);
    let (_, document) = folder.document("signoff launch-diff launch.sh server.log");
    let arguments = item(&document, "launch-arguments");
    assert_eq!(arguments["status"], "holds", "{arguments:#}");
    folder.write("launch.sh", &command.replace("num-steps 5", "num-steps 3"));
    let (code, document) = folder.document("signoff launch-diff launch.sh server.log");
    assert_eq!(code, 1);
    assert_eq!(rows(item(&document, "launch-arguments"))[0], ["speculative_num_steps", "3", "5", "no"]);
}

#[test]
fn what_only_the_run_resolves_decides_nothing() {
    let folder = folder();
    folder.write("e.sh", &SHELL.replace("--speculative-num-steps 5", "--speculative-num-steps $(nproc)"));
    let (code, document) = folder.document("signoff launch-diff a.sh e.sh");
    assert_eq!(code, 3, "{document:#}");
    let message = item(&document, "launch-arguments")["message"].as_str().unwrap().to_owned();
    assert!(message.contains("speculative_num_steps is resolved at run time"), "{message}");
}

#[test]
fn what_starts_no_server_is_refused() {
    let folder = folder();
    folder.write("note.txt", "nothing here\n");
    folder.write("bad.json", "{\"args\": \n");
    for (line, part) in [
        ("note.txt a.sh", "no server is started here"),
        ("bad.json a.sh", "not JSON"),
        ("none.sh a.sh", "cannot read none.sh"),
        ("- -", "standard input can be read once"),
    ] {
        let output = folder.run(&format!("signoff launch-diff {line}"));
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(text(&output.stderr).contains(part), "{line}: {}", text(&output.stderr));
    }
}

/// Whether two launch scripts are equal, by the exit code.
fn compared(left: (&str, &str), right: (&str, &str)) -> (i32, Value) {
    let folder = Folder::empty();
    folder.write(left.0, left.1);
    folder.write(right.0, right.1);
    folder.document(&format!("signoff launch-diff {} {}", left.0, right.0))
}

#[test]
fn spellings_of_one_value_are_equal() {
    let sglang = "python3 -m sglang.launch_server --model m";
    let vllm = "vllm serve m";
    for (command, left, right) in [
        (sglang, "--speculative-algorithm eagle3", "--speculative-algo EAGLE3"),
        (sglang, "--speculative-algorithm NEXTN", "--speculative-algorithm EAGLE"),
        (sglang, "--dtype half", "--dtype float16"),
        (vllm, "--dtype half", "--dtype float16"),
        (vllm, "-O3", "--compilation-config 3"),
        (vllm, "-O3", "-O.mode 3"),
        (vllm, "-O 3", "--compilation-config '{\"level\": 3}'"),
        (
            vllm,
            "--speculative-config.method eagle3 --speculative-config.num_speculative_tokens 3",
            "--speculative-config '{\"num_speculative_tokens\": 3.0, \"method\": \"EAGLE3\"}'",
        ),
        (vllm, "--hf-overrides.a.b 2.0", "--hf-overrides '{\"a\": {\"b\": 2}}'"),
    ] {
        let (left, right) =
            (format!("export A=1\n{command} {left}\n"), format!("export A=1\n{command} {right}\n"));
        let (code, document) = compared(("a.sh", &left), ("b.sh", &right));
        assert_eq!(code, 0, "{left}{right}{document:#}");
    }
    for (command, left, right) in [
        (sglang, "--speculative-algorithm EAGLE", "--speculative-algorithm EAGLE3"),
        (sglang, "--dtype half", "--dtype bfloat16"),
        (vllm, "-O3", "-O2"),
        (
            vllm,
            "--speculative-config.num_speculative_tokens 3",
            "--speculative-config.num_speculative_tokens 2",
        ),
    ] {
        let (left, right) =
            (format!("export A=1\n{command} {left}\n"), format!("export A=1\n{command} {right}\n"));
        assert_eq!(compared(("a.sh", &left), ("b.sh", &right)).0, 1, "{left}{right}");
    }
}

#[test]
fn the_model_of_a_recipe_is_what_its_servers_load() {
    let recipe = RECIPE.replace("      model-path: models/qwen3\n", "");
    assert_ne!(recipe, RECIPE);
    let (code, document) = compared(("a.sh", SHELL), ("b.yaml", &recipe));
    assert_eq!(code, 0, "{document:#}");
    let (code, document) =
        compared(("a.sh", SHELL), ("b.yaml", &recipe.replace("path: models/qwen3", "path: models/x")));
    assert_eq!(code, 1);
    assert_eq!(
        rows(item(&document, "launch-arguments"))[0],
        ["model_path", "models/qwen3", "models/x", "no"]
    );
}

#[test]
fn a_second_launch_of_one_file_is_said() {
    let two = format!("{SHELL}python3 -m sglang.launch_server --model-path models/other --tp 2\n");
    let (_, document) = compared(("a.sh", &two), ("b.sh", SHELL));
    let notes = document["notes"].to_string();
    assert!(notes.contains("a.sh: another launch (line 7) is not compared; the one at line 4 is"), "{notes}");
    let log = std::fs::read_to_string(h200().join("e3k5_al351.log")).unwrap();
    let other = std::fs::read_to_string(h200().join("dspark_k5_al351.log")).unwrap();
    let first = log.lines().count();
    let (_, document) = compared(("a.log", &format!("{log}{other}")), ("b.log", &log));
    let notes = document["notes"].to_string();
    let expected = format!("a.log: other servers start at line {}; the one at line 8 is compared", first + 8);
    assert!(notes.contains(&expected), "{notes}");
    // The same server again is no other.
    let (_, document) = compared(("a.log", &format!("{log}{log}")), ("b.log", &log));
    assert_eq!(document["notes"], serde_json::json!([]));
}

#[test]
fn a_quote_that_nobody_closes_is_refused() {
    let folder = folder();
    folder.write(
        "open.sh",
        "#!/bin/bash\n# it's a comment\nsglang serve --model-path 'models/qwen3 --tp 4\necho done\n",
    );
    let output = folder.run("signoff launch-diff open.sh a.sh");
    assert_eq!(output.status.code(), Some(2));
    let error = text(&output.stderr);
    assert!(error.contains("open.sh: line 3: a quote is opened and never closed"), "{error}");
}

/// What stands in a server's line and is not the default was given by somebody, and not by this command.
#[test]
fn a_value_that_only_the_servers_line_has_is_a_difference() {
    let command = "python3 -m sglang.launch_server --model models/qwen3 --speculative-algorithm EAGLE3 --load-format dummy \
                   --speculative-num-steps 5 --speculative-draft-model-path models/eagle3 --skip-tokenizer-init \
                   --disable-radix-cache --enable-metrics\n";
    let log = std::fs::read_to_string(h200().join("e3k5_al351.log")).unwrap();
    let message = |command: &str, log: &str| {
        let (_, document) = compared(("a.sh", command), ("server.log", log));
        let arguments = item(&document, "launch-arguments");
        (arguments["status"].as_str().unwrap().to_owned(), arguments["message"].as_str().unwrap().to_owned())
    };
    let (status, found) = message(command, &log);
    assert_eq!(status, "holds", "{found}");
    for (from, to, expected) in [
        (" quantization=None", " quantization='fp8'", "quantization: None against fp8"),
        (
            "speculative_draft_model_quantization=None",
            "speculative_draft_model_quantization='fp8'",
            "speculative_draft_model_quantization: None against fp8",
        ),
    ] {
        assert!(log.contains(from), "{from}");
        assert_eq!(message(command, &log.replace(from, to)), ("fails".to_owned(), expected.to_owned()));
    }
    for (given, expected) in [
        (" --load-format dummy", "load_format: "),
        (" --disable-radix-cache", "disable_radix_cache: False against True"),
        (
            " --speculative-draft-model-path models/eagle3",
            "speculative_draft_model_path: None against models/eagle3",
        ),
    ] {
        let (status, found) = message(&command.replace(given, ""), &log);
        assert_eq!(status, "fails", "{given}");
        assert!(found.contains(expected), "{given}: {found}");
    }
    // A model that drafts for itself is its own draft, which servers work out.
    let own = log.replace("draft_model_path='models/eagle3'", "draft_model_path='models/qwen3'");
    let without = command.replace(" --speculative-draft-model-path models/eagle3", "");
    assert_eq!(message(&without, &own).0, "holds");
    // An argument of a release that nobody has read.
    let newer = log.replace(" quantization=None", " quantization=None, new_knob='x'");
    let (status, found) = message(command, &newer);
    assert_eq!(status, "cannot-decide", "{found}");
    assert!(found.contains("new_knob="), "{found}");
}

#[test]
fn a_switch_that_is_turned_off_is_not_one_that_nobody_gave() {
    for (command, flag, code) in [
        ("vllm serve m", "--no-enable-prefix-caching", 1),
        ("vllm serve m", "--enable-chunked-prefill=false", 1),
        ("vllm serve m", "--no-trust-remote-code", 0),
        ("vllm serve m", "--enable-prefix-caching", 0),
        ("vllm serve m", "--no-some-other", 3),
        ("sglang serve --model-path m", "--no-enable-foo", 3),
        ("sglang serve --model-path m", "--disable-radix-cache=False", 0),
    ] {
        let (left, right) = (format!("export A=1\n{command}\n"), format!("export A=1\n{command} {flag}\n"));
        let (found, document) = compared(("a.sh", &left), ("b.sh", &right));
        assert_eq!(found, code, "{command} {flag}: {document:#}");
    }
}

#[test]
fn json_of_every_form_is_read() {
    let command = "SGLANG_SIMULATE_ACC_LEN=3.51 sglang serve --model-path m --tp 4\n";
    for json in [
        r#"{"args": ["--tp", "4", "--model-path", "m"], "env": {"SGLANG_SIMULATE_ACC_LEN": "3.51"}}"#,
        r#"{"args": ["sglang", "serve", "--tp=4", "--model-path", "m"], "env": ["SGLANG_SIMULATE_ACC_LEN=3.51"]}"#,
        r#"{"args": {"tp": 4, "model-path": "m"}, "env": [{"name": "SGLANG_SIMULATE_ACC_LEN", "value": 3.51}]}"#,
    ] {
        let (code, document) = compared(("a.sh", command), ("b.json", json));
        assert_eq!(code, 0, "{json}: {document:#}");
        let (code, _) = compared(("a.sh", command), ("b.json", &json.replace("3.51", "3.61")));
        assert_eq!(code, 1, "{json}");
    }
}

#[test]
fn texts_are_not_compared_as_numbers() {
    let of = |revision: &str| format!("export A=1\nsglang serve --model-path m {revision}\n");
    for (left, right, code) in [
        ("--revision 1e3", "--revision 1000", 1),
        ("--revision 007", "--revision 7", 1),
        ("--tokenizer-path 1.0", "--tokenizer-path 1", 1),
        ("--revision 1e3", "--revision '1e3'", 0),
        ("--stream-interval 4.0", "--stream-interval 4", 0),
    ] {
        assert_eq!(compared(("a.sh", &of(left)), ("b.sh", &of(right))).0, code, "{left} {right}");
    }
}

#[test]
fn compressed_launches_are_read_through() {
    let folder = folder();
    for name in ["a.sh", "c.json"] {
        let packed = std::fs::File::create(folder.path.join(format!("{name}.gz"))).unwrap();
        let mut packed = flate2::write::GzEncoder::new(packed, flate2::Compression::default());
        std::io::Write::write_all(&mut packed, folder.read(name).as_bytes()).unwrap();
        packed.finish().unwrap();
        let (code, document) = folder.document(&format!("signoff launch-diff {name}.gz b.yaml"));
        assert_eq!(code, 0, "{name}: {document:#}");
    }
}
