//! From the start of the process to the answer of a lookup, which should take less than 10 ms, and the lookup alone.

use std::hint::black_box;
use std::process::{Command, Stdio};

use accsim::golden::{Catalogue, Query};
use criterion::{Criterion, criterion_group, criterion_main};

fn process(criterion: &mut Criterion) {
    criterion.bench_function("process: curves lookup dsv41flash dspark 5", |bencher| {
        bencher.iter(|| {
            let status = Command::new(env!("CARGO_BIN_EXE_accsim"))
                .args(["curves", "lookup", "dsv41flash", "dspark", "5"])
                .env_remove("ACCSIM_GOLDEN_DIR")
                .stdout(Stdio::null())
                .status();
            assert!(status.is_ok_and(|status| status.success()));
        });
    });
}

fn library(criterion: &mut Criterion) {
    criterion.bench_function("library: builtin catalogue, one lookup", |bencher| {
        bencher.iter(|| Catalogue::builtin().lookup(black_box(&Query::new("dsv41flash", "dspark", 5))));
    });
    let catalogue = Catalogue::builtin();
    criterion.bench_function("library: lookup in a parsed curve", |bencher| {
        bencher.iter(|| catalogue.lookup(black_box(&Query::new("dsv41flash", "dspark", 5))));
    });
}

criterion_group!(benches, process, library);
criterion_main!(benches);
