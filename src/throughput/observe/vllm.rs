//! Windows of vLLM: an engine's line says what ran and how fast, the line of speculative decoding behind it how many steps
//! that took.

use rustc_hash::FxHashMap;

use crate::evidence::{EngineLine, StepCount, Timestamp, VllmEngine, VllmSpec};
use crate::law::{float, whole, whole32};
use crate::simulate::log::LocalTime;

use super::run::LogRun;
use super::window::Window;

/// Seconds between two lines of an engine, where its times do not tell.
const DEFAULT_GAP_S: f64 = 10.0;

/// Engines that are followed.
const MOST_ENGINES: usize = 4096;

/// Follows the engines of one run.
#[derive(Debug, Default)]
pub(super) struct Engines {
    /// The last engine's line, until it is known whether a line of speculative decoding follows.
    pending: Option<VllmEngine>,
    last: FxHashMap<u32, Last>,
}

/// What an engine's line before said.
#[derive(Clone, Copy, Debug)]
struct Last {
    running: u32,
    clock_s: Option<f64>,
}

/// Steps times requests of a window, and tokens a step and request.
type Speculated = Option<(f64, f64)>;

impl Engines {
    /// Another file: its first lines stand alone.
    pub(super) fn another_file(&mut self, run: &mut LogRun, pool: Option<u64>) {
        self.flush(run, pool);
        self.last.clear();
    }

    /// The next line of vLLM.
    pub(super) fn line(&mut self, line: &EngineLine, run: &mut LogRun, pool: Option<u64>) {
        match line {
            EngineLine::VllmEngine(engine) if self.pending.as_ref() == Some(engine) => run.duplicates += 1,
            EngineLine::VllmEngine(engine) => {
                self.flush(run, pool);
                // The sum over engines says nothing of a batch.
                if engine.aggregated_engines.is_none() {
                    self.pending = Some(engine.clone());
                }
            }
            EngineLine::VllmSpec(spec) => {
                run.note_drafts(spec.draft_length);
                let own = self
                    .pending
                    .take_if(|engine| engine.pid == spec.pid && engine.timestamp == spec.timestamp);
                match own {
                    Some(engine) => self.window(&engine, speculated(spec), run, pool),
                    None => run.lone_spec_lines += 1,
                }
            }
            _ => {}
        }
    }

    /// No line of speculative decoding follows the last engine's.
    pub(super) fn flush(&mut self, run: &mut LogRun, pool: Option<u64>) {
        if let Some(engine) = self.pending.take() {
            self.window(&engine, None, run, pool);
        }
    }

    fn window(&mut self, engine: &VllmEngine, speculated: Speculated, run: &mut LogRun, pool: Option<u64>) {
        let index = engine.engine_index.unwrap_or(0);
        let Some(running) = engine.running_req else { return };
        if self.last.len() >= MOST_ENGINES && !self.last.contains_key(&index) {
            return;
        }
        let clock_s = engine.timestamp.as_deref().and_then(seconds);
        let last = self.last.insert(index, Last { running, clock_s });
        let gap_s = last.and_then(|last| Some(clock_s? - last.clock_s?)).filter(|gap| *gap > 0.5);
        let tps = engine.gen_throughput_tps.filter(|tps| tps.is_finite() && *tps > 0.0);
        let requests = f64::from(running.max(1));
        let accept_len = speculated.map_or(1.0, |(_, length)| length);
        let request_steps = speculated
            .map_or_else(|| tps.unwrap_or(0.0) * gap_s.unwrap_or(DEFAULT_GAP_S), |(steps, _)| steps);
        let interval = whole32((request_steps / requests).round()).max(1);
        // As many prompt tokens a second as the line says, for the seconds that so many steps took.
        let window_s = tps.map_or(0.0, |tps| f64::from(interval) * requests * accept_len / tps);
        let prompts = engine.prompt_throughput_tps.filter(|tps| tps.is_finite() && *tps > 0.0);
        let kv = pool.zip(engine.kv_cache_usage).map(|(pool, share)| float(pool) * share);
        run.engine_lines += 1;
        run.prefill_lines += u64::from(prompts.is_some());
        run.ranks = run.ranks.max(index.saturating_add(1));
        run.note_length(accept_len);
        run.spec_lines += u64::from(speculated.is_some());
        run.timed_lines += u64::from(tps.is_some());
        run.output_tokens += f64::from(running) * accept_len * f64::from(interval);
        run.push(Window {
            running,
            previous: last.map(|last| last.running),
            accept_len,
            speculated: speculated.is_some(),
            tps,
            kv_printed: kv,
            kv_tokens: kv.unwrap_or(0.0),
            longest: kv.unwrap_or(0.0) / requests,
            prefill_batches: 0,
            prefill_tokens: whole((prompts.unwrap_or(0.0) * window_s).round()),
            graph: None,
            gap_s: None,
            clock_jumped: false,
            interval,
            busy: 1,
        });
    }
}

/// What a line of speculative decoding says of its window; none where it does not show how many steps it took.
fn speculated(spec: &VllmSpec) -> Speculated {
    let accepted = float(spec.accepted);
    match spec.window(None)?.steps {
        StepCount::Exact(steps) if steps > 0 => Some((float(steps), 1.0 + accepted / float(steps))),
        StepCount::Between(low, high) => {
            Some((f64::midpoint(float(low), float(high)), spec.accept_len.filter(|length| *length >= 1.0)?))
        }
        StepCount::Exact(_) => None,
    }
}

/// Seconds of a time without a year.
fn seconds(time: &str) -> Option<f64> {
    let dated = format!("1972-{time}");
    Timestamp::parse(dated.as_bytes()).and_then(LocalTime::seconds_of)
}

#[cfg(test)]
mod tests {
    use crate::evidence::{Limits, Reader};
    use crate::throughput::Observer;

    use super::*;

    fn observed(text: &str) -> LogRun {
        let mut observer = Observer::new(None);
        observer.begin("log");
        let errors = Reader::new(Limits::default()).read_stream(
            "memory",
            &mut text.as_bytes(),
            &mut |place, record| observer.record(place, record),
        );
        assert!(errors.is_empty());
        observer.finish().unwrap().remove(0)
    }

    /// Engine 0 runs four requests: these tokens a second, of prompts and generated.
    fn engine(second: u32, prompts: f64, tps: f64) -> String {
        format!(
            "(APIServer pid=7) INFO 10-12 00:00:{second} [loggers.py:271] Engine 000: Avg prompt throughput: {prompts:.1} tokens/s, Avg \
             generation throughput: {tps:.1} tokens/s, Running: 4 reqs, Waiting: 0 reqs, GPU KV cache usage: 1.0%, Prefix cache \
             hit rate: 0.0%\n"
        )
    }

    #[test]
    fn a_window_that_generated_nothing_has_no_throughput() {
        let run = observed(&(engine(10, 0.0, 400.0) + &engine(20, 0.0, 0.0) + &engine(30, 250.0, 400.0)));
        assert_eq!((run.engine_lines, run.timed_lines, run.prefill_lines), (3, 2, 1));
        let tps: Vec<Option<f64>> = run.windows.iter().map(|window| window.tps).collect();
        assert_eq!(tps, [Some(400.0), None, Some(400.0)]);
    }

    /// 1200 drafted tokens, three a step: 400 steps of requests, a hundred of four.
    #[test]
    fn the_line_of_speculative_decoding_counts_the_steps() {
        let spec = "(APIServer pid=7) INFO 10-12 00:00:10 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 2.50, Accepted \
                    throughput: 60.00 tokens/s, Drafted throughput: 120.00 tokens/s, Accepted: 600 tokens, Drafted: 1200 tokens, \
                    Per-position acceptance rate: 0.800, 0.500, 0.200, Avg Draft acceptance rate: 50.0%\n";
        let run = observed(&(engine(10, 0.0, 100.0) + spec + &engine(20, 0.0, 100.0)));
        assert_eq!((run.engine_lines, run.spec_lines, run.lone_spec_lines), (2, 1, 0));
        let windows: Vec<(bool, u32, f64)> = run
            .windows
            .iter()
            .map(|window| (window.speculated, window.interval, window.accept_len))
            .collect();
        // Without such a line: 100 tokens a second for ten seconds, one a step.
        assert_eq!(windows, [(true, 100, 2.5), (false, 250, 1.0)]);
    }
}
