//! Rows that nobody can read: each is a failure of its own, in one process and through parts.

use super::{TARGET, accsim, code, json, rows, runs, text, write};

const BAD: &str = r#"{"path":"a.log","labels":{"team":"red"}}
{"path":""}
{"path":["b.log",""],"labels":{"team":"blue"}}
[1]
[1]

{"path":"a.log","path":"b.log"}
{"path":"b.log","labels":{"team":"x","team":"y"}}
{"path":"b.log","lables":{},"label_team":"green"}
{"path":"b.log","accept_length":"many","labels":{"team":"blue"}}
{"path":"b.log","accept_length":"many","labels":{"team":"blue"}}
{"path":"none.log"}
{"path":"empty"}
{"path":"texts"}
{"path":"rounded.log"}
not JSON
"#;

#[test]
fn rows_that_nobody_can_read_go_through_parts() {
    let folder = runs();
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    std::fs::create_dir(folder.path().join("texts")).unwrap();
    write(folder.path(), "texts/notes.txt", "nothing that a server wrote\n");
    write(folder.path(), "m.jsonl", BAD);
    let line = format!("audit --manifest m.jsonl {TARGET}");
    let expected = accsim(folder.path(), &format!("{line} --format csv"));
    assert_eq!(code(&expected), 2);
    let found = rows(&expected.stdout);
    let numbers: Vec<String> = found.iter().map(|row| row["row"].clone()).collect();
    assert_eq!(numbers, (1..=15).map(|row| row.to_string()).collect::<Vec<_>>());
    for (row, said, point, team) in [
        (2, "line 2: the path is empty", "", ""),
        (3, "line 3: the path is empty", "b.log", "blue"),
        (4, "line 4: no JSON object", "", ""),
        (5, "line 5: no JSON object", "", ""),
        (6, "line 7: key 'path' stands here twice", "a.log", ""),
        (7, "line 8: key 'team' stands here twice", "b.log", "x"),
        (8, "line 9: unknown column 'lables'", "b.log", "green"),
        (9, "line 10: invalid value 'many'", "b.log", "blue"),
        (11, "line 12: cannot read none.log", "none.log", ""),
        (15, "line 16: no JSON object", "", ""),
    ] {
        let row = &found[row - 1];
        assert!(row["failure"].starts_with(said), "{row:?}");
        assert_eq!((row["point"].as_str(), row["label_team"].as_str()), (point, team), "{row:?}");
    }
    let expected_document = json(&accsim(folder.path(), &format!("{line} --json")));
    let faults = super::schema::faults(&expected_document);
    assert!(faults.is_empty(), "{faults:#?}");
    let failed = expected_document["failed_rows"].as_array().unwrap();
    let third = failed.iter().find(|failed| failed["row"] == 3).unwrap();
    assert_eq!(
        third,
        &serde_json::json!({
            "row": 3, "path": "b.log", "labels": {"team": "blue"}, "failures": ["line 3: the path is empty"],
        })
    );
    let table = text(&accsim(folder.path(), &line).stdout);
    assert!(table.contains("row 3: [team=blue] line 3: the path is empty"), "{table}");
    let repeats = expected_document["notes"].to_string();
    assert!(!repeats.contains("repeats"), "{repeats}");
    let mut parts = Vec::new();
    for index in 1..=4 {
        let output = accsim(folder.path(), &format!("{line} --shard {index}/4 --partial -o p{index}.json"));
        assert_eq!(code(&output), 2, "{}", text(&output.stderr));
        parts.push(format!("p{index}.json"));
    }
    // A failure of a row is none of the merge that carries it.
    for (given, name) in [("p1.json p3.json", "x.json"), ("p4.json x.json p2.json p1.json", "y.json")] {
        let output = accsim(folder.path(), &format!("merge {given} --partial -o {name}"));
        assert_eq!((code(&output), text(&output.stderr).as_str()), (0, ""));
    }
    for given in [parts.join(" "), "y.json".to_owned(), "p2.json y.json x.json".to_owned()] {
        let found = accsim(folder.path(), &format!("merge {given} --format csv"));
        assert_eq!(text(&found.stdout), text(&expected.stdout), "{given}");
        assert_eq!(code(&found), 2);
        let document = json(&accsim(folder.path(), &format!("merge {given} --json")));
        for name in ["points", "errors", "verdicts", "failed_rows"] {
            assert_eq!(document[name], expected_document[name], "{given}: {name}");
        }
    }
}

#[test]
fn rows_of_csv_say_where_they_stand() {
    let folder = runs();
    let manifest = "\u{feff}path,label_team,accept_length,max_accept_length\r\na.log,red,3.5,6\r\nb.log,blue,3.5\r\n\r\nc.log,\"x\r\ny\",3.5,6\r\n,green,3.5,6\r\n";
    write(folder.path(), "m.csv", manifest);
    let output = accsim(folder.path(), "audit --manifest m.csv --format csv");
    assert_eq!(code(&output), 2);
    let found = rows(&output.stdout);
    let of = |name: &str| found.iter().map(|row| row[name].clone()).collect::<Vec<_>>();
    assert_eq!(of("row"), ["1", "2", "3", "4"]);
    assert_eq!(of("point"), ["a.log", "b.log", "c.log", ""]);
    assert_eq!(of("label_team")[1], "blue");
    assert_eq!(of("label_team")[3], "green");
    let failures = of("failure");
    assert_eq!(failures[1], "line 3: 3 fields where the heading has 4 columns");
    assert!(failures[2].starts_with("line 5: a field in quotes goes on to line 6"), "{failures:?}");
    assert_eq!(failures[3], "line 7: no path");
    assert!(text(&output.stderr).contains("error: row 2: line 3: 3 fields"), "{}", text(&output.stderr));
}

#[test]
fn a_quote_that_nobody_closes_swallows_no_rows() {
    let folder = runs();
    for (manifest, line) in [
        ("path,label_x\na.log,\"y\nb.log,z\n", 2),
        ("path,label_x\na.log,y\nb.log,\"z", 3),
        ("path,\"label_x\na.log,y\n", 1),
    ] {
        write(folder.path(), "m.csv", manifest);
        let output = accsim(folder.path(), &format!("audit --manifest m.csv {TARGET}"));
        assert_eq!(code(&output), 2);
        let said = text(&output.stderr);
        assert!(said.contains(&format!("m.csv: line {line}: a quote is opened")), "{said}");
    }
}

/// Nothing was audited: that is no consent.
#[test]
fn a_manifest_without_rows_decides_nothing() {
    let folder = runs();
    write(folder.path(), "m.csv", "path,accept_length\n");
    let output = accsim(folder.path(), "audit --manifest m.csv");
    assert_eq!(code(&output), 3, "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("m.csv: the manifest has a heading and no rows"));
    // A shard may well be empty.
    write(folder.path(), "m.csv", "path,accept_length,max_accept_length\na.log,3.5,6\n");
    let output = accsim(folder.path(), "audit --manifest m.csv --shard 2/2");
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    assert_eq!(code(&accsim(folder.path(), "audit --manifest m.csv --shard 2/2 --partial -o p.json")), 0);
    assert_eq!(code(&accsim(folder.path(), "merge p.json")), 3);
}

/// Numbers of labels are names: two that a machine takes for one are two.
#[test]
fn numbers_of_labels_stay_as_they_are_written() {
    let folder = runs();
    let rows_of = |labels: &str| {
        format!(
            "{{\"path\":\"a.log\",\"accept_length\":3.50,\"max_accept_length\":6,\"labels\":{{\"id\":{labels}}}}}\n"
        )
    };
    let written = ["123456789012345678901", "123456789012345678902", "1.10", "1.1", "-0", "1e999", "true"];
    let manifest: String = written.iter().map(|label| rows_of(label)).collect();
    write(folder.path(), "m.jsonl", &format!("{manifest}{}", rows_of("1.10")));
    let output = accsim(folder.path(), "audit --manifest m.jsonl --json");
    let document = json(&output);
    let labels: Vec<&str> = document["points"]
        .as_array()
        .unwrap()
        .iter()
        .map(|point| point["labels"]["id"].as_str().unwrap())
        .collect();
    assert_eq!(labels, written);
    // What is counted once is said in a document too.
    assert_eq!(document["notes"], serde_json::json!(["note: row 8 repeats row 3: counted once"]));
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
}

/// Nobody hears what is said beside the result: it is there all the same, and the exit code is its own.
#[test]
fn a_closed_stderr_stops_nothing() {
    let folder = runs();
    write(folder.path(), "m.csv", "path,accept_length,max_accept_length\nnone.log,3.5,6\na.log,3.5,6\n");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_accsim"));
    command.current_dir(folder.path()).args([
        "audit",
        "--manifest",
        "m.csv",
        "--format",
        "csv",
        "-o",
        "z.csv",
    ]);
    let status = command.stderr(writer).status().unwrap();
    assert_eq!(status.code(), Some(2));
    assert_eq!(rows(&std::fs::read(folder.path().join("z.csv")).unwrap()).len(), 2);
}

#[test]
fn secrets_of_urls_are_printed_nowhere() {
    let folder = runs();
    let url = "https://user:hunter2@localhost/x?sig=SECRET";
    write(folder.path(), "m.csv", &format!("path,accept_length,max_accept_length\n{url},3.5,6\n"));
    for line in [
        format!("audit {url} {TARGET}"),
        format!("audit {url} {TARGET} --json"),
        format!("audit {url} {TARGET} --partial"),
        "audit --manifest m.csv".to_owned(),
        "audit --manifest m.csv --json".to_owned(),
        "audit --manifest m.csv --format csv".to_owned(),
        "audit --manifest m.csv --partial".to_owned(),
        format!("records {url}"),
    ] {
        let output = accsim(folder.path(), &line);
        assert_eq!(code(&output), 2, "{line}");
        let said = text(&output.stdout) + &text(&output.stderr);
        assert!(said.contains("https://***@localhost/x?***"), "{line}: {said}");
        assert!(!said.contains("hunter2") && !said.contains("SECRET"), "{line}: {said}");
    }
}

#[test]
fn columns_without_a_name_are_told_from_columns_that_nobody_knows() {
    let folder = runs();
    for (heading, said) in [
        ("path,label_", "column 'label_': the label has no name; expected label_NAME"),
        ("path,,label_x", "column 2 has no name"),
        ("path,threads", "unknown column 'threads'; if it is a label, name it 'label_threads'"),
        ("path,modle", "unknown column 'modle'; did you mean 'model'"),
    ] {
        write(folder.path(), "m.csv", &format!("{heading}\na.log,1,2\n"));
        let output = accsim(folder.path(), &format!("audit --manifest m.csv {TARGET}"));
        assert_eq!(code(&output), 2, "{heading}");
        assert!(text(&output.stderr).contains(said), "{heading}: {}", text(&output.stderr));
    }
}

/// A field that is no text costs its row and not the other fields: somebody has to find it again.
#[test]
fn a_field_that_is_no_text_keeps_the_others() {
    let folder = runs();
    let csv = b"path,accept_length,max_accept_length,label_team\na.log,3.5,6,r\xffd\nb.log,3.5,6,blue\n";
    std::fs::write(folder.path().join("m.csv"), csv).unwrap();
    let found = rows(&accsim(folder.path(), "audit --manifest m.csv --format csv").stdout);
    assert_eq!(
        found[0]["failure"],
        "line 2: column 'label_team' is no UTF-8 text; write the file anew as UTF-8"
    );
    assert_eq!((found[0]["point"].as_str(), found[0]["label_team"].as_str()), ("a.log", "r\u{fffd}d"));
    assert_eq!(found[1]["verdict"], "consistent");
    let lines = b"{\"path\":\"a.log\",\"labels\":{\"team\":\"r\xffd\"}}\n{\"path\":\"b.log\"}\n";
    std::fs::write(folder.path().join("m.jsonl"), lines).unwrap();
    let line = format!("audit --manifest m.jsonl {TARGET} --format csv");
    let found = rows(&accsim(folder.path(), &line).stdout);
    assert_eq!(found[0]["failure"], "line 1: the line is no UTF-8 text; write the file anew as UTF-8");
    assert_eq!((found[0]["point"].as_str(), found[1]["verdict"].as_str()), ("a.log", "consistent"));
}

/// Whatever fails in a row, its line is named, and a space at the end of a name is seen.
#[test]
fn failures_name_the_line_of_their_row() {
    let folder = runs();
    write(
        folder.path(),
        "m.jsonl",
        r#"{"path":"a.log","accept_length":3.5,"max_accept_length":6}

{"path":"none.log ","accept_length":3.5,"max_accept_length":6}
{"path":"b.log","env":"none.env"}
{"path":"b.log","accept_length":0.5,"max_accept_length":6}
{"path":"b.log","model":"glm5.2","method":"mtp","draft_length":77}
"#,
    );
    let expected = accsim(folder.path(), "audit --manifest m.jsonl --format csv");
    let found = rows(&expected.stdout);
    for (row, said) in
        [(1, "line 3: cannot read \"none.log \":"), (2, "line 4: "), (3, "line 5: "), (4, "line 6: ")]
    {
        assert!(found[row]["failure"].starts_with(said), "{}", found[row]["failure"]);
    }
    assert_eq!(code(&accsim(folder.path(), "audit --manifest m.jsonl --partial -o p.json")), 2);
    let merged = accsim(folder.path(), "merge p.json --format csv");
    assert_eq!(text(&merged.stdout), text(&expected.stdout));
    let table = text(&accsim(folder.path(), "audit --manifest m.jsonl").stdout);
    assert!(table.contains("\n5 rows, 4 with failures; verdict over 1 point: "), "{table}");
}
