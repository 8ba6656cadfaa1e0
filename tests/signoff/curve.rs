//! The seed table's counts.

use crate::support::{Folder, item, snapshot, text};

fn seed() -> Folder {
    let folder = Folder::empty();
    let table = include_str!("../data/throughput/signoff_points.csv");
    folder.write("points.csv", table);
    std::fs::create_dir(folder.path.join("run")).unwrap();
    folder
}

#[test]
fn seven_of_eight_and_six_of_eight() {
    let (_, document) = seed().document("signoff run --points points.csv");
    let item = item(&document, "pareto");
    assert_eq!(item["status"], "holds");
    assert_eq!(item["message"], "measured 8, invalid 0, frontier 7 of 8 at P90, frontier 6 of 8 at P75");
    let rows = item["table"]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 8);
    assert_eq!(rows[0][4], "no, by C4");
    assert_eq!(rows[0][6], "no, by C4");
    assert_eq!(rows[2][4], "yes");
    assert_eq!(rows[2][6], "no, by C16");
    let values: Vec<&str> =
        item["evidence"].as_array().unwrap().iter().map(|line| line["value"].as_str().unwrap()).collect();
    let expected = [
        "P90: C1 at 9.159 is dominated by C4",
        "P75: C1 at 5.412 is dominated by C4",
        "P75: C8 at 4.316 is dominated by C16",
    ];
    assert_eq!(values, expected);
    assert_eq!(item["evidence"][0]["line"], 2);
}

#[test]
fn the_table_as_it_is_pasted() {
    let output = seed().run("signoff run --points points.csv");
    snapshot("seed_table.md", text(&output.stdout));
}

#[test]
fn an_invalid_point_fails() {
    let folder = seed();
    folder.edit("points.csv", "7105.5", "n/a");
    let (_, document) = folder.document("signoff run --points points.csv");
    let item = item(&document, "pareto");
    assert_eq!(item["status"], "fails");
    assert!(item["message"].as_str().unwrap().starts_with("P90, P75: 1 of 8 points is invalid"), "{item:#}");
}

#[test]
fn four_points_are_no_curve() {
    let folder = seed();
    let table: Vec<String> = folder.read("points.csv").lines().take(5).map(str::to_owned).collect();
    folder.write("points.csv", &table.join("\n"));
    let (_, document) = folder.document("signoff run --points points.csv");
    let message = item(&document, "pareto")["message"].as_str().unwrap().to_owned();
    assert!(message.starts_with("4 points measured, at least 5 are asked for"), "{message}");
}

#[test]
fn a_table_without_the_columns_decides_nothing() {
    let folder = seed();
    folder.edit("points.csv", "e2e_p75_s", "p75");
    let (_, document) = folder.document("signoff run --points points.csv");
    let item = item(&document, "pareto");
    assert_eq!(item["status"], "cannot-decide");
    assert!(item["message"].as_str().unwrap().contains("no column e2e_p75_s"), "{item:#}");
}
