//! Whole lines, character by character: one of each look (SGLANG.md 4.2).

use accsim::simulate::log::{Device, Load, Parallel, Pools, Role, Run, SglangLog};

use super::support::{Cycle, log, write_sglang};

type Change = fn(&mut SglangLog);

/// Version, what is asked for, and the line. What depends on the load model's times is written `F2`.
const LOOKS: &[(&str, Change, &str)] = &[
    (
        "0.3.6",
        |_| {},
        "[01:02:33 TP0] Decode batch. #running-req: 1, #token: 653, token usage: 0.00, \
             gen throughput (token/s): F2, #queue-req: 0",
    ),
    (
        "0.4.2",
        |_| {},
        "[2026-10-12 01:02:33 TP0] Decode batch. #running-req: 1, #token: 653, token usage: 0.00, \
             accept len: 3.50, gen throughput (token/s): F2, #queue-req: 0",
    ),
    (
        "0.4.4",
        |_| {},
        "[2026-10-12 01:02:33 TP0] Decode batch. #running-req: 1, #token: 653, token usage: 0.00, \
             accept len: 3.50, gen throughput (token/s): F2, largest-len: 0, #queue-req: 0, ",
    ),
    (
        "0.4.5",
        |_| {},
        "[2026-10-12 01:02:33 TP0] Decode batch. #running-req: 1, #token: 653, token usage: 0.00, \
             accept len: 3.50, gen throughput (token/s): F2, #queue-req: 0, ",
    ),
    (
        "0.4.6",
        |plan| plan.role = Role::Decode,
        "[2026-10-12 01:02:33 TP0] Decode batch. #running-req: 1, #token: 653, token usage: 0.00, \
             accept len: 3.50, pre-allocated usage: 0.00, gen throughput (token/s): F2, #queue-req: 0",
    ),
    (
        "0.4.7",
        |_| {},
        "[2026-10-12 01:02:33] Decode batch. #running-req: 1, #token: 653, token usage: 0.00, \
             accept len: 3.50, cuda graph: True, gen throughput (token/s): F2, #queue-req: 0",
    ),
    (
        "0.4.8",
        |plan| plan.role = Role::Decode,
        "[2026-10-12 01:02:33] Decode batch. #running-req: 1, #token: 653, token usage: 0.00, \
             accept len: 3.50, pre-allocated usage: 0.00, #retracted-req: 0, cuda graph: True, \
             gen throughput (token/s): F2, #queue-req: 0",
    ),
    (
        "0.4.9",
        |plan| plan.pools = Pools::SlidingWindow,
        "[2026-10-12 01:02:33] Decode batch. #running-req: 1, #token: full=653, swa=512, \
             token usage: full=0.00, swa=0.17, accept len: 3.50, cuda graph: True, \
             gen throughput (token/s): F2, #queue-req: 0",
    ),
    (
        "0.5.1",
        |plan| plan.pools = Pools::SlidingWindow,
        "[2026-10-12 01:02:33] Decode batch. #running-req: 1, #full token: 653, full token usage: 0.00, \
             #swa token: 512, swa token usage: 0.17, accept len: 3.50, cuda graph: True, \
             gen throughput (token/s): F2, #queue-req: 0, ",
    ),
    (
        "0.5.2",
        |plan| plan.device = Device::Cpu,
        "[2026-10-12 01:02:33] Decode batch. #running-req: 1, #token: 653, token usage: 0.00, \
             accept len: 3.50, cpu graph: True, gen throughput (token/s): F2, #queue-req: 0, ",
    ),
    (
        "0.5.3.post2",
        |plan| plan.role = Role::Decode,
        "[2026-10-12 01:02:33] Decode batch. #running-req: 1, #token: 653, token usage: 0.00, \
             accept len: 3.50, accept rate: 0.58, pre-allocated usage: 0.00, #prealloc-req: 0, #transfer-req: 0, \
             #retracted-req: 0, cuda graph: True, gen throughput (token/s): F2, #queue-req: 0, ",
    ),
    (
        "0.5.4",
        |plan| plan.pools = Pools::Mamba,
        "[2026-10-12 01:02:33] Decode batch [41], #running-req: 1, #full token: 653, full token usage: 0.00, \
             mamba num: 3, mamba usage: 0.50, accept len: 3.50, accept rate: 0.58, cuda graph: True, \
             gen throughput (token/s): F2, #queue-req: 0, ",
    ),
    (
        "0.5.8",
        |plan| plan.parallel.tp = 2,
        "[2026-10-12 01:02:33 TP0] Decode batch, #running-req: 1, #token: 653, token usage: 0.00, \
             accept len: 3.50, accept rate: 0.58, cuda graph: True, gen throughput (token/s): F2, #queue-req: 0, ",
    ),
    (
        "0.5.10",
        |plan| {
            plan.pools = Pools::SlidingWindowAndMamba;
            plan.mfu = true;
        },
        "[2026-10-12 01:02:33] Decode batch, #running-req: 1, #full token: 653, full token usage: 0.00, \
             #swa token: 512, swa token usage: 0.17, mamba num: 3, mamba usage: 0.50, accept len: 3.50, \
             accept rate: 0.58, cuda graph: True, gen throughput (token/s): F2, #queue-req: 0, \
             est. decode TFLOPS/s (per GPU): F2, est. read BW (GB/s per GPU): F2, est. write BW (GB/s per GPU): F2",
    ),
    (
        "0.5.11",
        |plan| {
            plan.pools = Pools::Hisparse;
            plan.occupancy = true;
        },
        "[2026-10-12 01:02:33] Decode batch, #running-req: 1, #gpu token: 163, gpu token usage: 0.00, \
             #cpu token: 490, cpu token usage: 0.00, accept len: 3.50, accept rate: 0.50, cuda graph: True, \
             gen throughput (token/s): F2, #queue-req: 0, fwd occupancy: nan%",
    ),
    (
        "0.5.23",
        |plan| {
            plan.milliseconds = true;
            plan.numbered = true;
            plan.occupancy = true;
            plan.device = Device::Musa;
            plan.parallel = Parallel { tp: 8, dp: 1, ep: 2, pp: 1, dp_attention: false };
        },
        "[2026-10-12 01:02:33.354 TP0 EP0] Decode batch [41], #running-req: 1, #token: 653, token usage: 0.00, \
             accept len: 3.50, accept rate: 0.50, musa graph: True, gen throughput (token/s): F2, #queue-req: 0, \
             fwd occupancy: nan%, fwd+idle occupancy: nan%",
    ),
];

fn first_line(version: &str, change: Change) -> String {
    let mut run = Run::new(1);
    run.load = Load { output: 10_000..=10_000, ..Load::constant(1) };
    let mut plan = log(version, vec![run]);
    change(&mut plan);
    let written = write_sglang(plan, &Cycle(vec![3, 4], 0));
    let text = String::from_utf8(written.text).unwrap();
    text.lines().find(|line| line.contains("Decode batch")).unwrap().to_owned()
}

/// Figures that depend on the load model's times.
fn without_times(line: &str) -> String {
    let mut text = line.to_owned();
    for field in ["gen throughput (token/s): ", "TFLOPS/s (per GPU): ", "BW (GB/s per GPU): "] {
        let mut from = 0;
        while let Some(at) = text[from..].find(field) {
            let start = from + at + field.len();
            let end = text[start..].find(',').map_or(text.len(), |end| start + end);
            text.replace_range(start..end, "F2");
            from = start;
        }
    }
    text
}

#[test]
fn lines_look_as_the_releases_write_them() {
    for (version, change, expected) in LOOKS {
        assert_eq!(without_times(&first_line(version, *change)), *expected, "{version}");
    }
}

#[test]
fn one_release_ends_in_a_time() {
    let line = first_line("0.4.9.post2", |_| {});
    let (line, stamp) = line.split_once(", timestamp: ").unwrap();
    assert!(line.ends_with("#queue-req: 0"), "{line}");
    assert!(stamp.starts_with("2026-10-12T01:02:33.") && stamp.len() == 26, "{stamp}");
}
