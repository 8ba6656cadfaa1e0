//! `collect` of two snapshots.

use std::fs;

use accsim::cli::Exit;

use super::support::{collect, data, text_of};

#[test]
fn the_worked_example_of_the_counters() {
    let ran = collect(&data("vllm_before.prom"), &data("vllm_after.prom"), &[]);
    assert_eq!(ran.exit, Exit::Ok, "{}", ran.err);
    let document = ran.json();
    for (name, value) in [
        ("schema_version", 1.0),
        ("accepted", 5020.0),
        ("drafts", 2000.0),
        ("accept_length", 3.51),
        ("draft_length", 5.0),
    ] {
        assert!((document[name].as_f64().unwrap() - value).abs() < 1e-9, "{name}");
    }
    let out = String::from_utf8_lossy(&ran.out);
    assert_eq!(out.matches("schema_version").count(), 1, "{out}");
    assert_eq!(document["model"], "deepseek-v4.1-flash");
    assert_eq!(document["per_position"], serde_json::json!([1.0, 1.0, 0.51, 0.0, 0.0]));
}

#[test]
fn other_engines() {
    let trtllm = collect(&data("trtllm_before.prom"), &data("trtllm_after.prom"), &[]).json();
    assert_eq!((trtllm["accepted"].as_u64(), trtllm["drafts"].as_u64()), (Some(1490), Some(1000)));
    let atom = collect(&data("atom_before.prom"), &data("atom_after.prom"), &[]).json();
    assert_eq!((atom["accepted"].as_u64(), atom["drafts"].as_u64()), (Some(553_980), Some(200_000)));
    // ATOM's own document has the same counters.
    let folder = tempfile::tempdir().unwrap();
    let before = folder.path().join("before.json");
    let text = "{\"enabled\": true, \"total_draft_tokens\": 0, \"total_accepted_tokens\": 0, \
        \"average_tokens_per_forward\": 0.0, \"distribution\": {}}";
    fs::write(&before, text).unwrap();
    let debug = collect(&before, &data("atom_mtp_stats.json"), &[]);
    assert_eq!(debug.json()["accept_length"].as_f64(), Some(3.7699), "{}", debug.err);
}

#[test]
fn what_is_refused_and_why() {
    let before = data("vllm_before.prom");
    for (after, words) in [
        ("vllm_restarted.prom", "went backwards"),
        ("vllm_contradiction.prom", "contradict"),
        ("trtllm_after.prom", "the earlier snapshot is of vllm, the later one of trtllm"),
        ("atom_after.prom", "the earlier snapshot is of vllm, the later one of atom"),
        ("sglang.prom", "the earlier snapshot is of vllm, the later one of sglang"),
        ("aiperf_server_metrics.json", "differences over a whole run"),
        ("sglang_requests.jsonl", "holds no counters"),
        ("absent.prom", "cannot read"),
    ] {
        let ran = collect(&before, &data(after), &[]);
        assert_eq!(ran.exit, Exit::Failed, "{after}: {}", ran.err);
        assert!(ran.err.contains(words), "{after}: {}", ran.err);
        assert!(ran.out.is_empty(), "{after}");
    }
    // Later and earlier the wrong way round.
    let ran = collect(&data("vllm_after.prom"), &before, &[]);
    assert!(ran.err.contains("went backwards"), "{}", ran.err);
}

#[test]
fn a_restart_that_has_caught_up_is_seen_by_its_creation() {
    let folder = tempfile::tempdir().unwrap();
    let after = folder.path().join("after.prom");
    let text = text_of(&data("vllm_after.prom"));
    fs::write(&after, text.replace(" 1764484000.0", " 1764484999.0")).unwrap();
    let ran = collect(&data("vllm_before.prom"), &after, &[]);
    assert_eq!(ran.exit, Exit::Failed);
    assert!(ran.err.contains("created anew"), "{}", ran.err);
}

#[test]
fn nothing_to_say_is_no_failure() {
    let before = data("vllm_before.prom");
    let same = collect(&before, &before, &[]);
    assert_eq!(same.exit, Exit::Undecided);
    assert!(same.err.contains("nothing was drafted"), "{}", same.err);
    let gauges = collect(&data("sglang.prom"), &data("sglang.prom"), &[]);
    assert_eq!(gauges.exit, Exit::Undecided);
    assert!(gauges.err.contains("only gauges of the last interval"), "{}", gauges.err);
}

#[test]
fn one_model_of_several_is_picked_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let both = |name: &str, scrape: &str| {
        let text = text_of(&data(scrape));
        let other = text.replace("deepseek-v4.1-flash", "other").replace("engine=\"0\"", "engine=\"7\"");
        let samples: String =
            other.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect();
        let path = folder.path().join(name);
        fs::write(&path, text + &samples).unwrap();
        path
    };
    let (before, after) = (both("before", "vllm_before.prom"), both("after", "vllm_after.prom"));
    let ran = collect(&before, &after, &[]);
    assert_eq!(ran.exit, Exit::Failed);
    assert!(ran.err.contains("deepseek-v4.1-flash, other"), "{}", ran.err);
    let ran = collect(&before, &after, &["--model", "other"]);
    assert_eq!(ran.json()["drafts"], 2000);
    let ran = collect(&before, &after, &["--model", "nobody"]);
    assert!(ran.err.contains("nobody"), "{}", ran.err);
}

#[test]
fn a_folder_has_one_file_an_endpoint() {
    let folder = tempfile::tempdir().unwrap();
    for moment in ["before", "after"] {
        let place = folder.path().join(moment);
        fs::create_dir(&place).unwrap();
        for endpoint in ["node0.prom", "node1.prom"] {
            fs::copy(data(&format!("vllm_{moment}.prom")), place.join(endpoint)).unwrap();
        }
    }
    let ran = collect(&folder.path().join("before"), &folder.path().join("after"), &[]);
    assert_eq!(ran.json()["drafts"], 4000, "{}", ran.err);
    fs::remove_file(folder.path().join("after/node1.prom")).unwrap();
    let ran = collect(&folder.path().join("before"), &folder.path().join("after"), &[]);
    assert!(ran.err.contains("missing in the later snapshot"), "{}", ran.err);
}

#[test]
fn a_cut_snapshot_and_a_series_twice_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let after = folder.path().join("after.prom");
    let whole = text_of(&data("vllm_after.prom"));
    fs::write(&after, whole.trim_end()).unwrap();
    let ran = collect(&data("vllm_before.prom"), &after, &[]);
    assert!(ran.err.contains("ends in the middle"), "{}", ran.err);
    let again = whole.lines().find(|line| line.starts_with("vllm:spec_decode_num_drafts_total")).unwrap();
    fs::write(&after, format!("{whole}{}\n", again.replace("1700", "1800"))).unwrap();
    let ran = collect(&data("vllm_before.prom"), &after, &[]);
    assert!(ran.err.contains("stands twice"), "{}", ran.err);
    fs::write(&after, whole.replace("1700.0", "1700.x")).unwrap();
    let ran = collect(&data("vllm_before.prom"), &after, &[]);
    assert!(ran.err.contains("line 7"), "{}", ran.err);
}

/// A file of counters with these lines.
fn scrape(folder: &tempfile::TempDir, name: &str, lines: &str) -> std::path::PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, format!("# TYPE vllm:num_requests_running gauge\n{lines}")).unwrap();
    path
}

const DRAFTS: [(&str, u64); 3] = [("drafts", 1000), ("draft_tokens", 5000), ("accepted_tokens", 2510)];

/// Series of one engine of vLLM at so many thousands of steps.
fn engine(number: u32, thousands: u64) -> String {
    let series = |(name, value): (&str, u64)| {
        format!("vllm:spec_decode_num_{name}_total{{engine=\"{number}\"}} {}\n", value * thousands)
    };
    DRAFTS.into_iter().map(series).collect()
}

/// A series that the earlier snapshot lacks is no lifetime: it counts from 0 only where its process was scraped before.
#[test]
fn a_series_of_the_later_snapshot_alone_needs_a_proof() {
    let folder = tempfile::tempdir().unwrap();
    let running = "vllm:num_requests_running{engine=\"0\"} 1\n";
    let started = |time: u64| format!("process_start_time_seconds {time}.25\n");
    let both = engine(0, 3) + &engine(1, 50);
    for (before, after, expected) in [
        // Another engine's process: how much of its counts are older, nobody knows.
        (engine(0, 1), both.clone(), Err("missing in the earlier snapshot")),
        (running.to_owned(), engine(0, 3), Err("missing in the earlier snapshot")),
        // The same process, which had drafted nothing.
        (running.to_owned() + &started(7), engine(0, 3) + &started(7), Ok(3000)),
        (engine(0, 1) + &started(7), both.clone() + &started(7), Ok(52_000)),
        // Another process.
        (running.to_owned() + &started(7), engine(0, 3) + &started(9), Err("started anew")),
        (engine(0, 1) + &started(7), engine(0, 3) + &started(9), Err("started anew")),
        (engine(0, 1), engine(0, 3), Ok(2000)),
    ] {
        let ran = collect(&scrape(&folder, "before", &before), &scrape(&folder, "after", &after), &[]);
        match expected {
            Ok(drafts) => assert_eq!(ran.json()["drafts"], drafts, "{before}{after}{}", ran.err),
            Err(words) => {
                assert_eq!(ran.exit, Exit::Failed, "{before}{after}");
                assert!(ran.err.contains(words), "{}", ran.err);
            }
        }
    }
    // A label's value comes up with its first count: the process of the other values is the same.
    let atom = |bins: &[(u32, u64)]| {
        let steps: u64 = bins.iter().map(|(_, steps)| steps).sum();
        let accepted: u64 = bins.iter().map(|(bin, steps)| u64::from(*bin) * steps).sum();
        let bins: String = bins
            .iter()
            .map(|(bin, steps)| format!("atom:mtp_decode_steps_total{{accepted_tokens=\"{bin}\"}} {steps}\n"))
            .collect();
        format!(
            "atom:mtp_draft_tokens_total {}\natom:mtp_accepted_tokens_total {accepted}\n{bins}",
            steps * 5
        )
    };
    let (before, after) = (atom(&[(2, 10)]), atom(&[(2, 10), (3, 90)]));
    let ran = collect(&scrape(&folder, "before", &before), &scrape(&folder, "after", &after), &[]);
    assert_eq!(ran.json()["accepted"], 270, "{}", ran.err);
    let ran = collect(&scrape(&folder, "before", &before), &scrape(&folder, "after", &before), &[]);
    assert_eq!(ran.exit, Exit::Undecided, "{}", ran.err);
    assert!(ran.err.contains("nothing was drafted"), "{}", ran.err);
}
