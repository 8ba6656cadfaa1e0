//! Whole folders: every item decided rightly.

use crate::support::{FLAGS, Folder, item, snapshot, statuses, text};

#[test]
fn several_points_of_one_server_hold_in_every_item() {
    let folder = Folder::several_points();
    let (code, document) = folder.document(&format!("signoff run {FLAGS}"));
    let failing: Vec<_> = statuses(&document).into_iter().filter(|(_, status)| status != "holds").collect();
    assert!(failing.is_empty(), "{failing:?}\n{document:#}");
    assert_eq!(code, 0);
    assert_eq!(document["points"].as_array().unwrap().len(), 4);
    let golden = item(&document, "golden-accept-length");
    assert_eq!(golden["evidence"].as_array().unwrap().len(), 4);
    assert_eq!(golden["evidence"][0]["file"], "run/c1/env.txt");
    assert_eq!(golden["evidence"][0]["line"], 4);
    assert_eq!(golden["evidence"][0]["value"], "SGLANG_SIMULATE_ACC_LEN=3.51");
    let endpoints = item(&document, "chat-endpoints")["message"].as_str().unwrap().to_owned();
    assert!(
        endpoints.starts_with("POST /v1/chat/completions 2") && endpoints.contains("GET /health "),
        "{endpoints}"
    );
    let means = item(&document, "accept-length");
    assert_eq!(means["table"]["rows"].as_array().unwrap().len(), 4);
    let output = folder.run(&format!("signoff run {FLAGS}"));
    snapshot("several_points.md", text(&output.stdout));
}

/// The recorded server of 0.5.16 rounds DSPARK's target, was called by the engine's own endpoint, and its draft is nowhere
/// stated.
#[test]
fn the_rounding_image_fails_where_it_should() {
    let folder = Folder::rounding_image();
    let (code, document) = folder.document("signoff run --model dsv41flash");
    assert_eq!(code, 1);
    let expected = [
        ("accept-length", "fails"),
        ("arguments-equal", "cannot-decide"),
        ("chat-endpoints", "fails"),
        ("draft-kv-cache-dtype", "holds"),
        ("draft-path", "fails"),
        ("draft-quantization", "holds"),
        ("dtype", "holds"),
        ("engine-version", "fails"),
        ("evaluation-real", "cannot-decide"),
        ("evaluation-scores", "cannot-decide"),
        ("evaluation-unset", "cannot-decide"),
        ("forbidden-variables", "holds"),
        ("golden-accept-length", "holds"),
        ("graph-flag", "holds"),
        ("image", "holds"),
        ("largest-batch", "holds"),
        ("method", "holds"),
        ("no-overrides", "holds"),
        ("pareto", "cannot-decide"),
        ("quantization", "holds"),
        ("recipe-pins", "holds"),
        ("requests", "cannot-decide"),
        ("token-mode", "holds"),
    ];
    let found = statuses(&document);
    let found: Vec<(&str, &str)> = found.iter().map(|(id, status)| (id.as_str(), status.as_str())).collect();
    assert_eq!(found, expected, "{document:#}");
    let message = |id: &str| item(&document, id)["message"].as_str().unwrap().to_owned();
    assert!(message("accept-length").contains("target-rounded"), "{}", message("accept-length"));
    assert!(message("engine-version").contains("SGLang 0.5.16"), "{}", message("engine-version"));
    assert!(
        message("chat-endpoints").contains("POST /generate called 78 times"),
        "{}",
        message("chat-endpoints")
    );
    assert!(message("golden-accept-length").contains("dsv41flash_dspark thinking_on, draft length 5"));
    assert!(message("token-mode").contains("not read by DSPARK"), "{}", message("token-mode"));
    snapshot("rounding_image.md", text(&folder.run("signoff run --model dsv41flash").stdout));
}

/// The release that honours the fraction turns the version's item, and nothing else.
#[test]
fn another_release_changes_the_versions_item_alone() {
    let folder = Folder::rounding_image();
    let before = statuses(&folder.document("signoff run --model dsv41flash").1);
    let after = statuses(&folder.document("signoff run --model dsv41flash --engine-version 0.5.18").1);
    let changed: Vec<&String> = before.keys().filter(|id| before[*id] != after[*id]).collect();
    assert_eq!(changed, ["engine-version"]);
    assert_eq!(after["engine-version"], "holds");
}

/// Two ranks with another layout and another log interval: the profile lets them differ.
#[test]
fn other_layouts_of_the_same_server_are_equal_but_for_what_may_differ() {
    let folder = Folder::empty();
    for (point, log) in [("c16", "dp2_k5_al351"), ("c4", "e3k5_al351_int1"), ("c32", "e3k5_al351")] {
        let text = std::fs::read(crate::support::h200().join(format!("{log}.log"))).unwrap();
        std::fs::create_dir_all(folder.path.join("run").join(point)).unwrap();
        std::fs::write(folder.path.join("run").join(point).join("server.log"), text).unwrap();
    }
    let (_, document) = folder.document("signoff run");
    let equal = item(&document, "arguments-equal");
    assert_eq!(equal["status"], "holds", "{equal:#}");
    assert!(equal["message"].as_str().unwrap().contains("decode_log_interval"), "{equal:#}");
    // Nobody said what was injected, so nothing says what the logs should show.
    assert_eq!(item(&document, "accept-length")["status"], "cannot-decide");
    folder.edit("run/c32/server.log", "schedule_policy='fcfs'", "schedule_policy='lpm'");
    let (_, document) = folder.document("signoff run");
    let equal = item(&document, "arguments-equal");
    assert_eq!(equal["status"], "fails");
    assert!(equal["message"].as_str().unwrap().contains("schedule_policy differs"), "{equal:#}");
    // No rule names it, so its values stay where they are.
    assert!(!equal.to_string().contains("lpm"), "{equal:#}");
}
