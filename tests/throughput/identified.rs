//! What a calibration prints of a random server is within 2 % of it, or it says that the log does not tell.

use accsim::throughput::sim::{Server, Traffic};
use accsim::throughput::{Coefficient, Loose};

use crate::support::{calibrated, law, lengths, log, server};

#[test]
fn random_servers() {
    // Knuth's linear congruential generator: the servers are the same on every machine.
    let mut state = 7_u64;
    let mut uniform = |low: f64, high: f64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low * (high / low).powf((state >> 40) as f64 / (1_u64 << 24) as f64)
    };
    for number in 0..10 {
        let drafts = uniform(1.0, 8.0) as u32;
        let x = 1.0 + f64::from(drafts) * uniform(0.3, 0.9);
        let mut server = Server { law: law((x * 100.0).round() / 100.0, drafts), ..server(drafts, 1.5) };
        server.step.a_s = uniform(0.005, 0.02);
        server.step.b_s = uniform(2e-6, 3e-5);
        server.step.c_s = uniform(5e-9, 8e-8);
        server.prefill.p0_s = uniform(5e-4, 1e-2);
        server.prefill.p1_s = uniform(5e-6, 4e-5);
        let mut logs = Vec::new();
        let batches: &[u32] = if number % 2 == 0 { &[1, 4, 16, 64] } else { &[1, 8, 32, 96] };
        let inputs: &[&str] = if number % 3 == 0 { &["1000", "8000"] } else { &["100-2000", "4000"] };
        for input in inputs {
            for batch in batches {
                let traffic = Traffic::closed(*batch, lengths(input), lengths("200-600"), 60.0);
                logs.push(log(&server, &traffic, u64::from(*batch)));
            }
        }
        let model = calibrated(&logs).unwrap();
        let fitted = match model.laws[0].fitted() {
            Some(f) => f,
            None => {
                println!("{number}: refused {:?}", model.laws[0].outcome);
                continue;
            }
        };
        let f = &fitted.step;
        println!(
            "{number} k {drafts} x {x:.2} lanes {} bend {:?} merged {:?} cond {:.1} med {:.4}",
            f.lanes, f.bend, fitted.merged, fitted.quality.condition_number, fitted.quality.median_residual
        );
        let values = [
            (Coefficient::Step, f.a_s, server.step.a_s),
            (Coefficient::Token, f.b_s, server.step.b_s),
            (Coefficient::Context, f.c_s, server.step.c_s),
            (Coefficient::PrefillBatch, fitted.prefill.p0_s, server.prefill.p0_s),
            (Coefficient::PromptToken, fitted.prefill.p1_s, server.prefill.p1_s),
        ];
        for (coefficient, found, expected) in values {
            let loose: Option<&Loose> = fitted.loose.iter().find(|loose| loose.coefficient == coefficient);
            println!(
                "   {coefficient:?} {expected:.3e} off {:+.2} % loose {:?}",
                (found / expected - 1.0) * 100.0,
                loose.map(|l| ((l.low_s / expected - 1.0) * 100.0, (l.high_s / expected - 1.0) * 100.0))
            );
        }
    }
}
