//! What an SGLang log shows beside its counts.

use accsim::engine::Drafter;
use accsim::evidence::{GraphLabel, Hundredths};
use accsim::simulate::log::{
    Device, Load, Noise, Parallel, Pause, Pools, Run, SglangLog, SglangPlan, Speculation,
};

use super::support::{Cycle, Decode, lines, log, match_expected, read, write_sglang};

fn messages(plan: SglangLog) -> Vec<Decode> {
    write_sglang(plan, &match_expected(3.51)).check().decode
}

/// SGLANG.md 6.6: n = 6, 22 of 40 steps of length 4, A/C = 142/40.
#[test]
fn the_worked_example() {
    let mut lengths = vec![4; 22];
    lengths.extend([3; 18]);
    let source = Cycle(lengths, 0);
    let mut run = Run::new(5);
    run.load = Load { output: 10_000..=10_000, ..Load::constant(1) };
    for (version, fields) in [
        ("0.5.16", ", accept len: 3.55, accept rate: 0.51, "),
        ("0.5.23", ", accept len: 3.55, accept rate: 0.51, "),
        ("0.5.6", ", accept len: 3.55, accept rate: 0.59, "),
        ("0.5.10", ", accept len: 3.55, accept rate: 0.59, "),
        ("0.5.3.post1", ", accept len: 3.55, cpu graph: True, "),
    ] {
        let mut plan = log(version, vec![run.clone()]);
        if version == "0.5.3.post1" {
            plan.device = Device::Npu;
        }
        let written = write_sglang(plan, &source);
        let found = written.check();
        assert_eq!((written.windows[0].accepted, written.windows[0].request_steps), (142, 40));
        assert!(found.decode.iter().all(|line| line.message.contains(fields)), "{version} {found:?}");
    }
}

#[test]
fn graph_names_follow_device_and_release() {
    let label = |version: &str, device| {
        let mut plan = log(version, vec![Run::new(1)]);
        plan.device = device;
        messages(plan)[0].graph.map(|graph| graph.label)
    };
    assert_eq!(label("0.4.6", Device::Cuda), None);
    for (version, device, expected) in [
        ("0.5.1", Device::Cpu, GraphLabel::Cuda),
        ("0.5.2", Device::Cpu, GraphLabel::Cpu),
        ("0.5.2", Device::Npu, GraphLabel::Cuda),
        ("0.5.3", Device::Xpu, GraphLabel::Cpu),
        ("0.5.8", Device::Npu, GraphLabel::Cpu),
        ("0.5.9", Device::Npu, GraphLabel::Npu),
        ("0.5.12", Device::Musa, GraphLabel::Cuda),
        ("0.5.13", Device::Musa, GraphLabel::Musa),
    ] {
        assert_eq!(label(version, device), Some(expected), "{version} {device:?}");
    }
}

#[test]
fn tags_follow_the_sizes_and_the_release() {
    let tags = |version: &str, parallel| {
        let mut plan = log(version, vec![Run::new(1)]);
        plan.parallel = parallel;
        let written = write_sglang(plan, &match_expected(3.51));
        let text = String::from_utf8(written.text).unwrap();
        let prefixes = text.lines().filter_map(|line| line.split_once("] Decode batch"));
        let mut tags: Vec<String> = prefixes.map(|(prefix, _)| prefix[20..].to_owned()).collect();
        tags.sort();
        tags
    };
    let all = Parallel { tp: 4, dp: 2, ep: 2, pp: 2, dp_attention: true };
    assert_eq!(tags("0.4.9", all), [" DP0 TP0 PP0", " DP0 TP0 PP1", " DP1 TP2 PP0", " DP1 TP2 PP1"]);
    assert_eq!(tags("0.5.5", all)[3], " DP1 TP2 EP1 PP1");
    assert_eq!(tags("0.5.6", all)[3], " DP1 PP1 TP2 EP1");
    assert_eq!(tags("0.4.6", Parallel::ONE), [" TP0"]);
    assert_eq!(tags("0.4.7", Parallel::ONE), [""]);
    let replicas = Parallel { tp: 1, dp: 2, ep: 1, pp: 1, dp_attention: false };
    assert_eq!(tags("0.5.16", replicas), [" DP0", " DP1"]);
    let eight = Parallel { tp: 8, dp: 2, ep: 1, pp: 1, dp_attention: true };
    assert_eq!(tags("0.5.16", eight), [" DP0 TP0", " DP1 TP4"]);
}

/// 0.4.10 to 0.5.9 with `--enable-metrics-for-all-schedulers`: every tensor-parallel rank prints the same line.
#[test]
fn all_schedulers_print_copies() {
    for (version, copies) in [("0.4.9", 1), ("0.4.10", 4), ("0.5.9", 4), ("0.5.10", 1)] {
        let mut plan = log(version, vec![Run::new(20)]);
        plan.parallel.tp = 4;
        plan.all_schedulers = true;
        let written = write_sglang(plan, &match_expected(3.51));
        let found = read(&written.text);
        assert_eq!(found.decode.len(), 20 * copies, "{version}");
        for (lines, window) in found.decode.chunks(copies).zip(&written.windows) {
            written.check_line(&lines[0], window);
            for (rank, line) in (0..).zip(lines) {
                assert_eq!(line.tags.rank("TP"), Some(rank));
                assert_eq!(line.message, lines[0].message);
            }
        }
    }
}

#[test]
fn server_arguments_say_what_was_run() {
    let mut eagle = Run::new(3);
    eagle.random_seed = Some(320_846_001);
    eagle.decode_log_interval = 20;
    let mut dspark = Run::new(3);
    dspark.speculation = Some(Speculation::of(Drafter::DSpark, 5));
    let mut ngram = Run::new(3);
    ngram.speculation = Some(Speculation::of(Drafter::Ngram, 5));
    let plain = Run { speculation: None, ..Run::new(3) };
    for version in ["0.5.16", "0.5.23"] {
        let mut described = log(version, vec![eagle.clone(), dspark.clone(), ngram.clone(), plain.clone()]);
        described.parallel = Parallel { tp: 2, dp: 2, ep: 1, pp: 1, dp_attention: true };
        let written = write_sglang(described, &match_expected(3.51));
        let text = String::from_utf8(written.text.clone()).unwrap();
        let form =
            if version == "0.5.16" { "] server_args=ServerArgs(" } else { "] server_args={'model_path': " };
        assert_eq!(text.matches(form).count(), 4);
        let starts = written.check().starts;
        let [eagle, dspark, tree, plain] = starts.as_slice() else { panic!("{starts:?}") };
        assert_eq!(eagle.speculative_algorithm.as_deref(), Some("EAGLE3"));
        assert_eq!((eagle.num_steps, eagle.eagle_topk, eagle.num_draft_tokens), (Some(5), Some(1), Some(6)));
        assert_eq!((eagle.decode_log_interval, eagle.random_seed), (Some(20), Some(320_846_001)));
        assert_eq!((eagle.tp_size, eagle.dp_size), (Some(2), Some(2)));
        assert_eq!(eagle.disaggregation_mode.as_deref(), Some("null"));
        assert_eq!(dspark.random_seed, None);
        assert_eq!(
            (dspark.block_size, dspark.num_draft_tokens, dspark.num_steps),
            (Some(5), Some(6), Some(1))
        );
        assert_eq!((tree.eagle_topk, tree.num_draft_tokens, tree.num_steps), (Some(10), Some(6), Some(0)));
        assert_eq!((plain.speculative_algorithm.as_deref(), plain.num_draft_tokens), (None, None));
    }
}

#[test]
fn load_ramps_and_queues() {
    let mut run = Run::new(80);
    run.load = Load {
        running: 2..=20,
        cycle_lines: 40,
        max_running: Some(12),
        output: 100..=300,
        ..Load::constant(2)
    };
    let lines = messages(log("0.5.18", vec![run]));
    let most = |range: std::ops::Range<usize>| lines[range].iter().map(|line| line.running).max().unwrap();
    assert!(most(0..2) <= 4, "{}", most(0..2));
    assert_eq!(most(10..20), 12);
    assert!(lines[10..20].iter().all(|line| line.queue == 8));
    // Those who wait go first; then the batch shrinks to the two that stay.
    assert!(most(34..40) <= 3, "{}", most(34..40));
    assert!(lines[34..40].iter().all(|line| line.queue == 0));
}

#[test]
fn a_run_ends_as_its_requests_end() {
    let mut run = Run::new(100);
    run.load = Load { output: 400..=900, ..Load::constant(24) };
    let lines = messages(log("0.5.18", vec![run]));
    let falling: Vec<u64> = lines[90..].iter().map(|line| line.running).collect();
    assert!(falling.iter().any(|running| *running < 16), "{falling:?}");
    assert_eq!(lines[50].running, 24);
}

#[test]
fn the_first_line_behind_a_gap_reads_low() {
    let mut run = Run::new(60);
    run.pauses = vec![
        Pause { after_lines: 20, seconds: 120, flush_cache: false },
        Pause { after_lines: 40, seconds: 0, flush_cache: true },
    ];
    let written = write_sglang(log("0.5.18", vec![run]), &match_expected(3.51));
    let found = written.check();
    assert_eq!(found.flushes, 1);
    let speeds: Vec<f64> = found.decode.iter().map(|line| line.speed.unwrap()).collect();
    let slow = speeds.iter().filter(|speed| **speed < 60.0).count();
    assert_eq!(slow, 1, "{speeds:?}");
    let median = {
        let mut sorted = speeds;
        sorted.sort_by(f64::total_cmp);
        sorted[30]
    };
    assert!(median > 3000.0, "{median}");
}

#[test]
fn times_never_go_back_and_ranks_take_turns() {
    let mut plan = log("0.5.18", vec![Run::new(60), Run::new(60)]);
    plan.milliseconds = true;
    plan.parallel = Parallel { tp: 4, dp: 4, ep: 1, pp: 1, dp_attention: true };
    let written = write_sglang(plan, &match_expected(3.51));
    let text = String::from_utf8(written.text.clone()).unwrap();
    let times: Vec<&str> = text.lines().map(|line| &line[1..24]).collect();
    assert!(times.is_sorted());
    let order: Vec<u32> = written.windows.iter().map(|window| window.rank).collect();
    assert!(order.windows(2).filter(|pair| pair[0] != pair[1]).count() > 100, "{order:?}");
}

/// 1.3: data-parallel ranks draw the same sequence; as long as both are steady their lines are equal.
#[test]
fn ranks_share_their_draws_or_not() {
    for share in [true, false] {
        let mut run = Run::new(40);
        run.load = Load { output: 100_000..=100_000, ..Load::constant(4) };
        let mut plan = log("0.5.18", vec![run]);
        plan.parallel = Parallel { tp: 2, dp: 2, ep: 1, pp: 1, dp_attention: true };
        plan.ranks_share_draws = share;
        let written = write_sglang(plan, &match_expected(3.51));
        let of = |rank| -> Vec<Option<Hundredths>> {
            written
                .windows
                .iter()
                .filter(|window| window.rank == rank)
                .map(|window| window.accept_len)
                .collect()
        };
        assert_eq!(of(0) == of(1), share);
        assert_eq!(of(0).len(), 40);
    }
}

#[test]
fn the_share_of_decode_lines_is_as_asked() {
    for share in [250, 850, 1000] {
        let mut run = Run::new(20_000);
        run.load = Load { output: 16_000..=16_000, ..Load::constant(2) };
        let mut plan = log("0.5.18", vec![run]);
        plan.noise = Noise { access_log: share < 1000, decode_per_mille: Some(share) };
        let written = write_sglang(plan, &match_expected(3.51));
        written.check();
        let found = 20_000.0 / lines(&written.text) as f64 * 1000.0;
        // Nothing can be taken away from the prefill lines.
        let tolerance = if share == 1000 { 40.0 } else { 1.0 };
        assert!((found - f64::from(share)).abs() < tolerance, "{share} {found}");
    }
}

#[test]
fn plans_are_checked() {
    let error = |change: &dyn Fn(&mut SglangLog)| {
        let mut plan = log("0.5.16", vec![Run::new(1)]);
        change(&mut plan);
        SglangPlan::new(plan).unwrap_err().to_string()
    };
    let v = super::support::version;
    for (change, message) in [
        (
            &(|plan: &mut SglangLog| plan.version = v("0.3.5")) as &dyn Fn(&mut SglangLog),
            "SGLang 0.3.5: the lines of 0.3.6 to 0.5.23 are known",
        ),
        (&|plan| plan.version = v("0.5.24"), "SGLang 0.5.24: the lines of 0.3.6 to 0.5.23 are known"),
        (
            &|plan| {
                plan.version = v("0.5.3");
                plan.pools = Pools::Mamba;
            },
            "SGLang 0.5.3 prints no mamba pool; 0.5.4 is the first that does",
        ),
        (&|plan| plan.runs.clear(), "a log needs at least one run of a server"),
        (
            &|plan| plan.parallel = Parallel { tp: 3, dp: 2, dp_attention: true, ..Parallel::ONE },
            "2 data-parallel ranks do not divide 3 tensor-parallel ranks evenly",
        ),
        (
            &|plan| plan.runs[0].decode_log_interval = 0,
            "the decode log interval must lie between 1 and 1048576, found 0",
        ),
        (
            &|plan| plan.runs[0].load.running = std::ops::RangeInclusive::new(5, 4),
            "running requests: 5 is above 4",
        ),
        (
            &|plan| plan.damage = "truncated=0.6,glued=0.5".parse().unwrap(),
            "truncated, interleaved, duplicated and glued lines are more than all lines: their rates add up to 1.1",
        ),
    ] {
        assert_eq!(error(change), message);
    }
}

/// Requests of 11 tokens: one from the prefill, then 4, 4 and, cut to its length, 2.
#[test]
fn eagle_without_overlap_counts_after_the_cut() {
    let first = |version: &str, drafter, overlap| {
        let mut run = Run::new(4);
        run.speculation = Some(Speculation::of(drafter, 5));
        run.decode_log_interval = 30;
        run.overlap = overlap;
        run.load = Load { output: 11..=11, ..Load::constant(1) };
        let written = write_sglang(log(version, vec![run]), &Cycle(vec![4], 0));
        written.check();
        written.windows.iter().map(|window| (window.accepted, window.request_steps)).collect::<Vec<_>>()
    };
    for (version, drafter, overlap, accepted) in [
        ("0.5.10", Drafter::Eagle3, None, 100),
        ("0.5.10", Drafter::Eagle3, Some(true), 120),
        ("0.5.10", Drafter::Ngram, None, 120),
        ("0.5.11", Drafter::Eagle3, None, 120),
        ("0.5.11", Drafter::Eagle3, Some(false), 100),
        ("0.5.14", Drafter::Eagle3, Some(false), 120),
    ] {
        assert_eq!(first(version, drafter, overlap), [(accepted, 30); 4], "{version} {drafter} {overlap:?}");
    }
}
