//! `recipe check --base`: what a change touches.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::program::accsim_in;

pub(crate) fn git(folder: &Path, args: &[&str]) {
    let done = Command::new("git")
        .current_dir(folder)
        .args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"])
        .args(args)
        .output()
        .unwrap();
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

pub(crate) fn launcher(pin: &str) -> String {
    format!(
        "export SGLANG_SIMULATE_ACC_LEN={pin} SGLANG_SIMULATE_ACC_METHOD=match-expected SGLANG_SIMULATE_ACC_TOKEN_MODE=real-draft-token\npython3 -m sglang.launch_server --model-path zai-org/GLM-5.2 --speculative-algorithm EAGLE --speculative-num-steps 3\n"
    )
}

#[test]
fn only_what_the_change_touches() {
    if Command::new("git").arg("--version").output().is_err() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    git(here, &["init", "-q", "-b", "main"]);
    fs::write(here.join("old.sh"), launcher("2.10")).unwrap();
    fs::write(here.join("good.sh"), launcher("2.99")).unwrap();
    git(here, &["add", "."]);
    git(here, &["commit", "-qm", "one"]);
    let files = |args: &[&str]| {
        let mut all = vec!["recipe", "check", "--json", "--base", "main"];
        all.extend(args);
        let ran = accsim_in(here, &all);
        let json = ran.json();
        let files: Vec<String> = json["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|finding| finding["file"].as_str().unwrap().to_owned())
            .collect();
        (ran.code, files)
    };
    assert_eq!(files(&[]), (0, vec![]));
    git(here, &["checkout", "-qb", "change"]);
    fs::write(here.join("good.sh"), launcher("3.00")).unwrap();
    git(here, &["commit", "-qam", "two"]);
    assert_eq!(files(&["."]), (1, vec!["good.sh".to_owned()]));
    fs::write(here.join("new.sh"), launcher("3.10")).unwrap();
    assert_eq!(files(&[]), (1, vec!["good.sh".to_owned(), "new.sh".to_owned()]));
    let refused = accsim_in(here, &["recipe", "check", "--base", "no-such-branch"]);
    assert!(refused.code == 2 && refused.err.contains("no-such-branch"), "{}", refused.err);
    let refused = accsim_in(here, &["recipe", "check", "--base=--output=x"]);
    assert_eq!(refused.code, 2);
    assert!(!here.join("x").exists());
}
