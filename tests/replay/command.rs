//! Replay as users type it.

use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::support::path;

fn run(line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_accsim"));
    command.args(line.split_whitespace()).stdin(Stdio::null()).env_remove("ACCSIM_GOLDEN_DIR");
    command.output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn a_proof_is_one_sentence_with_lines_side_by_side() {
    let line = format!("audit {} --accept-length 3.51 --max-accept-length 6", path("e3k5_al351").display());
    let output = run(&line);
    let text = stdout(&output);
    for expected in [
        "replay      these lines are what a server with seed 320846001 and match-expected 3.51 prints: 71 of 73 lines \
         exact, 2 as a changing batch can make them; chance of an accident below 10^-72",
        "printed    3.62 3.52 3.55 3.60 3.42 3.58 3.45 3.48  (",
        "recomputed 3.62 3.52 3.55 3.60 3.42 3.58 3.45 3.48",
        "verdict     consistent: the lines are the server's own draws for match-expected 3.51, recomputed from its seed",
    ] {
        assert!(text.contains(expected), "{text}");
    }
}

/// A seed beside a log that names its own: said, and not used.
#[test]
fn a_given_seed_does_not_replace_the_logs() {
    let log = path("e3k5_al351");
    let line = format!("audit {} --accept-length 3.51 --max-accept-length 6", log.display());
    let output = run(&format!("{line} --random-seed 5"));
    assert_eq!(output.status.code(), Some(0));
    let said = stderr(&output);
    assert!(said.contains("warning: ") && said.contains("names its own seed, 320846001"), "{said}");
    let output = run(&format!("{line} --random-seed 320846001"));
    assert!(stderr(&output).contains("--random-seed is not needed"), "{}", stderr(&output));
}

/// Without one, a wrong seed is the caller's fault and not the log's.
#[test]
fn a_wrong_seed_is_not_blamed_on_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("server.log");
    let text: String =
        super::support::log("e3k5_al351").into_iter().filter(|line| !line.contains("server_args=")).collect();
    std::fs::write(&file, text).unwrap();
    let line = format!("audit {} --accept-length 3.51 --max-accept-length 6 --json", file.display());
    let output = run(&format!("{line} --random-seed 5"));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let point = &document["points"][0];
    assert_eq!(
        (&point["replay"]["status"], &point["verdict"]),
        (&"unavailable".into(), &"consistent".into())
    );
    assert!(point["replay"]["reason"].as_str().unwrap().contains("the seed that was given"), "{point}");
    let findings = point["findings"].as_array().unwrap();
    assert!(findings.iter().all(|finding| finding["code"] != "replay-contradicted"), "{findings:?}");
}

#[test]
fn ranks_of_one_seed_share_their_draws() {
    let line = "simulate --accept-length 3.51 --max-accept-length 6 --ranks 2 --random-seed 5 --steps 100";
    assert_eq!(run(line).status.code(), Some(0));
    let output = run(&format!("{line} --ranks-share-draws false"));
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("contradict each other"), "{}", stderr(&output));
}

#[test]
fn lines_are_known_before_the_run() {
    let line =
        "simulate --accept-length 3.51 --max-accept-length 6 --random-seed 320846001 --lines 8 --steps 100";
    let output = run(&format!("{line} --json"));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["lines"], serde_json::json!([3.62, 3.52, 3.55, 3.6, 3.42, 3.58, 3.45, 3.48]));
    assert_eq!(document["random_seed"], 320_846_001);
    assert!(stdout(&run(line)).contains("3.62 3.52 3.55 3.60 3.42 3.58 3.45 3.48\n"));
    // Without a seed there is nothing to say.
    let output = run("simulate --accept-length 3.51 --max-accept-length 6 --steps 100 --json");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(document.get("lines").is_none());
}

#[test]
fn a_log_with_the_engines_draws_is_proved() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("server.log");
    let line = format!(
        "simulate --accept-length 2.78 --max-accept-length 6 --random-seed 7,8 --lines 60 --running-req 1-8 --ranks 2 \
         --pause 20:30:flush --steps 100 --emit-log {}",
        file.display()
    );
    assert_eq!(run(&line).status.code(), Some(0));
    let audit = format!("audit {} --accept-length 2.78 --replay require --json", file.display());
    let output = run(&audit);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let replay = &document["points"][0]["replay"];
    assert_eq!((output.status.code(), &replay["status"]), (Some(0), &Value::from("proved")), "{replay}");
    assert_eq!((&replay["seed"], &replay["lines_checked"]), (&Value::from(7), &Value::from(240)));
    // The wrong seed by hand is overruled by the log's own.
    let output = run(&format!("{audit} --random-seed 5"));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn what_cannot_be_asked_is_said() {
    let target = "simulate --accept-length 3.51 --max-accept-length 6";
    for (line, expected) in [
        (
            format!("{target} --random-seed 7 --method rounded"),
            "match-expected and multinomial; this is rounded",
        ),
        (format!("{target} --random-seed 7 --engine vllm"), "recomputes the draws of SGLang"),
        (format!("{target} --random-seed 7,8"), "add --emit-log"),
        (format!("{target} --random-seed 7 --lines 2000000"), "at most 1000000 lines"),
        ("audit - --recover-seed --accept-length 3.51".to_owned(), "standard input can be read once"),
        (format!("audit {} --recover-seed", path("base").display()), "--recover-seed needs a target"),
        ("audit x --recover-seed --random-seed 5".to_owned(), "cannot be used with"),
        ("audit x --replay sometimes".to_owned(), "invalid value 'sometimes'"),
    ] {
        let output = run(&line);
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(stderr(&output).contains(expected), "{line}: {}", stderr(&output));
    }
}

/// A log that names its seed needs no search; one that is too short for it says so.
#[test]
fn a_search_begins_only_where_it_can_end() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(path("e3k5_al351")).unwrap();
    let short: Vec<&str> = text.lines().filter(|line| line.contains("] Decode batch")).take(9).collect();
    let file = folder.path().join("short.log");
    std::fs::write(&file, short.join("\n")).unwrap();
    let line = format!("audit {} --accept-length 3.51 --max-accept-length 6 --recover-seed", file.display());
    let output = run(&line);
    assert!(stderr(&output).contains("no seed recovered"), "{}", stderr(&output));
    assert!(stderr(&output).contains("too few"), "{}", stderr(&output));
    let line = line.replace(&file.display().to_string(), &path("e3k5_al351").display().to_string());
    let output = run(&line);
    assert!(!stderr(&output).contains("recovered"), "{}", stderr(&output));
    assert_eq!(output.status.code(), Some(0));
}
