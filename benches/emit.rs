//! Writing logs: bytes per second on one core, into nowhere. What a file in memory costs on top is the kernel's:
//! `benches/make_logs.sh` measures the whole.

#![allow(clippy::panic, reason = "a bench that cannot be set up has nothing to say")]

use std::hint::black_box;
use std::io::sink;

use accsim::law::{AcceptanceLaw, Setting, SettingError};
use accsim::simulate::log::{
    LawSource, Load, LogPlan, Run, SglangLog, SglangPlan, VllmEra, VllmLog, VllmPlan, write_log,
};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn law(length: f64) -> std::result::Result<LawSource, SettingError> {
    Ok(LawSource::new(AcceptanceLaw::match_expected(Setting::new(length, 6)?), 1))
}

fn sglang(share: Option<u32>, damage: &str, load: Load) -> Result<LogPlan> {
    let mut log = SglangLog::new(
        "0.5.18".parse()?,
        "2026-10-12T01:02:03".parse()?,
        vec![Run { load, ..Run::new(100_000) }],
    );
    log.noise.decode_per_mille = share;
    log.damage = damage.parse()?;
    Ok(LogPlan::Sglang(SglangPlan::new(log)?))
}

fn plans() -> Result<Vec<(&'static str, LogPlan, LawSource)>> {
    let steady = || Load { output: 8192..=8192, ..Load::constant(4) };
    let lively = Load { running: 1..=32, output: 64..=1024, ..Load::constant(1) };
    let spoiled = "truncated=0.01,interleaved=0.01,duplicated=0.01,glued=0.01,ansi=0.01,docker";
    let vllm = VllmLog::new(VllmEra::Throughput, "2026-10-12T01:02:03".parse()?, 5, 20_000);
    let each = AcceptanceLaw::per_request(Setting::new(3.51, 6)?);
    Ok(vec![
        ("steady batch, 85 % decode lines", sglang(Some(850), "", steady())?, law(3.51)?),
        ("steady batch, 25 % decode lines", sglang(Some(250), "", steady())?, law(3.51)?),
        ("changing batch", sglang(None, "", lively)?, law(3.51)?),
        ("damaged, in docker's JSON", sglang(Some(850), spoiled, steady())?, law(3.51)?),
        ("vllm windows", LogPlan::Vllm(VllmPlan::new(vllm)?), LawSource::new(each, 1)),
    ])
}

fn emit(criterion: &mut Criterion) {
    let plans = match plans() {
        Ok(plans) => plans,
        Err(error) => panic!("{error}"),
    };
    let mut group = criterion.benchmark_group("emit");
    group.sample_size(10);
    for (name, plan, source) in plans {
        let one_core = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let Ok(one_core) = one_core else { panic!("no thread") };
        let write = || one_core.install(|| write_log(&plan, &source, &mut sink()));
        let bytes = write().map_or(0, |summary| summary.bytes);
        group.throughput(Throughput::Bytes(bytes));
        group.bench_function(name, |bencher| bencher.iter(|| black_box(write())));
    }
    group.finish();
}

criterion_group!(benches, emit);
criterion_main!(benches);
