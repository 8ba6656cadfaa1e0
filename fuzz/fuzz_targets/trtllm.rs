//! Any bytes behind a head of trtllm's lines: they are read, added up, judged and written, and nothing may panic.

#![no_main]

#[path = "engine.rs"]
mod engine;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| engine::check(bytes, HEADS));

const HEADS: &[&str] = &["[04/28/2025-09:56:44] [TRT-LLM] [I] iter = 198, ", "iter = 1, states = {"];
