//! Why logs give no model at all, and which runs are refused.

use std::collections::BTreeMap;

use crate::evidence::Place;
use crate::throughput::model::Source;
use crate::throughput::observe::LogRun;

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
    /// All lines were excluded.
    #[error("no steady decode lines among {lines}: {excluded}; run longer at a constant concurrency")]
    NothingSteady {
        /// Decode lines.
        lines: u64,
        /// Why they do not count.
        excluded: String,
    },
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
