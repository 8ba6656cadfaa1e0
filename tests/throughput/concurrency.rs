//! Requests in flight: idle ranks, the queue, the error of the law, and what a base log may not change.

use std::fs;

use accsim::throughput::sim::{Server, Traffic, simulate};
use accsim::throughput::{Asked, Basis, Question, predict};

use crate::support::{calibrated, h200, json, lengths, log, near, server, stdout};

/// Two ranks, their logs at these concurrencies and two input lengths.
fn ranked(concurrencies: &[u32]) -> (Server, accsim::throughput::Model) {
    let server = Server { ranks: 2, ..server(4, 3.51) };
    let mut logs = Vec::new();
    for input in ["1000", "4000"] {
        for clients in concurrencies {
            let traffic = Traffic::closed(*clients, lengths(input), lengths("200-600"), 25.0);
            logs.push(log(&server, &traffic, u64::from(*clients)));
        }
    }
    let model = calibrated(&logs).unwrap();
    assert_eq!(model.ranks, 2);
    (server, model)
}

fn simulated(server: &Server, clients: u32) -> f64 {
    let traffic = Traffic::closed(clients, lengths("1000"), lengths("200-600"), 150.0);
    simulate(server, &traffic, 5, 0).unwrap().steady_tps()
}

/// Below as many requests as ranks only so many ranks have work, whether that was measured or follows from the law.
#[test]
fn idle_ranks_do_no_work() {
    let (server, without) = ranked(&[2, 8, 32, 64]);
    let asked = |clients| Question {
        lengths: Some((lengths("1000"), lengths("200-600"))),
        ..Question::clients(3.51, Some(4), clients)
    };
    for clients in [1, 3, 16] {
        let found = predict(&without, &asked(clients)).unwrap();
        assert_eq!(found.running, clients.div_ceil(2));
        near(found.tps, simulated(&server, clients), 0.02);
    }
    let (_, with) = ranked(&[1, 2, 8, 32, 64]);
    let level = with.level(Some(4), 1, 1).unwrap();
    assert_eq!(level.busy, Some(1));
    let found = predict(&with, &Question::clients(3.51, Some(4), 1)).unwrap();
    assert_eq!((found.basis, found.running), (Basis::Measured, 1));
    near(found.tps, level.tps, 1e-9);
    let both = predict(&with, &Question::running(3.51, Some(4), 1)).unwrap();
    assert!(both.tps > 1.5 * found.tps, "{} {}", both.tps, found.tps);
    assert_eq!(found.question.asked, Asked::Clients(1));
}

#[test]
fn what_the_server_does_not_run_waits() {
    let log = h200("e3k5_al351.log");
    let args = [
        "throughput",
        "predict",
        log.to_str().unwrap(),
        "--accept-length",
        "2",
        "--concurrency",
        "128,16,64,32,64",
    ];
    let document = json(&[&args[..], &["--json"]].concat());
    let rows = document["predictions"].as_array().unwrap();
    let column = |name: &str| -> Vec<f64> { rows.iter().map(|row| row[name].as_f64().unwrap()).collect() };
    assert_eq!(column("concurrency"), [128.0, 16.0, 64.0, 32.0]);
    assert_eq!(column("running_req"), [32.0, 16.0, 32.0, 32.0]);
    assert_eq!(column("queued_req"), [96.0, 0.0, 32.0, 0.0]);
    let (tps, e2e, queue) = (column("gen_throughput_tps"), column("e2e_s"), column("queue_s"));
    near(tps[0], tps[3], 1e-9);
    near(e2e[0], 4.0 * e2e[3], 1e-9);
    near(e2e[2], 2.0 * e2e[3], 1e-9);
    near(queue[0], e2e[0] - e2e[3], 1e-9);
    let text = stdout(&args);
    assert!(text.contains("concurrency") && text.contains("queued s"), "{text}");
    assert_eq!(text.lines().filter(|line| line.contains("ratio")).count(), 4, "{text}");
}

/// Calibrated without the lines at 4 running requests, the interval at 4 holds what they show: the error of the law at a batch that
/// it did not see is in it.
#[test]
fn the_interval_of_a_level_that_was_not_measured_holds_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("without.log");
    let text = String::from_utf8_lossy(&fs::read(h200("e3k5_al351.log")).unwrap()).into_owned();
    let kept =
        text.lines().filter(|line| !(line.contains("Decode batch") && line.contains("#running-req: 4,")));
    fs::write(&file, kept.flat_map(|line| [line, "\n"]).collect::<String>()).unwrap();
    let predicted = |file: &std::path::Path| {
        let args = ["--accept-length", "3.51", "--running-req", "4", "--json"];
        let document = json(&[&["throughput", "predict", file.to_str().unwrap()][..], &args].concat());
        document["predictions"][0].clone()
    };
    let (found, measured) = (predicted(&file), predicted(&h200("e3k5_al351.log")));
    assert_eq!(
        (found["basis"].as_str(), measured["basis"].as_str()),
        (Some("interpolated"), Some("measured"))
    );
    let of = |name: &str| found[name].as_f64().unwrap();
    let truth = measured["gen_throughput_tps"].as_f64().unwrap();
    assert!(of("low") <= truth && truth <= of("high"), "{found} {truth}");
    assert!(of("low") < of("lines_low") && of("high") > of("lines_high"), "{found}");
    assert_eq!(
        (found["band"].as_str(), measured["band"].as_str()),
        (Some("lines and model error"), Some("lines"))
    );
}

#[test]
fn a_base_log_does_not_change_the_latency_of_a_measured_row() {
    let (log, base) = (h200("e3k5_al351.log"), h200("base.log"));
    let args = [
        "throughput",
        "predict",
        log.to_str().unwrap(),
        "--accept-length",
        "3.51",
        "--running-req",
        "4",
        "--json",
    ];
    let alone = json(&args);
    let both = json(&[&args[..], &["--base", base.to_str().unwrap()]].concat());
    assert_eq!(alone["predictions"][0]["e2e_s"], both["predictions"][0]["e2e_s"]);
    assert!(both["predictions"][0]["speedup"].is_f64());
}

/// At a batch where speculation cannot pay the report says so.
#[test]
fn an_accept_length_that_no_step_has_is_unreachable() {
    let (log, base) = (h200("e3k5_al351.log"), h200("base.log"));
    let args = [
        "throughput",
        "predict",
        log.to_str().unwrap(),
        "--base",
        base.to_str().unwrap(),
        "--accept-length",
        "2",
    ];
    let args = [&args[..], &["--running-req", "1,512"]].concat();
    let text = stdout(&args);
    let last =
        text.lines().find(|line| line.trim_start().starts_with("2.00") && line.contains(" 512 ")).unwrap();
    assert!(last.contains("extrapolated, unreachable"), "{text}");
    let document = json(&[&args[..], &["--json"]].concat());
    let reachable = |at: usize| document["predictions"][at]["break_even_reachable"].as_bool().unwrap();
    assert!(reachable(0) && !reachable(1), "{document}");
    assert!(document["predictions"][1]["break_even_accept_length"].as_f64().unwrap() > 6.0);
}

/// A server that works unlike that of the logs is beyond them, with a range of factors.
#[test]
fn other_servers_are_extrapolated() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model.json");
    let name = model.to_str().unwrap();
    crate::support::run(&[
        "throughput",
        "calibrate",
        h200("e3k5_al351.log").to_str().unwrap(),
        "-o",
        name,
        "-q",
    ])
    .success();
    let point = |flags: &[&str]| {
        let args = [
            "throughput",
            "simulate",
            name,
            "--accept-length",
            "2",
            "--concurrency",
            "4",
            "--isl",
            "512",
            "--osl",
            "512",
        ];
        let document = json(&[&args[..], &["--duration", "10", "--json"], flags].concat());
        document["points"][0].clone()
    };
    assert_eq!(point(&[])["basis"], "interpolated");
    assert!(point(&[])["factor_low"].is_null());
    for flags in [
        &["--ranks", "2"][..],
        &["--prefill", "chunked"],
        &["--prefill", "disaggregated"],
        &["--prefill-tokens", "512"],
        &["--overlap", "false"],
        &["--cache-hit", "0.5"],
    ] {
        let found = point(flags);
        assert_eq!(found["basis"], "extrapolated", "{flags:?}");
        assert!(
            found["factor_low"].as_f64().unwrap() < 0.96 && found["factor_high"].as_f64().unwrap() > 1.04,
            "{found}"
        );
    }
}
