//! The release workflow, as far as it can be run here: its shell lines, from the file itself.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use accsim::yaml::{Mapping, Node, parse};

use crate::ROOT;

fn map(node: &Node) -> &Mapping {
    match node {
        Node::Mapping(map) => map,
        other => panic!("{other:?}"),
    }
}

fn text(node: &Node) -> String {
    match node {
        Node::Scalar(text) => text.text.to_string(),
        other => panic!("{other:?}"),
    }
}

/// The lines that one step of a job runs: the one whose lines hold `mark`.
fn lines(job: &str, mark: &str) -> String {
    let workflow = fs::read_to_string(Path::new(ROOT).join(".github/workflows/release.yml")).unwrap();
    let workflow = parse(&workflow).unwrap();
    let jobs = map(map(&workflow).get("jobs").unwrap());
    let Some(Node::Sequence(steps)) = map(jobs.get(job).unwrap()).get("steps") else { panic!("{job}") };
    let runs = steps.items.iter().filter_map(|step| map(step).get("run")).map(text);
    let found: Vec<String> = runs.filter(|run| run.contains(mark)).collect();
    assert_eq!(found.len(), 1, "{mark}: {found:?}");
    // Values of the workflow come as variables: what stands in them is never part of the script.
    assert!(!found[0].contains("${{"), "{}", found[0]);
    found[0].clone()
}

/// Runs lines as the runner does.
fn run(lines: &str, here: &Path, variables: &[(&str, &str)]) -> Output {
    Command::new("bash")
        .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", lines])
        .current_dir(here)
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

fn done(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn an_archive_holds_program_licences_completions_and_manual() {
    let folder = tempfile::tempdir().unwrap();
    let built = folder.path().join("target/some-target/release");
    fs::create_dir_all(&built).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_accsim"), built.join("accsim")).unwrap();
    for file in ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"] {
        fs::copy(Path::new(ROOT).join(file), folder.path().join(file)).unwrap();
    }
    let name = "accsim-v1.2.3-some-target";
    let variables = [("NAME", name), ("TARGET", "some-target")];
    done(&run(&lines("binary", "tar -czf"), folder.path(), &variables));

    let listed = done(&run(&format!("tar -tzf {name}.tar.gz"), folder.path(), &[]));
    let files = [
        "accsim",
        "README.md",
        "CHANGELOG.md",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "completions/accsim.bash",
        "completions/_accsim",
        "completions/accsim.fish",
        "man/accsim.1",
        "man/accsim-audit.1",
        "man/accsim-throughput-sweep.1",
    ];
    for file in files {
        assert!(listed.lines().any(|line| line == format!("{name}/{file}")), "{file}: {listed}");
        let size = fs::metadata(folder.path().join(name).join(file)).unwrap().len();
        assert!(size > 0, "{file} is empty");
    }
    let sourced = format!("source {name}/completions/accsim.bash && complete -p accsim");
    assert!(done(&run(&sourced, folder.path(), &[])).contains("accsim"));
}

#[test]
fn every_file_of_a_release_has_its_checksum() {
    let folder = tempfile::tempdir().unwrap();
    let assets = folder.path().join("assets");
    fs::create_dir(&assets).unwrap();
    for name in ["accsim-v1.2.3-a.tar.gz", "accsim-1.2.3.whl", "-odd"] {
        fs::write(assets.join(name), name).unwrap();
    }
    done(&run(&lines("release", "SHA256SUMS"), folder.path(), &[]));
    let sums = fs::read_to_string(assets.join("SHA256SUMS")).unwrap();
    assert_eq!(sums.lines().count(), 3, "{sums}");
    done(&run("sha256sum --check --strict SHA256SUMS", &assets, &[]));
}

#[test]
fn notes_are_what_the_change_log_says_of_the_version() {
    let folder = tempfile::tempdir().unwrap();
    let log = "# Changes\n\n## [Unreleased]\n\n- next\n\n## [1.2.3] - 2027-01-01\n\n- this\n\n## [1.2.2]\n\n- old\n";
    fs::write(folder.path().join("CHANGELOG.md"), log).unwrap();
    done(&run(&lines("release", "> notes.md"), folder.path(), &[("GITHUB_REF_NAME", "v1.2.3")]));
    let notes = fs::read_to_string(folder.path().join("notes.md")).unwrap();
    assert_eq!(notes, "## [1.2.3] - 2027-01-01\n\n- this\n\n");
}

/// A tag that is not the version of both packages, or that the change log does not know, releases nothing.
#[test]
fn a_tag_is_the_version() {
    let folder = tempfile::tempdir().unwrap();
    let version = env!("CARGO_PKG_VERSION");
    fs::create_dir(folder.path().join("python")).unwrap();
    for file in ["Cargo.toml", "python/Cargo.toml"] {
        fs::copy(Path::new(ROOT).join(file), folder.path().join(file)).unwrap();
    }
    let log = folder.path().join("CHANGELOG.md");
    fs::write(&log, format!("## [Unreleased]\n\n## [{version}] - 2027-01-01\n")).unwrap();
    let lines = lines("version", "CHANGELOG.md");
    let tag = format!("v{version}");
    done(&run(&lines, folder.path(), &[("TAG", tag.as_str())]));
    assert!(!run(&lines, folder.path(), &[("TAG", "v99.0.0")]).status.success());
    fs::write(&log, "## [Unreleased]\n").unwrap();
    assert!(!run(&lines, folder.path(), &[("TAG", tag.as_str())]).status.success());
}
