//! The event simulation: request-steps a second on one core (at least 2 x 10^7), an hour of a server with 192 clients (under a
//! second), a sweep of 8 draft lengths x 12 concurrencies x 20 replicates (under 10 s on two cores); then the ratio to a plain
//! event simulation of the same model in Python, in the same run.

#![allow(clippy::print_stdout, reason = "the figures are this bench's result")]

use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

use accsim::law::{AcceptanceLaw, Setting};
use accsim::throughput::sim::{Replicates, Server, Traffic, simulate};
use accsim::throughput::{Lengths, PrefillLaw, StepLaw};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

fn setting(accept_length: f64, drafts: u32) -> Option<Setting> {
    Setting::new(accept_length, drafts + 1).ok()
}

fn server(drafts: u32, accept_length: f64, shared: bool) -> Server {
    let law = match setting(accept_length, drafts) {
        Some(setting) if shared => AcceptanceLaw::match_expected(setting),
        Some(setting) => AcceptanceLaw::per_request(setting),
        None => AcceptanceLaw::Constant(1),
    };
    let step = StepLaw { a_s: 0.012, b_s: 6e-6, c_s: 2e-8, ..StepLaw::default() };
    Server::new(step, PrefillLaw { p0_s: 0.0, p1_s: 2e-5 }, drafts, law)
}

fn traffic(concurrency: u32, seconds: f64) -> Traffic {
    let lengths = |text: &str| text.parse().unwrap_or(Lengths::fixed(1000));
    Traffic::closed(concurrency, lengths("500-1500"), lengths("500-1500"), seconds)
}

fn request_steps(server: &Server, traffic: &Traffic) -> u64 {
    simulate(server, traffic, 1, 0).map_or(0, |outcome| outcome.request_steps)
}

fn loops(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("closed loop");
    group.sample_size(10).measurement_time(Duration::from_secs(3));
    for (concurrency, shared) in [(1, true), (16, true), (192, true), (192, false)] {
        let (server, traffic) = (server(4, 3.51, shared), traffic(concurrency, 120.0));
        group.throughput(Throughput::Elements(request_steps(&server, &traffic)));
        let draws = if shared { "one draw a step" } else { "one draw a request" };
        group.bench_function(format!("{concurrency} clients, {draws}"), |bencher| {
            bencher.iter(|| request_steps(black_box(&server), black_box(&traffic)));
        });
    }
    group.finish();
}

/// Shortest of three runs, in seconds.
fn shortest(mut work: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        work();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}

fn whole(_: &mut Criterion) {
    for shared in [true, false] {
        let (server, traffic) = (server(4, 3.51, shared), traffic(192, 3600.0));
        let seconds = shortest(|| {
            black_box(request_steps(&server, &traffic));
        });
        let draws = if shared { "one draw a step" } else { "one draw a request" };
        println!("an hour of 192 clients, {draws}: {seconds:.3} s");
    }
    let curve = [1.79, 2.27, 2.49, 2.75, 2.99, 3.2, 3.4, 3.51];
    let clients = [1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256];
    let cells: Vec<(Server, Traffic)> = (1..)
        .zip(curve)
        .flat_map(|(drafts, length)| {
            clients.map(|clients| (server(drafts, length, true), traffic(clients, 120.0)))
        })
        .collect();
    let seconds = shortest(|| {
        black_box(Replicates { count: 20, seed: 1 }.run(&cells).ok());
    });
    let threads = rayon::current_num_threads();
    println!("a sweep of 8 x 12 x 20 runs of 120 s on {threads} threads: {seconds:.2} s");
}

/// The same closed loop in Python, which prints its request-steps a second and its tokens a second.
fn anchor(_: &mut Criterion) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/throughput_anchor.py");
    for (clients, seconds) in [(16, "120"), (192, "120")] {
        let output = Command::new("python3").arg(script).arg(clients.to_string()).arg(seconds).output().ok();
        let text =
            output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        let mut numbers = text.split_whitespace().filter_map(|word| word.parse::<f64>().ok());
        let (Some(python), Some(tps)) = (numbers.next(), numbers.next()) else {
            println!("no Python: no ratio");
            return;
        };
        let (server, traffic) = (server(4, 3.51, true), traffic(clients, 120.0));
        let Ok(outcome) = simulate(&server, &traffic, 1, 0) else { return };
        let best = shortest(|| {
            black_box(request_steps(&server, &traffic));
        });
        let steps = f64::from(u32::try_from(outcome.request_steps).unwrap_or(u32::MAX));
        let ours = steps / best;
        println!(
            "{clients} clients: {ours:.2e} request-steps/s, Python {python:.2e}, ratio {:.0}; tokens/s {:.0} and {tps:.0}",
            ours / python,
            outcome.output_tps()
        );
    }
}

criterion_group!(benches, loops, whole, anchor);
criterion_main!(benches);
