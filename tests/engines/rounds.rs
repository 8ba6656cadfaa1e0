//! Rounds: draws of a law that an engine has, written in every form in which the engine shows them, read and judged.

use std::fmt::Write as _;

use accsim::cli::Exit;
use accsim::law::{
    AcceptanceLaw, GeometricDecay, PerPosition, Pool, PoolKind, RealHead, Setting, Steps, Stream, TwoPoint,
};
use serde_json::{Value, json};

use super::support::{Folder, accsim};

/// Request-steps of one engine, batch by batch: the accepted drafts of each request.
struct Drawn {
    drafts: u32,
    batches: Vec<Vec<u32>>,
}

const BATCH: usize = 16;

impl Drawn {
    fn of(law: &AcceptanceLaw, drafts: u32, batches: usize) -> Self {
        let mut steps = Steps::new(law, Stream::new(5, 0, 0));
        let batch = |steps: &mut Steps<Stream>| (0..BATCH).map(|_| steps.draw() - 1).collect();
        Self { drafts, batches: (0..batches).map(|_| batch(&mut steps)).collect() }
    }

    fn steps(&self) -> u64 {
        u64::try_from(self.batches.len() * BATCH).unwrap()
    }

    fn accepted(&self) -> u64 {
        self.batches.iter().flatten().map(|accepted| u64::from(*accepted)).sum()
    }

    /// Steps by their accepted drafts.
    fn bins(&self) -> Vec<u64> {
        let mut bins = vec![0; usize::try_from(self.drafts).unwrap() + 1];
        self.batches.iter().flatten().for_each(|accepted| bins[usize::try_from(*accepted).unwrap()] += 1);
        bins
    }

    /// Steps in which the draft at each place was accepted.
    fn reached(&self) -> Vec<u64> {
        (1..=usize::try_from(self.drafts).unwrap()).map(|place| self.bins()[place..].iter().sum()).collect()
    }

    /// Counters as Prometheus text, at `share` of what was counted.
    fn scrape(&self, engine: &str) -> String {
        let (steps, drafted) = (self.steps(), self.steps() * u64::from(self.drafts));
        let mut text = String::from("# TYPE a counter\n");
        match engine {
            "vllm" => {
                for (name, value) in
                    [("drafts", steps), ("draft_tokens", drafted), ("accepted_tokens", self.accepted())]
                {
                    writeln!(text, "vllm:spec_decode_num_{name}_total{{engine=\"0\"}} {value}.0").unwrap();
                }
                for (place, reached) in self.reached().iter().enumerate() {
                    writeln!(
                        text,
                        "vllm:spec_decode_num_accepted_tokens_per_pos_total{{engine=\"0\",position=\"{place}\"}} {reached}.0"
                    )
                    .unwrap();
                }
            }
            "trtllm" => {
                for (place, reached) in self.reached().iter().enumerate() {
                    writeln!(
                        text,
                        "trtllm_spec_decode_drafted_tokens_total{{token_position=\"{place}\"}} {steps}\n\
                         trtllm_spec_decode_accepted_tokens_total{{token_position=\"{place}\"}} {reached}"
                    )
                    .unwrap();
                }
            }
            _ => {
                writeln!(
                    text,
                    "atom:mtp_draft_tokens_total {drafted}\natom:mtp_accepted_tokens_total {}",
                    self.accepted()
                )
                .unwrap();
                for (accepted, count) in self.bins().iter().enumerate() {
                    writeln!(text, "atom:mtp_decode_steps_total{{accepted_tokens=\"{accepted}\"}} {count}")
                        .unwrap();
                }
            }
        }
        text
    }

    /// TensorRT-LLM's `/metrics`: a record an iteration.
    fn iterations(&self) -> String {
        let record = |(number, batch): (usize, &Vec<u32>)| {
            let accepted: u32 = batch.iter().sum();
            let size = u32::try_from(batch.len()).unwrap();
            json!({"iter": number, "iterLatencyMS": 14.25, "specDecodingStats": {
                "numDraftTokens": size * self.drafts, "numAcceptedTokens": accepted, "numRequestsWithDraftTokens": size,
                "acceptanceLength": 1.0 + f64::from(accepted) / f64::from(size)}})
        };
        Value::Array(self.batches.iter().enumerate().map(record).collect()).to_string()
    }

    /// ATOM's `/debug/mtp_stats`.
    fn debug(&self) -> String {
        let bins = self.bins();
        let distribution: serde_json::Map<String, Value> = (0..)
            .zip(&bins)
            .filter(|(_, count)| **count > 0)
            .map(|(accepted, count): (u32, _)| (accepted.to_string(), Value::from(*count)))
            .collect();
        let (accepted, drafted) = (self.accepted(), self.steps() * u64::from(self.drafts));
        #[expect(clippy::cast_precision_loss, reason = "small counts")]
        let mean = 1.0 + accepted as f64 / self.steps() as f64;
        json!({"enabled": true, "total_draft_tokens": drafted, "total_accepted_tokens": accepted,
            "average_tokens_per_forward": mean, "distribution": distribution})
        .to_string()
    }

    /// vLLM's statistics of single requests: each the steps of one place in the batch.
    fn requests(&self) -> String {
        let mut text = String::new();
        for place in 0..BATCH {
            let mut bins = vec![0_u64; usize::try_from(self.drafts).unwrap() + 1];
            for batch in &self.batches {
                bins[usize::try_from(batch[place]).unwrap()] += 1;
            }
            let steps: u64 = bins.iter().sum();
            let accepted: u64 = (0..).zip(&bins).map(|(accepted, count): (u64, _)| accepted * count).sum();
            #[expect(clippy::cast_precision_loss, reason = "small counts")]
            let mean = 1.0 + accepted as f64 / steps as f64;
            let stats = json!({"metrics": {"speculative_decoding": {"mean_acceptance_length": mean, "num_spec_steps": steps,
                "num_accepted_draft_tokens": accepted, "acceptance_histogram": bins}}});
            writeln!(text, "{stats}").unwrap();
        }
        text
    }

    /// Every form in which an engine shows these draws.
    fn forms(&self, engine: &str) -> Vec<(&'static str, String)> {
        let mut forms = vec![("scrape.prom", self.scrape(engine))];
        match engine {
            "vllm" => forms.push(("answers.jsonl", self.requests())),
            "trtllm" => forms.push(("metrics.json", self.iterations())),
            _ => forms.push(("mtp_stats.json", self.debug())),
        }
        forms
    }
}

fn two_point(engine: &str, length: f64, max: u32) -> AcceptanceLaw {
    let setting = Setting::new(length, max).unwrap();
    match engine {
        "vllm" => AcceptanceLaw::per_request(setting),
        "trtllm" => AcceptanceLaw::Pool(Pool::new(PoolKind::TrtLlm, TwoPoint::new(setting))),
        _ => AcceptanceLaw::Pool(Pool::new(PoolKind::Atom, TwoPoint::new(setting))),
    }
}

/// Exit code and the first point of an audit of one file.
fn audit(folder: &Folder, (name, text): &(&str, String), length: f64) -> (Exit, Value) {
    let path = folder.write(name, text);
    let (exit, out, err) = accsim(&[
        "audit",
        &path,
        "--accept-length",
        &length.to_string(),
        "--max-accept-length",
        "6",
        "--json",
    ]);
    assert_eq!(err, "", "{name}");
    let mut document: Value = serde_json::from_str(&out).unwrap();
    (exit, document["points"][0].take())
}

fn codes(point: &Value) -> Vec<&str> {
    point["findings"].as_array().unwrap().iter().map(|finding| finding["code"].as_str().unwrap()).collect()
}

#[test]
fn draws_of_the_target_are_consistent_in_every_form_and_those_of_another_are_not() {
    let folder = Folder::new("engine-rounds");
    for engine in ["vllm", "trtllm", "atom"] {
        let drawn = Drawn::of(&two_point(engine, 3.51, 6), 5, 1000);
        for form in drawn.forms(engine) {
            let (exit, point) = audit(&folder, &form, 3.51);
            assert_eq!(exit, Exit::Ok, "{engine} {}: {point:#}", form.0);
            assert_eq!(point["engine"], engine, "{}", form.0);
            assert_eq!(
                point["mechanism"]["best"].as_str().filter(|best| *best != "undetermined"),
                (form.0 != "metrics.json").then_some("match-expected"),
                "{engine} {}",
                form.0
            );
            for (other, code) in [(2.51, "off-by-one"), (4.51, "off-by-one")] {
                let (exit, point) = audit(&folder, &form, other);
                assert_eq!(exit, Exit::Wrong, "{engine} {} {other}: {point:#}", form.0);
                assert!(
                    form.0 == "metrics.json" || codes(&point).contains(&code),
                    "{engine} {}: {point:#}",
                    form.0
                );
            }
        }
    }
}

/// Drafts that are judged fail, whatever their mean: no form of any engine passes them for a simulation of the target.
#[test]
fn judged_drafts_with_the_mean_of_the_target_fail() {
    let folder = Folder::new("engine-rounds-real");
    // A conditional rate whose mean is 3.51.
    let (mut low, mut high) = (0.5, 0.99);
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        if RealHead::new(&[middle; 5]).unwrap().mean() < 3.51 { low = middle } else { high = middle }
    }
    let law = AcceptanceLaw::Real(RealHead::new(&[low; 5]).unwrap());
    let drawn = Drawn::of(&law, 5, 1000);
    for engine in ["vllm", "trtllm", "atom"] {
        for form in drawn.forms(engine) {
            let (exit, point) = audit(&folder, &form, 3.51);
            assert_eq!(exit, Exit::Wrong, "{engine} {}: {point:#}", form.0);
            assert!(codes(&point).contains(&"real-acceptance"), "{engine} {}: {point:#}", form.0);
            let setting = match engine {
                "vllm" => "synthetic_acceptance_length",
                "trtllm" => "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS",
                _ => "--spec-decode-acceptance-length",
            };
            assert!(point["findings"].to_string().contains(setting), "{engine} {}: {point:#}", form.0);
            assert!(!point.to_string().contains("SGLANG"), "{engine} {}: {point:#}", form.0);
        }
    }
}

/// A reader of whole numbers, a target above what a step can emit, and the older laws of rates.
#[test]
fn what_else_engines_do_is_named() {
    let folder = Folder::new("engine-rounds-else");
    let whole = Drawn::of(&AcceptanceLaw::per_request(Setting::new(3.0, 6).unwrap()), 5, 400);
    for form in whole.forms("trtllm") {
        let (exit, point) = audit(&folder, &form, 3.51);
        assert_eq!((exit, codes(&point)), (Exit::Wrong, vec!["target-rounded"]), "{}: {point:#}", form.0);
        let text = point.to_string();
        assert!(
            text.contains("TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS") && !text.contains("SGLang"),
            "{text}"
        );
    }
    let cut = Drawn::of(&AcceptanceLaw::per_request(Setting::new(6.0, 6).unwrap()), 5, 400);
    for form in cut.forms("trtllm") {
        let (exit, point) = audit(&folder, &form, 7.5);
        assert_eq!((exit, codes(&point)), (Exit::Wrong, vec!["clamped"]), "{}: {point:#}", form.0);
    }
    // A list of rates is no forced length, unless the run is known to have been given it.
    let rates = AcceptanceLaw::PerPosition(PerPosition::new(vec![0.9, 0.8, 0.5, 0.2, 0.11]).unwrap());
    let listed = Drawn::of(&rates, 5, 1000);
    for form in listed.forms("vllm") {
        let (exit, point) = audit(&folder, &form, 3.51);
        assert_eq!(exit, Exit::Wrong, "{}: {point:#}", form.0);
    }
    let path = folder.write("scrape.prom", listed.scrape("vllm"));
    let given = folder.write(
        "serve.sh",
        "#!/bin/bash\nvllm serve m --speculative-config '{\"method\": \"eagle3\", \"num_speculative_tokens\": 5, \
         \"rejection_sample_method\": \"synthetic\", \"synthetic_acceptance_rates\": [0.9, 0.8, 0.5, 0.2, 0.11]}'\n",
    );
    let (exit, out, _) = accsim(&["audit", &path, "--recipe", &given, "--json"]);
    assert_eq!(exit, Exit::Ok, "{out}");
    assert!(out.contains("\"best\": \"per-position\"") || out.contains("\"best\":\"per-position\""), "{out}");
    // ATOM before ROCm/ATOM#1948: judged drafts look so, and only the log's own line tells.
    let decay = GeometricDecay::with_mean_rate(0.502, 5).unwrap();
    let older = Drawn::of(&AcceptanceLaw::Geometric(decay), 5, 1000);
    for form in older.forms("atom") {
        let (exit, point) = audit(&folder, &form, 3.51);
        assert_eq!(
            (exit, point["mechanism"]["best"].as_str()),
            (Exit::Wrong, Some("real")),
            "{}: {point:#}",
            form.0
        );
    }
}
