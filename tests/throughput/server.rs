//! What the simulated server does with its limits.

use std::sync::Arc;

use accsim::law::{AcceptanceLaw, GeometricDecay, PerPosition, RealHead, Setting};
use accsim::throughput::sim::{
    Arrivals, Outcome, Pool, Prefilling, Replicates, Request, Requests, Server, SimError, Traffic, WhenFull,
    simulate, simulate_logged,
};
use proptest::prelude::*;

use crate::support::{law, lengths, near, server};

fn traffic(concurrency: u32) -> Traffic {
    Traffic::closed(concurrency, lengths("100-1000"), lengths("50-300"), 30.0)
}

fn listed(list: Vec<Request>, arrivals: Arrivals) -> Traffic {
    Traffic { arrivals, requests: Requests::Listed(list.into()), duration_s: f64::INFINITY, warmup_s: 0.0 }
}

/// One request: every time by hand. 10 tokens at 3 a step: the first from prefill, then three steps.
#[test]
fn one_request_by_hand() {
    let server = Server { law: AcceptanceLaw::Constant(3), ..server(4, 3.0) };
    let request = Request { arrival_s: 2.0, input: 100, output: 10, cached: None };
    let outcome = simulate(&server, &listed(vec![request], Arrivals::Trace), 0, 0).unwrap();
    let prefill = 100.0 * 2e-5;
    let fixed = 0.012 + 6e-6 * 5.0;
    let steps = 3.0 * fixed + 2e-8 * (100.0 + 103.0 + 106.0);
    assert_eq!((outcome.steps, outcome.requests, outcome.output_tokens), (3, 1, 10));
    near(outcome.e2e_s[0], prefill + steps, 1e-12);
    near(outcome.ttft_s[0], prefill, 1e-12);
    near(outcome.tpot_s[0], steps / 9.0, 1e-12);
    near(outcome.end_s, 2.0 + prefill + steps, 1e-12);
}

/// The last step is cut to what the request still needs, but counts whole in the log's accept length.
#[test]
fn the_last_step_is_cut() {
    let server = Server { law: AcceptanceLaw::Constant(4), ..server(4, 4.0) };
    let request = Request { arrival_s: 0.0, input: 10, output: 6, cached: None };
    let outcome =
        simulate(&server, &listed(vec![request; 3], Arrivals::Closed { concurrency: 3 }), 0, 0).unwrap();
    assert_eq!((outcome.output_tokens, outcome.accepted, outcome.request_steps), (18, 24, 6));
}

#[test]
fn admission_is_limited() {
    let limited = Server { most_running: 4, ..server(4, 3.51) };
    let outcome = simulate(&limited, &traffic(16), 1, 0).unwrap();
    assert!(outcome.mean_running() <= 4.0 && outcome.mean_running() > 3.8);
    let free = simulate(&server(4, 3.51), &traffic(16), 1, 0).unwrap();
    assert!(free.output_tps() > 2.0 * outcome.output_tps());
}

#[test]
fn cached_prompts_cost_less() {
    let cold = simulate(&server(4, 3.51), &traffic(16), 1, 0).unwrap();
    let warm = simulate(&Server { cached: 0.9, ..server(4, 3.51) }, &traffic(16), 1, 0).unwrap();
    assert!(warm.prefill_s < 0.2 * cold.prefill_s && warm.output_tps() > cold.output_tps());
    let request = |cached| Request { arrival_s: 0.0, input: 1000, output: 2, cached: Some(cached) };
    let one =
        |cached| simulate(&server(4, 3.51), &listed(vec![request(cached)], Arrivals::Trace), 1, 0).unwrap();
    near(one(0).prefill_s, 0.02, 1e-9);
    near(one(900).prefill_s, 0.002, 1e-9);
}

/// A chunk rides along with a step: nobody waits for a whole prompt, and the work is the same.
#[test]
fn chunks_shorten_the_longest_gap() {
    let blocking = Server { prefilling: Prefilling::Blocking { batch_tokens: 65_536 }, ..server(4, 3.51) };
    let chunked = Server { prefilling: Prefilling::Chunked { tokens: 512 }, ..server(4, 3.51) };
    let traffic = Traffic::closed(16, lengths("4000-16000"), lengths("200-600"), 120.0);
    let (blocking, chunked) =
        (simulate(&blocking, &traffic, 1, 0).unwrap(), simulate(&chunked, &traffic, 1, 0).unwrap());
    assert!(chunked.gaps.quantile(0.999).unwrap() < 0.3 * blocking.gaps.quantile(0.999).unwrap());
    near(chunked.prefill_s / 2e-5, chunked.input_tokens as f64, 0.01);
}

#[test]
fn a_full_pool_makes_requests_wait_or_sends_them_back() {
    let pool = |when_full| Some(Pool { tokens: 6000, when_full });
    let waiting = Server { pool: pool(WhenFull::Queue), ..server(4, 3.51) };
    let outcome = simulate(&waiting, &traffic(32), 1, 0).unwrap();
    assert!(outcome.retracted == 0 && outcome.mean_running() < 15.0);
    let sending = Server { pool: pool(WhenFull::Retract), ..server(4, 3.51) };
    let retracted = simulate(&sending, &traffic(32), 1, 0).unwrap();
    assert!(retracted.retracted > 0 && retracted.mean_running() < 15.0);
    let each = Server { law: AcceptanceLaw::per_request(Setting::new(3.51, 5).unwrap()), ..sending };
    assert!(simulate(&each, &traffic(32), 1, 0).unwrap().retracted > 0);
    let tiny = Server { pool: Some(Pool { tokens: 500, when_full: WhenFull::Queue }), ..server(4, 3.51) };
    let error = simulate(&tiny, &traffic(32), 1, 0).unwrap_err();
    assert!(matches!(error, SimError::NeverFits { needed: 1300, .. }), "{error}");
}

/// Ranks step at the pace of the slowest, and draw alike while none is idle.
#[test]
fn ranks_step_together() {
    let two = Server { ranks: 2, ..server(4, 3.51) };
    let outcome = simulate(&two, &traffic(32), 1, 0).unwrap();
    let one = simulate(&server(4, 3.51), &traffic(16), 1, 0).unwrap();
    assert!(outcome.steady_tps() > 1.5 * one.steady_tps() && outcome.steady_tps() < 2.0 * one.steady_tps());
}

#[test]
fn a_decode_server_is_faster_and_its_first_tokens_come_from_elsewhere() {
    let apart = |workers| Server { prefilling: Prefilling::Elsewhere { workers }, ..server(4, 3.51) };
    let long = Traffic::closed(32, lengths("8000"), lengths("100-300"), 60.0);
    let together = simulate(&server(4, 3.51), &long, 1, 0).unwrap();
    let many = simulate(&apart(1000), &long, 1, 0).unwrap();
    assert!(many.prefill_s <= 0.0 && many.output_tps() > 1.5 * together.output_tps());
    near(many.ttft_s[0], 0.16, 1e-6);
    let one = simulate(&apart(1), &long, 1, 0).unwrap();
    assert!(one.output_tps() < many.output_tps());
    near(one.requests as f64 / one.end_s, 1.0 / 0.16, 0.05);
}

#[test]
fn overlap_costs_a_request_one_step() {
    let constant = Server { law: AcceptanceLaw::Constant(3), ..server(4, 3.0) };
    let plain = simulate(&constant, &traffic(1), 1, 0).unwrap();
    let overlap = simulate(&Server { overlap: true, ..constant }, &traffic(1), 1, 0).unwrap();
    let mean = |outcome: &Outcome| outcome.e2e_s.iter().take(30).sum::<f64>() / 30.0;
    let more = mean(&overlap) - mean(&plain);
    assert!((0.012..0.0122).contains(&more), "{more}");
}

#[test]
fn every_law_has_its_mean() {
    let laws = [
        law(3.51, 7),
        AcceptanceLaw::multinomial(Setting::new(3.51, 8).unwrap()),
        AcceptanceLaw::rounded(Setting::new(3.51, 8).unwrap()),
        AcceptanceLaw::Constant(3),
        AcceptanceLaw::per_request(Setting::new(3.51, 8).unwrap()),
        AcceptanceLaw::PerPosition(PerPosition::new(vec![0.9, 0.5, 0.2]).unwrap()),
        AcceptanceLaw::Geometric(GeometricDecay::with_ratio(0.8, 7).unwrap()),
        AcceptanceLaw::Real(RealHead::new(&[0.9, 0.8, 0.7]).unwrap()),
    ];
    for law in laws {
        let expected = law.mean();
        let outcome = simulate(&Server { law, ..server(7, 3.51) }, &traffic(16), 1, 0).unwrap();
        near(outcome.accept_length().unwrap(), expected, 0.03);
    }
    // Worked value 10.
    near(GeometricDecay::with_ratio(0.8, 8).unwrap().mean(), 4.3289, 2e-5);
}

#[test]
fn the_same_bytes_on_any_number_of_threads() {
    let points: Vec<(Server, Traffic)> = [1, 4, 16].map(|c| (server(4, 3.51), traffic(c))).into();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| Replicates { count: 5, seed: 3 }.run(&points).unwrap())
    };
    assert_eq!(on(1), on(4));
}

/// A run that is logged takes its steps one by one, one that is not glides over them: the same run.
#[test]
fn a_log_does_not_change_the_run() {
    for overlap in [false, true] {
        let server = Server { overlap, ..server(4, 3.51) };
        let plain = simulate(&server, &traffic(16), 5, 1).unwrap();
        let mut lines = 0;
        let logged = simulate_logged(&server, &traffic(16), 5, 1, 40, &mut |_| lines += 1).unwrap();
        assert_eq!(plain, logged);
        assert!(lines > 20);
    }
}

/// Common random numbers: another accept length sees the same requests.
#[test]
fn requests_do_not_depend_on_the_accept_length() {
    let outputs = |x: f64| {
        let outcome = simulate(&server(4, x), &traffic(1), 3, 2).unwrap();
        outcome.outputs[..20].to_vec()
    };
    assert_eq!(outputs(2.0), outputs(3.51));
}

#[test]
fn impossible_servers_are_refused() {
    let traffic = traffic(4);
    let zero = Server { step: accsim::throughput::StepLaw::default(), ..server(4, 3.51) };
    assert!(simulate(&zero, &traffic, 0, 0).unwrap_err().to_string().contains("time of a step"));
    let wide = Server { verified: 3, ..server(4, 3.51) };
    assert!(matches!(
        simulate(&wide, &traffic, 0, 0),
        Err(SimError::TooLongDraw { longest: 4, verified: 3 })
    ));
    let empty = listed(Vec::new(), Arrivals::Trace);
    assert_eq!(simulate(&server(4, 3.51), &empty, 0, 0), Err(SimError::NoRequests));
    let bad = Request { arrival_s: -1.0, input: 1, output: 1, cached: None };
    assert!(simulate(&server(4, 3.51), &listed(vec![bad], Arrivals::Trace), 0, 0).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Whatever the limits: every request is finished once, with all its tokens, and nothing comes before it arrives.
    #[test]
    fn nothing_is_lost(
        requests in prop::collection::vec((0.0_f64..5.0, 1_u32..3000, 1_u32..200), 1..60),
        mode in 0_u32..3,
        each in any::<bool>(),
        full in prop::option::of(any::<bool>()),
        ranks in 1_u32..4,
        most_running in 1_u32..20,
        overlap in any::<bool>(),
        closed in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let mut server = server(4, 3.51);
        server.prefilling = match mode {
            0 => Prefilling::Blocking { batch_tokens: 4096 },
            1 => Prefilling::Chunked { tokens: 700 },
            _ => Prefilling::Elsewhere { workers: 2 },
        };
        if each {
            server.law = AcceptanceLaw::per_request(Setting::new(3.51, 5).unwrap());
        }
        server.pool = full.map(|queue| Pool {
            tokens: 4000,
            when_full: if queue { WhenFull::Queue } else { WhenFull::Retract },
        });
        (server.ranks, server.most_running, server.overlap) = (ranks, most_running, overlap);
        server.step.lanes = 3.0;
        let list: Vec<Request> = {
            let mut list: Vec<Request> = requests
                .iter()
                .map(|(arrival_s, input, output)| Request { arrival_s: *arrival_s, input: *input, output: *output, cached: None })
                .collect();
            list.sort_by(|left, right| left.arrival_s.total_cmp(&right.arrival_s));
            list
        };
        let tokens: u64 = list.iter().map(|request| u64::from(request.output)).sum();
        let count = u64::try_from(list.len()).unwrap();
        let arrivals = if closed { Arrivals::Closed { concurrency: 5 } } else { Arrivals::Trace };
        let traffic = Traffic { arrivals, requests: Requests::Listed(Arc::from(list)), duration_s: f64::INFINITY, warmup_s: 0.0 };
        let outcome = simulate(&server, &traffic, seed, 0).unwrap();
        prop_assert_eq!((outcome.requests, outcome.output_tokens), (count, tokens));
        prop_assert!(outcome.e2e_s.iter().zip(&outcome.ttft_s).all(|(all, first)| *first >= 0.0 && all >= first));
        // Computing a prompt again gives a token, too.
        prop_assert!(outcome.accepted + outcome.retracted >= tokens - count);
        prop_assert_eq!(outcome.clone(), simulate(&server, &traffic, seed, 0).unwrap());
    }
}
