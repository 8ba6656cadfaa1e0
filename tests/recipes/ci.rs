//! What other repositories run: the pre-commit hook and the GitHub Action, from the files that they take.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use accsim::yaml::{Mapping, Node, parse};

use super::base::{git, launcher};
use super::program::{Ran, ran};

fn file(name: &str) -> Node {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap();
    parse(&text).unwrap()
}

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

fn items(node: &Node) -> &[Node] {
    match node {
        Node::Sequence(list) => &list.items,
        other => panic!("{other:?}"),
    }
}

/// `PATH` with the program that was built in front.
fn path_with(folder: &Path) -> String {
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

/// As pre-commit does it: the staged files whose paths match `files`, behind the words of `entry`.
#[test]
fn the_hook_checks_what_is_staged() {
    if !has("git") {
        return;
    }
    let hooks = file(".pre-commit-hooks.yaml");
    let hook = map(&items(&hooks)[0]);
    assert_eq!(text(hook.get("id").unwrap()), "accsim-recipe-check");
    assert_eq!(text(hook.get("language").unwrap()), "rust");
    let pattern = regex::Regex::new(&text(hook.get("files").unwrap())).unwrap();
    let entry = text(hook.get("entry").unwrap());
    let (program, words) = entry.split_once(' ').unwrap();
    assert_eq!(program, "accsim");

    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    git(here, &["init", "-q", "-b", "main"]);
    for (name, content) in [
        ("sub/run.sh", launcher("2.10")),
        ("sub/.env", "A=b\n".to_owned()),
        ("Dockerfile", "FROM x\n".to_owned()),
        ("ci.yaml", "jobs: {}\n".to_owned()),
        ("notes.md", launcher("2.10")),
        ("not-staged.sh", launcher("2.10")),
    ] {
        fs::create_dir_all(here.join(name).parent().unwrap()).unwrap();
        fs::write(here.join(name), content).unwrap();
    }
    git(here, &["add", "sub", "Dockerfile", "ci.yaml", "notes.md"]);
    let run = || -> Ran {
        let listed =
            Command::new("git").current_dir(here).args(["diff", "--cached", "--name-only"]).output().unwrap();
        let listed = String::from_utf8(listed.stdout).unwrap();
        let files: Vec<&str> = listed.lines().filter(|path| pattern.is_match(path)).collect();
        assert_eq!(files, ["Dockerfile", "ci.yaml", "sub/.env", "sub/run.sh"]);
        ran(&Command::new(env!("CARGO_BIN_EXE_accsim"))
            .current_dir(here)
            .args(words.split(' '))
            .args(&files)
            .output()
            .unwrap())
    };
    let wrong = run();
    assert_eq!(wrong.code, 1, "{}", wrong.err);
    assert!(wrong.out.contains("sub/run.sh:1:32: error: al-mismatch"), "{}", wrong.out);
    assert!(!wrong.out.contains("not-staged") && !wrong.out.contains("notes.md"), "{}", wrong.out);
    fs::write(here.join("sub/run.sh"), launcher("2.99")).unwrap();
    git(here, &["add", "sub"]);
    let good = run();
    assert_eq!(good.code, 0, "{}{}", good.out, good.err);
}

/// The steps of `action.yml`, run by bash as the runner does it (`bash --noprofile --norc -eo pipefail`).
struct Action {
    steps: Vec<String>,
    names: Vec<Vec<String>>,
    defaults: Vec<(String, String)>,
}

fn action() -> Action {
    let action = file("action.yml");
    let action = map(&action);
    let runs = map(action.get("runs").unwrap());
    assert_eq!(text(runs.get("using").unwrap()), "composite");
    let steps = items(runs.get("steps").unwrap());
    let inputs = map(action.get("inputs").unwrap());
    let names = |step: &Mapping| -> Vec<String> {
        step.get("env").map_or_else(Vec::new, |env| {
            map(env).entries.iter().map(|entry| entry.key.text.to_string()).collect()
        })
    };
    for step in steps {
        assert_eq!(text(map(step).get("shell").unwrap()), "bash");
        // What stands in an input is never part of the script.
        assert!(!text(map(step).get("run").unwrap()).contains("${{"));
    }
    Action {
        steps: steps.iter().map(|step| text(map(step).get("run").unwrap())).collect(),
        names: steps.iter().map(|step| names(map(step))).collect(),
        defaults: inputs
            .entries
            .iter()
            .map(|entry| {
                let default = text(map(&entry.value).get("default").unwrap());
                let default = if default.contains("${{") { String::new() } else { default };
                (entry.key.text.to_uppercase(), default)
            })
            .collect(),
    }
}

fn step(action: &Action, index: usize, here: &Path, temp: &Path, path: &str, vars: &[(&str, &str)]) -> Ran {
    let mut command = Command::new("bash");
    command
        .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &action.steps[index]])
        .current_dir(here)
        .env_clear()
        .env("PATH", path)
        .env("HOME", here)
        .env("RUNNER_TEMP", temp)
        .env("GITHUB_WORKSPACE", here)
        .env("GITHUB_ACTIONS", "true");
    for (name, default) in action.defaults.iter().filter(|(name, _)| action.names[index].contains(name)) {
        command.env(name, default);
    }
    for (name, value) in vars {
        assert!(action.names[index].iter().any(|known| known == name), "{name} is no variable of the step");
        command.env(name, value);
    }
    ran(&command.output().unwrap())
}

#[test]
fn the_action_builds_and_checks() {
    if !has("git") || !has("bash") {
        return;
    }
    let action = action();
    assert_eq!(action.steps.len(), 2);
    let folder = tempfile::tempdir().unwrap();
    let temp = folder.path().join("temp");
    let tools = folder.path().join("tools");
    let here = folder.path().join("checkout");
    for folder in [&temp, &tools, &here] {
        fs::create_dir_all(folder).unwrap();
    }
    // A cargo that installs the program that was built, and writes down what it was asked.
    let cargo = format!(
        "#!/usr/bin/env bash\nprintf '%s\\n' \"$@\" > '{}'\nmkdir -p \"$RUNNER_TEMP/accsim/bin\"\nln -sf '{}' \"$RUNNER_TEMP/accsim/bin/accsim\"\n",
        temp.join("asked").display(),
        env!("CARGO_BIN_EXE_accsim")
    );
    executable(&tools.join("cargo"), &cargo);
    let path = path_with(&tools);
    let built = step(&action, 0, &here, &temp, &path, &[("ACTION_PATH", "/the/action")]);
    assert_eq!(built.code, 0, "{}", built.err);
    let asked = fs::read_to_string(temp.join("asked")).unwrap();
    let root = temp.join("accsim").display().to_string();
    assert_eq!(
        asked.lines().collect::<Vec<_>>(),
        ["install", "--locked", "--path", "/the/action", "--root", &root]
    );

    git(&here, &["init", "-q", "-b", "main"]);
    fs::create_dir_all(here.join("sub dir")).unwrap();
    fs::write(here.join("sub dir/old.sh"), launcher("2.10")).unwrap();
    fs::write(here.join("good.sh"), launcher("2.99")).unwrap();
    git(&here, &["add", "."]);
    git(&here, &["commit", "-qm", "one"]);
    let check = |vars: &[(&str, &str)]| step(&action, 1, &here, &temp, &path, vars);
    let all = check(&[]);
    assert_eq!(all.code, 1, "{}{}", all.out, all.err);
    assert!(all.out.contains("::error file=sub dir/old.sh,line=1,col=32,title=al-mismatch::"), "{}", all.out);
    // A pull request is held against its base alone.
    assert_eq!(check(&[("BASE", "main")]).code, 0);
    assert_eq!(check(&[("PATHS", "good.sh\n")]).code, 0);
    assert_eq!(check(&[("PATHS", "good.sh\nsub dir/old.sh")]).code, 1);
    let sarif = check(&[("FORMAT", "sarif"), ("OUTPUT", "out.sarif"), ("ARGS", "--thinking\noff\n")]);
    assert_eq!((sarif.code, sarif.out.as_str()), (1, ""), "{}", sarif.err);
    let document = fs::read_to_string(here.join("out.sarif")).unwrap();
    assert!(document.contains("\"sub%20dir/old.sh\""), "{document}");
    // What stands in an input is a word and no command.
    let hostile = check(&[("PATHS", "$(touch hit)\n`touch hit`\n; touch hit")]);
    assert_eq!(hostile.code, 2, "{}", hostile.err);
    let hostile = check(&[("BASE", "$(touch hit)"), ("ARGS", "--skip-unknown")]);
    assert_eq!(hostile.code, 2, "{}", hostile.err);
    assert!(!here.join("hit").exists());
    // With a configuration its paths are checked.
    fs::write(here.join("accsim.toml"), "[recipe]\npaths = ['good.sh']\n").unwrap();
    assert_eq!(check(&[]).code, 0);
}

fn executable(file: &PathBuf, text: &str) {
    fs::write(file, text).unwrap();
    let made = Command::new("chmod").arg("+x").arg(file).status().unwrap();
    assert!(made.success());
}
