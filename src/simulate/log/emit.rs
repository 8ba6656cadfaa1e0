//! Writing a planned log.

use std::io::{self, Write};

use super::atom::{self, AtomPlan};
use super::draws::DrawSource;
use super::sglang::{self, SglangPlan};
use super::summary::{Summary, Window};
use super::vllm::{self, VllmPlan};

/// A log that can be written.
#[derive(Clone, Debug)]
pub enum LogPlan {
    /// Decode lines of SGLang.
    Sglang(SglangPlan),
    /// Windows of vLLM.
    Vllm(VllmPlan),
    /// Statistics of ATOM.
    Atom(AtomPlan),
}

/// Writes a log: the same bytes for the same plan and draws, on any number of threads (those of the rayon pool that it
/// is called in).
///
/// ```
/// use accsim::law::Draws;
/// use accsim::simulate::log::{DrawSource, DrawStream, LogPlan, Run, SglangLog, SglangPlan, write_log};
///
/// /// Every step accepts four tokens.
/// struct Four;
/// impl DrawStream for Four {
///     fn draw(&mut self) -> u32 {
///         4
///     }
/// }
/// impl DrawSource for Four {
///     type Stream = Four;
///     fn stream(&self, _server: u32, _rank: u32) -> Four {
///         Four
///     }
///     fn draws(&self, _server: u32) -> Draws {
///         Draws::Shared
///     }
///     fn longest(&self, _server: u32) -> u32 {
///         4
///     }
/// }
///
/// let log = SglangLog::new("0.5.16".parse()?, "2026-10-12T01:02:03".parse()?, vec![Run::new(60)]);
/// let mut text = Vec::new();
/// let summary = write_log(&LogPlan::Sglang(SglangPlan::new(log)?), &Four, &mut text)?;
/// assert_eq!(summary.decode_lines, 60);
/// let text = String::from_utf8(text)?;
/// assert_eq!(text.matches(", accept len: 4.00, accept rate: 0.60, cuda graph: True, ").count(), 60);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_log<S: DrawSource>(plan: &LogPlan, source: &S, out: &mut impl Write) -> io::Result<Summary> {
    write_log_with(plan, source, out, &mut |_| {})
}

/// [`write_log`], and hands every decode line or window to `seen` as it was drawn, in the order of the log.
pub fn write_log_with<S: DrawSource>(
    plan: &LogPlan,
    source: &S,
    out: &mut impl Write,
    seen: &mut impl FnMut(&Window),
) -> io::Result<Summary> {
    match plan {
        LogPlan::Sglang(plan) => sglang::write(plan, source, out, seen),
        LogPlan::Vllm(plan) => vllm::write(plan, source, out, seen),
        LogPlan::Atom(plan) => atom::write(plan, source, out, seen),
    }
}
