//! Draws of accept lengths: counts over an interval, which should reach 10^9 steps a second on a core, and sequences, which
//! should reach 2 x 10^8; then the ratio to `NumPy` doing the same work in the same run, where it is installed.

#![allow(clippy::print_stdout, reason = "the ratio is this bench's result")]

use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

use accsim::law::{
    AcceptanceLaw, GeometricDecay, Histogram, PerPosition, Pool, PoolKind, RealHead, Setting, Steps, Stream,
    Tokens, TwoPoint,
};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Steps of a decode line.
const INTERVAL: u32 = 40;

/// Lines drawn in one iteration.
const LINES: u32 = 1000;

/// Times that work is done while it is timed against `NumPy`.
const TIMES: u32 = 20;

/// Steps drawn in one iteration.
const SEQUENCE: usize = 1 << 16;

fn match_expected() -> AcceptanceLaw {
    Setting::new(3.51, 6).map_or(AcceptanceLaw::Constant(1), AcceptanceLaw::match_expected)
}

fn multinomial() -> AcceptanceLaw {
    Setting::new(3.51, 6).map_or(AcceptanceLaw::Constant(1), AcceptanceLaw::multinomial)
}

fn rates() -> AcceptanceLaw {
    PerPosition::new(vec![0.9, 0.5, 0.2]).map_or(AcceptanceLaw::Constant(1), AcceptanceLaw::PerPosition)
}

/// Every law that is drawn step by step; a constant has nothing to draw.
fn sequence_laws() -> Vec<(&'static str, AcceptanceLaw)> {
    let setting = Setting::new(3.51, 6);
    let of = |law: fn(Setting) -> AcceptanceLaw| setting.map_or(AcceptanceLaw::Constant(1), law);
    let constant = AcceptanceLaw::Constant(1);
    let geometric = GeometricDecay::with_mean_rate(0.5, 5).map_or(constant.clone(), AcceptanceLaw::Geometric);
    let pool = setting.map_or(AcceptanceLaw::Constant(1), |setting| {
        AcceptanceLaw::Pool(Pool::new(PoolKind::TrtLlm, TwoPoint::new(setting)))
    });
    let real = RealHead::new(&[0.9, 0.8, 0.7, 0.6, 0.5]).map_or(constant, AcceptanceLaw::Real);
    vec![
        ("match-expected", match_expected()),
        ("per-request", of(AcceptanceLaw::per_request)),
        ("multinomial", multinomial()),
        ("clamped-short", of(AcceptanceLaw::clamped_short)),
        ("rates", rates()),
        ("geometric", geometric),
        ("real", real),
        ("fixed sequence", pool),
    ]
}

fn counts(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("counts");
    group.throughput(Throughput::Elements(u64::from(INTERVAL) * u64::from(LINES)));
    for (name, law) in [("match-expected", match_expected()), ("multinomial", multinomial())] {
        group.bench_function(format!("{name}, lines of 40 steps"), |bencher| {
            let (mut line, mut random) = (Tokens::new(&law, INTERVAL), Stream::new(1, 0, 0));
            bencher.iter(|| (0..LINES).map(|_| line.draw(&mut random)).sum::<u64>());
        });
    }
    group.throughput(Throughput::Elements(1_000_000_000));
    group.bench_function("match-expected, a run of 10^9 steps", |bencher| {
        let (law, mut random) = (match_expected(), Stream::new(1, 0, 0));
        bencher.iter(|| {
            let mut histogram = Histogram::default();
            histogram.draw(&law, black_box(1_000_000_000), &mut random);
            histogram
        });
    });
    group.finish();
}

fn sequences(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sequences");
    group.throughput(Throughput::Elements(u64::try_from(SEQUENCE).unwrap_or(1)));
    for (name, law) in sequence_laws() {
        group.bench_function(format!("{name}, filled"), |bencher| {
            let mut steps = Steps::new(&law, Stream::new(1, 0, 0));
            let mut lengths = vec![0; SEQUENCE];
            bencher.iter(|| {
                steps.fill(&mut lengths);
                black_box(&lengths);
            });
        });
    }
    group.bench_function("match-expected, one by one", |bencher| {
        let mut steps = Steps::new(&match_expected(), Stream::new(1, 0, 0));
        bencher.iter(|| (0..SEQUENCE).map(|_| u64::from(steps.draw())).sum::<u64>());
    });
    group.finish();
}

/// Seconds that this process has had a processor, as `NumPy`'s side counts them too; the clock's where the system does not
/// say. Other programs on the machine then change little.
fn seconds(since: Instant) -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanoseconds = text.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
    nanoseconds.map_or_else(|| since.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}

/// Steps a second of work on `steps` steps: the best of seven runs, each long enough for the system's count of time.
fn rate(steps: f64, mut work: impl FnMut()) -> f64 {
    let (begin, mut best) = (Instant::now(), f64::INFINITY);
    for _ in 0..7 {
        let start = seconds(begin);
        for _ in 0..TIMES {
            work();
        }
        best = best.min(seconds(begin) - start);
    }
    steps * f64::from(TIMES) / best
}

/// The same work by `NumPy`, which prints its steps a second by name.
fn anchor(_: &mut Criterion) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/numpy_anchor.py");
    let output = Command::new("python3").arg(script).output().ok().filter(|output| output.status.success());
    let Some(output) = output else {
        println!("NumPy is not installed: no ratio");
        return;
    };
    let law = match_expected();
    let lines = rate(40e6, || {
        let (mut line, mut random) = (Tokens::new(&law, INTERVAL), Stream::new(1, 0, 0));
        black_box((0..1_000_000).map(|_| line.draw(&mut random)).collect::<Vec<u64>>());
    });
    let sequence = rate(4e6, || {
        let mut lengths = vec![0; 4_000_000];
        Steps::new(&law, Stream::new(1, 0, 0)).fill(&mut lengths);
        black_box(lengths);
    });
    for (name, law) in sequence_laws() {
        let mut lengths = vec![0; 4_000_000];
        let mut steps = Steps::new(&law, Stream::new(1, 0, 0));
        let rate = rate(4e6, || {
            steps.fill(&mut lengths);
            black_box(&lengths);
        });
        println!("sequence, {name}: {rate:.2e} steps/s of processor time");
    }
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let mut words = line.split_whitespace();
        let (Some(name), Some(numpy)) =
            (words.next(), words.next().and_then(|rate| rate.parse::<f64>().ok()))
        else {
            continue;
        };
        let ours = if name == "counts" { lines } else { sequence };
        println!("{name}: {ours:.2e} steps/s, NumPy {numpy:.2e} steps/s, ratio {:.1}", ours / numpy);
    }
}

criterion_group!(benches, counts, sequences, anchor);
criterion_main!(benches);
