//! Folders of runs, assembled from `tests/data/h200`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use snapbox::assert::DEFAULT_ACTION_ENV;
use snapbox::{Assert, Data, IntoData};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The image that all files of an assembled run name.
pub(crate) const IMAGE: &str = "lmsysorg/sglang:v0.5.16-cu130@sha256:aaaa";

/// What a sign-off of the assembled run is told: its four points have 12 to 26 lines each, so the margin is wider than by
/// default; the curve of four points is judged by a copy of the profile that asks for four.
pub(crate) const FLAGS: &str =
    "--golden-dir golden --model h200qwen --profile four.toml --margin 3% --threshold gsm8k=0.9";

pub(crate) fn h200() -> PathBuf {
    Path::new(ROOT).join("tests/data/h200")
}

/// A folder of one test with a run in it.
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    // Removed with it.
    _temporary: tempfile::TempDir,
}

impl Folder {
    pub(crate) fn empty() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        Self { path: temporary.path().to_owned(), _temporary: temporary }
    }

    /// Four points of one server, an evaluation, a recipe and the curve's table.
    ///
    /// The server is that of `e3k5_al351`: its log is cut into the phases that its client measured, one a concurrency. The
    /// engine's own endpoint is renamed to the one that an agentic benchmark calls. The evaluation is a log that accsim
    /// draws from a real head.
    pub(crate) fn several_points() -> Self {
        let folder = Self::empty();
        let log = fs::read(h200().join("e3k5_al351.log")).unwrap();
        let log = String::from_utf8_lossy(&log).replace("POST /generate ", "POST /v1/chat/completions ");
        let client: Value =
            serde_json::from_slice(&fs::read(h200().join("e3k5_al351.json")).unwrap()).unwrap();
        let mut table = String::from("concurrency,tps_per_gpu,e2e_p90_s,e2e_p75_s\n");
        for phase in client["phases"].as_array().unwrap() {
            let concurrency = phase["concurrency"].as_u64().unwrap();
            let point = format!("run/c{concurrency}");
            folder.write(&format!("{point}/logs/node1_agg_w0.out"), &phase_of(&log, phase));
            folder.write(&format!("{point}/env.txt"), &environment(Some("3.51")));
            folder.write(&format!("{point}/config.yaml"), &format!("model:\n  container: {IMAGE}\n"));
            let export = json!({
                "request_count": {"unit": "requests", "avg": phase["requests"].as_f64().unwrap()},
                "error_summary": [],
                "was_cancelled": false,
                "input_config": {"loadgen": {"concurrency": concurrency}},
            });
            let export = serde_json::to_string_pretty(&export).unwrap();
            folder.write(&format!("{point}/logs/agentic/profile_export_aiperf.json"), &export);
            let _ = writeln!(table, "{concurrency},{}", measured(phase));
        }
        folder.write("run/points.csv", &table);
        folder.write("run/recipe.yaml", &recipe());
        folder.evaluation();
        folder.golden();
        folder
    }

    /// One point of the server that rounds, as it was recorded, with the image that does it.
    pub(crate) fn rounding_image() -> Self {
        let folder = Self::empty();
        let log = fs::read_to_string(h200().join("dspark_k5_al351.log")).unwrap();
        folder.write("run/c4/logs/node1_agg_w0.out", &log);
        folder.write(
            "run/c4/env.txt",
            &environment(Some("3.51")).replace("SGLANG_SIMULATE_ACC_TOKEN_MODE", "OTHER"),
        );
        folder.write("run/c4/config.yaml", &format!("model:\n  container: {IMAGE}\n"));
        folder.write("run/recipe.yaml", &recipe().replace("models/eagle3", "models/other"));
        folder
    }

    fn evaluation(&self) {
        let drawn =
            "simulate --conditional-rates 0.8,0.7,0.6,0.5,0.4 --lines 60 --batch 8 --seed 7 --emit-log -";
        let drawn = self.run(drawn);
        assert_eq!(drawn.status.code(), Some(0));
        self.write("run/eval/logs/node1_agg_w0.out", &text(&drawn.stdout));
        self.write("run/eval/env.txt", &environment(None));
        let scores = json!({"results": {"gsm8k": {
            "alias": "gsm8k", "exact_match,strict-match": 0.953, "exact_match_stderr,strict-match": 0.006,
        }}});
        self.write("run/eval/results.json", &serde_json::to_string_pretty(&scores).unwrap());
    }

    /// The curve of the recorded model: nobody measured one, so the value is the one that the server was told.
    fn golden(&self) {
        self.write("golden/h200qwen_eagle3.yaml", "qwen3-24l:\n  thinking_on:\n    5: 3.51\n");
        let agentx = text(&self.run("signoff profile agentx").stdout);
        let four = agentx
            .replace("least-points = 5", "least-points = 4")
            .replace("least-frontier = 5", "least-frontier = 4");
        assert_ne!(agentx, four);
        self.write("four.toml", &four);
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path.join(name)).unwrap()
    }

    /// Replaces the first `from` of a file; it must be there.
    pub(crate) fn edit(&self, name: &str, from: &str, to: &str) {
        let old = self.read(name);
        assert!(old.contains(from), "{name} has no {from}");
        self.write(name, &old.replacen(from, to, 1));
    }

    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.path.join(name)).unwrap();
    }

    pub(crate) fn run(&self, line: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_accsim"));
        command.current_dir(&self.path).args(line.split_whitespace()).stdin(Stdio::null());
        command.env_remove("ACCSIM_GOLDEN_DIR").env_remove("NO_COLOR").output().unwrap()
    }

    /// The document of a sign-off, with its exit code; it is as the schema says.
    pub(crate) fn document(&self, line: &str) -> (i32, Value) {
        let output = self.run(&format!("{line} --json"));
        let document: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr)));
        let schema: Value =
            serde_json::from_str(include_str!("../../docs/schema/signoff.schema.json")).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let faults: Vec<String> = validator.iter_errors(&document).map(|fault| fault.to_string()).collect();
        assert!(faults.is_empty(), "{faults:?}");
        (output.status.code().unwrap(), document)
    }
}

/// The start of the log and the lines of one phase of its client.
fn phase_of(log: &str, phase: &Value) -> String {
    let clock = |name: &str| phase[name].as_f64().unwrap() % 86_400.0;
    let (start, end) = (clock("start").floor(), clock("end"));
    let mut kept = String::new();
    let mut has_begun = false;
    for line in log.lines() {
        has_begun |= line.contains("Decode batch");
        let is_of_phase = seconds(line).is_some_and(|at| start <= at && at <= end);
        if !has_begun || is_of_phase {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// Seconds of the day at which a line was written: `[2026-11-30 07:33:24 ..`.
fn seconds(line: &str) -> Option<f64> {
    let clock = line.strip_prefix('[')?.get(11..19)?;
    let parts: Option<Vec<f64>> = clock.split(':').map(|part| part.parse().ok()).collect();
    let parts = parts.filter(|parts| parts.len() == 3)?;
    Some(parts[0] * 3600.0 + parts[1] * 60.0 + parts[2])
}

/// Tokens a second, and the latencies that 90 and 75 of 100 requests keep, of what the client measured.
fn measured(phase: &Value) -> String {
    let requests = phase["req"].as_array().unwrap();
    let number = |request: &Value, at: usize| request[at].as_f64().unwrap();
    let tokens: f64 = requests.iter().map(|request| number(request, 2) + number(request, 3)).sum();
    let mut latencies: Vec<f64> =
        requests.iter().map(|request| number(request, 1) - number(request, 0)).collect();
    latencies.sort_by(f64::total_cmp);
    let of_hundred = |share: usize| latencies[(latencies.len() * share).div_ceil(100) - 1];
    let seconds = phase["end"].as_f64().unwrap() - phase["start"].as_f64().unwrap();
    format!("{:.1},{:.3},{:.3}", tokens / seconds, of_hundred(90), of_hundred(75))
}

/// An environment dump; that of an evaluation has no length.
fn environment(length: Option<&str>) -> String {
    let mut text = format!("PATH=/usr/bin\nHF_TOKEN=hf_0123456789secret\nCONTAINER_IMAGE={IMAGE}\n");
    if let Some(length) = length {
        let _ = write!(
            text,
            "SGLANG_SIMULATE_ACC_LEN={length}\nSGLANG_SIMULATE_ACC_METHOD=match-expected\n\
             SGLANG_SIMULATE_ACC_TOKEN_MODE=real-draft-token\n"
        );
    }
    text
}

fn recipe() -> String {
    format!(
        "name: qwen3-agentic\nmodel:\n  path: models/qwen3\n  container: {IMAGE}\nroles:\n  agg:\n    engine: sglang\n    \
         args:\n      speculative-algorithm: EAGLE3\n      speculative-num-steps: 5\n      speculative-draft-model-path: \
         models/eagle3\nbenchmark:\n  command: bash agentic_srt.sh\n"
    )
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Status by id.
pub(crate) fn statuses(document: &Value) -> BTreeMap<String, String> {
    let items = document["items"].as_array().unwrap();
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    items.iter().map(|item| (word(&item["id"]), word(&item["status"]))).collect()
}

/// The item with this id.
pub(crate) fn item<'a>(document: &'a Value, id: &str) -> &'a Value {
    document["items"].as_array().unwrap().iter().find(|item| item["id"] == id).unwrap()
}

/// Compares with `tests/signoff/snapshots/NAME`.
pub(crate) fn snapshot(name: &str, found: String) {
    let path = Path::new(ROOT).join("tests/signoff/snapshots").join(name);
    let expected = Data::read_from(&path, None).raw();
    Assert::new().action_env(DEFAULT_ACTION_ENV).eq(found.into_data().raw(), expected);
}
