//! What a calibration prints of a random server is within 2 % of it, or it says that the log does not tell.

use accsim::throughput::sim::{Server, Traffic};
use accsim::throughput::{Coefficient, IDENTIFIED};

use crate::support::{calibrated, h200, law, lengths, log, near, server, stdout};

/// Of ten random servers those whose coefficients are hardest to tell, with the drafts, costs and lengths of each.
#[test]
fn what_is_printed_of_a_random_server_holds() {
    // Knuth's linear congruential generator: the servers are the same on every machine.
    let mut state = 7_u64;
    let mut uniform = |low: f64, high: f64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low * (high / low).powf((state >> 40) as f64 / (1_u64 << 24) as f64)
    };
    let (mut told, mut loose) = (0, 0);
    for number in 0..10 {
        let drafts: u32 = [2, 1, 1, 2, 1, 2, 3, 1, 1, 2][number];
        let _ = uniform(1.0, 8.0);
        let x = 1.0 + f64::from(drafts) * uniform(0.3, 0.9);
        let mut server = Server { law: law((x * 100.0).round() / 100.0, drafts), ..server(drafts, 1.5) };
        server.step.a_s = uniform(0.005, 0.02);
        server.step.b_s = uniform(2e-6, 3e-5);
        server.step.c_s = uniform(5e-9, 8e-8);
        server.prefill.p0_s = uniform(5e-4, 1e-2);
        server.prefill.p1_s = uniform(5e-6, 4e-5);
        if ![1, 4, 5, 8].contains(&number) {
            continue;
        }
        let mut logs = Vec::new();
        let batches: &[u32] =
            if usize::is_multiple_of(number, 2) { &[1, 4, 16, 64] } else { &[1, 8, 32, 96] };
        for input in ["100-2000", "4000"] {
            for batch in batches {
                let traffic = Traffic::closed(*batch, lengths(input), lengths("200-600"), 60.0);
                logs.push(log(&server, &traffic, u64::from(*batch)));
            }
        }
        let model = calibrated(&logs).unwrap();
        let fitted = model.laws[0].fitted().unwrap();
        for (coefficient, found, expected) in [
            (Coefficient::Step, fitted.step.a_s, server.step.a_s),
            (Coefficient::Token, fitted.step.b_s, server.step.b_s),
            (Coefficient::Context, fitted.step.c_s, server.step.c_s),
            (Coefficient::PrefillBatch, fitted.prefill.p0_s, server.prefill.p0_s),
            (Coefficient::PromptToken, fitted.prefill.p1_s, server.prefill.p1_s),
        ] {
            match fitted.loose.iter().find(|loose| loose.coefficient == coefficient) {
                None => {
                    near(found, expected, IDENTIFIED);
                    told += 1;
                }
                Some(range) => {
                    let holds = range.low_s <= expected && expected <= range.high_s;
                    assert!(holds, "server {number}, {range:?}: {expected}");
                    loose += 1;
                }
            }
        }
    }
    assert!(told >= 10 && loose >= 4, "{told} {loose}");
}

/// What is not told is no number in the summary, but a range with what run would tell it.
#[test]
fn a_coefficient_that_is_not_told_is_printed_as_a_range() {
    let text = stdout(&["throughput", "calibrate", h200("e3k5_al351.log").to_str().unwrap()]);
    let row = text.lines().find(|line| line.trim_start().starts_with("a prefill batch")).unwrap();
    assert!(
        row.contains("not told, between") && row.contains("run inputs of very different lengths"),
        "{text}"
    );
}
