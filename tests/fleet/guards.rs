//! No result replaces what it is made of.

use std::fs;

use super::{TARGET, accsim, code, runs, text, write};

#[test]
fn no_result_replaces_an_input() {
    let folder = runs();
    fs::create_dir(folder.path().join("run")).unwrap();
    fs::copy(folder.path().join("a.log"), folder.path().join("run/a.log")).unwrap();
    write(folder.path(), "told.env", "SGLANG_SIMULATE_ACC_LEN=3.5\n");
    write(
        folder.path(),
        "m.csv",
        "path,accept_length,max_accept_length,env\nb.log,3.5,6,\nb.log,,,told.env\n",
    );
    assert_eq!(code(&accsim(folder.path(), &format!("audit a.log --partial {TARGET} -o p.json"))), 0);
    accsim(folder.path(), "audit --manifest m.csv --journal j");
    let part = fs::read_to_string(folder.path().join("p.json")).unwrap();
    write(folder.path(), "newer.json", &part.replacen("\"accsim_part\":1", "\"accsim_part\":2", 1));
    let content = |name: &str| fs::read(folder.path().join(name)).unwrap();
    for (line, file) in [
        (format!("audit a.log {TARGET} -o a.log"), "a.log"),
        (format!("audit a.log {TARGET} --html ./a.log"), "a.log"),
        (format!("audit run {TARGET} -o run/a.log"), "run/a.log"),
        (format!("audit a.log {TARGET} --partial -o a.log"), "a.log"),
        ("audit a.log --env told.env -o told.env".to_owned(), "told.env"),
        ("audit --manifest m.csv -o m.csv".to_owned(), "m.csv"),
        ("audit --manifest m.csv --format csv -o b.log".to_owned(), "b.log"),
        ("audit --manifest m.csv -o told.env".to_owned(), "told.env"),
        ("audit --manifest m.csv --journal j -o j".to_owned(), "j"),
        ("audit --manifest m.csv --journal m.csv".to_owned(), "m.csv"),
        ("audit --manifest m.csv --journal b.log".to_owned(), "b.log"),
        ("records run -o run/a.log".to_owned(), "run/a.log"),
        ("records b.log -o b.log".to_owned(), "b.log"),
        ("merge p.json -o p.json".to_owned(), "p.json"),
        ("merge p.json --partial -o p.json".to_owned(), "p.json"),
        // One that is refused is an input all the same, and would be lost.
        ("merge p.json newer.json --partial -o newer.json".to_owned(), "newer.json"),
        (format!("simulate {TARGET} -o new --emit-log new"), "a.log"),
    ] {
        let before = content(file);
        let output = accsim(folder.path(), &line);
        assert_eq!(code(&output), 2, "{line}");
        assert!(text(&output.stderr).contains("name another file"), "{line}: {}", text(&output.stderr));
        assert_eq!(content(file), before, "{line}");
    }
    // A dash is standard output, and no file.
    let output = accsim(folder.path(), &format!("audit a.log {TARGET} --format csv -o -"));
    assert!(text(&output.stdout).starts_with("point,"), "{}", text(&output.stdout));
    assert!(!folder.path().join("-").exists());
    // The result of an earlier run is no input, though a walk finds it.
    for _ in 0..2 {
        let output = accsim(folder.path(), &format!("audit run {TARGET} -o run/report.txt"));
        assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    }
}
