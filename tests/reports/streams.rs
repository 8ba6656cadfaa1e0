//! Which stream says what, and colours.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::schema;
use crate::support::{FORMATS, GOLDEN, SEVERAL, folder, logs, program, run, stdout, text};

/// A log with a line too long to hold, beside an empty folder's worth of foreign files.
fn odd_folder() -> std::path::PathBuf {
    let folder = folder("odd");
    let mut log = fs::read(logs().join("e3k5_al351.log")).unwrap();
    log.extend(b"x".repeat(5 << 20));
    fs::write(folder.join("long.log"), log).unwrap();
    fs::write(folder.join("plot.png"), b"\x89PNG\r\n\x1a\n").unwrap();
    folder
}

#[test]
fn a_document_holds_its_notes_and_nothing_is_said_beside_it() {
    let folder = odd_folder();
    let line = "audit . --accept-length 3.51";
    let output = program(&folder, &format!("{line} --json")).output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(schema::faults(&document), Vec::<String>::new());
    let notes = document["notes"].as_array().unwrap();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert_eq!(document["errors"], serde_json::json!([]));

    // The other formats say the same on stderr, unless told not to.
    let output = program(&folder, &format!("{line} --format csv")).output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(said.lines().map(Value::from).collect::<Vec<_>>(), *notes);
    let output = program(&folder, &format!("{line} --format csv --quiet")).output().unwrap();
    assert_eq!(text(&output.stderr), "");
    let markdown = stdout(&program(&folder, &format!("{line} --format markdown")).output().unwrap());
    assert_eq!(markdown.matches("- note: ").count(), 2, "{markdown}");
}

/// A value that was copied and not measured is worth a word in a sign-off.
#[test]
fn what_a_cell_lacks_is_in_the_report() {
    let line = "audit e3k3_al299.log --model glm5.3 --method mtp --draft-length 3";
    let output = run(&format!("{line} --json"));
    assert_eq!(text(&output.stderr), "");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let note = document["notes"][0].as_str().unwrap();
    assert!(note.starts_with("warning: ") && note.contains("provisional"), "{note}");
    assert!(stdout(&run(&format!("{line} --format markdown"))).contains("- warning: "));
}

#[test]
fn what_could_not_be_read_is_in_every_report_that_can_hold_it() {
    for (format, word) in [
        ("json", "\"errors\": [\n    \"cannot read no-such-file"),
        ("markdown", "- **not read to its end**: cannot read no-such-file"),
        ("junit", "<error message=\"cannot read no-such-file"),
        ("github", "::error title=unreadable::cannot read no-such-file"),
    ] {
        let output = run(&format!("{GOLDEN} no-such-file --format {format}"));
        assert_eq!(output.status.code(), Some(2), "{format}");
        assert!(text(&output.stderr).starts_with("error: cannot read no-such-file"), "{format}");
        let shown = stdout(&output);
        assert!(shown.contains(word), "{format}: {shown}");
    }
}

#[test]
fn nothing_to_report_is_well_formed_too() {
    for (format, _) in FORMATS {
        let output =
            run(&format!("audit no-such-file --accept-length 3.51 --max-accept-length 6 --format {format}"));
        assert_eq!(output.status.code(), Some(2), "{format}");
        let shown = stdout(&output);
        match format {
            "text" => assert_eq!(shown, ""),
            "csv" => assert_eq!(shown.lines().count(), 1),
            "json" => {
                let document: Value = serde_json::from_str(&shown).unwrap();
                assert_eq!(schema::faults(&document), Vec::<String>::new());
            }
            _ => assert!(!shown.is_empty(), "{format}"),
        }
    }
}

#[test]
fn colours_are_for_terminals() {
    let escape = '\u{1b}';
    let file = folder("colours").join("report.txt");
    let to_file = format!("{SEVERAL} -o {}", file.display());
    assert!(!stdout(&run(SEVERAL)).contains(escape));
    assert!(stdout(&run(&format!("{SEVERAL} --color always"))).contains(escape));
    run(&to_file);
    let written = fs::read_to_string(&file).unwrap();
    assert_eq!(written, stdout(&run(SEVERAL)));
    run(&format!("{to_file} --color always"));
    assert!(fs::read_to_string(&file).unwrap().contains(escape));
    for (format, _) in &FORMATS[1..] {
        let shown = stdout(&run(&format!("{SEVERAL} --format {format} --color always")));
        assert!(!shown.contains(escape), "{format}");
    }
}

#[test]
fn every_format_goes_to_a_file() {
    for (format, ending) in FORMATS {
        let file = folder("files").join(format!("report.{ending}"));
        let output = run(&format!("{SEVERAL} --format {format} -o {}", file.display()));
        assert_eq!((output.status.code(), stdout(&output)), (Some(1), String::new()), "{format}");
        let printed = stdout(&run(&format!("{SEVERAL} --format {format}")));
        assert_eq!(fs::read_to_string(Path::new(&file)).unwrap(), printed, "{format}");
    }
}
