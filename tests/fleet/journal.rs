//! What a journal knows a row by, and how it tells that a line is not as it was written.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use super::{TARGET, accsim, rows, runs, text, write};

fn audit(folder: &Path, flags: &str) -> Output {
    accsim(folder, &format!("audit --manifest m.jsonl {flags} --journal j --format csv"))
}

/// How many rows were done before.
fn resumed(output: &Output) -> u64 {
    let said = text(&output.stderr);
    let note = said.lines().find_map(|line| line.strip_suffix(" rows were done before"));
    note.map_or(0, |note| note.split_whitespace().nth(1).unwrap().parse().unwrap())
}

/// Files beside a log say what the run was told: they are inputs as the log is.
#[test]
fn a_file_beside_a_log_is_an_input() {
    let folder = runs();
    fs::create_dir(folder.path().join("run")).unwrap();
    fs::rename(folder.path().join("a.log"), folder.path().join("run/a.log")).unwrap();
    let told = |length: &str| {
        let env = format!("SGLANG_SIMULATE_ACC_LEN={length}\nSGLANG_SIMULATE_ACC_METHOD=match-expected\n");
        write(folder.path(), "run/told.env", &env);
    };
    write(folder.path(), "m.jsonl", "{\"path\": \"run/a.log\"}\n");
    told("3.5");
    let first = audit(folder.path(), "");
    assert_eq!(resumed(&audit(folder.path(), "")), 1);
    told("2.25");
    let changed = audit(folder.path(), "");
    assert_eq!(resumed(&changed), 0);
    assert_ne!(rows(&first.stdout)[0]["target_accept_len"], rows(&changed.stdout)[0]["target_accept_len"]);
    fs::remove_file(folder.path().join("run/told.env")).unwrap();
    assert_eq!(resumed(&audit(folder.path(), "")), 0);
    // Another log is none, and changes nothing.
    assert_eq!(resumed(&audit(folder.path(), "")), 1);
    fs::copy(folder.path().join("b.log"), folder.path().join("run/b.log")).unwrap();
    assert_eq!(resumed(&audit(folder.path(), "")), 1);
}

#[test]
fn curves_and_recipes_are_inputs() {
    let folder = runs();
    let curves = concat!(env!("CARGO_MANIFEST_DIR"), "/golden_al");
    fs::create_dir(folder.path().join("curves")).unwrap();
    for file in fs::read_dir(curves).unwrap().map(|file| file.unwrap().path()) {
        if file.is_file() {
            fs::copy(&file, folder.path().join("curves").join(file.file_name().unwrap())).unwrap();
        }
    }
    write(folder.path(), "m.jsonl", "{\"path\": \"b.log\"}\n");
    let flags = format!("{TARGET} --golden-dir curves");
    audit(folder.path(), &flags);
    assert_eq!(resumed(&audit(folder.path(), &flags)), 1);
    let some = fs::read_dir(folder.path().join("curves")).unwrap().next().unwrap().unwrap().path();
    let content = fs::read_to_string(&some).unwrap();
    fs::write(&some, format!("{content}# changed\n")).unwrap();
    assert_eq!(resumed(&audit(folder.path(), &flags)), 0);
    // A recipe is a file whether or not some of its variants are named.
    let recipe = "\
base:
  backend:
    type: sglang
    sglang_config:
      decode:
        speculative-algorithm: EAGLE
        speculative-num-steps: 5
        speculative-num-draft-tokens: 6
    decode_environment:
      SGLANG_SIMULATE_ACC_LEN: '3.5'
override_low:
  backend:
    decode_environment:
      SGLANG_SIMULATE_ACC_LEN: '2.5'
";
    write(folder.path(), "r.yaml", recipe);
    write(folder.path(), "m.jsonl", "{\"path\": \"b.log\", \"recipe\": \"r.yaml:override_low\"}\n");
    let first = audit(folder.path(), "");
    assert_eq!(rows(&first.stdout)[0]["target_accept_len"], "2.5", "{}", text(&first.stderr));
    assert_eq!(resumed(&audit(folder.path(), "")), 1);
    write(folder.path(), "r.yaml", &recipe.replace("2.5", "3.25"));
    let changed = audit(folder.path(), "");
    assert_eq!(resumed(&changed), 0);
    assert_eq!(rows(&changed.stdout)[0]["target_accept_len"], "3.25");
}

/// Any byte of a line may be another one: the row is audited again, and what comes out is the same.
#[test]
fn a_line_that_is_not_as_it_was_written_costs_its_row() {
    let folder = runs();
    write(folder.path(), "m.jsonl", "{\"path\": \"a.log\"}\n{\"path\": \"b.log\"}\n");
    let whole = audit(folder.path(), TARGET);
    let kept = fs::read_to_string(folder.path().join("j")).unwrap();
    let lines: Vec<&str> = kept.lines().collect();
    let changed = kept.replacen("\"verdict\":\"consistent\"", "\"verdict\":\"unauditable\"", 1);
    let figure = kept.replacen("3.5", "3.6", 1);
    let bad_sum = kept.replacen("\"sum\":\"", "\"sum\":\"0", 1);
    for (content, said) in [
        (changed, "line 2 is damaged"),
        (figure, "line 2 is damaged"),
        (bad_sum, "line 2 is damaged"),
        (format!("{}\n{}\n", lines[0], lines[2]), ""),
    ] {
        assert_ne!(content, kept);
        write(folder.path(), "j", &content);
        let again = audit(folder.path(), TARGET);
        assert_eq!(again.stdout, whole.stdout, "{said}");
        assert_eq!(resumed(&again), 1, "{}", text(&again.stderr));
        assert!(text(&again.stderr).contains(said), "{}", text(&again.stderr));
        // Its row is done now, and there is nothing more to say.
        let third = audit(folder.path(), TARGET);
        assert_eq!((resumed(&third), &third.stdout), (2, &whole.stdout), "{said}");
        assert!(!text(&third.stderr).contains("damaged"), "{}", text(&third.stderr));
    }
}

/// What an editor makes of line ends is no damage.
#[test]
fn line_ends_of_another_system_and_blank_lines_are_no_damage() {
    let folder = runs();
    write(folder.path(), "m.jsonl", "{\"path\": \"a.log\"}\n{\"path\": \"b.log\"}\n");
    let first = audit(folder.path(), TARGET);
    let journal = fs::read_to_string(folder.path().join("j")).unwrap();
    write(folder.path(), "j", &format!("{}\r\n\n", journal.replace('\n', "\r\n")));
    let again = audit(folder.path(), TARGET);
    assert_eq!(resumed(&again), 2);
    assert!(!text(&again.stderr).contains("damaged"), "{}", text(&again.stderr));
    assert_eq!(text(&again.stdout), text(&first.stdout));
}

/// A journal and a result in a folder that is a row are no inputs of it.
#[test]
fn what_an_audit_writes_is_no_input_of_it() {
    let folder = runs();
    fs::create_dir(folder.path().join("run")).unwrap();
    fs::rename(folder.path().join("a.log"), folder.path().join("run/a.log")).unwrap();
    write(folder.path(), "m.jsonl", "{\"path\": \"run\"}\n");
    let audit = |format: &str| {
        let files = format!("--journal run/j -o run/result.{format}");
        accsim(folder.path(), &format!("audit --manifest m.jsonl {TARGET} --format {format} {files}"))
    };
    for format in ["csv", "text"] {
        // Another result of an earlier audit is a file like any other.
        audit(format);
        let written = fs::read(folder.path().join(format!("run/result.{format}"))).unwrap();
        // What a crash leaves of a result.
        write(folder.path(), &format!("run/result.{format}.77.0.tmp"), "half");
        let again = audit(format);
        assert_eq!(resumed(&again), 1, "{format}: {}", text(&again.stderr));
        assert_eq!(
            fs::read(folder.path().join(format!("run/result.{format}"))).unwrap(),
            written,
            "{format}"
        );
    }
    write(folder.path(), "run/more.txt", "more");
    assert_eq!(resumed(&audit("csv")), 0);
}

/// A document is the same whether or not its audit was interrupted; what there is to say of the journal is said beside it.
#[test]
fn a_resumed_audit_has_the_document_of_an_uninterrupted_one() {
    let folder = runs();
    write(folder.path(), "m.jsonl", "{\"path\": \"a.log\"}\n{\"path\": \"b.log\"}\n");
    let audit = || accsim(folder.path(), &format!("audit --manifest m.jsonl {TARGET} --journal j --json"));
    let first = audit();
    let kept = fs::read_to_string(folder.path().join("j")).unwrap();
    write(folder.path(), "j", &kept.replacen("3.5", "3.6", 1));
    for done in [1, 2] {
        let again = audit();
        assert_eq!(resumed(&again), done, "{}", text(&again.stderr));
        assert_eq!(text(&again.stdout), text(&first.stdout));
        assert_eq!(text(&again.stderr).contains("line 2 is damaged"), done == 1, "{}", text(&again.stderr));
    }
}

/// Without a journal results wait in a temporary file: where there can be none, its folder is named.
#[cfg(unix)]
#[test]
fn a_folder_for_temporary_files_that_is_none_is_named() {
    let folder = runs();
    write(folder.path(), "m.jsonl", "{\"path\": \"a.log\"}\n");
    let mut command = Command::new(env!("CARGO_BIN_EXE_accsim"));
    command.current_dir(folder.path()).env("TMPDIR", folder.path().join("no-such-folder"));
    let line = format!("audit --manifest m.jsonl {TARGET}");
    let output = command.args(line.split_whitespace()).output().unwrap();
    let said = text(&output.stderr);
    assert!(
        !output.status.success() && said.contains("temporary files, ") && said.contains("no-such-folder"),
        "{said}"
    );
}
