//! Traces of requests: arrival, input and output tokens, from CSV or JSON lines.

use std::io::BufRead;

use serde_json::Value;

use super::sim::Request;

/// Most requests that are read.
const MOST_REQUESTS: usize = 20_000_000;

/// Longest line of JSON, in bytes.
const LONGEST_LINE: u64 = 1 << 20;

/// Names of the columns: seconds, milliseconds, input, output and cached tokens.
const SECONDS: [&str; 3] = ["arrival_s", "timestamp_s", "time_s"];
const MILLISECONDS: [&str; 3] = ["arrival_ms", "timestamp_ms", "timestamp"];
const INPUT: [&str; 5] = ["isl", "input_tokens", "input_length", "input_len", "prompt_tokens"];
const OUTPUT: [&str; 5] = ["osl", "output_tokens", "output_length", "output_len", "completion_tokens"];
const CACHED: [&str; 2] = ["cached_tokens", "cached"];

/// How a trace is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceForm {
    /// A table with names of columns in its first row.
    Csv,
    /// One JSON object a line.
    JsonLines,
}

/// Why a file is no trace.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// It cannot be read.
    #[error("line {line}")]
    Read {
        /// Line, from 1.
        line: u64,
        /// Why.
        source: std::io::Error,
    },
    /// No table, or no JSON.
    #[error("line {line}: {message}")]
    Syntax {
        /// Line, from 1.
        line: u64,
        /// Why.
        message: String,
    },
    /// A column that every trace has.
    #[error("line {line}: no {what}; expected a field called {}", .names.join(", "))]
    Missing {
        /// Line, from 1.
        line: u64,
        /// What it would say.
        what: &'static str,
        /// Its names.
        names: &'static [&'static str],
    },
    /// A value that no request has.
    #[error("line {line}: {name} is {found}; expected {expected}")]
    Value {
        /// Line, from 1.
        line: u64,
        /// Name of the field.
        name: String,
        /// Its value.
        found: String,
        /// What it may be.
        expected: &'static str,
    },
    /// Nothing in it.
    #[error("the trace holds no requests")]
    Empty,
    /// Too much in it.
    #[error("more than {MOST_REQUESTS} requests")]
    TooMany,
}

/// Reads a trace. Times are seconds (`arrival_s`) or milliseconds (`timestamp`, as Mooncake's traces have them), counted from
/// the first request; a trace without times serves a closed loop. Requests come in the order of their times.
///
/// ```
/// use accsim::throughput::{TraceForm, read_trace};
///
/// let trace = "timestamp,input_length,output_length\n1000,512,64\n1500,128,32\n";
/// let requests = read_trace(trace.as_bytes(), TraceForm::Csv)?;
/// assert_eq!((requests[1].arrival_s, requests[1].input, requests[1].output), (0.5, 128, 32));
/// # Ok::<(), accsim::throughput::TraceError>(())
/// ```
pub fn read_trace(source: impl BufRead, form: TraceForm) -> Result<Vec<Request>, TraceError> {
    let mut requests = match form {
        TraceForm::Csv => read_csv(source)?,
        TraceForm::JsonLines => read_json(source)?,
    };
    if requests.is_empty() {
        return Err(TraceError::Empty);
    }
    requests.sort_by(|left, right| left.arrival_s.total_cmp(&right.arrival_s));
    let first = requests.first().map_or(0.0, |request| request.arrival_s);
    for request in &mut requests {
        request.arrival_s -= first;
    }
    Ok(requests)
}

fn read_csv(source: impl BufRead) -> Result<Vec<Request>, TraceError> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(source);
    let syntax = |error: &csv::Error| TraceError::Syntax {
        line: error.position().map_or(1, csv::Position::line),
        message: error.to_string(),
    };
    let headers = reader.headers().map_err(|error| syntax(&error))?.clone();
    let mut requests = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| syntax(&error))?;
        let line = record.position().map_or(0, csv::Position::line);
        let field = |name: &str| {
            let at = headers.iter().position(|header| header == name)?;
            record.get(at).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        push(&mut requests, request(line, &field)?)?;
    }
    Ok(requests)
}

fn read_json(mut source: impl BufRead) -> Result<Vec<Request>, TraceError> {
    let mut requests = Vec::new();
    let mut text = Vec::new();
    for line in 1.. {
        text.clear();
        let mut limited = std::io::Read::take(&mut source, LONGEST_LINE);
        let read =
            limited.read_until(b'\n', &mut text).map_err(|source| TraceError::Read { line, source })?;
        if read == 0 {
            break;
        }
        if u64::try_from(read).is_ok_and(|read| read >= LONGEST_LINE) {
            return Err(TraceError::Syntax { line, message: "longer than 1 MiB".to_owned() });
        }
        if text.trim_ascii().is_empty() {
            continue;
        }
        let value: Value = serde_json::from_slice(&text)
            .map_err(|error| TraceError::Syntax { line, message: error.to_string() })?;
        let field = |name: &str| match value.get(name)? {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        push(&mut requests, request(line, &field)?)?;
    }
    Ok(requests)
}

fn push(requests: &mut Vec<Request>, request: Request) -> Result<(), TraceError> {
    if requests.len() >= MOST_REQUESTS {
        return Err(TraceError::TooMany);
    }
    requests.push(request);
    Ok(())
}

/// One request from its fields.
fn request(line: u64, field: &dyn Fn(&str) -> Option<String>) -> Result<Request, TraceError> {
    let find = |names: &[&'static str]| names.iter().find_map(|name| Some((*name, field(name)?)));
    let number = |(name, text): (&str, String), expected: &'static str, least: f64, most: f64| {
        let value = text.parse::<f64>().ok().filter(|value| (least..=most).contains(value));
        value.ok_or_else(|| TraceError::Value {
            line,
            name: name.to_owned(),
            found: text.chars().take(40).collect(),
            expected,
        })
    };
    let tokens = |what: &'static str, names: &'static [&'static str]| {
        let found = find(names).ok_or(TraceError::Missing { line, what, names })?;
        number(found, "a whole number of tokens from 1 to 16777216", 1.0, 16_777_216.0)
            .map(crate::law::whole32)
    };
    let time = |found: Option<(&str, String)>, scale: f64| {
        found
            .map(|found| number(found, "a time of at least 0", 0.0, 1e15).map(|time| time * scale))
            .transpose()
    };
    let arrival_s = match time(find(&SECONDS), 1.0)? {
        Some(seconds) => seconds,
        None => time(find(&MILLISECONDS), 1e-3)?.unwrap_or(0.0),
    };
    let cached = find(&CACHED)
        .map(|found| number(found, "a whole number of tokens of at least 0", 0.0, 16_777_216.0))
        .transpose()?
        .map(crate::law::whole32);
    Ok(Request {
        arrival_s,
        input: tokens("input tokens", &INPUT)?,
        output: tokens("output tokens", &OUTPUT)?,
        cached,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_say_the_same() {
        let csv = "arrival_s, isl,osl\n2.5,100,20\n1.5,300,40\n";
        let json = "{\"timestamp\": 2500, \"input_length\": 100, \"output_length\": 20}\n\n\
            {\"timestamp\": 1500, \"input_length\": 300, \"output_length\": 40}\n";
        let expected = [
            Request { arrival_s: 0.0, input: 300, output: 40, cached: None },
            Request { arrival_s: 1.0, input: 100, output: 20, cached: None },
        ];
        assert_eq!(read_trace(csv.as_bytes(), TraceForm::Csv).unwrap(), expected);
        assert_eq!(read_trace(json.as_bytes(), TraceForm::JsonLines).unwrap(), expected);
    }

    #[test]
    fn faults_are_named_with_their_line() {
        for (text, expected) in [
            ("isl,osl\n", "no requests"),
            ("isl\n5\n", "line 2: no output tokens"),
            ("isl,osl,arrival_s\n5,5,-1\n", "line 2: arrival_s is -1"),
            ("isl,osl\n5,5\n0,5\n", "line 3: isl is 0"),
            ("isl,osl\n5,NaN\n", "osl is NaN"),
        ] {
            let error = read_trace(text.as_bytes(), TraceForm::Csv).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        let error = read_trace(&b"{\"isl\": 4, \"osl\": 5}\n{"[..], TraceForm::JsonLines).unwrap_err();
        assert!(error.to_string().starts_with("line 2"), "{error}");
    }
}
