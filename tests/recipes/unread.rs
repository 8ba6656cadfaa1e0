//! What sets variables where no assignment stands: followed where it can be, said to be open where not.

use super::launchers::{REST, SERVER, check, codes};

/// What follows the setting of the pin.
fn then(setting: &str) -> String {
    format!("{setting}\nexport {REST}\n{SERVER}\n")
}

#[test]
fn settings_that_can_be_followed() {
    for setting in [
        "eval \"export SGLANG_SIMULATE_ACC_LEN=2.10\"",
        "eval export SGLANG_SIMULATE_ACC_LEN=2.10",
        "X=2.10; eval \"export SGLANG_SIMULATE_ACC_LEN=$X\"",
        "pin() { export SGLANG_SIMULATE_ACC_LEN=$1; }\neval \"pin 2.10\"",
        "printf -v SGLANG_SIMULATE_ACC_LEN '%s' 2.10; export SGLANG_SIMULATE_ACC_LEN",
        "printf -v SGLANG_SIMULATE_ACC_LEN 2.%d 10; export SGLANG_SIMULATE_ACC_LEN",
        "export SGLANG_SIMULATE_ACC_LEN\nSGLANG_SIMULATE_ACC_LEN=2.10",
        "declare -n pin=SGLANG_SIMULATE_ACC_LEN\npin=2.10\nexport SGLANG_SIMULATE_ACC_LEN",
        "put() { local -n to=$1; to=$2; }\nput SGLANG_SIMULATE_ACC_LEN 2.10\nexport SGLANG_SIMULATE_ACC_LEN",
        "declare -x \"SGLANG_SIMULATE_ACC_LEN=2.10\"",
        "NAME=SGLANG_SIMULATE_ACC_LEN\nexport \"$NAME=2.10\"",
        "cat > pins.sh <<'EOF'\nexport SGLANG_SIMULATE_ACC_LEN=2.10\nEOF\nsource ./pins.sh",
        "source lib.sh\nexport SGLANG_SIMULATE_ACC_LEN=2.10",
    ] {
        let json = check(&then(setting));
        assert_eq!(codes(&json), ["al-mismatch"], "{setting}\n{json}");
        assert_eq!(json["findings"][0]["pinned"], 2.1, "{setting}");
    }
}

#[test]
fn settings_that_only_the_run_knows() {
    for setting in [
        "eval \"export SGLANG_SIMULATE_ACC_LEN=$X\"",
        "eval \"$SETTINGS\"",
        "eval \"$(python3 pins.py)\"",
        "cd x; eval \"cd y; $SETTINGS\"",
        "printf -v SGLANG_SIMULATE_ACC_LEN '%.2f' \"$X\"; export SGLANG_SIMULATE_ACC_LEN",
        "printf -v \"$NAME\" 2.10",
        "read -r SGLANG_SIMULATE_ACC_LEN < pin; export SGLANG_SIMULATE_ACC_LEN",
        "read -p 'pin? ' SGLANG_SIMULATE_ACC_LEN; export SGLANG_SIMULATE_ACC_LEN",
        "export SGLANG_SIMULATE_ACC_LEN=2.99\nwhile read -r SGLANG_SIMULATE_ACC_LEN; do :; done < pins",
        "mapfile -t SGLANG_SIMULATE_ACC_LEN < pin; export SGLANG_SIMULATE_ACC_LEN",
        "declare -n pin=$NAME\npin=2.10",
        "export \"$NAME=2.10\"",
        "export $(cat pins.env)",
        "while read -r line; do export \"$line\"; done < pins.env",
    ] {
        let json = check(&then(setting));
        assert!(codes(&json).contains(&"unparsable-value"), "{setting}\n{json}");
        // A loop may turn no time: then nothing is set, and the pin is missing.
        let may_miss = setting.contains("do export");
        assert_eq!(codes(&json).contains(&"al-missing"), may_miss, "{setting}\n{json}");
        assert!(json["findings"][0]["pinned"].is_null(), "{setting}\n{json}");
    }
    // A file that is sourced is the rule in launchers: the pin is missing, and the finding says what it hangs on.
    let json = check(&then("source \"$(dirname \"$0\")/lib.sh\""));
    assert_eq!(codes(&json), ["al-missing"], "{json}");
    assert!(json["findings"][0]["message"].as_str().unwrap().contains("not read"), "{json}");
    // A pin behind which something open stands is judged, and a note says so.
    let json = check(&then("export SGLANG_SIMULATE_ACC_LEN=2.10\neval \"$SETTINGS\""));
    assert_eq!(codes(&json), ["al-mismatch"], "{json}");
    assert!(json["notes"].to_string().contains("cannot be resolved"), "{json}");
}

#[test]
fn a_script_that_nests_too_deep_is_undecided_and_never_good() {
    let nested = |depth: usize| {
        let mut script = String::new();
        for index in 0..depth {
            script.push_str(&format!("if [[ $A{index} == x ]]; then\n"));
        }
        script.push_str(&format!("export SGLANG_SIMULATE_ACC_LEN=2.10 {REST}\n{SERVER}\n"));
        script.push_str(&"fi\n".repeat(depth));
        script
    };
    let json = check(&nested(20));
    assert_eq!(codes(&json), ["al-mismatch"], "{json}");
    for depth in [200, 400] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.sh"), nested(depth)).unwrap();
        let ran = super::program::accsim_in(
            folder.path(),
            &["recipe", "check", "a.sh", "--json", "--model", "glm5.2"],
        );
        assert!(ran.codes().contains(&"unparsable-value".to_owned()), "{depth}: {}", ran.out);
        // What is seen may be wrong as well.
        let expected = if ran.codes().contains(&"al-mismatch".to_owned()) { 1 } else { 3 };
        assert_eq!(ran.code, expected, "{depth}: {}", ran.out);
    }
}
