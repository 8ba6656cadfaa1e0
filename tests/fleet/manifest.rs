//! `audit --manifest`: rows, journals, shards, tables.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;

use super::{TARGET, accsim, code, json, rows, runs, schema, text, write};

const MANIFEST: &str = "\
path,accept_length,max_accept_length,label_team,label_note
a.log,3.5,6,red,\"x, y\"
rounded.log,3.5,6,blue,
none.log,3.5,6,,
b.log,3.5,many,,
c.log,3.5,6,=1+1,
";

#[test]
fn rows_are_audited_each_for_itself() {
    let folder = runs();
    write(folder.path(), "m.csv", MANIFEST);
    let output = accsim(folder.path(), "audit --manifest m.csv --format csv");
    assert_eq!(code(&output), 2);
    let found = rows(&output.stdout);
    let of = |name: &str| found.iter().map(|row| row[name].clone()).collect::<Vec<_>>();
    assert_eq!(of("row"), ["1", "2", "3", "4", "5"]);
    assert_eq!(of("verdict"), ["consistent", "inconsistent", "", "", "consistent"]);
    assert_eq!(of("label_team"), ["red", "blue", "", "", "'=1+1"]);
    assert_eq!(found[0]["label_note"], "x, y");
    assert!(found[2]["failure"].contains("cannot read none.log"), "{:?}", found[2]);
    assert!(found[3]["failure"].contains("invalid value 'many'"), "{:?}", found[3]);
    let errors = text(&output.stderr);
    assert!(errors.contains("row 3: line 4: cannot read none.log") && errors.contains("row 4:"), "{errors}");
}

/// Each point says what `accsim audit` of its path alone says.
#[test]
fn a_row_is_what_an_audit_of_its_own_says() {
    let folder = runs();
    write(folder.path(), "m.jsonl", "{\"path\": \"a.log\"}\n\n{\"path\": [\"b.log\", \"rounded.log\"]}\n");
    let fleet = accsim(folder.path(), &format!("audit --manifest m.jsonl {TARGET} --json"));
    let alone = accsim(folder.path(), &format!("audit a.log b.log rounded.log {TARGET} --json"));
    assert_eq!((code(&fleet), code(&alone)), (1, 1));
    let (fleet, alone) = (json(&fleet), json(&alone));
    assert!(schema::is_audit(&fleet) && schema::faults(&fleet).is_empty(), "{:#?}", schema::faults(&fleet));
    let points = fleet["points"].as_array().unwrap();
    assert_eq!(points.len(), 3);
    for (point, alone) in points.iter().zip(alone["points"].as_array().unwrap()) {
        let mut point = point.as_object().unwrap().clone();
        for own in ["row", "labels", "target"] {
            assert!(point.remove(own).is_some(), "{own}");
        }
        assert_eq!(serde_json::Value::Object(point), *alone);
    }
    assert_eq!(fleet["verdict"], alone["verdict"]);
}

#[test]
fn parquet_holds_what_csv_holds() {
    let folder = runs();
    write(folder.path(), "m.csv", MANIFEST);
    let refused = accsim(folder.path(), "audit --manifest m.csv --format parquet");
    assert!(code(&refused) == 2 && refused.stdout.is_empty(), "{}", text(&refused.stderr));
    accsim(folder.path(), "audit --manifest m.csv --format parquet -o t.parquet");
    let table = accsim(folder.path(), "audit --manifest m.csv --format csv");
    let expected = rows(&table.stdout);
    let file = fs::File::open(folder.path().join("t.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let mut compared = 0;
    for (row, expected) in reader.get_row_iter(None).unwrap().zip(&expected) {
        let row = row.unwrap();
        assert_eq!(row.len(), expected.len());
        for (name, field) in row.get_column_iter() {
            let shown = match field {
                Field::Null => String::new(),
                Field::Str(text) => text.clone(),
                Field::Long(number) => number.to_string(),
                Field::ULong(number) => number.to_string(),
                Field::Double(number) => serde_json::Value::from(*number).to_string(),
                other => panic!("{name}: {other:?}"),
            };
            let expected = expected[name].strip_prefix('\'').unwrap_or(&expected[name]);
            assert_eq!(shown, expected, "{name}");
            compared += 1;
        }
    }
    assert_eq!(compared, 5 * expected[0].len());
    // A single audit prints the same table.
    let one = accsim(folder.path(), &format!("audit a.log b.log {TARGET} --format parquet -o one.parquet"));
    assert_eq!(code(&one), 0, "{}", text(&one.stderr));
    let file = fs::File::open(folder.path().join("one.parquet")).unwrap();
    assert_eq!(SerializedFileReader::new(file).unwrap().metadata().file_metadata().num_rows(), 2);
}

fn journal(folder: &Path) -> String {
    fs::read_to_string(folder.join("j")).unwrap()
}

const WITH_JOURNAL: &str =
    "audit --manifest m.jsonl --accept-length 3.5 --max-accept-length 6 --journal j --format csv";

fn four_rows(folder: &Path) {
    let rows = ["a", "b", "c", "rounded"].map(|name| format!("{{\"path\": \"{name}.log\"}}\n"));
    write(folder, "m.jsonl", &rows.concat());
}

/// However short a journal is cut, as by a crash, the next audit goes on from it, and its table is the same.
#[test]
fn an_interrupted_audit_goes_on() {
    let folder = runs();
    four_rows(folder.path());
    let whole = accsim(folder.path(), WITH_JOURNAL);
    let kept = journal(folder.path());
    assert_eq!(kept.lines().count(), 5);
    let ends: Vec<usize> = kept.match_indices('\n').map(|(at, _)| at + 1).collect();
    let cuts = [
        0,
        1,
        10,
        ends[0] - 1,
        ends[0],
        ends[0] + 1,
        ends[1],
        ends[2] - 7,
        ends[3] + 100,
        ends[4] - 1,
        ends[4],
    ];
    for cut in cuts {
        fs::write(folder.path().join("j"), &kept[..cut]).unwrap();
        let again = accsim(folder.path(), WITH_JOURNAL);
        assert_eq!(again.stdout, whole.stdout, "cut at {cut}: {}", text(&again.stderr));
        let done = ends.iter().filter(|end| **end <= cut).count().saturating_sub(1);
        let note = format!("{done} of 4 rows were done before");
        assert_eq!(text(&again.stderr).contains(&note), done > 0, "cut at {cut}: {}", text(&again.stderr));
        // Nothing is in it twice, and nothing is missing.
        assert_eq!(journal(folder.path()).lines().count(), 5, "cut at {cut}");
    }
}

#[test]
fn what_changed_is_audited_again_and_counted_once() {
    let folder = runs();
    four_rows(folder.path());
    accsim(folder.path(), WITH_JOURNAL);
    // Another log under the old name.
    fs::copy(folder.path().join("rounded.log"), folder.path().join("b.log")).unwrap();
    let again = accsim(folder.path(), WITH_JOURNAL);
    assert!(text(&again.stderr).contains("3 of 4 rows were done before"), "{}", text(&again.stderr));
    let found = rows(&again.stdout);
    let verdicts: Vec<&str> = found.iter().map(|row| row["verdict"].as_str()).collect();
    assert_eq!(verdicts, ["consistent", "inconsistent", "consistent", "inconsistent"]);
    // Other flags are another audit of all rows; rows in another order are the same ones.
    let other = accsim(folder.path(), &format!("{WITH_JOURNAL} --margin 3%"));
    assert!(!text(&other.stderr).contains("done before"), "{}", text(&other.stderr));
    let turned = "{\"path\": \"c.log\"}\n{\"path\": \"a.log\"}\n{\"path\": \"c.log\"}\n";
    write(folder.path(), "m.jsonl", turned);
    let turned = accsim(folder.path(), WITH_JOURNAL);
    let notes = text(&turned.stderr);
    assert!(notes.contains("2 of 2 rows were done before"), "{notes}");
    assert!(notes.contains("row 3 repeats row 1: counted once"), "{notes}");
    let names: Vec<String> = rows(&turned.stdout).iter().map(|row| row["point"].clone()).collect();
    assert_eq!(names, ["c.log", "a.log"]);
}

#[test]
fn a_damaged_line_costs_its_row_and_another_file_is_refused() {
    let folder = runs();
    four_rows(folder.path());
    let whole = accsim(folder.path(), WITH_JOURNAL);
    let kept = journal(folder.path());
    let mut lines: Vec<&str> = kept.lines().collect();
    lines[2] = "{\"row\": \"spoilt";
    write(folder.path(), "j", &format!("{}\n", lines.join("\n")));
    let again = accsim(folder.path(), WITH_JOURNAL);
    assert_eq!(again.stdout, whole.stdout);
    assert!(text(&again.stderr).contains("line 3 is damaged"), "{}", text(&again.stderr));
    for (content, said) in [("{\"accsim_journal\":1}\n", "version 1"), ("path\n", "not a journal")] {
        write(folder.path(), "j", content);
        let refused = accsim(folder.path(), WITH_JOURNAL);
        assert_eq!(code(&refused), 2);
        assert!(text(&refused.stderr).contains(said), "{}", text(&refused.stderr));
        assert_eq!(journal(folder.path()), content, "the file is left as it was");
    }
}

/// What failed is tried again, and succeeds once the file is there.
#[test]
fn failures_are_tried_again() {
    let folder = runs();
    write(folder.path(), "m.jsonl", "{\"path\": \"late.log\"}\n");
    assert_eq!(code(&accsim(folder.path(), WITH_JOURNAL)), 2);
    fs::copy(folder.path().join("a.log"), folder.path().join("late.log")).unwrap();
    let again = accsim(folder.path(), WITH_JOURNAL);
    assert_eq!(code(&again), 0, "{}", text(&again.stderr));
    assert_eq!(rows(&again.stdout).len(), 1);
}

#[test]
fn two_audits_do_not_share_a_journal() {
    let folder = runs();
    four_rows(folder.path());
    let mut held = OpenOptions::new().create(true).append(true).open(folder.path().join("j")).unwrap();
    held.write_all(b"{\"accsim_journal\":1}\n").unwrap();
    held.lock().unwrap();
    let refused = accsim(folder.path(), WITH_JOURNAL);
    assert_eq!(code(&refused), 2);
    assert!(
        text(&refused.stderr).contains("another audit is writing the journal"),
        "{}",
        text(&refused.stderr)
    );
}

#[test]
fn shards_are_the_whole_on_any_number_of_threads() {
    let folder = runs();
    four_rows(folder.path());
    let line = format!("audit --manifest m.jsonl {TARGET} --format csv");
    let whole = accsim(folder.path(), &line);
    let sorted = |bytes: &[u8]| {
        let mut lines: Vec<String> = text(bytes).lines().skip(1).map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let mut parts = Vec::new();
    for index in 1..=3 {
        let part = accsim(folder.path(), &format!("{line} --shard {index}/3 --threads {index}"));
        parts.extend(sorted(&part.stdout));
    }
    parts.sort();
    assert_eq!(parts, sorted(&whole.stdout));
    assert_eq!(accsim(folder.path(), &format!("{line} --threads 7")).stdout, whole.stdout);
    for wrong in ["0/3", "4/3", "x"] {
        assert_eq!(code(&accsim(folder.path(), &format!("{line} --shard {wrong}"))), 2);
    }
}

/// What is about a manifest means nothing without one, and is not passed over.
#[test]
fn a_journal_or_a_shard_without_a_manifest_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for flag in ["--journal done", "--shard 1/2"] {
        let output = accsim(folder.path(), &format!("audit a.log {flag}"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(code(&output) == 2 && said.contains("name one by --manifest FILE"), "{flag}: {said}");
    }
}

#[test]
fn a_manifest_that_nobody_can_read_is_refused() {
    let folder = runs();
    for (content, said) in [
        ("", "the manifest is empty"),
        ("path,draftlength\n", "did you mean 'draft_length'"),
        ("model\nx\n", "no column 'path'; the first line is the heading, and has 'model'"),
        ("path;model\na.log;x\n", "the columns are separated by ';'"),
        ("label_a\tpath\nx\ta.log\n", "the columns are separated by tabs"),
        ("\n[\n  {\"path\": \"a.log\"}\n]\n", "line 2: a JSON array"),
        ("[2026-10-12 01:02:03 TP0] Decode batch, #running-req: 16\n", "this is a log and no manifest"),
        ("(APIServer pid=1) INFO 10-12 01:02:03 [loggers.py:1] x\n", "this is a log and no manifest"),
        ("path,path\na,b\n", "stands here twice"),
    ] {
        write(folder.path(), "m.csv", content);
        let output = accsim(folder.path(), "audit --manifest m.csv");
        assert_eq!(code(&output), 2);
        assert!(text(&output.stderr).contains(said), "{content:?}: {}", text(&output.stderr));
    }
    fs::write(folder.path().join("m.csv"), b"path,label_\xff\na.log,x\n").unwrap();
    let output = accsim(folder.path(), "audit --manifest m.csv");
    assert!(
        text(&output.stderr).contains("line 1: the heading is no UTF-8 text"),
        "{}",
        text(&output.stderr)
    );
    for row in ["{\"paht\": \"a.log\"}", "{\"path\": 3, \"labels\": 5}", "[1]", "{\"path\": \"-\"}", "{}"] {
        write(folder.path(), "m.jsonl", &format!("{{\"path\": \"a.log\"}}\n{row}\n"));
        let output = accsim(folder.path(), &format!("audit --manifest m.jsonl {TARGET} --format csv"));
        assert_eq!(code(&output), 2, "{row}");
        let found = rows(&output.stdout);
        assert_eq!((found.len(), found[0]["verdict"].as_str()), (2, "consistent"), "{row}");
        assert!(!found[1]["failure"].is_empty(), "{row}");
    }
    let both = accsim(folder.path(), "audit a.log --manifest m.jsonl");
    assert_eq!(code(&both), 2);
    assert_eq!(code(&accsim(folder.path(), "audit --manifest m.jsonl --format junit")), 2);
}
