//! JSON documents: what clients export, scores of evaluations, a server's own description, dumps of an environment.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::asked::Asked;
use super::line::see;
use super::tree::in_text;
use crate::evidence::Place;
use crate::signoff::facts::{Client, Facts, Origin, Score, Seen, Sighting};

/// Levels that are walked.
const DEEPEST: usize = 32;

/// Longest value taken, in characters.
const LONGEST: usize = 512;

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
    /// Takes what the document says into `facts`; why it is no JSON.
    pub(super) fn read(&self, facts: &mut Facts) -> Result<(), serde_json::Error> {
        let value = serde_json::from_str::<Value>(self.text).or_else(|error| {
            // Python writes a number that is none as NaN or Infinity.
            without_nan(self.text).and_then(|text| serde_json::from_str(&text).ok()).ok_or(error)
        })?;
        if let Value::Object(object) = &value {
            self.server_info(object, facts);
            self.scores(object, facts);
        }
        self.clients(&value, facts);
        self.names(&value, &mut Vec::new(), facts);
        Ok(())
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
                if is_environment(object, path) && facts.environments.last() != Some(&self.file) {
                    facts.environments.push(self.file);
                }
                for (key, value) in object {
                    path.push(key);
                    let key_of = self.asked.key(key);
                    let image = || self.image(path).then(|| (Seen::Image, path.join(".")));
                    if let Some((seen, name)) = key_of.or_else(image)
                        && let Some(text) = scalar(value).or_else(|| {
                            (seen == Seen::Argument)
                                .then(|| value.to_string().chars().take(LONGEST).collect())
                        })
                    {
                        let text = match key.split_once('.') {
                            Some((_, part)) if seen == Seen::Argument => format!("{part}={text}"),
                            _ => text,
                        };
                        let is_prefill = path.iter().any(|part| part.contains("prefill"));
                        let place = self.place(key);
                        let sighting = Sighting::new(seen, name, text, Origin::Environment, place);
                        see(facts, Sighting { is_prefill, ..sighting });
                    }
                    self.names(value, path, facts);
                    path.pop();
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.names(item, path, facts)),
            Value::String(text) => self.text(text, path, facts),
            _ => {}
        }
    }

    /// A text may be a command, or JSON in itself.
    fn text(&self, text: &str, path: &[&str], facts: &mut Facts) {
        let is_prefill = path.iter().any(|part| part.contains("prefill"));
        for (seen, name, value) in in_text(self.asked, text) {
            let place = self.place(path.last().copied().unwrap_or_default());
            let sighting = Sighting::new(seen, name, value, Origin::Environment, place);
            see(facts, Sighting { is_prefill, ..sighting });
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
            see(facts, Sighting::new(Seen::Version, "sglang", version.clone(), Origin::Environment, place));
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
        const COMPLETED: [&str; 2] = ["completed", "num_requests_successful"];
        const TOTAL: [&str; 2] = ["num_prompts", "num_requests_total"];
        let export = Export { object, records: object.get("records").and_then(Value::as_object) };
        let (of, plain) = (|name: &str| export.get(name), |name: &str| export.get(name).and_then(whole));
        let cancelled = of("was_cancelled").and_then(Value::as_bool).unwrap_or(false);
        if list == "phases" {
            let failed = plain("failed").or_else(|| plain("errors"));
            let place = self.place(if failed.is_some() { "failed" } else { "requests" });
            return plain("requests").map(|requests| Client {
                format: "phases",
                concurrency: plain("concurrency"),
                completed: Some(requests),
                failed,
                unaccounted: 0,
                odd_field: export.odd(&["failed", "errors", "concurrency"]),
                cancelled,
                place,
            });
        }
        if let Some(client) = self.aiperf(&export, cancelled) {
            return Some(client);
        }
        let first = |names: &[&str]| names.iter().find_map(|name| plain(name));
        // One of them without the other two is some other document.
        let is_export = COMPLETED.iter().any(|name| of(name).is_some())
            || (TOTAL.iter().any(|name| of(name).is_some()) && of("duration").is_some());
        if !is_export {
            return None;
        }
        let (completed, total) = (first(&COMPLETED), first(&TOTAL));
        let errors = of("errors").and_then(Value::as_array).map(|errors| {
            let told = errors.iter().filter(|error| error.as_str().is_some_and(|error| !error.is_empty()));
            u64::try_from(told.count()).unwrap_or(u64::MAX)
        });
        let missing = total.zip(completed).map(|(total, completed)| total.saturating_sub(completed));
        let failed = plain("failed").or(missing).or(errors);
        let unaccounted = missing.unwrap_or(0).saturating_sub(failed.unwrap_or(0));
        let key = ["failed", "num_prompts", "num_requests_total", "errors", "completed"];
        let key = key.into_iter().find(|key| of(key).is_some()).unwrap_or("completed");
        Some(Client {
            format: "bench_serving",
            concurrency: first(&["max_concurrency", "concurrency", "conc"]),
            completed,
            failed,
            unaccounted,
            odd_field: export.odd(&[
                "completed",
                "num_requests_successful",
                "num_prompts",
                "num_requests_total",
                "failed",
                "max_concurrency",
                "concurrency",
                "conc",
            ]),
            cancelled,
            place: self.place(key),
        })
    }

    /// AIPerf's summary, with fields missing or not.
    fn aiperf(&self, export: &Export<'_>, cancelled: bool) -> Option<Client> {
        let of = |name: &str| export.get(name);
        let average = |name: &str| of(name).and_then(|metric| whole(metric.get("avg")?));
        let loadgen = of("input_config").and_then(|config| config.get("loadgen"));
        let marks = ["request_count", "request_latency", "error_request_count", "error_summary"];
        if loadgen.is_none() && !marks.iter().any(|name| of(name).is_some()) {
            return None;
        }
        let mut odd_field = None;
        let mut counts = |name: &str, value: Option<&Value>| {
            if odd_field.is_none() && value.is_some_and(|value| !value.is_null() && whole(value).is_none()) {
                odd_field = Some(name.to_owned());
            }
        };
        for name in ["request_count", "error_request_count"] {
            counts(&format!("{name}.avg"), of(name).and_then(|metric| metric.get("avg")));
        }
        let errors = of("error_summary").and_then(Value::as_array);
        for error in errors.into_iter().flatten() {
            let count = error.get("count").filter(|count| !count.is_null());
            counts("error_summary[].count", Some(count.unwrap_or(&Value::Bool(false))));
        }
        let concurrency = loadgen.and_then(|loadgen| loadgen.get("concurrency"));
        counts("input_config.loadgen.concurrency", concurrency);
        let summary = errors.map(|errors| {
            errors.iter().filter_map(|error| whole(error.get("count")?)).fold(0, u64::saturating_add)
        });
        let failed = match (average("error_request_count"), summary) {
            (Some(counted), Some(summed)) => Some(counted.max(summed)),
            (counted, summed) => counted.or(summed),
        };
        let key = if of("error_request_count").is_some() { "error_request_count" } else { "error_summary" };
        Some(Client {
            format: "AIPerf",
            concurrency: concurrency.and_then(whole),
            completed: average("request_count"),
            failed,
            unaccounted: 0,
            odd_field,
            cancelled,
            place: self.place(if failed.is_some() { key } else { "request_count" }),
        })
    }
}

/// A client's object; AIPerf may have its metrics one level further in.
struct Export<'v> {
    object: &'v Map<String, Value>,
    records: Option<&'v Map<String, Value>>,
}

impl<'v> Export<'v> {
    fn get(&self, name: &str) -> Option<&'v Value> {
        self.object.get(name).or_else(|| self.records.and_then(|records| records.get(name)))
    }

    /// The first of these fields that is there and no number.
    fn odd(&self, names: &[&str]) -> Option<String> {
        let is_odd = |name: &&&str| {
            let value = self.get(name).filter(|value| !value.is_null());
            value.is_some_and(|value| whole(value).is_none() && !value.is_array())
        };
        names.iter().find(is_odd).map(|name| (*name).to_owned())
    }
}

/// The text with `null` for `NaN` and `Infinity` outside of its strings; `None` where there are none.
fn without_nan(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut is_string, mut is_changed) = (text, false, false);
    while let Some(letter) = rest.chars().next() {
        let word =
            ["-Infinity", "Infinity", "NaN"].into_iter().find(|word| !is_string && rest.starts_with(word));
        let length = match word {
            Some(word) => {
                out.push_str("null");
                is_changed = true;
                word.len()
            }
            None if is_string && letter == '\\' => 1 + rest.chars().nth(1).map_or(0, char::len_utf8),
            None => {
                is_string ^= letter == '"';
                letter.len_utf8()
            }
        };
        if word.is_none() {
            out.push_str(rest.get(..length).unwrap_or(""));
        }
        rest = rest.get(length..).unwrap_or("");
    }
    is_changed.then_some(out)
}

/// A whole number, however it is written: `3`, `3.0`, `"3"`.
fn whole(value: &Value) -> Option<u64> {
    let number = match value {
        Value::String(text) => text.trim().parse::<f64>().ok().filter(|number| number.is_finite()),
        other => other.as_f64(),
    };
    value
        .as_u64()
        .or_else(|| number.filter(|number| *number >= 0.0).map(|number| crate::law::whole(number.round())))
}

/// Whether an object is an environment: it is called so, or has what every environment has.
fn is_environment(object: &Map<String, Value>, path: &[&str]) -> bool {
    let is_called = path.last().is_some_and(|name| {
        let name = name.to_ascii_lowercase();
        ["env", "environ", "environment", "environment_variables", "env_vars"].contains(&name.as_str())
    });
    is_called || (object.contains_key("PATH") && object.values().all(|value| scalar(value).is_some()))
}

/// The text of a value that is no list and no object.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.chars().take(LONGEST).collect()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null => Some("None".to_owned()),
        Value::Array(_) | Value::Object(_) => None,
    }
}
