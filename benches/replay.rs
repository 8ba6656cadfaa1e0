//! The engine's own draws: how many a second on one core (the specification asks for 5 x 10^7), the search for a lost start
//! through 10^6 offsets (it asks for less than a second), the search for a seed (its rate gives the time for all 2^30);
//! then the ratio to PyTorch making the same draws in the same run, where it is installed.

#![allow(clippy::print_stdout, reason = "rates and ratios are this bench's result")]

use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

use accsim::evidence::{Hundredths, Place};
use accsim::law::Setting;
use accsim::replay::{
    Claim, Clue, DrawLaw, DrawMethod, ReplayBuilder, ReplayLine, ReplayOptions, ReplayStatus, SEEDS,
    SeedSearch, Sequence, ServerDraws, StatedTarget, decode_lines,
};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Draws of one iteration.
const DRAWS: usize = 1 << 16;

/// Seeds of one iteration.
const SEARCHED: u64 = 1 << 18;

const SEED: u64 = 320_846_001;

fn law(method: DrawMethod) -> Option<DrawLaw> {
    DrawLaw::new(method, Setting::new(3.51, 6).ok()?)
}

fn draws(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("draws");
    group.throughput(Throughput::Elements(u64::try_from(DRAWS).unwrap_or(1)));
    for law in DrawMethod::ALL.into_iter().filter_map(law) {
        group.bench_function(law.to_string(), |bencher| {
            let mut sequence = Sequence::new(SEED, &law);
            let mut next = 0;
            bencher.iter(|| {
                black_box(sequence.window(next, DRAWS));
                next += u64::try_from(DRAWS).unwrap_or(1);
            });
        });
    }
    group.finish();
}

/// Lines of a server that begin at this one.
fn lines(first: u64, count: u64) -> Vec<u32> {
    let Some(law) = law(DrawMethod::MatchExpected) else { return Vec::new() };
    let skipped = usize::try_from(first).unwrap_or(0);
    let lines = decode_lines(SEED, &law, 40, first + count);
    lines.into_iter().skip(skipped).map(Hundredths::count).collect()
}

fn replayed(lines: &[u32], server: ServerDraws, options: ReplayOptions) -> ReplayStatus {
    let mut replay = ReplayBuilder::new(options);
    replay.start(server);
    for (number, hundredths) in (1..).zip(lines) {
        let place = Place { file: 0, line: number };
        replay.line(
            0,
            ReplayLine {
                place,
                hundredths: Some(*hundredths),
                batch: 16,
                tokens: None,
                millis: None,
                throughput_hundredths: None,
            },
        );
    }
    let claim = Claim { law: law(DrawMethod::MatchExpected), fits: true };
    replay.finish().conclude(Some(&claim), u64::try_from(lines.len()).unwrap_or(0)).status
}

fn logs(criterion: &mut Criterion) {
    let server =
        ServerDraws { seed: Some(SEED), interval: Some(40), max_accept_length: Some(6), decode_only: false };
    let stated = Some(StatedTarget { accept_length: 3.51, max_accept_length: Some(6) });
    let options = ReplayOptions { stated, ..ReplayOptions::default() };
    let mut group = criterion.benchmark_group("logs");
    group.sample_size(10);
    let long = lines(0, 200_000);
    group.throughput(Throughput::Elements(200_000));
    group.bench_function("200,000 steady lines", |bencher| {
        bencher.iter(|| assert_eq!(replayed(&long, server, options.clone()), ReplayStatus::Proved));
    });
    let short = lines(0, 73);
    group.throughput(Throughput::Elements(1));
    group.bench_function("a log of 73 lines", |bencher| {
        bencher.iter(|| assert_eq!(replayed(&short, server, options.clone()), ReplayStatus::Proved));
    });
    let lost = lines(20_000, 100);
    group.bench_function("a lost start among 10^6 offsets", |bencher| {
        bencher.iter(|| assert_eq!(replayed(&lost, server, options.clone()), ReplayStatus::Proved));
    });
    group.finish();
}

fn seeds(criterion: &mut Criterion) {
    let Some(law) = law(DrawMethod::MatchExpected) else { return };
    let clues: Vec<Clue> =
        (1..).zip(lines(1, 40)).map(|(line, hundredths)| Clue { line, hundredths }).collect();
    let Ok(search) = SeedSearch::new(law, 40, clues) else { return };
    let mut group = criterion.benchmark_group("seeds");
    group.sample_size(10);
    group.throughput(Throughput::Elements(SEARCHED));
    group.bench_function("tried on all cores", |bencher| bencher.iter(|| search.run(black_box(SEARCHED))));
    group.finish();
    let began = Instant::now();
    let _ = search.run(1 << 22);
    let all = began.elapsed().as_secs_f64() * times(SEEDS, 1 << 22);
    println!("all 2^30 seeds at this rate: {all:.0} s on {} threads", rayon::current_num_threads());
}

fn times(all: u64, part: u64) -> f64 {
    Duration::from_nanos(all).as_secs_f64() / Duration::from_nanos(part).as_secs_f64()
}

/// Draws a second here and in PyTorch, by the engine's own statements, in the same run.
fn ratio(_: &mut Criterion) {
    let anchor = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/pytorch_anchor.py");
    let python = std::env::var("ACCSIM_PYTORCH").unwrap_or_else(|_| "python3".to_owned());
    let output = Command::new(&python).arg(anchor).output();
    let theirs: Vec<f64> = match output {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout)
            .split_whitespace()
            .filter_map(|rate| rate.parse().ok())
            .collect(),
        _ => {
            println!("no PyTorch in {python}, no ratio (ACCSIM_PYTORCH names a Python that has it)");
            return;
        }
    };
    for (law, theirs) in DrawMethod::ALL.into_iter().filter_map(law).zip(theirs) {
        let mut best = f64::INFINITY;
        for _ in 0..7 {
            let mut sequence = Sequence::new(SEED, &law);
            let began = Instant::now();
            for block in 0..64 {
                black_box(sequence.window(block * u64::try_from(DRAWS).unwrap_or(1), DRAWS));
            }
            best = best.min(began.elapsed().as_secs_f64());
        }
        let ours = f64::from(64 * u32::try_from(DRAWS).unwrap_or(1)) / best;
        println!("{law}: {ours:.3e} draws/s, PyTorch {theirs:.3e}: {:.0} times", ours / theirs);
    }
}

criterion_group!(replay, draws, logs, seeds, ratio);
criterion_main!(replay);
