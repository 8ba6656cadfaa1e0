//! Audits of other engines' logs: rounds from `simulate --emit-log`, and logs made by hand.

use accsim::cli::Exit;
use serde_json::Value;

use super::support::{Folder, TARGET, audit, codes, simulated};

#[test]
fn what_is_simulated_is_consistent() {
    for engine in ["vllm", "vllm --engine-version 0.9.2", "atom"] {
        let log = simulated(&format!("{TARGET} --engine {engine} --lines 40 --seed 7"));
        let (exit, document) = audit(&log, TARGET);
        let point = &document["points"][0];
        assert_eq!(
            (exit, &point["verdict"]),
            (Exit::Ok, &Value::from("consistent")),
            "{engine}: {document:#}"
        );
        assert_eq!(point["engine"], engine.split(' ').next().unwrap());
        assert_eq!(point["mechanism"]["best"], "match-expected", "{engine}");
        assert_eq!((&point["decode_lines"], &point["spec_lines"]), (&40.into(), &40.into()), "{engine}");
        assert_eq!(point["pooled"]["draft_length"], 5, "{engine}");
        let pooled = &point["pooled"];
        let mean = 1.0 + pooled["accepted"].as_f64().unwrap() / pooled["steps_low"].as_f64().unwrap();
        assert!((point["accept_len"]["mean"].as_f64().unwrap() - mean).abs() < 1e-6, "{engine}");
        // Another cell, another length, one off.
        for (length, code) in [("2.51", "off-by-one"), ("4.51", "off-by-one"), ("3.20", "other-golden-cell")]
        {
            let (exit, document) = audit(&log, &format!("--accept-length {length} --max-accept-length 6"));
            assert_eq!(exit, Exit::Wrong, "{engine} {length}: {document:#}");
            assert!(codes(&document).contains(&code), "{engine} {length}: {document:#}");
        }
        let (exit, document) = audit(&log, "--expect-real");
        assert_eq!(exit, Exit::Wrong, "{engine}");
        assert!(codes(&document).contains(&"simulation-in-eval"), "{engine}");
        let (_, document) = audit(&log, "--accept-length 3.51 --max-accept-length 4");
        assert!(codes(&document).contains(&"draft-length-mismatch"), "{engine}: {document:#}");
    }
}

/// ATOM says what it was told; vLLM's configuration does.
#[test]
fn the_log_names_the_target() {
    let log = simulated(&format!("{TARGET} --engine atom --lines 40 --seed 7"));
    let (exit, document) = audit(&log, "");
    assert_eq!((exit, &document["target"]["source"]), (Exit::Ok, &Value::from("log")), "{document:#}");
    assert_eq!(document["target"]["accept_length"], 3.51);

    let log = simulated(&format!("{TARGET} --engine vllm --lines 40 --seed 7"));
    for echo in [
        r#"+ vllm serve m --speculative-config '{"method":"eagle3","num_speculative_tokens":5,"rejection_sample_method":"synthetic","synthetic_acceptance_length":3.51}'"#,
        "INFO 10-12 01:02:03 [core.py:58] Initializing a V1 LLM engine (v0.19.0) with config: model='m', \
         speculative_config=SpeculativeConfig(method='mtp', num_spec_tokens=5, synthetic_acceptance_length=None, \
         synthetic_acceptance_rates=[1.0, 1.0, 0.5099999999999998, 0.0, 0.0])",
    ] {
        let (exit, document) = audit(&format!("{echo}\n{log}"), "");
        assert_eq!((exit, &document["target"]["source"]), (Exit::Ok, &Value::from("log")), "{document:#}");
        assert_eq!(document["target"]["accept_length"], 3.51);
        assert_eq!(document["target"]["max_accept_length"], 6);
        // Told another one than the audit's.
        let (exit, document) = audit(&format!("{echo}\n{log}"), "--accept-length 3.61 --max-accept-length 6");
        assert_eq!(exit, Exit::Wrong);
        assert!(codes(&document).contains(&"other-target"), "{document:#}");
        let (exit, _) = audit(&format!("{echo}\n{log}"), "--expect-real");
        assert_eq!(exit, Exit::Wrong);
    }
}

#[test]
fn rates_of_a_list_are_judged_by_what_was_configured() {
    let log = simulated("--method per-position --rates 0.9,0.5,0.2 --engine vllm --lines 40");
    let echo = r#"vllm serve m --speculative-config '{"num_speculative_tokens":3,"rejection_sample_method":"synthetic","synthetic_acceptance_rates":[0.9,0.5,0.2]}'"#;
    let (exit, document) = audit(&format!("{echo}\n{log}"), "");
    assert_eq!(exit, Exit::Ok, "{document:#}");
    assert_eq!(document["points"][0]["mechanism"]["best"], "per-position");
    // Without the configuration nothing tells the list from judged drafts, which fail at any mean.
    let (exit, document) = audit(&log, "--accept-length 2.6 --max-accept-length 4");
    assert_eq!(exit, Exit::Wrong, "{document:#}");
    assert_eq!(document["points"][0]["mechanism"]["best"], "real");
    assert!(codes(&document).contains(&"real-acceptance"));
    let shown = document["points"][0]["findings"].to_string();
    assert!(shown.contains("synthetic_acceptance_rates looks so too"), "{shown}");
    let (_, document) = audit(&log, "");
    assert_eq!(document["points"][0]["mechanism"]["best"], "undetermined");
    let (exit, document) = audit(&log, "--accept-length 2.4 --max-accept-length 4");
    assert_eq!(exit, Exit::Wrong);
    assert_eq!(document["points"][0]["mechanism"]["best"], "real");
    // Drafts that are judged in an evaluation look so.
    assert_eq!(audit(&log, "--expect-real").0, Exit::Ok);
}

#[test]
fn tensorrt_llm_and_tilert_cannot_be_audited_by_their_logs() {
    let line = |iter: u32| {
        format!(
            "[08/04/2026-19:08:{:02}] [TRT-LLM] [I] iter = {iter}, global_rank = 0, rank = 0, num_scheduled_requests = 8, \
             kv_cache_util = 0.125, currank_total_requests = 1/8, host_step_time = 14.2ms, prev_device_step_time = 14.2ms, \
             timestamp = 2026-08-04 19:08:{:02}, states = {{'num_ctx_requests': 0, 'num_ctx_tokens': 0, \
             'num_generation_tokens': 32, 'cached_kv_tokens': 63821}}\n",
            iter % 60,
            iter % 60
        )
    };
    let log: String = (0..50).map(line).collect();
    for flags in ["", TARGET, "--accept-length 3.51", "--engine trtllm"] {
        let (exit, document) = audit(&log, flags);
        let point = &document["points"][0];
        assert_eq!((exit, &point["verdict"]), (Exit::Undecided, &Value::from("unauditable")), "{flags}");
        assert_eq!((&point["engine"], &point["decode_lines"]), (&"trtllm".into(), &50.into()));
        assert_eq!(point["accept_len"]["mean"], Value::Null);
        assert!(codes(&document).contains(&"no-speculative-fields"), "{document:#}");
        assert!(document.to_string().contains("numRequestsWithDraftTokens"), "it names the export");
    }
    for (text, flags) in
        [("+ export TILERT_SIMULATE_ACC_LEN=3.51\nstarted\n", ""), ("started\n", "--engine tilert")]
    {
        let (exit, document) = audit(text, flags);
        let point = &document["points"][0];
        assert_eq!((exit, &point["verdict"]), (Exit::Undecided, &Value::from("unauditable")), "{document:#}");
        assert_eq!(point["engine"], "tilert");
    }
}

fn window(second: u32, accepted: u32, drafted: u32, shares: &str, length: &str) -> String {
    format!(
        "INFO 10-12 01:{:02}:{:02} [metrics.py:101] SpecDecoding metrics: Mean acceptance length: {length}, Accepted throughput: \
         {:.2} tokens/s, Drafted throughput: {:.2} tokens/s, Accepted: {accepted} tokens, Drafted: {drafted} tokens, \
         Per-position acceptance rate: {shares}, Avg Draft acceptance rate: {:.1}%\n",
        second / 60,
        second % 60,
        f64::from(accepted) / 10.0,
        f64::from(drafted) / 10.0,
        f64::from(accepted) * 100.0 / f64::from(drafted)
    )
}

/// The specification's worked example: windows are pooled, never averaged.
#[test]
fn windows_are_pooled() {
    let first = window(0, 7667, 14_322, "0.906, 0.497, 0.203", "2.61");
    let (exit, document) = audit(&first, "");
    assert_eq!((exit, &document["points"][0]["steps"]), (Exit::Undecided, &4774.into()));
    let second = window(10, 30, 30, "1.000, 1.000, 1.000", "4.00");
    let (_, document) = audit(&(first + &second), "");
    let point = &document["points"][0];
    assert_eq!(point["steps"], 4784);
    for name in ["mean", "weighted"] {
        assert!((point["accept_len"][name].as_f64().unwrap() - 2.60890).abs() < 5e-6, "{document:#}");
    }
}

#[test]
fn copies_nan_windows_and_a_scope() {
    let nan = "INFO 10-12 01:00:30 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: nan, Accepted throughput: \
        0.00 tokens/s, Drafted throughput: 0.00 tokens/s, Accepted: 0 tokens, Drafted: 0 tokens, Per-position acceptance \
        rate: nan, nan, Avg Draft acceptance rate: nan%\n";
    let windows: Vec<String> =
        (0..4).map(|index| window(index * 10, 300, 400, "1.000, 0.500", "2.50")).collect();
    let text = windows.concat() + nan + &windows[3];
    let (_, document) = audit(&text, "");
    let point = &document["points"][0];
    assert_eq!((&point["decode_lines"], &point["steps"]), (&4.into(), &800.into()));
    assert_eq!(
        (&point["skipped_lines"]["duplicate"], &point["skipped_lines"]["not_finite"]),
        (&1.into(), &1.into())
    );
    for (flags, lines) in [
        ("--since 2026-10-12T01:00:10", 3),
        ("--until 01:00:10", 2),
        ("--since 2026-10-13", 0),
        ("--skip-lines 3", 1),
    ] {
        let (_, document) = audit(&text, flags);
        assert_eq!(document["points"][0]["decode_lines"], lines, "{flags}: {document:#}");
    }
}

/// K that changes leaves N within bounds.
#[test]
fn a_changing_draft_length_leaves_bounds() {
    // 1 + 1500/N prints as 2.50 for N from 997 to 1003; 2900 drafts are no multiple of 3.
    let text: String =
        (0..6).map(|index| window(index * 10, 1500, 2900, "1.000, 0.500, 0.000", "2.50")).collect();
    let (exit, document) = audit(&text, "--accept-length 2.5 --max-accept-length 4");
    let pooled = &document["points"][0]["pooled"];
    assert!(pooled["steps_low"].as_u64() < pooled["steps_high"].as_u64(), "{document:#}");
    assert!(codes(&document).contains(&"not-verify-all"));
    assert_ne!(exit, Exit::Wrong);
}

#[test]
fn data_parallel_engines_are_ranks() {
    let mut text = String::new();
    for second in (0..60).step_by(10) {
        for engine in 0..4 {
            let line = format!(
                "INFO 10-12 01:00:{second:02} [loggers.py:271] Engine {engine:03}: Avg prompt throughput: 0.1 tokens/s, Avg \
                 generation throughput: 250.0 tokens/s, Running: {} reqs, Waiting: 0 reqs, GPU KV cache usage: 10.1%\n",
                4 + engine
            );
            text += &line;
            text += &window(second, 300, 400, "1.000, 0.500", "2.50");
        }
    }
    let (exit, document) = audit(&text, "--accept-length 2.5 --max-accept-length 3");
    let point = &document["points"][0];
    assert_eq!(exit, Exit::Ok, "{document:#}");
    assert_eq!(point["ranks"].as_array().unwrap().len(), 4);
    assert_eq!(point["ranks"][3]["tags"]["DP"], 3);
    assert_eq!((&point["decode_lines"], &point["steps"]), (&24.into(), &4800.into()));
    assert_eq!((&point["running_req"]["min"], &point["running_req"]["max"]), (&4.into(), &7.into()));
    assert_eq!(point["gen_throughput_tps"]["median"], 1000.0);
}

#[test]
fn a_line_of_v0_is_no_accept_length() {
    let text = "INFO 08-09 01:02:03 metrics.py:367] Speculative metrics: Draft acceptance rate: 0.607, System efficiency: 0.510, \
        Number of speculative tokens: 4, Number of accepted tokens: 32594, Number of draft tokens: 53716, Number of emitted \
        tokens: 34244.\n";
    let (exit, document) = audit(text, TARGET);
    assert_eq!(exit, Exit::Undecided);
    assert_eq!(document["points"][0]["verdict"], "unauditable");
    assert_eq!(document["points"][0]["accept_len"]["mean"], Value::Null);
}

#[test]
fn cumulative_lines_are_never_added_to_intervals() {
    let log = simulated(&format!("{TARGET} --engine atom --lines 40 --seed 7"));
    let (_, whole) = audit(&log, TARGET);
    assert_eq!(whole["points"][0]["steps"], 40_000);
    let without =
        |word: &str| -> String { log.split_inclusive('\n').filter(|line| !line.contains(word)).collect() };
    let (_, intervals) = audit(&without("[MTP Stats  "), TARGET);
    let (exit, cumulative) = audit(&without("[MTP Stats Interval]"), TARGET);
    for document in [&intervals, &cumulative] {
        assert_eq!(document["points"][0]["steps"], 40_000, "{document:#}");
        assert_eq!(document["points"][0]["accept_len"]["mean"], whole["points"][0]["accept_len"]["mean"]);
    }
    assert_eq!(exit, Exit::Ok);
}

#[test]
fn another_engine_named_leaves_nothing() {
    let log = simulated(&format!("{TARGET} --engine vllm --lines 10 --seed 7"));
    let (exit, document) = audit(&log, &format!("{TARGET} --engine sglang"));
    assert_eq!((exit, &document["points"][0]["decode_lines"]), (Exit::Undecided, &0.into()));
    let (exit, document) = audit(&log, &format!("{TARGET} --engine atom"));
    assert_eq!((exit, &document["points"][0]["decode_lines"]), (Exit::Undecided, &0.into()));
}

/// Builds of ATOM that know the rate alone decay from draft to draft; without their own line that looks like judged drafts.
#[test]
fn a_steady_decay_is_atoms_older_law_where_the_log_says_forced() {
    // Conditional rate 0.6: 0.6, 0.36, 0.216; AL 2.176.
    let interval = |second: u32| {
        format!(
            "[atom 14:45:{second:02}] [MTP Stats Interval] Average toks/fwd: 2.18, Accepted/Total Draft tokens: 1176/3000, \
             Acceptance rate: 39.20%, Accepted tokens distribution: {{0: '40.00%', 1: '24.00%', 2: '14.40%', 3: '21.60%'}}\n"
        )
    };
    let log: String = (0..20).map(interval).collect();
    let target = "--accept-length 2.18 --max-accept-length 4";
    let (exit, document) = audit(&log, target);
    assert_eq!(
        (exit, &document["points"][0]["mechanism"]["best"]),
        (Exit::Wrong, &"real".into()),
        "{document:#}"
    );
    let told = "[atom 14:44:00] Forced speculative acceptance ON: mean acceptance length 2.1760 over 3 draft positions (per-position \
                rates [0.6, 0.36, 0.216]). Throughput numbers from this run are synthetic.\n";
    let (exit, document) = audit(&(told.to_owned() + &log), target);
    assert_eq!(
        (exit, &document["points"][0]["mechanism"]["best"]),
        (Exit::Ok, &"geometric".into()),
        "{document:#}"
    );
    assert!(codes(&document).contains(&"method-mismatch"));
}

/// The report does not depend on the number of threads or on how the log is cut.
#[test]
fn threads_change_nothing() {
    for engine in ["vllm", "atom"] {
        let log = simulated(&format!("{TARGET} --engine {engine} --lines 3000 --seed 7"));
        let (_, one) = audit(&log, &format!("{TARGET} --threads 1"));
        let (_, four) = audit(&log, &format!("{TARGET} --threads 4"));
        assert_eq!(one, four, "{engine}");
    }
}

#[test]
fn every_segment_of_a_restarted_server_is_a_point() {
    let log = simulated(&format!("{TARGET} --engine vllm --lines 10 --seed 7"));
    let (_, document) = audit(
        &(log.clone() + &log.replace("APIServer pid=1", "APIServer pid=2")),
        &format!("{TARGET} --point-by segment"),
    );
    assert_eq!(document["points"].as_array().unwrap().len(), 2, "{document:#}");
}

/// Two servers in one log: four drafts a step, then two.
fn two_servers(pids: [u32; 2]) -> String {
    format!(
        "(APIServer pid={}) INFO 08-20 10:00:10 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 3.10, Accepted \
         throughput: 142.30 tokens/s, Drafted throughput: 271.20 tokens/s, Accepted: 1423 tokens, Drafted: 2712 tokens, \
         Per-position acceptance rate: 0.844, 0.599, 0.385, 0.271, Avg Draft acceptance rate: 52.5%\n\
         (APIServer pid={}) INFO 08-20 10:20:10 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 2.31, Accepted \
         throughput: 172.20 tokens/s, Drafted throughput: 262.80 tokens/s, Accepted: 1722 tokens, Drafted: 2628 tokens, \
         Per-position acceptance rate: 0.766, 0.545, Avg Draft acceptance rate: 65.5%\n",
        pids[0], pids[1]
    )
}

#[test]
fn windows_of_several_draft_lengths_are_no_one_sample() {
    for (pids, code) in [([4242, 5151], "multiple-servers"), ([4242, 4242], "config-changed-mid-run")] {
        let log = two_servers(pids);
        for flags in ["", "--accept-length 3.10 --max-accept-length 5", "--expect-real"] {
            let (exit, document) = audit(&log, flags);
            assert_eq!(exit, Exit::Undecided, "{flags}: {document:#}");
            assert!(codes(&document).contains(&code), "{flags}: {document:#}");
        }
        let (_, document) = audit(&log, "");
        let finding = &document["points"][0]["findings"][0]["message"];
        for part in
            ["4 drafts a step", "show 3.099 over 678 steps", "2 drafts a step", "show 2.311 over 1314 steps"]
        {
            assert!(finding.as_str().unwrap().contains(part), "{finding}");
        }
        // Each part is a point of its own.
        let (_, document) = audit(&log, "--point-by segment");
        let points = document["points"].as_array().unwrap();
        let means: Vec<f64> =
            points.iter().map(|point| point["accept_len"]["mean"].as_f64().unwrap()).collect();
        assert_eq!(points.len(), 2, "{document:#}");
        assert!((means[0] - 3.0988).abs() < 1e-3 && (means[1] - 2.3105).abs() < 1e-3, "{means:?}");
        assert!(points.iter().all(|point| {
            point["findings"].as_array().unwrap().iter().all(|finding| finding["code"] != code)
        }));
    }
}

#[test]
fn windows_that_scatter_more_than_draws_do_count_less() {
    let window = |second: u32, accepted: u32| {
        let length = 1.0 + f64::from(accepted) / 2000.0;
        format!(
            "(APIServer pid=1) INFO 05-03 18:50:{second:02} [metrics.py:101] SpecDecoding metrics: Mean acceptance length: \
             {length:.2}, Accepted throughput: 502.00 tokens/s, Drafted throughput: 1000.00 tokens/s, Accepted: {accepted} \
             tokens, Drafted: 10000 tokens, Per-position acceptance rate: 1.000, 1.000, {:.3}, 0.000, 0.000, Avg Draft \
             acceptance rate: {:.1}%\n",
            f64::from(accepted - 4000) / 2000.0,
            f64::from(accepted) / 100.0
        )
    };
    let calm: String =
        (0..20).map(|second| window(second, [5020, 5000, 5040, 5030, 5010][second as usize % 5])).collect();
    let target = format!("{TARGET} --margin 0.02");
    let (exit, document) = audit(&calm, &target);
    assert_eq!(exit, Exit::Ok, "{document:#}");
    assert_eq!(document["points"][0]["independent_steps"], 40_000.0);
    // Ten standard deviations to either side: requests of equal seeds accept in lockstep.
    let wild: String = (0..20).map(|second| window(second, [4800, 5240][second as usize % 2])).collect();
    let (exit, document) = audit(&wild, &target);
    let point = &document["points"][0];
    assert!(point["independent_steps"].as_f64().unwrap() < 1000.0, "{document:#}");
    assert_eq!(exit, Exit::Undecided, "{document:#}");
    assert!(codes(&document).contains(&"ranks-share-draws"), "{document:#}");
}

#[test]
fn schedulers_of_atom_draw_alike_and_count_once() {
    let log = simulated(&format!("{TARGET} --engine atom --lines 40 --seed 7"));
    // A second scheduler repeats every line of the first.
    let both: String = log.lines().map(|line| format!("{line}\n{line}\n")).collect();
    let (_, one) = audit(&log, TARGET);
    let (exit, two) = audit(&both, TARGET);
    let steps = |document: &Value| document["points"][0]["steps"].as_u64().unwrap();
    let own = |document: &Value| document["points"][0]["independent_steps"].as_f64().unwrap();
    assert_eq!(exit, Exit::Ok, "{two:#}");
    assert_eq!(steps(&two), 2 * steps(&one));
    assert!((own(&two) - own(&one)).abs() < 0.05 * own(&one), "{} {}", own(&two), own(&one));
    assert!(codes(&two).contains(&"ranks-share-draws"), "{two:#}");
}

#[test]
fn a_log_of_vllm_is_followed() {
    let log = simulated(&format!("{TARGET} --engine vllm --lines 60 --seed 7"));
    let (exit, document) = audit(&log, &format!("{TARGET} --follow --idle-exit 1"));
    assert_eq!(exit, Exit::Ok, "{document:#}");
    assert!(document["points"][0]["sequence"]["log10_e_value"].as_f64().unwrap() < 3.0, "{document:#}");
    let (exit, document) = audit(&log, "--accept-length 3.30 --max-accept-length 6 --follow --idle-exit 1");
    assert_eq!(exit, Exit::Wrong, "{document:#}");
}

const RECIPES: [(&str, &str); 4] = [
    (
        "vllm",
        "backend:\n  type: vllm\n  vllm_config:\n    decode:\n      speculative-config: '{\"method\": \"eagle3\", \
         \"num_speculative_tokens\": 5, \"rejection_sample_method\": \"synthetic\", \"synthetic_acceptance_length\": 3.51}'\n",
    ),
    (
        "vllm",
        "#!/bin/bash\nvllm serve m --speculative-config '{\"method\": \"eagle3\", \"num_speculative_tokens\": 5, \
         \"rejection_sample_method\": \"synthetic\", \"synthetic_acceptance_rates\": [1.0, 1.0, 0.51, 0.0, 0.0]}'\n",
    ),
    (
        "atom",
        "#!/bin/bash\npython3 -m atom.entrypoints.openai_server --model m --method mtp --num-speculative-tokens 5 \
         --spec-decode-acceptance-length 3.51\n",
    ),
    (
        "atom",
        "#!/bin/bash\npython3 -m atom.entrypoints.openai_server --model m --method mtp --num-speculative-tokens 5 \
         --spec-decode-acceptance-rate 0.502\n",
    ),
];

#[test]
fn a_recipe_of_each_engine_gives_the_target() {
    let folder = Folder::new("engine-recipes");
    for (engine, recipe) in RECIPES {
        let log = simulated(&format!("{TARGET} --engine {engine} --lines 40 --seed 7"));
        // ATOM's own line would tell, too.
        let log: String =
            log.lines().filter(|line| !line.contains("Forced")).map(|line| format!("{line}\n")).collect();
        let name = if recipe.starts_with('#') { "run.sh" } else { "recipe.yaml" };
        let recipe = folder.write(name, recipe);
        let (exit, document) = audit(&log, &format!("--recipe {recipe}"));
        assert_eq!(
            (exit, &document["target"]["source"]),
            (Exit::Ok, &"recipe".into()),
            "{recipe} {document:#}"
        );
        assert_eq!(document["target"]["max_accept_length"], 6, "{engine}");
        assert!((document["target"]["accept_length"].as_f64().unwrap() - 3.51).abs() < 1e-9, "{engine}");
        // An evaluation that was told so is none.
        let (exit, document) = audit(&log, &format!("--recipe {recipe} --expect-real"));
        assert_eq!(exit, Exit::Wrong, "{engine}: {document:#}");
    }
    for (text, code) in [
        (
            "backend:\n  type: trtllm\n  decode_environment:\n    TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS: '2.51'\n  \
             trtllm_config:\n    decode:\n      speculative_config: {decoding_type: MTP, num_nextn_predict_layers: 5}\n",
            "trtllm",
        ),
        ("TILERT_SIMULATE_ACC_LEN=3.51\nTILERT_SIMULATE_ACC_METHOD=match-expected\n", "tilert"),
    ] {
        let flag = if code == "tilert" { "--env" } else { "--recipe" };
        let file = folder.write(if code == "tilert" { "run.env" } else { "trt.yaml" }, text);
        let (exit, document) = audit("nothing to see\n", &format!("{flag} {file}"));
        assert_eq!((exit, &document["points"][0]["engine"]), (Exit::Undecided, &code.into()), "{document:#}");
        assert_eq!(document["verdict"], "unauditable", "{document:#}");
    }
}

/// Rates leave no mark, so an evaluation's configuration decides.
#[test]
fn an_evaluation_with_rates_is_told_by_its_configuration() {
    let log = simulated("--method per-position --rates 0.9,0.5,0.2 --engine vllm --lines 40");
    let (exit, document) = audit(&log, "--expect-real");
    assert_eq!((exit, codes(&document)), (Exit::Ok, vec!["real-acceptance"]), "{document:#}");
    let echo = r#"vllm serve m --speculative-config '{"num_speculative_tokens":3,"rejection_sample_method":"synthetic","synthetic_acceptance_rates":[0.9,0.5,0.2]}'"#;
    let (exit, document) = audit(&format!("{echo}\n{log}"), "--expect-real");
    assert_eq!(exit, Exit::Wrong, "{document:#}");
    assert!(codes(&document).contains(&"simulation-in-eval"), "{document:#}");
}

#[test]
fn a_proof_that_is_asked_for_is_missed_where_no_line_shows_draws() {
    let log =
        simulated("--accept-length 3.51 --max-accept-length 6 --engine vllm --lines 40 --running-req 8");
    let (exit, document) = audit(&log, TARGET);
    let point = &document["points"][0];
    assert_eq!((exit, &point["replay"]["status"]), (Exit::Ok, &Value::from("unavailable")), "{document:#}");
    assert!(
        point["replay"]["reason"].as_str().unwrap().contains("do not show a server's draws"),
        "{document:#}"
    );
    let (exit, document) = audit(&log, &format!("{TARGET} --replay require"));
    let point = &document["points"][0];
    assert_eq!((exit, &point["verdict"]), (Exit::Undecided, &Value::from("insufficient")), "{document:#}");
    let (exit, document) = audit(&log, &format!("{TARGET} --replay off"));
    assert_eq!((exit, &document["points"][0]["replay"]), (Exit::Ok, &Value::Null));
}
