//! Any bytes behind a head of atom's lines: they are read, added up, judged and written, and nothing may panic.

#![no_main]

#[path = "engine.rs"]
mod engine;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| engine::check(bytes, HEADS));

const HEADS: &[&str] = &[
    "[atom 14:45:50] [MTP Stats Interval] Average toks/fwd: ",
    "[atom 14:45:50] [MTP Stats         ] Average toks/fwd: ",
    "Forced speculative acceptance ON: mean acceptance length ",
];
