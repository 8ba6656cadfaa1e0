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

#[test]
fn archives_are_refused_by_what_they_are() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    let script = "export SGLANG_SIMULATE_ACC_LEN=2.10\n";
    let mut zip = zip::ZipWriter::new(fs::File::create(folder.path().join("a.zip")).unwrap());
    zip.start_file("a.sh", zip::write::SimpleFileOptions::default()).unwrap();
    zip.write_all(script.as_bytes()).unwrap();
    zip.finish().unwrap();
    let mut tar = vec![0_u8; 1024];
    tar[257..262].copy_from_slice(b"ustar");
    for (name, bytes, what) in [
        ("a.zip", None, "a zip archive"),
        ("a.tar.gz", Some(b"\x1f\x8b\x08\0rest".to_vec()), "a gzip file"),
        ("a.sh", Some(b"\x28\xb5\x2f\xfdrest".to_vec()), "a zstd file"),
        ("a.yaml.xz", Some(b"\xfd7zXZ\0rest".to_vec()), "an xz file"),
        ("a.tar", Some(tar), "a tar archive"),
    ] {
        if let Some(bytes) = bytes {
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        let ran = accsim_in(folder.path(), &["recipe", "check", name]);
        assert!(ran.code == 2 && ran.err.contains(what) && ran.err.contains("unpack"), "{name}: {}", ran.err);
    }
}

#[test]
fn a_file_that_several_paths_lead_to_is_checked_once() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.sh"), super::base::launcher("2.10")).unwrap();
    let whole = folder.path().join("a.sh").display().to_string();
    let ran = accsim_in(folder.path(), &["recipe", "check", ".", "a.sh", "./a.sh", &whole, "--json"]);
    assert_eq!(ran.codes(), ["al-mismatch"], "{}", ran.out);
    assert_eq!(ran.json()["files"], 1);
    let twice = accsim_in(folder.path(), &["recipe", "check", "b.yaml", "b.yaml"]);
    assert_eq!(twice.code, 2);
}

/// Two ways through a script that differ in what a message does not say are one line.
#[test]
fn no_line_is_printed_twice() {
    let folder = tempfile::tempdir().unwrap();
    let text = "if [[ $A == x ]]; then K=2; else K=3; fi\nexport SGLANG_SIMULATE_ACC_LEN=2.10\npython3 -m sglang.launch_server --model-path zai-org/GLM-5.2 --speculative-algorithm EAGLE --speculative-num-steps $K\n";
    fs::write(folder.path().join("a.sh"), text).unwrap();
    let ran = accsim_in(folder.path(), &["recipe", "check", "a.sh"]);
    let mut lines: Vec<&str> = ran.out.lines().chain(ran.err.lines()).collect();
    let count = lines.len();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), count, "{}{}", ran.out, ran.err);
    assert_eq!(ran.out.matches("al-mismatch").count(), 2, "{}", ran.out);
}

#[test]
fn a_schema_that_is_not_known_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = |schema: &str| {
        format!(
            "schema: {schema}\nroles:\n  agg:\n    engine: sglang\n    args: {{speculative-algorithm: EAGLE, speculative-num-steps: 3}}\n"
        )
    };
    for (schema, is_known) in
        [("1", true), ("2", true), ("9", false), ("0", false), ("two", false), ("[2]", false), ("2.5", false)]
    {
        let text = recipe(schema);
        let base = format!(
            "base:\n{}override_x: {{name: x}}\n",
            text.lines().map(|line| format!("  {line}\n")).collect::<String>()
        );
        for text in [text, base] {
            fs::write(folder.path().join("r.yaml"), &text).unwrap();
            let checked = accsim_in(folder.path(), &["recipe", "check", "r.yaml", "--model", "glm5.2"]);
            let injected = accsim_in(
                folder.path(),
                &["recipe", "inject", "r.yaml", "--framework", "sglang", "--model", "glm5.2"],
            );
            if is_known {
                assert_eq!((checked.code, injected.code), (0, 0), "{text}{}{}", checked.err, injected.err);
                continue;
            }
            for ran in [checked, injected] {
                assert!(ran.code == 2 && ran.err.contains("expected 1 or 2"), "{text}{}", ran.err);
            }
        }
    }
}
