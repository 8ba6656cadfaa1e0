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
    /// A time before that of the request before it.
    #[error(
        "line {line}: it arrives at {found} s, before the request above it ({last} s); sort the trace by time"
    )]
    Unsorted {
        /// Line, from 1.
        line: u64,
        /// Its time, in seconds.
        found: f64,
        /// The one before.
        last: f64,
    },
    /// Two columns that say the same thing.
    #[error("line {line}: the columns {left} and {right} say the same thing; leave one out")]
    Twice {
        /// Line, from 1.
        line: u64,
        /// One of them.
        left: String,
        /// The other.
        right: String,
    },
    /// Nothing in it.
    #[error("the trace holds no requests")]
    Empty,
    /// Too much in it.
    #[error("more than {MOST_REQUESTS} requests")]
    TooMany,
}

/// Reads a trace. Times are seconds (`arrival_s`) or milliseconds (`timestamp`, as Mooncake's traces have them), counted from
/// the first request, and never go back; a trace without times serves a closed loop.
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
    let mut requests = Requests::default();
    match form {
        TraceForm::Csv => read_csv(source, &mut requests)?,
        TraceForm::JsonLines => read_json(source, &mut requests)?,
    }
    let mut requests = requests.list;
    if requests.is_empty() {
        return Err(TraceError::Empty);
    }
    let first = requests.first().map_or(0.0, |request| request.arrival_s);
    for request in &mut requests {
        request.arrival_s -= first;
    }
    Ok(requests)
}

/// Requests in the order of their arrival.
#[derive(Default)]
struct Requests {
    list: Vec<Request>,
    /// Whether requests have times, once there is one.
    timed: Option<bool>,
}

impl Requests {
    fn push(&mut self, line: u64, request: Request, timed: bool) -> Result<(), TraceError> {
        if self.list.len() >= MOST_REQUESTS {
            return Err(TraceError::TooMany);
        }
        if *self.timed.get_or_insert(timed) != timed {
            let message = if timed {
                "an arrival time, which the requests before it do not have"
            } else {
                "no arrival time, which the requests before it have"
            };
            return Err(TraceError::Syntax { line, message: message.to_owned() });
        }
        if let Some(last) = self.list.last().filter(|last| request.arrival_s < last.arrival_s) {
            return Err(TraceError::Unsorted { line, found: request.arrival_s, last: last.arrival_s });
        }
        self.list.push(request);
        Ok(())
    }
}

/// Refuses a table that names a thing twice, and one that lacks a column, before its first row.
fn check_headers(headers: &csv::StringRecord) -> Result<(), TraceError> {
    for (name, at) in headers.iter().zip(1..) {
        if !name.is_empty() && headers.iter().skip(at).any(|other| other == name) {
            return Err(TraceError::Twice { line: 1, left: name.to_owned(), right: name.to_owned() });
        }
    }
    let times: Vec<&'static str> = SECONDS.iter().chain(&MILLISECONDS).copied().collect();
    let kinds: [&[&str]; 4] = [&times, &INPUT, &OUTPUT, &CACHED];
    for names in kinds {
        let mut found = headers.iter().filter(|header| names.contains(header));
        if let Some((left, right)) = found.next().zip(found.next()) {
            return Err(TraceError::Twice { line: 1, left: left.to_owned(), right: right.to_owned() });
        }
    }
    let missing = |what, names: &'static [&'static str]| {
        let has = headers.iter().any(|header| names.contains(&header));
        if has { Ok(()) } else { Err(TraceError::Missing { line: 1, what, names }) }
    };
    missing("input tokens", &INPUT)?;
    missing("output tokens", &OUTPUT)
}

fn read_csv(source: impl BufRead, requests: &mut Requests) -> Result<(), TraceError> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(source);
    let syntax = |error: &csv::Error| TraceError::Syntax {
        line: error.position().map_or(1, csv::Position::line),
        message: error.to_string(),
    };
    let headers = reader.headers().map_err(|error| syntax(&error))?.clone();
    check_headers(&headers)?;
    for record in reader.records() {
        let record = record.map_err(|error| syntax(&error))?;
        let line = record.position().map_or(0, csv::Position::line);
        let field = |name: &str| {
            let at = headers.iter().position(|header| header == name)?;
            record.get(at).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let (request, timed) = request(line, &field)?;
        requests.push(line, request, timed)?;
    }
    Ok(())
}

fn read_json(mut source: impl BufRead, requests: &mut Requests) -> Result<(), TraceError> {
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
        let (request, timed) = request(line, &field)?;
        requests.push(line, request, timed)?;
    }
    Ok(())
}

/// One request from its fields, and whether it has a time.
fn request(line: u64, field: &dyn Fn(&str) -> Option<String>) -> Result<(Request, bool), TraceError> {
    let find = |names: &[&'static str]| names.iter().find_map(|name| Some((*name, field(name)?)));
    let number = |(name, text): (&str, String), expected: &'static str, least: f64, most: f64| {
        let value = text.parse::<f64>().ok().filter(|value| (least..=most).contains(value));
        value.ok_or_else(|| TraceError::Value {
            line,
            name: name.to_owned(),
            found: clipped(&text),
            expected,
        })
    };
    let whole = |(name, text): (&'static str, String), expected, least| {
        let value = number((name, text.clone()), expected, least, 16_777_216.0)?;
        if value.fract() > 0.0 {
            return Err(TraceError::Value { line, name: name.to_owned(), found: clipped(&text), expected });
        }
        Ok(crate::law::whole32(value))
    };
    let tokens = |what: &'static str, names: &'static [&'static str]| {
        let found = find(names).ok_or(TraceError::Missing { line, what, names })?;
        whole(found, "a whole number of tokens from 1 to 16777216", 1.0)
    };
    let time = |found: Option<(&str, String)>, scale: f64| {
        found
            .map(|found| number(found, "a time of at least 0", 0.0, 1e15).map(|time| time * scale))
            .transpose()
    };
    let arrival_s = match time(find(&SECONDS), 1.0)? {
        Some(seconds) => Some(seconds),
        None => time(find(&MILLISECONDS), 1e-3)?,
    };
    let cached =
        find(&CACHED).map(|found| whole(found, "a whole number of tokens of at least 0", 0.0)).transpose()?;
    let request = Request {
        arrival_s: arrival_s.unwrap_or(0.0),
        input: tokens("input tokens", &INPUT)?,
        output: tokens("output tokens", &OUTPUT)?,
        cached,
    };
    Ok((request, arrival_s.is_some()))
}

/// What a message can hold of a field.
fn clipped(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_say_the_same() {
        let csv = "arrival_s, isl,osl\n1.5,300,40\n2.5,100,20\n";
        let json = "{\"timestamp\": 1500, \"input_length\": 300, \"output_length\": 40}\n\n\
            {\"timestamp\": 2500, \"input_length\": 100, \"output_length\": 20}\n";
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
            ("isl\n5\n", "line 1: no output tokens"),
            ("osl\n5\n", "line 1: no input tokens"),
            ("isl,osl\n5,5\n5,\n", "line 3: no output tokens"),
            ("isl,osl,isl\n5,5,5\n", "line 1: the columns isl and isl say the same thing"),
            ("isl,osl,input_tokens\n5,5,5\n", "line 1: the columns isl and input_tokens say the same"),
            ("isl,osl\n5,5\nisl,osl\n", "line 3: isl is isl"),
            (
                "isl,osl,arrival_s\n5,5,2\n5,5,1\n",
                "line 3: it arrives at 1 s, before the request above it (2 s)",
            ),
            ("isl,osl,arrival_s\n5,5,2\n5,5,\n", "line 3: no arrival time"),
            ("isl,osl,arrival_s\n5,5,NaN\n", "line 2: arrival_s is NaN"),
            ("isl,osl\n5,0\n", "line 2: osl is 0"),
            ("isl,osl\n5.5,5\n", "line 2: isl is 5.5"),
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
