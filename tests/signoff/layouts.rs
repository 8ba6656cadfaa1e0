//! Where files lie, and how a map says so.

use std::fmt::Write as _;
use std::fs::File;

use crate::support::{FLAGS, Folder, item, statuses, text};

/// The same run as an archive: the same items.
#[test]
fn an_archive_is_read_as_its_folder() {
    let folder = Folder::several_points();
    let mut archive = tar::Builder::new(File::create(folder.path.join("run.tar")).unwrap());
    archive.append_dir_all("run", folder.path.join("run")).unwrap();
    archive.finish().unwrap();
    let (code, document) = folder.document(&format!("signoff run.tar {FLAGS}"));
    assert_eq!(code, 0, "{document:#}");
    assert_eq!(item(&document, "method")["evidence"][0]["file"], "run.tar!/run/c1/env.txt");
}

/// One flat folder: concurrency in the names of the files.
#[test]
fn a_flat_folder_is_sorted_by_concurrency() {
    let folder = Folder::several_points();
    for concurrency in [1, 4, 16, 32] {
        let point = format!("run/c{concurrency}");
        for (from, to) in [
            ("logs/node1_agg_w0.out", "server_c{}.log"),
            ("env.txt", "env_c{}.txt"),
            ("config.yaml", "config_c{}.yaml"),
            ("logs/agentic/profile_export_aiperf.json", "client_conc_{}.json"),
        ] {
            let to = to.replace("{}", &concurrency.to_string());
            folder.write(&format!("flat/{to}"), &folder.read(&format!("{point}/{from}")));
        }
    }
    let line =
        format!("signoff flat --recipe run/recipe.yaml --points run/points.csv --eval run/eval {FLAGS}");
    let (code, document) = folder.document(&line);
    assert_eq!(code, 0, "{document:#}");
    assert_eq!(document["points"].as_array().unwrap().len(), 4);
}

/// Names that say nothing, mapped.
#[test]
fn a_map_says_what_names_do_not() {
    let folder = Folder::several_points();
    let mut map = String::new();
    for (letter, concurrency) in [("a", 1), ("b", 4), ("d", 16), ("e", 32)] {
        let point = format!("run/c{concurrency}");
        for (from, to) in
            [("logs/node1_agg_w0.out", "server.log"), ("env.txt", "vars.env"), ("config.yaml", "config.yaml")]
        {
            folder.write(&format!("odd/{letter}-{to}"), &folder.read(&format!("{point}/{from}")));
        }
        let export = folder.read(&format!("{point}/logs/agentic/profile_export_aiperf.json"));
        folder.write(&format!("odd/{letter}-client.json"), &export);
        let _ = write!(
            map,
            "[[point]]\nname = \"{letter}\"\nconcurrency = {concurrency}\nfiles = [\"{letter}-*\"]\n\n"
        );
    }
    folder.write("odd/judged.log", &folder.read("run/eval/logs/node1_agg_w0.out"));
    folder.write("odd/judged.env", &folder.read("run/eval/env.txt"));
    folder.write("odd/scores.json", &folder.read("run/eval/results.json"));
    map += "[[evaluation]]\nname = \"gsm8k\"\nfiles = [\"judged.*\", \"scores.json\"]\n";
    folder.write("map.toml", &map);
    let line = format!("signoff odd --map map.toml --recipe run/recipe.yaml --points run/points.csv {FLAGS}");
    let (code, document) = folder.document(&line);
    assert_eq!(code, 0, "{document:#}");
    assert!(document["evaluations"][0].as_str().unwrap().starts_with("gsm8k: 1 server log"), "{document:#}");
}

#[test]
fn faults_of_profile_and_map_have_their_place() {
    let folder = Folder::several_points();
    folder.write("bad.toml", "name = \"x\"\n[[rule]]\nid = \"a\"\ntitle = \"t\"\ncheck = \"graf-flag\"\n");
    folder.write("map.toml", "[[point]]\nname = 3\nfiles = []\n");
    for (flags, part) in [
        ("--profile bad.toml", "bad.toml: line 5, column 9: unknown variant `graf-flag`"),
        ("--profile agentix", "did you mean agentx?"),
        ("--map map.toml", "map.toml: line 2, column 8"),
        ("--threshold gsm8k", "expected TASK=LEAST"),
        ("--recipe nothing.yaml", "nothing.yaml"),
    ] {
        let output = folder.run(&format!("signoff run {flags}"));
        assert_eq!(output.status.code(), Some(2), "{flags}");
        let error = text(&output.stderr);
        assert!(error.contains(part), "{flags}: {error}");
    }
    assert_eq!(folder.run("signoff no-such-folder").status.code(), Some(2));
    assert_eq!(folder.run("signoff -").status.code(), Some(2));
    assert_eq!(folder.run("signoff").status.code(), Some(2));
}

/// A copy of the profile is the profile.
#[test]
fn a_copied_profile_decides_the_same() {
    let folder = Folder::several_points();
    let printed = text(&folder.run("signoff profile").stdout);
    assert_eq!(printed, include_str!("../../profiles/agentx.toml"));
    folder.write("mine.toml", &printed);
    let flags = FLAGS.replace("--profile four.toml ", "");
    let built_in = folder.document(&format!("signoff run {flags}"));
    let mine = folder.document(&format!("signoff run {flags} --profile mine.toml"));
    assert_eq!(built_in, mine);
    // Four points are no curve for it.
    assert_eq!(statuses(&built_in.1)["pareto"], "fails");
}

/// Folders that are given themselves: the name of the one that evaluates counts too.
#[test]
fn an_evaluation_that_is_given_itself() {
    let folder = Folder::several_points();
    for evaluation in ["run/eval", "run/eval/"] {
        let line = format!(
            "signoff run/c1 run/c4 run/c16 run/c32 {evaluation} --recipe run/recipe.yaml --points run/points.csv {FLAGS}"
        );
        let (code, document) = folder.document(&line);
        assert_eq!(code, 0, "{document:#}");
        assert_eq!(document["points"].as_array().unwrap().len(), 4);
        let found = document["evaluations"][0].as_str().unwrap();
        assert!(found.contains("1 server log") && found.contains("1 score"), "{found}");
    }
}

#[test]
fn a_golden_cell_that_nobody_has_is_refused() {
    let folder = Folder::several_points();
    for (from, to, part) in [
        ("--model h200qwen", "--model nope", "no golden curve 'nope_eagle3'"),
        ("--model h200qwen", "--model h200qwen --draft-length 4", "no golden cell for draft length 4"),
        ("--model h200qwen", "--model h200qwen --thinking off", "no golden cell for thinking_off"),
    ] {
        let output = folder.run(&format!("signoff run {}", FLAGS.replace(from, to)));
        assert_eq!(output.status.code(), Some(2), "{to}");
        let error = text(&output.stderr);
        assert!(error.contains(part), "{to}: {error}");
    }
}

#[test]
fn what_a_map_names_and_nobody_finds_is_said() {
    let folder = Folder::several_points();
    folder.write("map.toml", "[[point]]\nname = \"c4\"\nfiles = [\"node1_agg_w9.out\"]\n");
    let (_, document) = folder.document(&format!("signoff run --map map.toml {FLAGS}"));
    let notes = document["notes"].to_string();
    assert!(
        notes.contains("the map's c4 names node1_agg_w9.out, and no file of that name was found"),
        "{notes}"
    );
    folder.write(
        "odd.toml",
        "name = \"x\"\n[[rule]]\nid = \"a\"\ntitle = \"t\"\ncheck = { forbidden-variables = { names = [\"SG*LEN\"] } }\n",
    );
    let output = folder.run("signoff run --profile odd.toml");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("does not stand at its end"), "{}", text(&output.stderr));
}
