//! One log under several names, and one name under several flags.

use std::fs;

use super::{TARGET, accsim, code, json, rows, runs, text, write};

#[test]
fn a_log_under_two_spellings_is_one_log() {
    let folder = runs();
    fs::create_dir(folder.path().join("x")).unwrap();
    for (path, part) in
        [("./a.log", "1.json"), ("x/../a.log", "2.json"), ("x/.././/a.log", "3.json"), ("b.log", "b.json")]
    {
        let line = format!("audit {path} --partial --point run {TARGET} -o {part}");
        assert_eq!(code(&accsim(folder.path(), &line)), 0);
    }
    assert_eq!(
        fs::read(folder.path().join("1.json")).unwrap(),
        fs::read(folder.path().join("2.json")).unwrap()
    );
    let found = json(&accsim(folder.path(), "merge 1.json b.json 2.json 3.json --json"));
    assert_eq!(found["points"].as_array().unwrap().len(), 1);
    assert_eq!(found["points"][0]["spec_lines"], 120);
    // What another file holds is another log, whatever its name.
    fs::copy(folder.path().join("c.log"), folder.path().join("x/c.log")).unwrap();
    write(
        folder.path(),
        "m.csv",
        "path,accept_length,max_accept_length\n./a.log,3.5,6\na.log,3.5,6\nx/./c.log,3.5,6\nc.log,3.5,6\n",
    );
    let expected = accsim(folder.path(), "audit --manifest ./m.csv --format csv");
    assert!(
        text(&expected.stderr).contains("row 2 repeats row 1: counted once"),
        "{}",
        text(&expected.stderr)
    );
    let found = rows(&expected.stdout);
    let of = |name: &str| found.iter().map(|row| row[name].clone()).collect::<Vec<_>>();
    assert_eq!(of("point"), ["a.log", "x/c.log", "c.log"]);
    assert_eq!(of("files"), of("point"));
    assert_eq!(code(&accsim(folder.path(), "audit --manifest ./m.csv --partial -o p.json")), 0);
    assert_eq!(text(&accsim(folder.path(), "merge p.json --format csv").stdout), text(&expected.stdout));
}

/// One file under two names in a manifest is one row; what only looks alike, as a link leads elsewhere, keeps its name.
#[cfg(unix)]
#[test]
fn folders_that_are_left_again_are_followed_where_they_lead() {
    let folder = runs();
    fs::create_dir_all(folder.path().join("else/d")).unwrap();
    fs::create_dir(folder.path().join("d")).unwrap();
    fs::rename(folder.path().join("rounded.log"), folder.path().join("else/b.log")).unwrap();
    std::os::unix::fs::symlink("else/d", folder.path().join("ln")).unwrap();
    write(
        folder.path(),
        "m.jsonl",
        r#"{"path": "b.log"}
{"path": "d/../b.log"}
{"path": "ln/../b.log"}
"#,
    );
    let expected = accsim(folder.path(), &format!("audit --manifest m.jsonl {TARGET} --format csv"));
    let said = text(&expected.stderr);
    assert!(said.contains("row 2 repeats row 1: counted once"), "{said}");
    let found = rows(&expected.stdout);
    let of = |name: &str| found.iter().map(|row| row[name].clone()).collect::<Vec<_>>();
    assert_eq!(of("point"), ["b.log", "ln/../b.log"]);
    assert_eq!(of("verdict"), ["consistent", "inconsistent"]);
    assert_eq!(
        code(&accsim(folder.path(), &format!("audit --manifest m.jsonl {TARGET} --partial -o p.json"))),
        0
    );
    assert_eq!(text(&accsim(folder.path(), "merge p.json --format csv").stdout), text(&expected.stdout));
}

#[test]
fn parts_of_other_flags_are_said_to_be_other_points() {
    let folder = runs();
    for (path, flags, part) in
        [("a.log", "", "a.json"), ("b.log", "--margin 1%", "b.json"), ("c.log", "", "c.json")]
    {
        let line = format!("audit {path} --partial --point run {TARGET} {flags} -o {part}");
        assert_eq!(code(&accsim(folder.path(), &line)), 0);
    }
    let said = "run: its parts were made with different flags (margin), so they are 2 points of one name";
    let found = accsim(folder.path(), "merge a.json b.json c.json");
    assert!(text(&found.stderr).contains(said), "{}", text(&found.stderr));
    let found = json(&accsim(folder.path(), "merge a.json b.json --json"));
    assert!(found["notes"].to_string().contains(said), "{found}");
    let found = accsim(folder.path(), "merge a.json b.json --partial -o ab.json");
    assert!(text(&found.stderr).contains(said), "{}", text(&found.stderr));
    let alike = accsim(folder.path(), "merge a.json c.json");
    assert!(!text(&alike.stderr).contains("different flags"), "{}", text(&alike.stderr));
}
