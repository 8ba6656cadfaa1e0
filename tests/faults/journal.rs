//! A journal is what survives: whatever ended the audit before, the next one comes to the same table.

use std::fs;

use super::program::{Fault, Folder};

const LINE: &str = "audit --manifest @runs.csv --journal @journal --format csv";

fn rows() -> String {
    let rows = (0..6).map(|row| format!("a/a.log,3.5,6,{row}\n"));
    "path,accept_length,max_accept_length,label_row\n".to_owned() + &rows.collect::<String>()
}

#[test]
fn an_end_at_any_write_costs_no_row() {
    let folder = Folder::new();
    folder.write("runs.csv", rows());
    let expected = folder.run("audit --manifest @runs.csv --format csv", Fault::None);
    assert_eq!(expected.code, Some(0), "{}", expected.err);
    let mut ended = 0;
    for action in ["kill", "half"] {
        for number in 1.. {
            let _ = fs::remove_file(folder.at("journal"));
            let ran = folder.run(LINE, Fault::Of(action, number));
            let resumed = folder.run(LINE, Fault::None);
            assert_eq!(resumed.code, Some(0), "{action} {number}: {}", resumed.err);
            assert!(resumed.out == expected.out, "{action} {number}");
            if !ran.met {
                break;
            }
            ended += 1;
        }
    }
    assert!(ended >= 4, "{ended}");
}

/// What had no room is audited again once there is some.
#[test]
fn a_full_disk_costs_no_row() {
    let folder = Folder::new();
    folder.write("runs.csv", rows());
    let expected = folder.run("audit --manifest @runs.csv --format csv", Fault::None);
    for number in 1.. {
        let _ = fs::remove_file(folder.at("journal"));
        let ran = folder.run(LINE, Fault::Of("full", number));
        if !ran.met {
            break;
        }
        assert_eq!(ran.code, Some(2), "write {number}: {}", ran.err);
        assert!(ran.err.contains("journal") && ran.err.contains("No space left"), "{}", ran.err);
        let resumed = folder.run(LINE, Fault::None);
        assert!(resumed.code == Some(0) && resumed.out == expected.out, "write {number}: {}", resumed.err);
    }
}
