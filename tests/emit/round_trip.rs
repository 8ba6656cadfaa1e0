//! For every look of a decode line, every law and every definition of the accept rate: what is read is what was drawn.

use accsim::engine::Drafter;
use accsim::law::{
    AcceptanceLaw, Draws, GeometricDecay, Lattice, PerPosition, Pool, PoolKind, RealHead, Setting, TwoPoint,
};
use accsim::simulate::log::{
    Caps, DrawSource as _, LawSource, Load, Parallel, Pause, Pools, Role, Run, SglangLog, Speculation,
    sglang_releases,
};

use super::support::{lines, log, match_expected, read, two_decimals, write_sglang};

/// A run in which requests come, go, and pause.
fn lively(lines: u64) -> Run {
    let mut run = Run::new(lines);
    run.load = Load { running: 1..=9, cycle_lines: 24, output: 30..=700, ..Load::constant(1) };
    run.pauses = vec![Pause { after_lines: 20, seconds: 60, flush_cache: false }];
    run
}

#[test]
fn every_release_and_every_field_it_prints() {
    let source = match_expected(3.51);
    let mut plans = 0;
    for version in sglang_releases() {
        let plain = SglangLog::new(version.clone(), "2026-10-12T01:02:03".parse().unwrap(), vec![lively(60)]);
        let mut variants = vec![plain.clone()];
        for pools in [Pools::SlidingWindow, Pools::Mamba, Pools::SlidingWindowAndMamba, Pools::Hisparse] {
            variants.push(SglangLog { pools, ..plain.clone() });
        }
        variants.push(SglangLog { role: Role::Decode, ..plain.clone() });
        variants.push(SglangLog { milliseconds: true, numbered: true, ..plain.clone() });
        variants.push(SglangLog { mfu: true, occupancy: true, ..plain.clone() });
        variants.push(SglangLog {
            parallel: Parallel { tp: 4, dp: 2, ep: 4, pp: 1, dp_attention: true },
            ..plain.clone()
        });
        variants.push(SglangLog {
            runs: vec![Run { speculation: None, ..lively(30) }, lively(30)],
            ..plain.clone()
        });
        for variant in variants {
            // What a release does not print is refused, and the refusal names the first that does.
            match accsim::simulate::log::SglangPlan::new(variant.clone()) {
                Ok(_) => {
                    let found = write_sglang(variant.clone(), &source).check();
                    assert_eq!(found.decode.len() as u64, 60 * u64::from(variant.parallel.dp), "{version}");
                    plans += 1;
                }
                Err(error) => assert!(error.to_string().contains("is the first that does"), "{error}"),
            }
        }
    }
    assert!(plans > 110, "{plans}");
}

#[test]
fn every_law_and_every_definition_of_the_rate() {
    let setting = Setting::new(3.51, 6).unwrap();
    let laws = [
        AcceptanceLaw::match_expected(setting),
        AcceptanceLaw::match_expected(Setting::new(3.0, 6).unwrap()),
        AcceptanceLaw::multinomial(setting),
        AcceptanceLaw::clamped_short(setting),
        AcceptanceLaw::rounded(setting),
        AcceptanceLaw::Constant(6),
        AcceptanceLaw::per_request(setting),
        AcceptanceLaw::Pool(Pool::new(PoolKind::Atom, TwoPoint::new(setting))),
        AcceptanceLaw::Geometric(GeometricDecay::with_mean_rate(0.5, 5).unwrap()),
        AcceptanceLaw::PerPosition(PerPosition::new(vec![0.9, 0.5, 0.2, 0.1, 0.0]).unwrap()),
        AcceptanceLaw::Real(RealHead::new(&[0.8, 0.7, 0.6, 0.5, 0.4]).unwrap()),
    ];
    for version in ["0.4.2", "0.5.3.post2", "0.5.5.post3", "0.5.6", "0.5.10.post1", "0.5.11", "0.5.23"] {
        for law in &laws {
            let source = LawSource::new(law.clone(), 3);
            let written = write_sglang(log(version, vec![lively(50)]), &source);
            written.check();
            for window in &written.windows {
                let (a, c) = (window.accepted, window.request_steps);
                assert_eq!(window.accept_len, Some(two_decimals(a, c)));
                // EAGLE3 with 5 steps: num_steps + 1 and n are both 6.
                let rate = match version {
                    "0.4.2" => None,
                    "0.5.11" | "0.5.23" => Some(two_decimals(a - c, c * 5)),
                    _ => Some(two_decimals(a, c * 6)),
                };
                assert_eq!(window.accept_rate, rate, "{version} {law:?}");
                let longest = u64::from(source.longest(0));
                assert!(c <= a && a <= c * longest, "{window:?}");
            }
        }
    }
}

/// A tree of 16 nodes and a chain of 3 steps tells the three definitions apart.
#[test]
fn the_three_rates_have_three_denominators() {
    let mut run = Run::new(20);
    run.speculation = Some(Speculation { num_draft_tokens: 16, ..Speculation::eagle(3) });
    let law = AcceptanceLaw::match_expected(Setting::new(2.4, 4).unwrap());
    for (version, scale) in [("0.5.5", 4), ("0.5.6", 16), ("0.5.11", 15)] {
        let written = write_sglang(log(version, vec![run.clone()]), &LawSource::new(law.clone(), 3));
        written.check();
        for window in &written.windows {
            let (a, c) = (window.accepted, window.request_steps);
            let counted = if version == "0.5.11" { a - c } else { a };
            assert_eq!(window.accept_rate, Some(two_decimals(counted, c * scale)), "{version}");
        }
    }
}

/// With a constant batch the lattice gives the draws back, line by line.
#[test]
fn steady_lines_give_back_the_exact_counts() {
    let mut run = Run::new(400);
    run.load = Load { output: 4000..=4000, ..Load::constant(8) };
    let written = write_sglang(log("0.5.18", vec![run]), &match_expected(3.51));
    let found = written.check();
    let lattice = Lattice::new(3, 40);
    let mut steady = 0;
    for (line, window) in found.decode.iter().zip(&written.windows) {
        if window.request_steps != 40 * 8 {
            continue;
        }
        let larger = lattice.draws(line.accept_len.unwrap().count()).round() as u64;
        assert_eq!((120 + larger) * 8, window.accepted);
        steady += 1;
    }
    assert!(steady > 300, "{steady}");
}

#[test]
fn the_summary_is_the_sum_of_the_lines() {
    let mut plan = log("0.5.18", vec![lively(100), lively(50)]);
    plan.parallel = Parallel { dp: 3, ..Parallel::ONE };
    let written = write_sglang(plan, &match_expected(3.51));
    let found = written.check();
    assert_eq!(written.summary.ranks.len(), 6);
    for rank in &written.summary.ranks {
        let windows: Vec<_> = (written.windows.iter())
            .filter(|window| window.server == rank.server && window.rank == rank.rank)
            .collect();
        assert_eq!(rank.decode_lines, windows.len() as u64);
        assert_eq!(rank.accepted, windows.iter().map(|window| window.accepted).sum::<u64>());
        assert_eq!(rank.request_steps, windows.iter().map(|window| window.request_steps).sum::<u64>());
        for (printed, count) in &rank.printed {
            let lines = windows.iter().filter(|window| window.accept_len == Some(*printed)).count();
            assert_eq!(lines as u64, *count);
        }
        assert_eq!(rank.printed.values().sum::<u64>(), rank.decode_lines);
    }
    let summary = &written.summary;
    assert_eq!(
        lines(&written.text),
        summary.decode_lines + summary.prefill_lines + summary.servers + summary.other_lines
    );
    assert_eq!(found.starts.len(), 2);
}

/// 6.8: only whole intervals are printed, and the phase goes on over pauses.
#[test]
fn windows_have_whole_intervals() {
    for interval in [1, 7, 40] {
        let run = Run { decode_log_interval: interval, ..lively(80) };
        let written = write_sglang(log("0.5.18", vec![run]), &match_expected(3.51));
        for window in written.check().decode.iter().zip(&written.windows).map(|(_, window)| window) {
            let steps = u64::from(interval);
            assert!((steps..=steps * 9).contains(&window.request_steps), "{window:?}");
        }
    }
}

#[test]
fn caps_are_printed_where_dspark_has_them() {
    let mut run = Run::new(10);
    let hundredths = accsim::evidence::Hundredths::new;
    let caps = Caps {
        cap_len: Some(hundredths(410)),
        block_accept_len: Some(hundredths(380)),
        uncapped: Some([hundredths(371), hundredths(355), hundredths(387)]),
    };
    run.speculation = Some(Speculation { caps, ..Speculation::of(Drafter::DSpark, 5) });
    let written = write_sglang(log("0.5.16", vec![run]), &match_expected(3.51));
    let found = written.check();
    assert!(found.decode.iter().all(|line| line.capped));
    let message = &found.decode[0].message;
    let caps =
        ", cap len: 4.10, block accept len: 3.80, est uncap acc len: 3.71 [3.55, 3.87], cuda graph: True, ";
    assert!(message.contains(caps), "{message}");
    assert_eq!(found.starts[0].block_size, Some(5));
}

#[test]
fn requests_that_draw_for_themselves_differ_from_lockstep() {
    let law = AcceptanceLaw::per_request(Setting::new(3.51, 6).unwrap());
    assert_eq!(law.draws(), Draws::PerRequest);
    let mut run = Run::new(300);
    run.load = Load { output: 4000..=4000, ..Load::constant(16) };
    let written = write_sglang(log("0.5.18", vec![run]), &LawSource::new(law, 3));
    written.check();
    // 640 draws a line instead of 40: the scatter is a quarter.
    let values: Vec<f64> =
        (written.windows.iter()).map(|window| window.accepted as f64 / window.request_steps as f64).collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let sd = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 299.0).sqrt();
    assert!((mean - 3.51).abs() < 0.005, "{mean}");
    assert!((sd - 0.0198).abs() < 0.003, "{sd}");
}

#[test]
fn an_empty_run_has_its_start_and_no_line() {
    let written = write_sglang(log("0.5.18", vec![Run::new(0)]), &match_expected(3.51));
    let found = read(&written.text);
    assert_eq!((found.starts.len(), found.decode.len()), (1, 0));
}
