//! The columns that records are packed by, as they are written and read.

use crate::audit::stray::Stray;
use crate::evidence::{GraphLabel, JSON_BROKEN, JSON_CUT, SkipReason, Skipped, TEXT_CUT, Tags};

use super::wire::Bytes;

/// Columns: see [`Column`].
pub(super) const COLUMNS: usize = 14;

#[derive(Clone, Copy, Debug)]
pub(super) enum Column {
    Kind,
    Line,
    Tags,
    Time,
    Iteration,
    Running,
    AcceptLen,
    AcceptRate,
    Flags,
    Throughput,
    Queue,
    Tokens,
    Message,
    Other,
}

pub(super) const DECODE: u8 = 0;
pub(super) const PREFILL: u8 = 1;
pub(super) const START: u8 = 2;
pub(super) const FLUSH: u8 = 3;
pub(super) const SETTING: u8 = 4;
pub(super) const SKIPPED: u8 = 5;
pub(super) const ENGINE: u8 = 6;
pub(super) const COUNTERS: u8 = 7;

pub(super) const LABELS: [GraphLabel; 4] =
    [GraphLabel::Cuda, GraphLabel::Cpu, GraphLabel::Npu, GraphLabel::Musa];

pub(super) const REASONS: [SkipReason; 4] =
    [SkipReason::Truncated, SkipReason::Duplicate, SkipReason::Lookalike, SkipReason::NotFinite];

/// Words of lines that are no evidence and are told apart all the same: of windows in which an engine drafted nothing.
const UNDRAFTED: [&str; 3] = ["SpecDecoding metrics:", "Speculative metrics:", "[MTP Stats"];

/// What is kept of a line that was passed over: all of what this program itself says about a document that ends early,
/// and the words that tell what else it is. Of lines that no server's log has only the first one tells.
pub(super) fn clue(skipped: &Skipped<'_>, has_stray: &mut bool) -> String {
    let is_whole = |words: &&str| skipped.text == words.as_bytes();
    if let Some(words) = [JSON_CUT, TEXT_CUT, JSON_BROKEN].into_iter().find(is_whole) {
        return words.to_owned();
    }
    let is_in = |words: &&str| memchr::memmem::find(skipped.text, words.as_bytes()).is_some();
    let is_window = skipped.reason == SkipReason::NotFinite;
    let window = UNDRAFTED.into_iter().filter(|_| is_window).find(is_in);
    let stray = Stray::of(skipped.text).filter(|_| !std::mem::replace(has_stray, true));
    format!("{}{}", window.unwrap_or(""), stray.map_or("", Stray::mark))
}

/// Tags and columns apart.
#[derive(Clone)]
pub(super) struct Split<'a> {
    pub(super) columns: [Bytes<'a>; COLUMNS],
    pub(super) tags: Vec<Tags>,
}

pub(super) fn split(bytes: &[u8]) -> Option<Split<'_>> {
    let mut bytes = Bytes(bytes);
    let mut tags = Vec::new();
    for _ in 0..bytes.number()? {
        tags.push(Tags::parse(bytes.text()?));
    }
    let mut columns = [Bytes::default(); COLUMNS];
    for column in &mut columns {
        *column = Bytes(bytes.text()?);
    }
    bytes.0.is_empty().then_some(Split { columns, tags })
}
