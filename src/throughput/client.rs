//! What a benchmark client measured: per phase its requests, with start, end and lengths.

use serde::Deserialize;

use super::json::JsonFault;
use super::sim::{Percentiles, Request};

/// Most requests that are read.
const MOST_REQUESTS: usize = 5_000_000;

/// The measurements of one client.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientRun {
    /// Phases, each at its own concurrency.
    pub phases: Vec<Phase>,
}

/// A phase of a closed loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Clients.
    pub concurrency: u32,
    /// Seconds from the first request to the last token.
    pub seconds: f64,
    /// Seconds in which requests were sent, where the client says.
    pub sending_s: Option<f64>,
    /// Requests in the order of their start; times count from the start of the phase.
    pub requests: Vec<Timed>,
}

/// A request as its client saw it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timed {
    /// When it was sent.
    pub start_s: f64,
    /// When its last token came.
    pub end_s: f64,
    /// Input tokens.
    pub input: u32,
    /// Output tokens.
    pub output: u32,
}

/// Why a file is no client's.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Not JSON, or not with these fields.
    #[error("not what a client measured: {0}")]
    Syntax(JsonFault),
    /// A number that no client measures.
    #[error("phase {phase}, request {request}: {what}")]
    Request {
        /// Phase, from 0.
        phase: usize,
        /// Request, from 0.
        request: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// A phase that makes no sense.
    #[error("phase {phase}: {what}")]
    Phase {
        /// Phase, from 0.
        phase: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// Too much of it.
    #[error("more than {MOST_REQUESTS} requests")]
    TooMany,
}

#[derive(Deserialize)]
struct File {
    phases: Vec<FilePhase>,
}

#[derive(Deserialize)]
struct FilePhase {
    concurrency: u32,
    start: f64,
    end: f64,
    #[serde(default)]
    stop: Option<f64>,
    /// Start, end, input tokens, output tokens, and what else the client noted.
    req: Vec<Vec<Option<f64>>>,
}

/// Reads the JSON of a client: `{"phases": [{"concurrency", "start", "end", "stop", "req": [[start, end, input, output, ..], ..]}]}`,
/// times in Unix seconds.
pub fn read_client(text: &[u8]) -> Result<ClientRun, ClientError> {
    let file: File = serde_json::from_slice(text).map_err(|error| ClientError::Syntax(error.into()))?;
    if file.phases.iter().map(|phase| phase.req.len()).sum::<usize>() > MOST_REQUESTS {
        return Err(ClientError::TooMany);
    }
    let phases =
        file.phases.iter().enumerate().map(|(at, phase)| read_phase(at, phase)).collect::<Result<_, _>>()?;
    Ok(ClientRun { phases })
}

fn read_phase(number: usize, phase: &FilePhase) -> Result<Phase, ClientError> {
    let fault = |what| Err(ClientError::Phase { phase: number, what });
    let seconds = phase.end - phase.start;
    if !(seconds.is_finite() && seconds > 0.0) {
        return fault("it ends before it starts: negative time");
    }
    if phase.concurrency == 0 {
        return fault("its concurrency is 0");
    }
    let mut requests = Vec::with_capacity(phase.req.len());
    for (at, row) in phase.req.iter().enumerate() {
        let fault = |what| ClientError::Request { phase: number, request: at, what };
        let number = |at: usize| row.get(at).copied().flatten();
        let (Some(start), Some(end)) = (number(0), number(1)) else {
            return Err(fault("start or end is missing"));
        };
        let tokens =
            |at: usize| number(at).filter(|tokens| (1.0..=1.6e7).contains(tokens)).map(crate::law::whole32);
        let (Some(input), Some(output)) = (tokens(2), tokens(3)) else {
            return Err(fault("input or output tokens are missing, below 1 or above 16 million"));
        };
        if !(end.is_finite() && start.is_finite() && end >= start) {
            return Err(fault("it ends before it starts: negative time"));
        }
        requests.push(Timed { start_s: start - phase.start, end_s: end - phase.start, input, output });
    }
    if requests.is_empty() {
        return fault("it has no requests");
    }
    requests.sort_by(|left, right| left.start_s.total_cmp(&right.start_s));
    let sending_s = phase.stop.map(|stop| stop - phase.start).filter(|sending| *sending > 0.0);
    Ok(Phase { concurrency: phase.concurrency, seconds, sending_s, requests })
}

impl Phase {
    /// Output tokens a second from the first request to the last token.
    #[must_use]
    pub fn output_tps(&self) -> f64 {
        self.requests.iter().map(|request| f64::from(request.output)).sum::<f64>() / self.seconds
    }

    /// Seconds from start to end of the requests; `None` without requests.
    #[must_use]
    pub fn e2e_s(&self) -> Option<Percentiles> {
        Percentiles::of(
            &self.requests.iter().map(|request| request.end_s - request.start_s).collect::<Vec<_>>(),
        )
    }

    /// The requests as a trace, in the order of their start.
    #[must_use]
    pub fn trace(&self) -> Vec<Request> {
        let request = |timed: &Timed| Request {
            arrival_s: timed.start_s.max(0.0),
            input: timed.input,
            output: timed.output,
            cached: None,
        };
        self.requests.iter().map(request).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_times_are_refused() {
        let good =
            r#"{"phases": [{"concurrency": 1, "start": 10, "end": 14, "req": [[10, 12, 5, 6, null]]}]}"#;
        let run = read_client(good.as_bytes()).unwrap();
        assert!((run.phases[0].output_tps() - 1.5).abs() < 1e-12);
        assert!((run.phases[0].e2e_s().unwrap().mean - 2.0).abs() < 1e-12);
        for (from, to, expected) in [
            ("[10, 12", "[12, 10", "negative time"),
            ("\"end\": 14", "\"end\": 4", "negative time"),
            ("5, 6", "5, 0", "below 1"),
            ("\"concurrency\": 1", "\"concurrency\": 0", "concurrency is 0"),
            ("[[10, 12, 5, 6, null]]", "[]", "no requests"),
            ("phases", "pages", "not what a client measured"),
        ] {
            let error = read_client(good.replace(from, to).as_bytes()).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
