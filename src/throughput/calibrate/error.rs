//! Why logs give no model at all, and which runs are refused.

use std::collections::BTreeMap;

use crate::evidence::{Place, ServerStart};
use crate::throughput::model::Source;
use crate::throughput::observe::LogRun;

use super::server::is_plain;

/// Why logs give no model at all.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CalibrateError {
    /// No decode line in any log.
    #[error("no decode lines: nothing can be calibrated")]
    NoDecodeLines,
    /// vLLM's lines of speculative decoding alone.
    #[error(
        "{name}: {lines} lines of speculative decoding, but none of the engine (`Avg generation throughput`, `Running`): step times \
         cannot be told; keep the engine's info lines"
    )]
    NoEngineLines {
        /// The input.
        name: String,
        /// Lines of speculative decoding.
        lines: u64,
    },
    /// Decode lines without a throughput above 0.
    #[error(
        "{name}: none of {lines} decode lines has a gen throughput above 0: step times cannot be told; use a log of SGLang 0.3.6 \
         or later, as the server wrote it"
    )]
    NoThroughput {
        /// The input.
        name: String,
        /// Decode lines.
        lines: u64,
    },
    /// The clock goes back.
    #[error(
        "{name}, line {line}: the clock goes back by {seconds} s, so windows and prefills cannot be matched; cut the log there \
         and give the parts as two logs"
    )]
    ClockBack {
        /// The input.
        name: String,
        /// The line.
        line: u64,
        /// Seconds.
        seconds: i64,
    },
    /// Windows and clock contradict each other throughout.
    #[error(
        "{name}: on {jumps} of {lines} decode lines (first on line {line}) the clock went on by far more than the line's \
         throughput allows; the log is not as a server wrote it"
    )]
    ClockJumps {
        /// The input.
        name: String,
        /// The first line.
        line: u64,
        /// Lines with a jump.
        jumps: u64,
        /// Decode lines.
        lines: u64,
    },
    /// Nothing tells the draft length of one run of several.
    #[error(
        "{name}: the log does not say how many tokens are drafted a step, so it cannot be put beside the other runs; name them \
         with --draft-length"
    )]
    NoDraftLength {
        /// The input.
        name: String,
    },
    /// Runs of servers that are not the same.
    #[error(
        "{first} and {other} are logs of different servers ({what}: {left} and {right}): calibrate on each alone"
    )]
    OtherServer {
        /// The first run that says so.
        first: String,
        /// Another one.
        other: String,
        /// What differs.
        what: &'static str,
        /// What the first says.
        left: String,
        /// What the other says.
        right: String,
    },
    /// One run, given twice.
    #[error("{first} and {other} are the same run, line by line: give it once")]
    SameRun {
        /// The first input.
        first: String,
        /// The other one.
        other: String,
    },
    /// A line that no server with this draft length writes.
    #[error(
        "{name}, line {line}: accept length {found} is more than the {most} tokens that a step with {drafts} drafts can emit"
    )]
    AcceptLength {
        /// The input.
        name: String,
        /// The line.
        line: u64,
        /// Its accept length.
        found: f64,
        /// The most.
        most: u32,
        /// Draft tokens.
        drafts: u32,
    },
    /// A draft length by hand that the log contradicts.
    #[error("{name}: the log says draft length {stated}, --draft-length {given}; leave the flag out")]
    DraftLength {
        /// The input.
        name: String,
        /// What its log says.
        stated: u32,
        /// What was given.
        given: u32,
    },
    /// All lines were excluded.
    #[error("no steady decode lines among {lines}: {excluded}; run longer at a constant concurrency")]
    NothingSteady {
        /// Decode lines.
        lines: u64,
        /// Why they do not count.
        excluded: String,
    },
}

/// Refuses runs of servers that differ in what a step costs.
pub(super) fn same_server(runs: &[&LogRun]) -> Result<(), CalibrateError> {
    let engine = |run: &LogRun| Some(if run.engine_lines > 0 { "vLLM" } else { "SGLang" }.to_owned());
    let of =
        |figure: fn(&ServerStart) -> Option<String>| move |run: &LogRun| run.server.as_ref().and_then(figure);
    differ(runs, "engine", engine)?;
    differ(runs, "model", of(|server| server.model_path.clone()))?;
    differ(runs, "tensor-parallel size", of(|server| server.tp_size.map(|size| size.to_string())))?;
    differ(runs, "data-parallel size", of(|server| server.dp_size.map(|size| size.to_string())))?;
    differ(runs, "disaggregation", of(|server| server.disaggregation_mode.clone()))?;
    differ(
        runs,
        "CUDA graphs",
        of(|server| server.graphs_disabled.map(|disabled| if disabled { "off" } else { "on" }.to_owned())),
    )?;
    let speculative: Vec<&LogRun> = runs.iter().copied().filter(|run| !is_plain(run)).collect();
    differ(
        &speculative,
        "speculative algorithm",
        of(|server| Some(algorithm(server.speculative_algorithm.as_ref()?))),
    )?;
    for plain in [true, false] {
        let kind: Vec<&LogRun> = runs.iter().copied().filter(|run| is_plain(run) == plain).collect();
        differ(
            &kind,
            "captured batch sizes",
            of(|server| {
                let sizes = &server.graph_batches;
                (!sizes.is_empty()).then(|| sizes.iter().map(u32::to_string).collect::<Vec<_>>().join(" "))
            }),
        )?;
    }
    Ok(())
}

/// The algorithm by the one name that a server gives it: SGLang runs `NEXTN` as `EAGLE`.
fn algorithm(name: &str) -> String {
    let name = name.to_ascii_uppercase();
    if name == "NEXTN" { "EAGLE".to_owned() } else { name }
}

/// Refuses a run that is given twice: each of its lines would count as two observations.
pub(super) fn no_twins(runs: &[&LogRun]) -> Result<(), CalibrateError> {
    let started = |run: &LogRun| run.server.as_ref().and_then(|server| server.timestamp.clone());
    for (at, run) in runs.iter().enumerate() {
        let twin = runs.iter().take(at).find(|first| {
            first.windows.len() == run.windows.len()
                && first.windows == run.windows
                && started(first) == started(run)
        });
        if let Some(first) = twin {
            return Err(CalibrateError::SameRun { first: first.name.clone(), other: run.name.clone() });
        }
    }
    Ok(())
}

/// Refuses runs that say different things; one that says nothing agrees with all.
fn differ(
    runs: &[&LogRun],
    what: &'static str,
    says: impl Fn(&LogRun) -> Option<String>,
) -> Result<(), CalibrateError> {
    let mut said = runs.iter().filter_map(|run| Some((&run.name, says(run)?)));
    let Some((first, left)) = said.next() else { return Ok(()) };
    match said.find(|(_, right)| *right != left) {
        Some((other, right)) => Err(CalibrateError::OtherServer {
            first: if first == other { format!("a log in {first}") } else { first.clone() },
            other: if first == other { "another".to_owned() } else { other.clone() },
            what,
            left: clipped(left),
            right: clipped(right),
        }),
        None => Ok(()),
    }
}

/// What a message can hold.
fn clipped(text: String) -> String {
    if text.chars().count() > 80 { text.chars().take(80).chain("..".chars()).collect() } else { text }
}

/// Refuses a run whose times cannot be believed.
pub(super) fn check(run: &LogRun) -> Result<(), CalibrateError> {
    let name = run.name.clone();
    if run.timed_lines == 0 {
        return Err(CalibrateError::NoThroughput { name, lines: run.decode_lines });
    }
    match run.clock_jump {
        Some((Place { line, .. }, seconds)) if seconds < 0 => {
            Err(CalibrateError::ClockBack { name, line, seconds: -seconds })
        }
        Some((Place { line, .. }, _)) if run.clock_jumps * 10 > run.decode_lines => {
            Err(CalibrateError::ClockJumps { name, line, jumps: run.clock_jumps, lines: run.decode_lines })
        }
        _ => Ok(()),
    }
}

/// All lines were excluded: why.
pub(super) fn nothing_steady(sources: &[Source]) -> CalibrateError {
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    for (reason, lines) in sources.iter().flat_map(|source| &source.excluded) {
        *reasons.entry(reason).or_default() += lines;
    }
    let excluded: Vec<String> = reasons.iter().map(|(reason, lines)| format!("{lines} {reason}")).collect();
    let lines = sources.iter().map(|source| source.decode_lines).sum();
    CalibrateError::NothingSteady { lines, excluded: excluded.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> LogRun {
        let mut run = LogRun::default();
        name.clone_into(&mut run.name);
        run
    }

    /// What is said of two runs with these names.
    fn said(first: &str, other: &str) -> (String, String) {
        let runs = [first, other].map(named);
        let runs: Vec<&LogRun> = runs.iter().collect();
        let says = |run: &LogRun| Some(if std::ptr::eq(run, runs[0]) { "a" } else { "b" }.to_owned());
        match differ(&runs, "model", says) {
            Err(CalibrateError::OtherServer { first, other, what: "model", left, right })
                if (left.as_str(), right.as_str()) == ("a", "b") =>
            {
                (first, other)
            }
            found => panic!("{found:?}"),
        }
    }

    #[test]
    fn logs_of_one_input_are_told_apart_in_words() {
        assert_eq!(said("a.log", "b.log"), ("a.log".to_owned(), "b.log".to_owned()));
        assert_eq!(said("folder", "folder"), ("a log in folder".to_owned(), "another".to_owned()));
    }

    #[test]
    fn a_run_that_says_nothing_agrees_with_all() {
        let runs = ["a", "", "a"].map(named);
        let runs: Vec<&LogRun> = runs.iter().collect();
        let says = |run: &LogRun| Some(run.name.clone()).filter(|name| !name.is_empty());
        assert_eq!(differ(&runs, "model", says), Ok(()));
    }
}
