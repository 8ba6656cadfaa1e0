//! JSON documents: what clients export, scores of evaluations, a server's own description, dumps of an environment.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::asked::Asked;
use super::line::see;
use crate::evidence::Place;
use crate::signoff::facts::{Client, Facts, Origin, Score, Seen};

/// Levels that are walked.
const DEEPEST: usize = 32;

/// Scores and clients kept of one point.
const MOST: usize = 1024;

/// What a document is read for.
pub(super) struct Document<'a> {
    pub(super) asked: &'a Asked,
    pub(super) text: &'a str,
    pub(super) file: u32,
    /// Line that the text begins at.
    line: u64,
    /// Lines of keys that were looked up: a document may repeat a key without end.
    lines: RefCell<BTreeMap<String, u64>>,
}

impl<'a> Document<'a> {
    /// The text that begins at this line of a file.
    pub(super) fn new(asked: &'a Asked, text: &'a str, file: u32, line: u64) -> Self {
        Self { asked, text, file, line, lines: RefCell::default() }
    }
}

impl Document<'_> {
    /// Takes what the document says into `facts`; whether it is JSON at all.
    pub(super) fn read(&self, facts: &mut Facts) -> bool {
        let Ok(value) = serde_json::from_str::<Value>(self.text) else { return false };
        if let Value::Object(object) = &value {
            self.server_info(object, facts);
            self.scores(object, facts);
        }
        self.clients(&value, facts);
        self.names(&value, &mut Vec::new(), facts);
        true
    }

    /// The line that a key stands in first.
    fn place(&self, key: &str) -> Place {
        if let Some(line) = self.lines.borrow().get(key) {
            return Place { file: self.file, line: *line };
        }
        let quoted = format!("\"{key}\"");
        let before = self.text.find(&quoted).and_then(|at| self.text.get(..at)).unwrap_or("");
        let line = self.line + u64::try_from(before.matches('\n').count()).unwrap_or(0);
        self.lines.borrow_mut().insert(key.to_owned(), line);
        Place { file: self.file, line }
    }

    /// Names that rules ask for, at any level.
    fn names<'v>(&self, value: &'v Value, path: &mut Vec<&'v str>, facts: &mut Facts) {
        if path.len() >= DEEPEST {
            return;
        }
        match value {
            Value::Object(object) => {
                for (key, value) in object {
                    path.push(key);
                    if let Some(text) = scalar(value) {
                        let is_prefill = path.iter().any(|part| part.contains("prefill"));
                        let key_of = self.asked.key(key);
                        let image = || self.image(path).then(|| (Seen::Image, path.join(".")));
                        if let Some((seen, name)) = key_of.or_else(image) {
                            see(facts, seen, &name, text, Origin::Environment, is_prefill, self.place(key));
                        }
                        let is_variable = key.len() > 1
                            && key.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
                        if is_variable && facts.environments.last() != Some(&self.file) {
                            facts.environments.push(self.file);
                        }
                    } else {
                        self.names(value, path, facts);
                    }
                    path.pop();
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.names(item, path, facts)),
            _ => {}
        }
    }

    fn image(&self, path: &[&str]) -> bool {
        // A bare key is one at the outermost level.
        self.asked.image_keys.iter().any(|key| key.iter().map(String::as_str).eq(path.iter().copied()))
    }

    /// SGLang's `/server_info` tells its version.
    fn server_info(&self, object: &Map<String, Value>, facts: &mut Facts) {
        let is_server =
            object.contains_key("internal_states") || object.contains_key("speculative_algorithm");
        if let Some(Value::String(version)) = object.get("version").filter(|_| is_server) {
            let place = self.place("version");
            see(facts, Seen::Version, "sglang", version.clone(), Origin::Environment, false, place);
        }
    }

    /// lm-eval: `results.TASK.METRIC`.
    fn scores(&self, object: &Map<String, Value>, facts: &mut Facts) {
        let Some(Value::Object(tasks)) = object.get("results") else { return };
        for (task, metrics) in tasks {
            let Value::Object(metrics) = metrics else { continue };
            for (metric, value) in metrics {
                let is_score = !metric.contains("stderr") && metric != "alias" && metric != "samples";
                if let Some(value) = value.as_f64().filter(|_| is_score && facts.scores.len() < MOST) {
                    let (task, metric) = (task.clone(), metric.clone());
                    let place = self.place(&metric);
                    facts.scores.push(Score { task, metric, value, place });
                }
            }
        }
    }

    fn clients(&self, value: &Value, facts: &mut Facts) {
        let found: Vec<Client> = match value {
            Value::Object(object) => match object.get("phases").and_then(Value::as_array) {
                Some(phases) => {
                    phases.iter().filter_map(|phase| self.client(phase.as_object()?, "phases")).collect()
                }
                None => self.client(object, "").into_iter().collect(),
            },
            Value::Array(items) => {
                items.iter().filter_map(|item| self.client(item.as_object()?, "")).collect()
            }
            _ => Vec::new(),
        };
        facts.clients.extend(found.into_iter().take(MOST.saturating_sub(facts.clients.len())));
    }

    /// What one object says about requests, if it is an export of a client.
    fn client(&self, object: &Map<String, Value>, list: &str) -> Option<Client> {
        let records = object.get("records").and_then(Value::as_object);
        let of = |name: &str| object.get(name).or_else(|| records.and_then(|records| records.get(name)));
        let average = |name: &str| of(name).and_then(|metric| whole(metric.get("avg")?));
        let plain = |name: &str| of(name).and_then(whole);
        let cancelled = of("was_cancelled").and_then(Value::as_bool).unwrap_or(false);
        if list == "phases" {
            let failed = plain("failed").or_else(|| plain("errors"));
            let place = self.place(if failed.is_some() { "failed" } else { "requests" });
            let concurrency = plain("concurrency");
            return plain("requests").map(|requests| Client {
                format: "phases",
                concurrency,
                completed: Some(requests),
                failed,
                cancelled,
                place,
            });
        }
        if let Some(completed) = average("request_count").or_else(|| of("request_latency").and(Some(0))) {
            let summary = of("error_summary").and_then(Value::as_array).map(|errors| {
                errors.iter().filter_map(|error| whole(error.get("count")?)).fold(0, u64::saturating_add)
            });
            let failed = match (average("error_request_count"), summary) {
                (Some(counted), Some(summed)) => Some(counted.max(summed)),
                (counted, summed) => counted.or(summed),
            };
            let loadgen = object.get("input_config").and_then(|config| config.get("loadgen"));
            let key =
                if of("error_request_count").is_some() { "error_request_count" } else { "error_summary" };
            return Some(Client {
                format: "AIPerf",
                concurrency: loadgen.and_then(|loadgen| whole(loadgen.get("concurrency")?)),
                completed: average("request_count").or(Some(completed)),
                failed,
                cancelled,
                place: self.place(if failed.is_some() { key } else { "request_count" }),
            });
        }
        let completed = plain("completed").or_else(|| plain("num_requests_successful"))?;
        let total = plain("num_prompts").or_else(|| plain("num_requests_total"));
        let errors = of("errors").and_then(Value::as_array).map(|errors| {
            let told = errors.iter().filter(|error| error.as_str().is_some_and(|error| !error.is_empty()));
            u64::try_from(told.count()).unwrap_or(u64::MAX)
        });
        let failed =
            plain("failed").or_else(|| total.map(|total| total.saturating_sub(completed))).or(errors);
        let concurrency = plain("max_concurrency").or_else(|| plain("concurrency")).or_else(|| plain("conc"));
        let key = ["failed", "num_prompts", "num_requests_total", "errors", "completed"];
        let key = key.into_iter().find(|key| of(key).is_some()).unwrap_or("completed");
        Some(Client {
            format: "bench_serving",
            concurrency,
            completed: Some(completed),
            failed,
            cancelled,
            place: self.place(key),
        })
    }
}

/// A whole number, however it is written.
fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        value.as_f64().filter(|number| *number >= 0.0).map(|number| crate::law::whole(number.round()))
    })
}

/// The text of a value that is no list and no object.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.chars().take(512).collect()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null => Some("None".to_owned()),
        Value::Array(_) | Value::Object(_) => None,
    }
}
