//! Shell scripts: what their servers are given.

use std::fs;

use serde_json::Value;

use super::program::accsim_in;

pub(crate) fn check(text: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.sh"), text).unwrap();
    accsim_in(folder.path(), &["recipe", "check", "a.sh", "--json", "--model", "glm5.2"]).json()
}

pub(crate) fn codes(json: &Value) -> Vec<&str> {
    json["findings"].as_array().unwrap().iter().map(|finding| finding["code"].as_str().unwrap()).collect()
}

pub(crate) const SERVER: &str =
    "python3 -m sglang.launch_server --speculative-algorithm EAGLE --speculative-num-steps 3";
pub(crate) const REST: &str =
    "SGLANG_SIMULATE_ACC_METHOD=match-expected SGLANG_SIMULATE_ACC_TOKEN_MODE=real-draft-token";

/// Scripts whose server gets the pin 2.10: the one finding says so.
#[test]
fn the_pin_that_reaches_the_server_is_judged() {
    for script in [
        format!("export SGLANG_SIMULATE_ACC_LEN=2.10 {REST}\n{SERVER}\n"),
        format!("SGLANG_SIMULATE_ACC_LEN=2.10 {REST} {SERVER}\n"),
        format!("env SGLANG_SIMULATE_ACC_LEN=2.10 {REST} {SERVER}\n"),
        format!("export SGLANG_SIMULATE_ACC_LEN=2.99 {REST}\nSGLANG_SIMULATE_ACC_LEN=2.10 {SERVER}\n"),
        format!("X=2.10\nexport SGLANG_SIMULATE_ACC_LEN=\"${{X}}\" {REST}\n{SERVER}\n"),
        format!("export SGLANG_SIMULATE_ACC_LEN=${{GIVEN:-2.10}} {REST}\n{SERVER}\n"),
        format!("set -a\nSGLANG_SIMULATE_ACC_LEN=2.10\n{}\nset +a\n{SERVER}\n", REST.replace(' ', "\n")),
        format!(
            "declare -A G=([3]=2.10 [4]=3.33)\nK=3\nexport SGLANG_SIMULATE_ACC_LEN=${{G[$K]}} {REST}\n{SERVER}\n"
        ),
        format!("G=(0 1 2 2.10)\nexport SGLANG_SIMULATE_ACC_LEN=${{G[3]}} {REST}\n{SERVER}\n"),
        format!("f() {{ export SGLANG_SIMULATE_ACC_LEN=$1 {REST}; }}\nf 2.10\n{SERVER}\n"),
        format!("for x in 1.5 2.10; do export SGLANG_SIMULATE_ACC_LEN=$x; done\nexport {REST}\n{SERVER}\n"),
        format!(
            "case 3-x in 4*) X=1 ;; 3*) X=2.10 ;; *) X=9 ;; esac\nexport SGLANG_SIMULATE_ACC_LEN=$X {REST}\n{SERVER}\n"
        ),
        format!("export SGLANG_SIMULATE_ACC_LEN=2.10 {REST}\nbash -c \"{SERVER}\"\n"),
        format!(
            "docker run -e SGLANG_SIMULATE_ACC_LEN=2.10 -e {} image {SERVER}\n",
            REST.replace(' ', " -e ")
        ),
        format!(
            "#SBATCH -N 1\nexport {REST}\nsrun --export=ALL,SGLANG_SIMULATE_ACC_LEN=2.10 {SERVER} 2>&1 | tee log &\nwait\n"
        ),
        format!("export SGLANG_SIMULATE_ACC_LEN=$(echo 2.10) {REST}\n{SERVER}\n"),
    ] {
        let json = check(&script);
        assert_eq!(codes(&json), ["al-mismatch"], "{script}\n{json}");
        assert_eq!(json["findings"][0]["pinned"], 2.1, "{script}");
    }
}

#[test]
fn what_does_not_reach_the_server_is_no_pin() {
    for script in [
        format!("# export SGLANG_SIMULATE_ACC_LEN=2.99 {REST}\n{SERVER}\n"),
        format!("SGLANG_SIMULATE_ACC_LEN=2.99\n{SERVER}\n"),
        format!("export SGLANG_SIMULATE_ACC_LEN=2.99 {REST}\nunset SGLANG_SIMULATE_ACC_LEN\n{SERVER}\n"),
        format!("export SGLANG_SIMULATE_ACC_LEN=2.99 {REST}\ndocker run image {SERVER}\n"),
        format!("(export SGLANG_SIMULATE_ACC_LEN=2.99 {REST})\n{SERVER}\n"),
        format!("echo SGLANG_SIMULATE_ACC_LEN=2.99\n{SERVER}\nexport SGLANG_SIMULATE_ACC_LEN=2.99\n"),
        format!("cat <<'EOF'\nexport SGLANG_SIMULATE_ACC_LEN=2.99\nEOF\n{SERVER}\n"),
    ] {
        let json = check(&script);
        assert_eq!(codes(&json), ["al-missing"], "{script}\n{json}");
    }
}

#[test]
fn what_only_the_run_resolves_is_said_and_never_guessed() {
    for pin in ["$LEN", "$(python3 golden.py)", "${TABLE[$K]}", "`cat pin`", "two"] {
        let json = check(&format!("export SGLANG_SIMULATE_ACC_LEN={pin} {REST}\n{SERVER}\n"));
        assert_eq!(codes(&json), ["unparsable-value"], "{pin}\n{json}");
        assert!(json["findings"][0]["pinned"].is_null(), "{pin}");
    }
    let json =
        check(&format!("export SGLANG_SIMULATE_ACC_LEN=2.99 {REST}\n{}\n", SERVER.replace(" 3", " $STEPS")));
    assert!(codes(&json).contains(&"unparsable-value"), "{json}");
}

#[test]
fn evidence_names_lines_and_columns() {
    let json = check(&format!(
        "STEPS=3\nexport SGLANG_SIMULATE_ACC_LEN=2.10 {REST}\n{}\n",
        SERVER.replace(" 3", " $STEPS")
    ));
    let finding = &json["findings"][0];
    assert_eq!((finding["line"].as_u64(), finding["column"].as_u64()), (Some(2), Some(32)), "{finding}");
    let place = |part: &str| {
        let evidence =
            finding["evidence"].as_array().unwrap().iter().find(|item| item["part"] == part).unwrap();
        (
            evidence["line"].as_u64().unwrap(),
            evidence["column"].as_u64().unwrap(),
            evidence["value"].as_str().unwrap().to_owned(),
        )
    };
    assert_eq!(place("draft-length"), (1, 7, "3".to_owned()));
    assert_eq!(place("method").0, 3);
    assert_eq!(place("engine").2, "sglang");
}

#[test]
fn a_script_with_thousands_of_ways_ends() {
    let mut script = String::new();
    for index in 0..200 {
        script.push_str(&format!("if [[ $A{index} == x ]]; then V{index}=1; else V{index}=2; fi\n"));
    }
    script.push_str(&format!("export SGLANG_SIMULATE_ACC_LEN=2.99 {REST}\n{SERVER}\n"));
    let json = check(&script);
    assert_eq!(json["errors"].as_array().unwrap().len(), 0, "{}", json["errors"]);
}

/// What grows with a launcher is shared between the copies of its shell, so that a long one spends no bound on it.
#[test]
fn long_launchers_are_followed_to_their_end() {
    let many = |line: &dyn Fn(usize) -> String| (0..2000).map(line).collect::<String>();
    let tests = many(&|number| format!("[ -f f{number} ] && true\n"));
    let arms = many(&|number| format!("m{number}) A={number} ;;\n"));
    let variables = many(&|number| format!("A{number}=1\nX=1 ls | cat\n"));
    let files = many(&|number| format!("cat > f{number} <<EOF\nx\nEOF\n"));
    let functions = many(&|number| format!("f{number}() {{ A=1; }}; X=1 f{number}\n"));
    for text in [
        tests,
        format!("case \"$MODEL_PREFIX\" in\n{arms}esac\n"),
        variables,
        files,
        functions,
        "args+=(--a b); T+=' --b'\n".repeat(1000),
        "A=1; ".repeat(10_000),
    ] {
        let json = check(&format!("{text}\nexport SGLANG_SIMULATE_ACC_LEN=2.10 {REST}\n{SERVER}\n"));
        let start: String = text.chars().take(40).collect();
        assert_eq!(codes(&json), ["al-mismatch"], "{start}\n{json}");
    }
}

/// Thousands of servers, equal or not: each is judged once, in the order of the script.
#[test]
fn many_servers_are_told_apart() {
    let text: String =
        (0..900).map(|number| format!("SGLANG_SIMULATE_ACC_LEN=2.{number:03} {REST} {SERVER}\n")).collect();
    let json = check(&text);
    assert_eq!(json["servers"], 900, "{}", json["servers"]);
    let lines: Vec<u64> = json["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["line"].as_u64().unwrap())
        .collect();
    assert_eq!(lines, (1..=900).collect::<Vec<_>>());
    let json = check(&format!("for x in 1 2 3 4; do SGLANG_SIMULATE_ACC_LEN=2.10 {REST} {SERVER}; done\n"));
    assert_eq!((codes(&json), &json["servers"]), (vec!["al-mismatch"], &1.into()));
}
