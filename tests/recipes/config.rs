//! `accsim.toml`.

use std::fs;
use std::path::Path;

use super::program::accsim_in;

fn repository(allow: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let launcher = "export SGLANG_SIMULATE_ACC_LEN=2.10 SGLANG_SIMULATE_ACC_METHOD=match-expected SGLANG_SIMULATE_ACC_TOKEN_MODE=real-draft-token\nexec python3 -m sglang.launch_server --speculative-algorithm EAGLE --speculative-num-steps 3\n";
    let fixed =
        "exec python3 -m sglang.launch_server --speculative-algorithm EAGLE --speculative-num-steps 3\n";
    for (name, text) in [("run/agentic/a.sh", launcher), ("run/fixed/b.sh", fixed), ("old/c.sh", launcher)] {
        fs::create_dir_all(folder.path().join(name).parent().unwrap()).unwrap();
        fs::write(folder.path().join(name), text).unwrap();
    }
    let config = format!(
        "[recipe]\npaths = ['run', 'old']\nexclude = ['old/**']\n\n[[recipe.rules]]\npath = 'run/**'\nmodel = 'glm5.2'\nthinking = 'on'\n\n\
         [[recipe.rules]]\npath = 'run/fixed/**'\nscenario = 'fixed-seq-len'\n{allow}"
    );
    fs::write(folder.path().join("accsim.toml"), config).unwrap();
    folder
}

fn check(folder: &Path, args: &[&str]) -> (i32, Vec<String>) {
    let mut all = vec!["recipe", "check", "--json"];
    all.extend(args);
    let ran = accsim_in(folder, &all);
    (ran.code, ran.codes())
}

#[test]
fn a_whole_repository_by_one_short_command() {
    let folder = repository("");
    assert_eq!(check(folder.path(), &[]), (1, vec!["al-mismatch".to_owned()]));
    // From a folder below it is the same configuration.
    assert_eq!(check(&folder.path().join("run/fixed"), &["b.sh"]), (0, vec![]));
    let (code, codes) = check(folder.path(), &["run/fixed", "--no-config"]);
    assert_eq!((code, codes.contains(&"al-missing".to_owned())), (1, true));
}

#[test]
fn an_exception_holds_until_its_day() {
    let folder = repository(
        "\n[[recipe.allow]]\npath = 'run/agentic/*'\ncode = 'al-mismatch'\nreason = 'sanctioned'\nexpires = '2027-01-31'\n",
    );
    let on = |day: &str| {
        let ran = accsim_in(folder.path(), &["recipe", "check", "--json", "--today", day]);
        (ran.code, ran.json())
    };
    let (code, json) = on("2027-01-31");
    assert_eq!((code, json["findings"].as_array().unwrap().len()), (0, 0));
    assert_eq!(
        (json["allowed"][0]["reason"].as_str(), json["allowed"][0]["expires"].as_str()),
        (Some("sanctioned"), Some("2027-01-31"))
    );
    let (code, json) = on("2027-02-01");
    assert_eq!(code, 1);
    assert!(json["findings"][0]["message"].as_str().unwrap().contains("expired on 2027-01-31"), "{json}");
}

#[test]
fn a_wrong_configuration_is_refused_with_its_place() {
    let folder = repository("\n[[recipe.allow]]\npath = 'x'\ncode = 'al-mismatch'\nexpires = '2027-01-31'\n");
    let ran = accsim_in(folder.path(), &["recipe", "check"]);
    assert!(ran.code == 2 && ran.err.contains("accsim.toml") && ran.err.contains("reason"), "{}", ran.err);
}
