//! Whatever the plan: no panic, the lines that were asked for, the same bytes on any number of threads.

use accsim::engine::Drafter;
use accsim::law::{AcceptanceLaw, Setting};
use accsim::simulate::log::{
    Damage, Device, LawSource, Load, LogPlan, Noise, Parallel, Pause, Pools, Role, Run, SglangLog,
    SglangPlan, Speculation, Summary, sglang_releases, write_log,
};
use proptest::prelude::*;

use super::support::{log, match_expected, read};

fn load() -> impl Strategy<Value = Load> {
    let range = |most: u32| (1..most, 0..most).prop_map(|(low, more)| low..=low + more);
    (range(40), 1_u64..200, proptest::option::of(1_u32..60), range(3000), range(3000), 0_u32..40).prop_map(
        |(running, cycle_lines, max_running, input, output, graphs)| Load {
            running,
            cycle_lines,
            max_running,
            input,
            output,
            max_graph_batch: Some(graphs),
        },
    )
}

fn run() -> impl Strategy<Value = Run> {
    let drafters = [Drafter::Eagle3, Drafter::NextN, Drafter::Ngram, Drafter::DSpark, Drafter::DFlash];
    let speculation = proptest::option::of((proptest::sample::select(drafters.to_vec()), 1_u32..9))
        .prop_map(|drafter| drafter.map(|(drafter, length)| Speculation::of(drafter, length)));
    let pause = (0_u64..200, 0_u32..1000, any::<bool>())
        .prop_map(|(after_lines, seconds, flush_cache)| Pause { after_lines, seconds, flush_cache });
    (speculation, 1_u32..100, 0_u64..150, load(), proptest::collection::vec(pause, 0..4)).prop_map(
        |(speculation, decode_log_interval, lines, load, mut pauses)| {
            pauses.sort_by_key(|pause| pause.after_lines);
            Run { speculation, decode_log_interval, lines, load, pauses, ..Run::new(0) }
        },
    )
}

fn damage() -> impl Strategy<Value = Damage> {
    let wrappers = ["", ",docker", ",cri=0.2", ",srun", ",crlf"];
    let rates = proptest::collection::vec(0_u32..20, 5);
    (any::<bool>(), rates, proptest::sample::select(wrappers.to_vec())).prop_map(|(any, rates, wrapper)| {
        let names = ["truncated", "interleaved", "duplicated", "glued", "ansi"];
        let text: Vec<String> =
            names.iter().zip(rates).map(|(name, rate)| format!("{name}={rate}%")).collect();
        if any { format!("{}{wrapper}", text.join(",")).parse().unwrap() } else { Damage::default() }
    })
}

prop_compose! {
    fn plan()(
        version in proptest::sample::select(sglang_releases().collect::<Vec<_>>()),
        runs in proptest::collection::vec(run(), 1..3),
        damage in damage(),
        parallel in (1_u32..3, 1_u32..4, 1_u32..3).prop_map(|(tp, dp, pp)| Parallel {
            tp: tp * dp,
            dp,
            ep: tp,
            pp,
            dp_attention: true,
        }),
        pools in proptest::sample::select(vec![Pools::Plain, Pools::Plain, Pools::SlidingWindow, Pools::Mamba]),
        device in proptest::sample::select(vec![Device::Cuda, Device::Npu, Device::Cpu]),
        share in proptest::option::of(1_u32..=1000),
        flags in proptest::collection::vec(any::<bool>(), 6),
        seed in any::<u64>(),
    ) -> SglangLog {
        SglangLog {
            milliseconds: flags[0],
            all_schedulers: flags[1],
            ranks_share_draws: flags[2],
            role: if flags[3] { Role::Decode } else { Role::Both },
            noise: Noise { access_log: flags[4], decode_per_mille: share },
            device,
            pools,
            parallel,
            damage,
            seed,
            ..SglangLog::new(version, "2026-12-31T23:59:00".parse().unwrap(), runs)
        }
    }
}

fn write_on(threads: usize, plan: &LogPlan, source: &LawSource) -> (Vec<u8>, Summary) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let mut text = Vec::new();
    let summary = pool.install(|| write_log(plan, source, &mut text)).unwrap();
    (text, summary)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_plan_gives_its_lines(plan in plan(), per_request in any::<bool>(), length in 1.0_f64..7.0) {
        let setting = Setting::new(length, 6).unwrap();
        let law = if per_request { AcceptanceLaw::per_request(setting) } else { AcceptanceLaw::match_expected(setting) };
        let source = LawSource::new(law, 5);
        let asked: u64 = plan.runs.iter().map(|run| run.lines).sum();
        let ranks = u64::from(plan.parallel.dp);
        let is_clean = plan.damage == Damage::default();
        let Ok(checked) = SglangPlan::new(plan) else { return Ok(()) };
        let plan = LogPlan::Sglang(checked);
        let (one, summary) = write_on(1, &plan, &source);
        prop_assert_eq!(summary.decode_lines, asked * ranks);
        let found = read(&one);
        prop_assert_eq!(found.truncated, summary.damage.unreadable);
        prop_assert!(found.otherwise_skipped.is_empty());
        if is_clean {
            prop_assert_eq!(found.decode.len() as u64 % summary.decode_lines.max(1), 0);
        }
        let (two, same) = write_on(2, &plan, &source);
        prop_assert!(one == two);
        prop_assert_eq!(summary, same);
    }

    #[test]
    fn no_text_makes_the_parsers_panic(text in ".{0,60}") {
        let _ = text.parse::<Damage>();
        let _ = text.parse::<accsim::simulate::log::LocalTime>();
    }
}

/// Many chunks, several ranks, damage: the same bytes on one thread and on several.
#[test]
fn long_logs_do_not_depend_on_threads() {
    let mut run = Run::new(30_000);
    run.load = Load { running: 1..=24, output: 500..=4000, ..Load::constant(1) };
    let mut plan = log("0.5.18", vec![run.clone(), run]);
    plan.parallel = Parallel { tp: 2, dp: 2, ep: 1, pp: 1, dp_attention: true };
    plan.noise.decode_per_mille = Some(400);
    plan.damage =
        "truncated=0.01,interleaved=0.01,duplicated=0.01,glued=0.01,ansi=0.01,cri=0.01".parse().unwrap();
    let plan = LogPlan::Sglang(SglangPlan::new(plan).unwrap());
    let source = match_expected(3.51);
    let (one, summary) = write_on(1, &plan, &source);
    for threads in [2, 3] {
        let (several, same) = write_on(threads, &plan, &source);
        assert!(one == several, "{threads} threads");
        assert_eq!(summary, same);
    }
}

/// The bytes of one plan never change: whoever keeps a seed keeps the log. A change here breaks promises.
#[test]
fn bytes_are_stable() {
    let mut run = Run::new(200);
    run.load = Load { running: 1..=9, cycle_lines: 24, output: 30..=700, ..Load::constant(1) };
    let plan = LogPlan::Sglang(SglangPlan::new(log("0.5.18", vec![run])).unwrap());
    let (text, _) = write_on(1, &plan, &match_expected(3.51));
    // FNV-1a, so that the test needs no other function of this crate.
    let hash = text.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    assert_eq!(hash, 0x386e_ecad_904e_e238, "{hash:#x}");
}
