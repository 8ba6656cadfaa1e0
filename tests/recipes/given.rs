//! What a command is given: assignments in front, arguments that only the run has, what branches say, evaluation guards.

use serde_json::Value;

use super::launchers::{REST, SERVER, check, codes};
use super::program::accsim_in;

/// The assignments in front of a function, `eval` and `command` hold while it runs.
#[test]
fn assignments_in_front_of_a_function_or_a_builtin_reach_its_server() {
    let run = format!("run() {{ {SERVER}; }}\n");
    for call in
        ["run".to_owned(), format!("eval \"{SERVER}\""), format!("command {SERVER}"), "eval run".to_owned()]
    {
        let pinned = format!("export SGLANG_SIMULATE_ACC_LEN=2.99 {REST}\n{run}");
        let json = check(&format!("{pinned}SGLANG_SIMULATE_ACC_LEN=2.50 {call}\n"));
        assert_eq!(codes(&json), ["al-mismatch"], "{call}\n{json}");
        assert_eq!(json["findings"][0]["pinned"], 2.5, "{call}");
        let json = check(&format!("{run}SGLANG_SIMULATE_ACC_LEN=2.99 {REST} {call}\n"));
        assert_eq!(codes(&json), [""; 0], "{call}\n{json}");
        // And no longer.
        let json = check(&format!("{run}SGLANG_SIMULATE_ACC_LEN=2.99 {REST} {call}\n{SERVER}\n"));
        assert_eq!(codes(&json), ["al-missing"], "{call}\n{json}");
        let json = check(&format!("{pinned}SGLANG_SIMULATE_ACC_LEN=2.99 {call}\n{SERVER}\n"));
        assert_eq!(codes(&json), [""; 0], "{call}\n{json}");
    }
}

/// Whether a server drafts cannot be told where its arguments are the run's.
#[test]
fn arguments_that_only_the_run_has_leave_open_whether_a_server_drafts() {
    let server = "python3 -m sglang.launch_server --model-path zai-org/GLM-5.2";
    let pin = format!("export SGLANG_SIMULATE_ACC_LEN=2.99 {REST}\n");
    for script in [
        format!("{pin}{server} $SPEC_ARGS\n"),
        format!("{pin}{server} --trust-remote-code $SPEC_ARGS\n"),
        format!("{pin}ARGS=(--tp 8 $SPEC_ARGS)\n{server} \"${{ARGS[@]}}\"\n"),
        format!("{pin}{server} \"${{ARGS[@]}}\"\n"),
        format!("{pin}{server} --config server.yaml\n"),
        format!("{pin}$CMD\n"),
        format!("{pin}exec $CMD --port 1\n"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.sh"), &script).unwrap();
        let ran = accsim_in(folder.path(), &["recipe", "check", "a.sh", "--json"]);
        assert_eq!(
            (ran.codes(), ran.code),
            (vec!["unparsable-value".to_owned()], 3),
            "{script}\n{}",
            ran.out
        );
    }
    // One whose arguments are all there drafts nothing; the value of an option is no argument.
    for script in [format!("{pin}{server}\n"), format!("{pin}{server} --tp $TP\n")] {
        assert_eq!(codes(&check(&script)), ["al-on-nonspeculative-role"], "{script}");
    }
    // A file that the script writes is read.
    let script = format!(
        "{pin}cat > ./server.yaml <<EOF\nspeculative-algorithm: EAGLE\nspeculative-num-steps: 3\nEOF\n{server} --config server.yaml\n"
    );
    assert_eq!(codes(&check(&script)), [""; 0], "{script}");
    // A command without simulated acceptance around it is none of this program's business.
    assert_eq!(codes(&check(&format!("$CMD\nX=1 {REST} {SERVER}\n"))), ["al-missing"]);
}

fn table(ones: &str) -> String {
    format!(
        "export {REST}\ncase \"$SPEC_NUM_TOKENS\" in 1) AL={ones} ;; 2 | 3) AL=2.50 ;; *) exit 1 ;; esac\nexport \
         SGLANG_SIMULATE_ACC_LEN=$AL\npython3 -m sglang.launch_server --speculative-algorithm EAGLE \
         --speculative-num-steps $SPEC_NUM_TOKENS\n"
    )
}

fn pins(json: &Value) -> Vec<(f64, f64)> {
    let findings = json["findings"].as_array().unwrap();
    let number = |finding: &Value, name: &str| finding[name].as_f64().unwrap();
    findings.iter().map(|finding| (number(finding, "pinned"), number(finding, "expected"))).collect()
}

/// In an arm the subject is the pattern.
#[test]
fn a_table_of_pins_is_judged_arm_by_arm() {
    assert_eq!(pins(&check(&table("1.84"))), [(2.5, 2.99)]);
    assert_eq!(pins(&check(&table("1.85"))), [(1.85, 1.84), (2.5, 2.99)]);
    let script = format!(
        "K=$GIVEN\nif [[ $K == 2 ]]; then AL=2.50; elif [ \"$K\" -eq 3 ]; then AL=2.98; else exit 1; fi\nexport \
         SGLANG_SIMULATE_ACC_LEN=$AL {REST}\n{}\n",
        SERVER.replace('3', "$K").replace("python$K", "python3")
    );
    assert_eq!(pins(&check(&script)), [(2.98, 2.99)], "{script}");
}

#[test]
fn a_table_of_models_and_modes_is_judged_for_those_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let models = format!(
        "case \"$MODEL_PREFIX\" in\n  glm5.2) AL=2.99 ;;\n  dsv4) AL=2.48 ;;\nesac\nexport SGLANG_SIMULATE_ACC_LEN=$AL \
         {REST}\n{SERVER} --model-path \"$MODEL\"\n"
    );
    let of_thinking = format!(
        "if [ \"$THINKING_MODE\" = off ]; then AL=2.97; else AL=2.49; fi\nexport SGLANG_SIMULATE_ACC_LEN=$AL {REST}\n{SERVER} \
         --model-path deepseek-ai/DeepSeek-V4-Pro\n"
    );
    std::fs::write(folder.path().join("models.sh"), models).unwrap();
    std::fs::write(folder.path().join("modes.sh"), of_thinking).unwrap();
    let check = |arguments: &[&str]| {
        let all = [&["recipe", "check", "--json"], arguments].concat();
        accsim_in(folder.path(), &all).codes()
    };
    assert_eq!(check(&["models.sh", "--model", "glm5.2"]), [""; 0]);
    assert_eq!(check(&["models.sh", "--model", "dsv4"]), ["al-mismatch"]);
    assert_eq!(check(&["modes.sh"]), [""; 0]);
    assert_eq!(check(&["modes.sh", "--thinking", "off"]), [""; 0]);
    assert_eq!(check(&["modes.sh", "--thinking", "on"]), [""; 0]);
}

#[test]
fn guards_of_evaluations_are_understood() {
    let pin = format!("export SGLANG_SIMULATE_ACC_LEN=2.99 {REST}");
    for guard in [
        format!("SYNTH=1; [ \"$EVAL_ONLY\" = true ] && SYNTH=0\nif (( SYNTH )); then {pin}; fi"),
        format!("SYNTH=1; [ \"$EVAL_ONLY\" = true ] && SYNTH=0\nif (( SYNTH == 1 )); then {pin}; fi"),
        format!("is_eval() {{ [ \"$EVAL_ONLY\" = true ]; }}\nif ! is_eval; then {pin}; fi"),
        format!("is_eval() {{ [ \"$1\" = true ]; }}\nis_eval \"$EVAL_ONLY\" || {pin}"),
        format!("{pin}\n[[ \"${{EVAL_ONLY,,}}\" == true ]] && unset SGLANG_SIMULATE_ACC_LEN"),
        format!("{pin}\nif [[ $EVAL_ONLY != true ]]; then :; else unset ${{!SGLANG_SIMULATE_@}}; fi"),
        format!("{pin}\n[ \"$EVAL_ONLY\" = true ] && unset \"${{!SGLANG_SIMULATE_@}}\""),
    ] {
        let json = check(&format!("{guard}\n{SERVER}\n"));
        assert_eq!(codes(&json), [""; 0], "{guard}\n{json}");
    }
    // A guard the wrong way round is found.
    let json =
        check(&format!("is_eval() {{ [ \"$EVAL_ONLY\" = true ]; }}\nif is_eval; then {pin}; fi\n{SERVER}\n"));
    assert_eq!(codes(&json), ["al-on-eval", "al-missing"], "{json}");
}

#[test]
fn a_command_that_does_nothing_starts_no_server_and_sources_are_quoted_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(": {SERVER}\nexport SGLANG_SIMULATE_ACC_LEN=${{AL:?set me}} {REST}\n{SERVER}\n");
    std::fs::write(folder.path().join("a.sh"), script).unwrap();
    let json = accsim_in(folder.path(), &["recipe", "check", "a.sh", "--json"]).json();
    assert_eq!(json["servers"], 1, "{json}");
    assert!(json["findings"].to_string().contains("${AL:?set me}"), "{json}");
}
