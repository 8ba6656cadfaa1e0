//! Compose files, Dockerfiles, environment files, folders, standard input.

use std::fs;

use super::program::accsim_in;

#[test]
fn every_kind_of_file_is_read_in_one_walk() {
    let folder = tempfile::tempdir().unwrap();
    let rest =
        "SGLANG_SIMULATE_ACC_METHOD: match-expected\n      SGLANG_SIMULATE_ACC_TOKEN_MODE: real-draft-token";
    let compose = format!(
        "services:\n  server:\n    image: x\n    environment:\n      SGLANG_SIMULATE_ACC_LEN: \"${{LEN:-2.10}}\"\n      {rest}\n    command: >\n      python3 -m sglang.launch_server\n      --speculative-algorithm EAGLE --speculative-num-steps ${{STEPS:-3}}\n"
    );
    let dockerfile = "FROM x\nARG LEN=2.10\nENV SGLANG_SIMULATE_ACC_LEN=$LEN SGLANG_SIMULATE_ACC_METHOD=match-expected \\\n    SGLANG_SIMULATE_ACC_TOKEN_MODE=real-draft-token\nCMD [\"python3\", \"-m\", \"sglang.launch_server\", \"--speculative-algorithm\", \"EAGLE\", \"--speculative-num-steps\", \"3\"]\n";
    let dotenv = "# pins\nSGLANG_SIMULATE_ACC_LEN='2,10'\nSGLANG_SIMULATE_ACC_METHOD=match-expected # law\nSGLANG_SIMULATE_ACC_TOKEN_MODE=real-draft-token\n";
    fs::create_dir_all(folder.path().join("sub/.git")).unwrap();
    for (name, text) in [
        ("docker-compose.yaml", compose.as_str()),
        ("sub/Dockerfile", dockerfile),
        ("sub/.env", dotenv),
        ("sub/notes.md", "SGLANG_SIMULATE_ACC_LEN=9\n"),
        ("sub/ci.yaml", "jobs: {}\n"),
        ("sub/.git/a.sh", "export SGLANG_SIMULATE_ACC_LEN=9\n"),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let ran = accsim_in(folder.path(), &["recipe", "check", ".", "--model", "glm5.2", "--json"]);
    let json = ran.json();
    let found: Vec<String> = json["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| {
            format!(
                "{} {} {}",
                finding["file"].as_str().unwrap(),
                finding["line"],
                finding["code"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(ran.code, 1);
    assert_eq!(
        found,
        ["docker-compose.yaml 5 al-mismatch", "sub/.env 2 unparsable-value", "sub/Dockerfile 3 al-mismatch"],
        "{json}"
    );
    assert_eq!(json["files"], 3);
    let one =
        accsim_in(folder.path(), &["--threads", "1", "recipe", "check", ".", "--model", "glm5.2", "--json"]);
    assert_eq!(one.out, ran.out);
}

#[test]
fn nothing_to_judge_is_no_success() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.yaml"), "a: 1\n").unwrap();
    fs::write(folder.path().join("b.yaml"), "backend: {type: sglang\n").unwrap();
    assert_eq!(accsim_in(folder.path(), &["recipe", "check", "a.yaml"]).code, 3);
    assert_eq!(accsim_in(folder.path(), &["recipe", "check", "a.yaml", "--skip-unknown"]).code, 0);
    let broken = accsim_in(folder.path(), &["recipe", "check", "b.yaml"]);
    assert!(broken.code == 2 && broken.err.contains("b.yaml:2:1"), "{}", broken.err);
    assert_eq!(accsim_in(folder.path(), &["recipe", "check", "absent.yaml"]).code, 2);
    assert_eq!(accsim_in(folder.path(), &["recipe", "check"]).code, 2);
}
