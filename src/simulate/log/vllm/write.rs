//! The windows of a vLLM server as text.

use std::io::{self, Write};

use super::era::VllmEra;
use super::plan::{VllmLog, VllmPlan};
use crate::evidence::Tags;
use crate::law::float;
use crate::simulate::log::draws::{DrawSource, DrawStream, Mixer};
use crate::simulate::log::load::{Load, step_us};
use crate::simulate::log::page::Page;
use crate::simulate::log::summary::{Fate, Summary, Window};
use crate::simulate::log::tally::Tally;
use crate::simulate::log::text::{Text, decimals};
use crate::simulate::log::time::{Clock, Stamp};

/// One engine at work.
struct Engine<S> {
    number: u32,
    stream: S,
    chance: Mixer,
    /// Request-steps of a window by their accept length.
    lengths: Vec<u64>,
    /// Microseconds since its last window of speculative decoding.
    unwritten: u64,
    /// Since the start: accepted, drafted, emitted.
    totals: [u64; 3],
}

/// What an engine did in a window.
#[derive(Clone, Copy, Debug, Default)]
struct Work {
    running: u64,
    waiting: u64,
    /// N: request-steps with drafts.
    steps: u64,
    accepted: u64,
    drafted: u64,
    prompt_tokens: u64,
    /// Thousandths of the cache.
    cache: u64,
}

/// Writes a log and hands every window to `seen`.
pub(in crate::simulate::log) fn write<S: DrawSource>(
    plan: &VllmPlan,
    source: &S,
    out: &mut impl Write,
    seen: &mut impl FnMut(&Window),
) -> io::Result<Summary> {
    let log = plan.log();
    let length = usize::try_from(log.draft_length).unwrap_or(0) + 1;
    let mut engines: Vec<_> = (0..log.engines)
        .map(|number| Engine {
            number,
            stream: source.stream(0, number),
            chance: Mixer::new(log.seed, number.into()),
            lengths: vec![0; length],
            unwritten: 0,
            totals: [0; 3],
        })
        .collect();
    let mut tally = Tally::default();
    tally.start(0, engines.iter().map(|_| Tags::default()));
    let mut page = Page::new(log.start, &log.damage, log.seed);
    let mut pauses = log.pauses.iter();
    let mut pause = pauses.next();
    let window = u64::from(log.window_seconds) * 1_000_000;
    let mut at = 0;
    for index in 0..log.windows {
        while let Some(idle) = pause.filter(|pause| pause.after_windows <= index) {
            for number in 0..idle.windows {
                at = window.saturating_add(at);
                for engine in &mut engines {
                    engine.idle(log, number == 0, window, at, &mut page, &mut tally);
                }
            }
            pause = pauses.next();
        }
        at = window.saturating_add(at);
        for engine in &mut engines {
            let work = engine.work(log, index, window);
            let seen_window = engine.seen(&work);
            engine.lines(log, &work, at, &mut page);
            tally.other();
            tally.decode(&seen_window);
            seen(&seen_window);
        }
        page.write_full(out)?;
    }
    let bytes = page.finish(out)?;
    tally.damage(page.counts());
    Ok(tally.finish(bytes))
}

impl<S: DrawStream> Engine<S> {
    fn work(&mut self, log: &VllmLog, index: u64, window: u64) -> Work {
        let load = &log.load;
        let clients = load.clients(index);
        let running = clients.min(load.max_running.map_or(u64::MAX, u64::from));
        let pace = self.chance.between(970, 1030);
        // A window in which nothing is drafted is not written, so one step there is.
        let steps = (window * 1000 / (step_us(running) * pace)).max(1) * running;
        self.lengths.fill(0);
        self.stream.tally(steps, &mut self.lengths);
        let accepted: u64 =
            (0..).zip(&self.lengths).map(|(accepted, count): (u64, _)| accepted * count).sum();
        let drafted = steps * u64::from(log.draft_length);
        for (total, more) in self.totals.iter_mut().zip([accepted, drafted, accepted + steps]) {
            *total += more;
        }
        self.unwritten = self.unwritten.saturating_add(window);
        let mean = |range: &std::ops::RangeInclusive<u32>| {
            u64::from(*range.start()).midpoint(u64::from(*range.end()))
        };
        let (input, output) = (mean(&load.input), mean(&load.output));
        Work {
            running,
            waiting: clients - running,
            steps,
            accepted,
            drafted,
            prompt_tokens: (accepted + steps) * input / output.max(1),
            cache: running * (input + output / 2) * 1000 / capacity(load),
        }
    }

    fn seen(&self, work: &Work) -> Window {
        Window {
            server: 0,
            rank: self.number,
            running: work.running,
            queue: work.waiting,
            tokens: 0,
            accepted: work.accepted + work.steps,
            request_steps: work.steps,
            accept_len: None,
            accept_rate: None,
            fate: Fate::Whole,
        }
    }

    /// Nothing ran: the first such window is written, where the era writes one.
    fn idle(
        &mut self,
        log: &VllmLog,
        is_first: bool,
        window: u64,
        at: u64,
        page: &mut Page<'_>,
        tally: &mut Tally,
    ) {
        self.lengths.fill(0);
        self.unwritten = self.unwritten.saturating_add(window);
        if is_first {
            let work = Work::default();
            if log.era != VllmEra::V0 {
                page.line(at, self.number, |clock, text| self.engine_line(log, &work, at, clock, text));
                tally.other();
            }
            if log.era.writes_idle() {
                page.line(at, self.number, |clock, text| self.window_line(log, &work, at, clock, text));
                tally.other();
                self.unwritten = 0;
            }
        }
    }

    fn lines(&mut self, log: &VllmLog, work: &Work, at: u64, page: &mut Page<'_>) {
        // The engine's own line of V0 is of another kind, and not among the lines that this is made after.
        if log.era != VllmEra::V0 {
            page.line(at, self.number, |clock, text| self.engine_line(log, work, at, clock, text));
        }
        page.line(at, self.number, |clock, text| self.window_line(log, work, at, clock, text));
        self.unwritten = 0;
    }

    fn engine_line(&self, log: &VllmLog, work: &Work, at: u64, clock: &mut Clock, text: &mut Text) {
        prefix(log, log.era.places().0, at, clock, text);
        let seconds = float(log.window_seconds.into());
        text.put(b"Engine ");
        text.padded(self.number.into(), if self.number < 1000 { 3 } else { 4 });
        text.put(b": Avg prompt throughput: ");
        put(text, float(work.prompt_tokens) / seconds, 10);
        text.put(b" tokens/s, Avg generation throughput: ");
        put(text, float(work.accepted + work.steps) / seconds, 10);
        text.put(b" tokens/s, Running: ");
        text.integer(work.running);
        text.put(b" reqs, Waiting: ");
        text.integer(work.waiting);
        text.put(b" reqs, GPU KV cache usage: ");
        text.tenths(work.cache);
        text.put(b"%, Prefix cache hit rate: 0.0%");
    }

    fn window_line(&self, log: &VllmLog, work: &Work, at: u64, clock: &mut Clock, text: &mut Text) {
        prefix(log, log.era.places().1, at, clock, text);
        match log.era {
            VllmEra::V0 => self.since_start(log, text),
            VllmEra::V1Early => {
                text.put(b"Speculative metrics: Draft acceptance rate: ");
                put(text, rate(work), 1000);
                text.put(b", Number of accepted tokens: ");
                text.integer(work.accepted);
                text.put(b", Number of draft tokens: ");
                text.integer(work.drafted);
                text.put(b", ");
            }
            VllmEra::Percent => {
                text.put(b"SpecDecoding metrics: Draft acceptance rate: ");
                put(text, rate(work) * 100.0, 10);
                text.put(b"%, ");
                counts(work, text);
            }
            VllmEra::Positions => {
                text.put(b"SpecDecoding metrics: Draft acceptance rate: ");
                put(text, rate(work) * 100.0, 10);
                text.put(b"%, Mean acceptance length: ");
                put(text, length(work), 100);
                text.put(b", ");
                counts(work, text);
                self.positions(work, text);
            }
            VllmEra::Throughput => {
                let seconds = float(self.unwritten) / 1e6;
                text.put(b"SpecDecoding metrics: Mean acceptance length: ");
                put(text, length(work), 100);
                text.put(b", Accepted throughput: ");
                put(text, float(work.accepted) / seconds, 100);
                text.put(b" tokens/s, Drafted throughput: ");
                put(text, float(work.drafted) / seconds, 100);
                text.put(b" tokens/s, ");
                counts(work, text);
                self.positions(work, text);
                text.put(b", Avg Draft acceptance rate: ");
                put(text, rate(work) * 100.0, 10);
                text.put(b"%");
            }
        }
    }

    fn since_start(&self, log: &VllmLog, text: &mut Text) {
        let [accepted, drafted, emitted] = self.totals;
        let steps = drafted / u64::from(log.draft_length);
        text.put(b"Speculative metrics: Draft acceptance rate: ");
        put(text, float(accepted) / float(drafted), 1000);
        // Emitted tokens over the most that so many steps can emit.
        text.put(b", System efficiency: ");
        put(text, float(emitted) / float(steps * (u64::from(log.draft_length) + 1)), 1000);
        text.put(b", Number of speculative tokens: ");
        text.integer(log.draft_length.into());
        text.put(b", Number of accepted tokens: ");
        text.integer(accepted);
        text.put(b", Number of draft tokens: ");
        text.integer(drafted);
        text.put(b", Number of emitted tokens: ");
        text.integer(emitted);
        text.put(b".");
    }

    /// Share of the steps whose first one, two, ... drafts were all accepted.
    fn positions(&self, work: &Work, text: &mut Text) {
        text.put(b", Per-position acceptance rate: ");
        let mut reached: u64 = self.lengths.iter().sum();
        for (index, count) in self.lengths.iter().take(self.lengths.len().saturating_sub(1)).enumerate() {
            reached -= count;
            if index > 0 {
                text.put(b", ");
            }
            put(text, float(reached) / float(work.steps), 1000);
        }
    }
}

/// Tokens in the cache when it is full.
fn capacity(load: &Load) -> u64 {
    let longest = u64::from(*load.input.end()) + u64::from(*load.output.end());
    (u64::from(*load.running.end()) * longest * 5 / 4).max(619_490)
}

/// `(APIServer pid=1) INFO 10-12 01:02:03 [metrics.py:101] `
fn prefix(log: &VllmLog, place: &str, at: u64, clock: &mut Clock, text: &mut Text) {
    if let Some(process) = log.process.filter(|_| log.era.names_process()) {
        text.put(b"(APIServer pid=");
        text.integer(process.into());
        text.put(b") ");
    }
    text.put(b"INFO ");
    clock.write(at, Stamp::YearLess, text);
    text.byte(b' ');
    text.put(place.as_bytes());
}

fn counts(work: &Work, text: &mut Text) {
    text.put(b"Accepted: ");
    text.integer(work.accepted);
    text.put(b" tokens, Drafted: ");
    text.integer(work.drafted);
    text.put(b" tokens");
}

/// A/D.
fn rate(work: &Work) -> f64 {
    float(work.accepted) / float(work.drafted)
}

/// 1 + A/N.
fn length(work: &Work) -> f64 {
    1.0 + float(work.accepted) / float(work.steps)
}

/// A value in tenths, hundredths or thousandths; `nan` for a quotient of nothing.
fn put(text: &mut Text, value: f64, scale: u64) {
    match (decimals(value, scale), scale) {
        (Some(number), 10) => text.tenths(number),
        (Some(number), 100) => text.hundredths(number),
        (Some(number), _) => text.thousandths(number),
        (None, _) => text.put(b"nan"),
    }
}
