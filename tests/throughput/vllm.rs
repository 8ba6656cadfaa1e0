//! vLLM's windows: what they identify, and what they do not.

use std::fmt::Write as _;
use std::fs;

use accsim::evidence::{Limits, Reader};
use accsim::throughput::{Fitted, LogRun, Missing, Model, Observer, Options, Outcome, calibrate};

use crate::support::{json, near, run, stdout};

const DRAFTS: u32 = 3;
const ACCEPT_LENGTH: f64 = 2.5;
const CACHE: u64 = 1_000_000;

/// Windows of 10 s of a server with the worked constants (a 12 ms, b 6 us, c 20 ns, p1 20 us), at these batches and contexts. Of
/// the windows of a level, `idle` of ten have no prompts.
fn log(batches: &[u32], contexts: &[u32], idle: u32, speculates: bool) -> String {
    let mut text = String::new();
    let mut second = 0_u32;
    for running in batches {
        for context in contexts {
            for window in 0..20 {
                second += 10;
                let clock = format!("10-12 {:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
                let requests = f64::from(*running);
                let (length, verified) = if speculates { (ACCEPT_LENGTH, 4.0) } else { (1.0, 1.0) };
                // Few prompts in some windows, more in others: else their cost is one of the steps.
                let prompts = if window % 10 < idle { 0.0 } else { f64::from(40 * (1 + window % 3)) };
                let kv = requests * f64::from(*context);
                let step_s = 0.012 + 6e-6 * requests * verified + 2e-8 * kv + 2e-5 * prompts;
                let request_steps = (10.0 / step_s).round() * requests;
                let seconds = request_steps / requests * step_s;
                writeln!(
                    text,
                    "(APIServer pid=7) INFO {clock} [loggers.py:271] Engine 000: Avg prompt throughput: {:.1} tokens/s, Avg \
                     generation throughput: {:.1} tokens/s, Running: {running} reqs, Waiting: 0 reqs, GPU KV cache usage: {:.1}%, \
                     Prefix cache hit rate: 0.0%",
                    prompts / step_s,
                    request_steps * length / seconds,
                    kv / CACHE as f64 * 100.0
                )
                .unwrap();
                if speculates {
                    writeln!(
                        text,
                        "(APIServer pid=7) INFO {clock} [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 2.50, Accepted \
                         throughput: {:.2} tokens/s, Drafted throughput: {:.2} tokens/s, Accepted: {:.0} tokens, Drafted: {:.0} \
                         tokens, Per-position acceptance rate: 0.800, 0.500, 0.200, Avg Draft acceptance rate: 50.0%",
                        request_steps * 1.5 / seconds,
                        request_steps * 3.0 / seconds,
                        (request_steps * 1.5).floor(),
                        request_steps * f64::from(DRAFTS)
                    )
                    .unwrap();
                }
            }
        }
    }
    text
}

fn observed(text: &str, cache: Option<u64>) -> Vec<LogRun> {
    let mut observer = Observer::new(None).with_kv_cache(cache);
    observer.begin("log");
    let mut reader = Reader::new(Limits::default());
    let errors = reader
        .read_stream("memory", &mut text.as_bytes(), &mut |place, record| observer.record(place, record));
    assert!(errors.is_empty());
    observer.finish().unwrap()
}

fn calibrated(text: &str, cache: Option<u64>) -> Model {
    calibrate(&observed(text, cache), &Options::default()).unwrap()
}

fn fitted(model: &Model, drafts: u32) -> &Fitted {
    let law = model.law(drafts).unwrap();
    law.fitted().unwrap_or_else(|| panic!("{:?}", law.outcome))
}

#[test]
fn the_coefficients_come_back_where_the_size_of_the_cache_is_named() {
    let model = calibrated(&log(&[1, 4, 16, 64], &[1000, 8000], 5, true), Some(CACHE));
    let law = model.law(DRAFTS).unwrap();
    assert_eq!((law.draft_lengths.as_slice(), law.verified(DRAFTS)), ([DRAFTS].as_slice(), 4));
    let found = fitted(&model, DRAFTS);
    near(found.step.a_s, 0.012, 0.02);
    near(found.step.b_s, 6e-6, 0.02);
    near(found.step.c_s, 2e-8, 0.02);
    near(found.prefill.p1_s, 2e-5, 0.02);
    let level = model.levels.iter().find(|level| level.running == 16).unwrap();
    near(level.accept_length, 2.5, 1e-3);
    near(level.context.unwrap(), 4500.0, 0.02);
}

#[test]
fn without_it_batches_are_measured_and_the_law_is_refused() {
    let text = log(&[1, 4, 16], &[1000], 5, true);
    let model = calibrated(&text, None);
    let Outcome::Refused { missing, slope_s_per_request } = &model.law(DRAFTS).unwrap().outcome else {
        panic!("fitted");
    };
    assert_eq!(missing, &[Missing::KvTokens]);
    // 4 verified tokens and 1000 KV tokens a request.
    near(slope_s_per_request.unwrap(), 4.0 * 6e-6 + 1000.0 * 2e-8, 0.1);
    // Windows without prompts tell the share of prefill.
    let level = model.levels.iter().find(|level| level.running == 4).unwrap();
    assert_eq!(level.context, None);
    near(level.step_s.unwrap(), 0.012 + 4.0 * (4.0 * 6e-6 + 1000.0 * 2e-8), 2e-3);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("vllm.log");
    fs::write(&file, &text).unwrap();
    let file = file.to_str().unwrap();
    let document =
        json(&["throughput", "predict", file, "--accept-length", "3.5", "--running-req", "4", "--json"]);
    let found = &document["predictions"][0];
    let share = level.prefill_share.unwrap();
    let expected = level.tps / (share + (1.0 - share) * level.accept_length / 3.5);
    near(found["gen_throughput_tps"].as_f64().unwrap(), expected, 1e-6);
    assert_eq!(found["basis"], "ratio");
    assert!(document["baseline"]["levels"][0]["context_tokens"].is_null());
    let shown = stdout(&["throughput", "calibrate", file]);
    assert!(shown.contains("--kv-cache-tokens") && shown.contains("contexts unknown"), "{shown}");
    // Another batch takes the law.
    let _ = run(&["throughput", "predict", file, "--accept-length", "3.5", "--running-req", "8"]).code(3);
}

#[test]
fn without_speculation_too() {
    let model = calibrated(&log(&[1, 4, 16, 64], &[1000, 8000], 5, false), Some(CACHE));
    assert!(model.law(0).unwrap().is_plain());
    let found = fitted(&model, 0);
    near(found.step.a_s, 0.012, 0.02);
    near(found.step.c_s, 2e-8, 0.03);
}

/// A closed loop as `accsim simulate` writes it: 8 ms and 60 us a request, each window 3 % faster or slower.
#[test]
fn an_emitted_log_has_its_step_times() {
    let folder = tempfile::tempdir().unwrap();
    let mut args = vec!["throughput".to_owned(), "calibrate".to_owned(), "--json".to_owned()];
    for running in ["2", "8", "32"] {
        let file = folder.path().join(format!("{running}.log")).to_str().unwrap().to_owned();
        let _ = run(&[
            "simulate",
            "--accept-length",
            "2.5",
            "--num-steps",
            "3",
            "--engine",
            "vllm",
            "--emit-log",
            &file,
            "--lines",
            "60",
            "--running-req",
            running,
        ])
        .success();
        args.push(file);
    }
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let document = json(&args);
    let levels = document["model"]["levels"].as_array().unwrap();
    assert_eq!(levels.len(), 3);
    for level in levels {
        let figure = |name: &str| level[name].as_f64().unwrap();
        assert_eq!(level["drafts"], 3);
        let step_s = figure("running") * figure("accept_length") / figure("tps");
        near(step_s, 0.008 + 6e-5 * figure("running"), 0.01);
    }
    let law = &document["model"]["laws"][0]["outcome"];
    assert_eq!(law["status"], "refused");
    near(law["slope_s_per_request"].as_f64().unwrap(), 6e-5, 0.05);
}

/// Lines of speculative decoding alone have no times.
#[test]
fn without_engine_lines_nothing_can_be_told() {
    let text: String = log(&[1], &[1000], 5, true)
        .split_inclusive('\n')
        .filter(|line| line.contains("SpecDecoding"))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("spec.log");
    fs::write(&file, text).unwrap();
    let refused = run(&["throughput", "calibrate", file.to_str().unwrap()]).code(3);
    let words = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(words.contains("20 lines of speculative decoding, but none of the engine"), "{words}");
}

/// Prompts that no window shows may have cost time all the same.
#[test]
fn a_log_without_prompt_tokens_tells_no_prefill() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("vllm.log");
    fs::write(&file, log(&[1, 8, 32], &[1000, 4000], 10, true)).unwrap();
    let file = file.to_str().unwrap();
    let args = ["throughput", "predict", file, "--accept-length", "2", "--kv-cache-tokens", "1000000"];
    let refused = run(&args).code(3);
    let text = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(text.contains("the log does not show prefills"), "{text}");
    stdout(&[&args[..], &["--role", "decode"]].concat());
}
