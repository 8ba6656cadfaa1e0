//! What the run was told: files that the user names, files beside the log, the log itself; and what contradicts.

use super::*;

/// A folder of the test's own with a log that shows a simulated 3.51.
fn run_folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("audit-told").join(name);
    fs::remove_dir_all(&folder).ok();
    fs::create_dir_all(&folder).unwrap();
    fs::copy(Path::new(LOGS).join("e3k5_al351.log"), folder.join("server.log")).unwrap();
    folder
}

fn audited(folder: &Path, rest: &str) -> (i32, Value) {
    let mut command = program("audit server.log --json");
    command.current_dir(folder).args(rest.split_whitespace());
    let output = command.output().unwrap();
    assert_eq!(text(&output.stderr), "", "{rest}");
    (output.status.code().unwrap(), json(&output))
}

fn target(document: &Value) -> (&str, f64) {
    let target = &document["target"];
    (target["source"].as_str().unwrap(), target["accept_length"].as_f64().unwrap())
}

const TRACE: &str =
    "+ export SGLANG_SIMULATE_ACC_LEN=3.51\n+ export SGLANG_SIMULATE_ACC_METHOD=match-expected\n";

const RECIPE: &str = "backend:
  type: sglang
  decode_environment:
    SGLANG_SIMULATE_ACC_LEN: \"3.51\"
  sglang_config:
    decode:
      speculative-algorithm: EAGLE3
      speculative-num-steps: 5
";

#[test]
fn a_file_that_is_named_gives_the_target() {
    let folder = run_folder("named");
    fs::create_dir(folder.join("about")).unwrap();
    for (flag, file, content, source) in [
        ("--env", "run.env", TRACE, "env"),
        (
            "--env",
            "info.json",
            r#"{"speculative_num_steps": 5, "internal_states": [{"env_vars": {"SGLANG_SIMULATE_ACC_LEN": "3.51"}}]}"#,
            "env",
        ),
        ("--recipe", "recipe.yaml", RECIPE, "recipe"),
    ] {
        fs::write(folder.join("about").join(file), content).unwrap();
        let (code, document) = audited(&folder, &format!("{flag} about/{file}"));
        assert_eq!((code, target(&document)), (0, (source, 3.51)), "{file}: {document}");
        let injected = &document["points"][0]["injected"][0];
        assert_eq!(injected["evidence"]["file"], format!("about/{file}"));
        assert_eq!(injected["value"], "3.51");
    }
    fs::write(folder.join("about/none.env"), "MODEL=glm\n").unwrap();
    let mut command = program("audit server.log --env about/none.env");
    let refused = command.current_dir(&folder).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("about/none.env"));
}

#[test]
fn a_file_beside_the_log_gives_the_target() {
    for (name, file, content) in
        [("trace", "launch.trace", TRACE), ("dump", "env.txt", TRACE), ("recipe", "recipe.yaml", RECIPE)]
    {
        let folder = run_folder(name);
        fs::write(folder.join(file), content).unwrap();
        // What says nothing, and what nobody ran, is passed over.
        fs::write(folder.join("results.json"), r#"{"tput": 3.5}"#).unwrap();
        fs::write(folder.join("launch.sh"), "export SGLANG_SIMULATE_ACC_LEN=2.0\n").unwrap();
        let (code, document) = audited(&folder, "");
        assert_eq!((code, target(&document).1), (0, 3.51), "{file}");
        assert_eq!(document["points"][0]["injected"][0]["evidence"]["file"], file);
    }
    let (code, document) = audited(&run_folder("nothing"), "");
    assert_eq!((code, &document["target"]), (3, &Value::Null));
    assert_eq!(document["verdict"], "insufficient");
}

#[test]
fn the_log_itself_gives_the_target() {
    let folder = run_folder("echo");
    let log = fs::read_to_string(folder.join("server.log")).unwrap();
    fs::write(folder.join("server.log"), format!("{TRACE}{log}")).unwrap();
    let (code, document) = audited(&folder, "");
    assert_eq!((code, target(&document)), (0, ("log", 3.51)));
}

#[test]
fn a_conflict_names_all_three() {
    let folder = run_folder("conflict");
    fs::write(folder.join("run.env"), TRACE.replace("3.51", "3.61")).unwrap();
    let golden = "--model dsv41flash --method dspark --draft-length 5";
    // Beside the log: it may be another run's.
    let (_, document) = audited(&folder, "--accept-length 3.51 --max-accept-length 6");
    assert_eq!(document["verdict"], "consistent");
    assert_eq!(finding(&document, "other-target")["severity"], "warning");
    // Named: the run was told so.
    let (code, document) = audited(&folder, "--accept-length 3.51 --max-accept-length 6 --env run.env");
    assert_eq!(code, 1);
    let conflict = finding(&document, "other-target");
    assert_eq!((&conflict["severity"], &conflict["evidence"]["file"]), (&"error".into(), &"run.env".into()));
    let message = conflict["message"].as_str().unwrap();
    for part in ["SGLANG_SIMULATE_ACC_LEN=3.61 was set here", "the target is 3.51", "the log shows 3.518"] {
        assert!(message.contains(part), "{message}");
    }
    let (_, document) = audited(&folder, &format!("{golden} --env run.env"));
    assert!(
        finding(&document, "other-target")["message"]
            .as_str()
            .unwrap()
            .contains("dsv41flash_dspark thinking_on, draft length 5, is 3.51")
    );
    // Two files that disagree give no target.
    fs::write(folder.join("other.env"), TRACE).unwrap();
    let (code, document) = audited(&folder, "");
    assert_eq!((code, &document["target"]), (3, &Value::Null));
    assert!(
        finding(&document, "other-target")["message"]
            .as_str()
            .unwrap()
            .contains("3.51 in one place and 3.61")
    );
}

#[test]
fn an_evaluation_that_was_told_to_simulate_is_no_evaluation() {
    let folder = run_folder("evaluation");
    fs::write(folder.join("server.log"), server("EAGLE", 3, 4) + &lines("", &["3.31"; 3])).unwrap();
    assert_eq!(audited(&folder, "--expect-real").0, 3);
    fs::write(folder.join("env.txt"), TRACE).unwrap();
    let (code, document) = audited(&folder, "--expect-real");
    assert_eq!(code, 1);
    assert_eq!(finding(&document, "simulation-in-eval")["evidence"]["file"], "env.txt");
}

/// What lies beside a log is told whether the log is named or its folder.
#[test]
fn a_folder_and_its_log_are_told_the_same() {
    let folder = run_folder("server-info");
    fs::write(
        folder.join("server_info.json"),
        r#"{"speculative_algorithm": "EAGLE3", "speculative_num_steps": 5, "speculative_num_draft_tokens": 6,
            "internal_states": [{"avg_spec_accept_length": 3.51, "env_vars": {"SGLANG_SIMULATE_ACC_LEN": "3.51"}}]}"#,
    )
    .unwrap();
    let real = |path: &str, flags: &str| {
        let output = program(&format!("audit {path} --json {flags}")).current_dir(&folder).output().unwrap();
        (output.status.code(), json(&output))
    };
    for flags in ["", "--expect-real --replay off"] {
        let (of_file, of_folder) = (real("server.log", flags), real(".", flags));
        assert_eq!(of_file.0, of_folder.0, "{flags}");
        let log = |document: &Value| {
            let points = document["points"].as_array().unwrap().clone();
            points.into_iter().find(|point| point["decode_lines"] == 73).unwrap()
        };
        let (one, other) = (log(&of_file.1), log(&of_folder.1));
        assert_eq!(one["verdict"], other["verdict"], "{flags}");
        assert_eq!(one["injected"][0]["value"], other["injected"][0]["value"], "{flags}");
        assert_eq!(one["injected"][0]["value"], "3.51");
    }
}
