//! The closed form and the event simulation say the same.

use accsim::law::{AcceptanceLaw, Draws, Setting};
use accsim::throughput::Demand;
use accsim::throughput::sim::{Arrivals, Prefilling, Server, Traffic, simulate};

use crate::support::{law, lengths, near, prefill, server, step};

/// Batch, drafts, accept length, input, output: fixed and uniform lengths, few and many requests.
const GRID: [(u32, u32, f64, &str, &str); 12] = [
    (1, 5, 3.51, "512", "512"),
    (1, 4, 1.79, "1000", "64"),
    (4, 4, 2.27, "1000", "500-1500"),
    (16, 4, 3.51, "8000", "1000"),
    (16, 3, 2.0, "200-1800", "64"),
    (64, 4, 3.51, "1000", "1000"),
    (64, 4, 2.0, "1000", "500-1500"),
    (64, 4, 3.51, "8000", "500-1500"),
    (64, 1, 1.79, "500-1500", "200-600"),
    (128, 4, 3.51, "1000", "500-1500"),
    (128, 7, 6.25, "1000", "1000-3000"),
    (256, 4, 3.51, "2000", "500-1500"),
];

fn demand(server: &Server, running: u32, input: &str, output: &str) -> f64 {
    let step = step();
    let demand = Demand {
        step: &step,
        prefill: prefill(),
        running,
        drafts: server.drafts,
        verified: server.verified,
        accept_length: server.law.mean(),
        variance: server.law.variance(),
        input: lengths(input),
        cached: 0.0,
        output: lengths(output),
        batch_tokens: 8192,
        shares_draws: true,
        overlap: false,
    };
    demand.steady().output_tps
}

#[test]
fn closed_form_and_simulation_agree_within_a_percent() {
    for (running, drafts, accept_length, input, output) in GRID {
        let server = server(drafts, accept_length);
        let expected = demand(&server, running, input, output);
        // Long enough for some hundred rounds of requests, so that the ends of the stretch do not count.
        let latency = f64::from(running) * lengths(output).mean() / expected;
        let mut traffic = Traffic::closed(running, lengths(input), lengths(output), latency * 250.0);
        traffic.warmup_s = latency * 50.0;
        let outcome = simulate(&server, &traffic, 7, 0).unwrap();
        let found = outcome.steady_tps();
        assert!(
            (found / expected - 1.0).abs() < 0.01,
            "{running} {drafts} {input} {output}: {found} {expected}"
        );
    }
}

#[test]
fn shared_draws_and_draws_of_each_request_have_the_same_mean() {
    let shared = server(4, 3.51);
    let each = Server { law: AcceptanceLaw::per_request(Setting::new(3.51, 5).unwrap()), ..shared.clone() };
    let traffic = Traffic::closed(16, lengths("1000"), lengths("200-600"), 300.0);
    let (left, right) =
        (simulate(&shared, &traffic, 3, 0).unwrap(), simulate(&each, &traffic, 3, 0).unwrap());
    near(left.steady_tps(), right.steady_tps(), 0.01);
}

#[test]
fn an_open_loop_below_the_knee_delivers_what_arrives() {
    let server = server(4, 3.51);
    let mut traffic = Traffic::closed(1, lengths("1000"), lengths("1000"), 2000.0);
    traffic.arrivals = Arrivals::Poisson { rate: 4.0 };
    let outcome = simulate(&server, &traffic, 5, 0).unwrap();
    near(outcome.steady_tps(), 4000.0, 0.03);
}

/// With several lanes too: the closed form takes the mean of the longest context.
#[test]
fn lanes_agree() {
    let mut server = Server { prefilling: Prefilling::Elsewhere { workers: 1 << 16 }, ..server(4, 3.51) };
    server.step.lanes = 4.0;
    server.step.c_s = 4e-7;
    server.prefill = accsim::throughput::PrefillLaw::default();
    for running in [1, 2, 4, 16] {
        let demand = Demand {
            step: &server.step,
            prefill: server.prefill,
            running,
            drafts: 4,
            verified: 5,
            accept_length: 3.51,
            variance: law(3.51, 4).variance(),
            input: lengths("128-2048"),
            cached: 0.0,
            output: lengths("64-1024"),
            batch_tokens: 8192,
            shares_draws: true,
            overlap: false,
        };
        let steady = demand.steady();
        let traffic = Traffic::closed(running, demand.input, demand.output, steady.latency_s * 1500.0);
        let found = simulate(&server, &traffic, 9, 0).unwrap().steady_tps();
        assert!((found / steady.output_tps - 1.0).abs() < 0.01, "{running}: {found} {}", steady.output_tps);
    }
}

/// A server with every term: a bend within the batches, lanes near the batch, prefill batches that cost something.
fn bent(drafts: u32, accept_length: f64, lanes: f64, from_tokens: f64, p0_s: f64) -> Server {
    let mut server = server(drafts, accept_length);
    server.step.lanes = lanes;
    server.step.c_s = 3e-7;
    server.step.bend = accsim::throughput::Bend::Hinge { from_tokens, slope_s: 3e-5 };
    server.prefill.p0_s = p0_s;
    server
}

/// The closed form of a server's own closed loop.
fn of(server: &Server, running: u32, input: &str, output: &str) -> f64 {
    let Prefilling::Blocking { batch_tokens } = server.prefilling else { panic!("blocking prefill") };
    let demand = Demand {
        step: &server.step,
        prefill: server.prefill,
        running,
        drafts: server.drafts,
        verified: server.verified,
        accept_length: server.law.mean(),
        variance: server.law.variance(),
        input: lengths(input),
        cached: server.cached,
        output: lengths(output),
        batch_tokens,
        shares_draws: server.law.draws() == Draws::Shared,
        overlap: server.overlap,
    };
    assert!(demand.is_exact(), "{input} {output}");
    demand.steady().output_tps
}

/// Near the bends, where the mean of the larger is not the larger mean, and with prompts that share a prefill batch.
#[test]
fn they_agree_near_the_bends_and_with_shared_prefill() {
    for (running, lanes, from_tokens, p0_s) in [
        (1, 1.0, 20.0, 0.01),
        (3, 4.0, 20.0, 0.0),
        (4, 4.0, 20.0, 0.01),
        (6, 4.0, 20.0, 0.02),
        (8, 6.0, 35.0, 0.0),
        (16, 8.0, 80.0, 0.01),
        (64, 16.0, 320.0, 0.01),
        (128, 1.0, 640.0, 0.02),
    ] {
        for (input, output) in
            [("128-2048", "64-1024"), ("1000", "32-96"), ("300-500", "200-600"), ("512", "512")]
        {
            for (overlap, each) in [(false, false), (true, false), (false, true)] {
                let mut server = Server { overlap, ..bent(4, 3.51, lanes, from_tokens, p0_s) };
                if each {
                    server.law = AcceptanceLaw::per_request(Setting::new(3.51, 5).unwrap());
                    // Outputs of one length drift apart too slowly for the closed form.
                    if output == "512" {
                        continue;
                    }
                }
                let expected = of(&server, running, input, output);
                let latency = f64::from(running) * lengths(output).mean() / expected;
                let rounds = if running < 8 { 1500.0 } else { 200.0 };
                let mut traffic = Traffic::closed(running, lengths(input), lengths(output), latency * rounds);
                traffic.warmup_s = latency * 30.0;
                let found = simulate(&server, &traffic, 11, 0).unwrap().steady_tps();
                assert!(
                    (found / expected - 1.0).abs() < 0.01,
                    "{running} {lanes} {input} {output} {overlap} {each}: {found} {expected}"
                );
            }
        }
    }
}
