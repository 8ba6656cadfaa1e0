//! Any bytes behind a head of vllm's lines: they are read, added up, judged and written, and nothing may panic.

#![no_main]

#[path = "engine.rs"]
mod engine;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| engine::check(bytes, HEADS));

const HEADS: &[&str] = &[
    "(APIServer pid=1) INFO 05-03 18:50:55 [metrics.py:101] SpecDecoding metrics:",
    "INFO 03-31 10:00:00 [metrics.py:80] Speculative metrics:",
    "INFO 05-03 18:50:55 [loggers.py:271] Engine 000: Avg prompt throughput:",
    "vllm serve m --speculative-config '{\"synthetic_acceptance_rates\":",
];
