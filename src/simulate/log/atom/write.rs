//! The statistics of an ATOM server as text.

use std::io::{self, Write};

use super::plan::{AtomLog, AtomPlan, Forced};
use crate::evidence::Tags;
use crate::law::float;
use crate::simulate::log::draws::{DrawSource, DrawStream, Mixer};
use crate::simulate::log::load::step_us;
use crate::simulate::log::page::Page;
use crate::simulate::log::summary::{Fate, Summary, Window};
use crate::simulate::log::tally::Tally;
use crate::simulate::log::text::{Text, decimals, quotient};
use crate::simulate::log::time::{Clock, Stamp};

/// Sequence-steps after which a scheduler writes.
const INTERVAL_STEPS: u64 = 1000;

/// Microseconds from the start to the first request.
const STARTUP_US: u64 = 30_000_000;

struct Scheduler<S> {
    stream: S,
    chance: Mixer,
    /// Steps of the interval by accept length, and since the start.
    lengths: Vec<u64>,
    total: Vec<u64>,
    next: u64,
}

/// Writes a log and hands every interval to `seen`.
pub(in crate::simulate::log) fn write<S: DrawSource>(
    plan: &AtomPlan,
    source: &S,
    out: &mut impl Write,
    seen: &mut impl FnMut(&Window),
) -> io::Result<Summary> {
    let log = plan.log();
    let lengths = vec![0; usize::try_from(log.draft_length).unwrap_or(0) + 1];
    let mut schedulers: Vec<_> = (0..log.schedulers)
        .map(|rank| Scheduler {
            stream: source.stream(0, rank),
            chance: Mixer::new(log.seed, rank.into()),
            lengths: lengths.clone(),
            total: lengths.clone(),
            next: STARTUP_US,
        })
        .collect();
    let mut tally = Tally::default();
    tally.start(0, schedulers.iter().map(|_| Tags::default()));
    let mut page = Page::new(log.start, &log.damage, log.seed);
    if let Some(forced) = &log.forced {
        page.line(0, 0, |clock, text| forced_line(forced, clock, text));
        tally.other();
    }
    for _ in 0..log.intervals {
        for (rank, scheduler) in (0..).zip(&mut schedulers) {
            let window = scheduler.interval(log, rank);
            for (head, lengths) in
                [("[MTP Stats Interval] ", &scheduler.lengths), ("[MTP Stats         ] ", &scheduler.total)]
            {
                page.line(scheduler.next, rank, |clock, text| {
                    prefix(scheduler.next, clock, text);
                    text.put(head.as_bytes());
                    statistics(log, lengths, text);
                });
            }
            tally.other();
            tally.decode(&window);
            seen(&window);
        }
        page.write_full(out)?;
    }
    let bytes = page.finish(out)?;
    tally.damage(page.counts());
    Ok(tally.finish(bytes))
}

impl<S: DrawStream> Scheduler<S> {
    fn interval(&mut self, log: &AtomLog, rank: u32) -> Window {
        let running = u64::from(log.running);
        let pace = self.chance.between(970, 1030);
        self.next += INTERVAL_STEPS.div_ceil(running) * step_us(running) * pace / 1000;
        self.lengths.fill(0);
        self.stream.tally(INTERVAL_STEPS, &mut self.lengths);
        self.total.iter_mut().zip(&self.lengths).for_each(|(total, count)| *total += count);
        Window {
            server: 0,
            rank,
            running,
            queue: 0,
            tokens: 0,
            accepted: accepted(&self.lengths) + INTERVAL_STEPS,
            request_steps: INTERVAL_STEPS,
            accept_len: None,
            accept_rate: None,
            fate: Fate::Whole,
        }
    }
}

/// Accepted drafts.
fn accepted(lengths: &[u64]) -> u64 {
    (0..).zip(lengths).map(|(accepted, count): (u64, _)| accepted * count).sum()
}

/// `[atom 14:45:50] `
fn prefix(at: u64, clock: &mut Clock, text: &mut Text) {
    text.put(b"[atom ");
    clock.write(at, Stamp::Clock, text);
    text.put(b"] ");
}

fn statistics(log: &AtomLog, lengths: &[u64], text: &mut Text) {
    let steps: u64 = lengths.iter().sum();
    let accepted = accepted(lengths);
    let drafted = steps * u64::from(log.draft_length);
    text.put(b"Average toks/fwd: ");
    text.hundredths(quotient(accepted + steps, steps));
    text.put(b", Accepted/Total Draft tokens: ");
    text.integer(accepted);
    text.put(b"/");
    text.integer(drafted);
    text.put(b", Acceptance rate: ");
    text.hundredths(percent(accepted, drafted));
    text.put(b"%, Accepted tokens distribution: {");
    let counts = (0..).zip(lengths).filter(|(_, count)| **count > 0);
    for (index, (accepted, count)) in counts.enumerate() {
        if index > 0 {
            text.put(b", ");
        }
        text.integer(accepted);
        text.put(b": '");
        text.hundredths(percent(*count, steps));
        text.put(b"%'");
    }
    text.put(b"}");
}

/// Hundredths of a percent.
fn percent(part: u64, whole: u64) -> u64 {
    decimals(float(part) / float(whole) * 100.0, 100).unwrap_or(0)
}

fn forced_line(forced: &Forced, clock: &mut Clock, text: &mut Text) {
    prefix(0, clock, text);
    // Python writes a list of floats as Rust's debug format does, 1.0 included.
    text.put(
        format!(
            "Forced speculative acceptance ON: mean acceptance length {:.4} over {} draft positions (per-position \
             rates {:?}). Throughput numbers from this run are synthetic; output text and accuracy are meaningless.",
            forced.accept_length,
            forced.rates.len(),
            forced.rates
        )
        .as_bytes(),
    );
}
