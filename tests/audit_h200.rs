//! The first audit on real logs: SGLang 0.5.16 on H200, with what was injected known (tests/data/h200/README.md).

use std::path::Path;

use accsim::audit::{Options, PointBuilder, PointReport, judge};
use accsim::evidence::{Input, Reader};
use accsim::golden::Target;

fn audit(name: &str, target: Option<(f64, u32)>) -> PointReport {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/h200").join(format!("{name}.log"));
    let mut point = PointBuilder::new(name);
    let errors =
        Reader::default().read(&Input::from(path.as_path()), &mut |place, record| point.add(place, &record));
    assert!(errors.is_empty(), "{errors:?}");
    let target = target.map(|(length, max)| Target::explicit(length, max).unwrap());
    judge(&point.finish(), target.as_ref(), &Options::default())
}

#[test]
fn look() {
    for (name, target) in [
        ("e3k5_al351", Some((3.51, 6))),
        ("var_k5_al351", Some((3.51, 6))),
        ("dp2_k5_al351", Some((3.51, 6))),
        ("e3k3_al299", Some((2.99, 4))),
        ("e3k5_al200", Some((2.0, 6))),
        ("e3k5_al200", Some((3.51, 6))),
        ("dspark_k5_al351", Some((3.51, 6))),
        ("e3k5_multinomial351", Some((3.51, 6))),
        ("base", Some((3.51, 6))),
        ("e3k5_al351_int1", Some((3.51, 6))),
        ("flush_k5_al278", Some((2.78, 6))),
        ("ngram_al351", Some((3.51, 6))),
        ("e3k5_al351", None),
        ("e3k5_al351", Some((3.61, 6))),
        ("e3k5_al351", Some((3.46, 6))),
        ("e3k5_al351", Some((2.51, 6))),
        ("var_k5_al351", Some((2.78, 6))),
    ] {
        let r = audit(name, target);
        println!("== {name} {target:?}: {} — {}", r.verdict, r.reason);
        println!(
            "  {} {} steps {} indep {} rho {:?} {:?}",
            r.decode_lines, r.spec_lines, r.steps, r.independent_steps, r.rank_correlation, r.skipped
        );
        println!("  {:?}", r.accept_len);
        println!(
            "  tps {:?} {:?} interval {:?} lattice {:?}",
            r.median_tps, r.steady_mean_tps, r.interval, r.lattice
        );
        if let Some(m) = &r.mechanisms {
            println!(
                "  best {:?} rej {:?} ll {:?} D {:?} alike {} const {:?} unknown {:?}",
                m.best,
                m.rejected,
                m.log_likelihood,
                m.dispersion,
                m.cells_alike.len(),
                m.constant,
                m.unknown_target
            );
        }
        for f in &r.findings {
            println!("  {} {} {:?} {}", f.severity, f.code, f.evidence, f.message);
        }
    }
}
