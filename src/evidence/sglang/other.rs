//! Lines of other engines, found in the same pass; their own rooms read them.

use crate::evidence::{
    AtomForced, AtomStats, EchoedSetting, EngineLine, Record, SkipReason, Skipped, TrtllmIteration,
    VllmEngine, VllmSpec, vllm,
};

use super::head::{EngineHead, Head, Hit};
use super::lines::CONTEXT;

/// Where the line's own text begins in what stands before its head.
pub(super) fn start(head: EngineHead, before: &[u8]) -> usize {
    match head {
        EngineHead::VllmEngine => VllmEngine::start(before),
        EngineHead::TrtllmIteration => TrtllmIteration::start(before).unwrap_or(before.len()),
        _ => before.len(),
    }
}

/// Reads a line from what stands before and behind its head.
pub(super) fn line(head: EngineHead, before: &[u8], message: &[u8]) -> Result<EngineLine, SkipReason> {
    match head {
        EngineHead::VllmSpec => VllmSpec::parse(before, message, false).map(EngineLine::VllmSpec),
        EngineHead::VllmLegacy => VllmSpec::parse(before, message, true).map(EngineLine::VllmSpec),
        EngineHead::VllmEngine => VllmEngine::parse(before, message).map(EngineLine::VllmEngine),
        EngineHead::TrtllmIteration => {
            let start = TrtllmIteration::start(before).ok_or(SkipReason::Truncated)?;
            TrtllmIteration::parse(before.get(start..).unwrap_or(&[]), message)
                .map(EngineLine::TrtllmIteration)
        }
        EngineHead::AtomStats => AtomStats::parse(before, message).map(EngineLine::AtomStats),
        EngineHead::AtomForced => AtomForced::parse(before, message).map(EngineLine::AtomForced),
    }
}

/// Reads what may stand inside a record: settings of another engine, each once a line, and texts that look like a sample
/// and are none.
pub(super) fn inner(text: &[u8], done: usize, hit: Hit, sink: &mut impl FnMut(&Record<'_>)) {
    let before = text.get(..hit.at).unwrap_or(&[]);
    if hit.head == Head::Config {
        let is_first = vllm::CONFIG_WORDS.iter().all(|word| memchr::memmem::find(before, word).is_none());
        if is_first {
            for (name, value) in vllm::settings(text) {
                sink(&Record::Setting(EchoedSetting { name, value: &value }));
            }
        }
        return;
    }
    // What follows the head of a record is a field of it.
    let heads: [&[u8]; 2] = [b"SpecDecoding metrics:", b"Speculative metrics:"];
    if heads.iter().any(|head| memchr::memmem::find(before, head).is_some()) {
        return;
    }
    let text = text.get(done.max(hit.at.saturating_sub(CONTEXT))..).unwrap_or(&[]);
    sink(&Record::Skipped(Skipped { reason: SkipReason::Lookalike, text }));
}
