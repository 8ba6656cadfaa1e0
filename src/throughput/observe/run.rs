//! The runs of servers that logs hold, line by line.

use std::collections::HashMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::evidence::{DecodeLine, Deduplicator, Place, PrefillLine, Record, ServerStart, Timestamp};
use crate::simulate::log::LocalTime;

use super::contexts::Contexts;
use super::vllm::Engines;
use super::window::Window;

/// Windows that are kept of one run; of a longer one every second, then every fourth, and so on.
const MOST_WINDOWS: usize = 1 << 17;

/// Ranks that are followed.
const MOST_RANKS: usize = 4096;

/// Runs that are kept.
const MOST_RUNS: usize = 4096;

/// Seconds by which the clock may disagree with the throughput of a line: a printed time has whole seconds.
const CLOCK_SLACK_S: f64 = 5.0;

/// Pairs of accept length and accept rate that are kept; a real log has a few hundred.
const MOST_PAIRS: usize = 1 << 14;

/// Verify steps a decode line, where the log does not say.
const DEFAULT_INTERVAL: u32 = 40;

/// Why a log cannot be observed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ObserveError {
    /// More runs than are kept.
    #[error("more than {MOST_RUNS} runs of servers; calibrate on fewer logs")]
    TooManyRuns,
}

/// One run of one server.
#[derive(Clone, Debug, Default)]
pub struct LogRun {
    /// The input that led to it.
    pub name: String,
    /// What its arguments say, where the log has them.
    pub server: Option<ServerStart>,
    /// Decode lines, as observations, in the order of the log.
    pub windows: Vec<Window>,
    /// Decode lines read.
    pub decode_lines: u64,
    /// Those with an accept length.
    pub spec_lines: u64,
    /// Those with a throughput above 0.
    pub timed_lines: u64,
    /// Prefill lines read; of vLLM: windows with prompt tokens.
    pub prefill_lines: u64,
    /// Lines of vLLM engines, which are decode lines too.
    pub engine_lines: u64,
    /// vLLM's lines of speculative decoding without a line of their engine before them.
    pub lone_spec_lines: u64,
    /// Draft tokens (k) that the lines themselves show, the same on all that do.
    pub drafts_shown: Option<u32>,
    /// Copies of decode lines that were passed over.
    pub duplicates: u64,
    /// Requests that were prefilled, their prompt tokens computed and those found in the cache.
    pub prompts: Prompts,
    /// Whether a decode line has the fields of a server that only decodes.
    pub has_transfer_fields: bool,
    /// Where the clock first jumped: index of the file, line, and seconds (below 0: back).
    pub clock_jump: Option<(Place, i64)>,
    /// Clock jumps.
    pub clock_jumps: u64,
    /// Sum of requests times steps times accept length over all windows: output tokens, nearly.
    pub output_tokens: f64,
    /// Data-parallel ranks that wrote decode lines.
    pub ranks: u32,
    /// The longest accept length of a line, and the line.
    pub longest: (f64, u64),
    /// The line that was read last.
    line: u64,
    drafts_vary: bool,
    pairs: FxHashSet<(u32, u32)>,
    stride: u64,
}

/// Totals of prefill lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prompts {
    /// `#new-seq`.
    pub requests: u64,
    /// `#new-token`.
    pub tokens: u64,
    /// `#cached-token`.
    pub cached: u64,
}

impl Prompts {
    /// Mean input tokens of a request, those of the cache included.
    pub(in crate::throughput) fn mean_input(&self) -> Option<f64> {
        let tokens = crate::law::float(self.tokens.saturating_add(self.cached));
        (self.requests > 0).then(|| tokens / crate::law::float(self.requests)).filter(|input| *input >= 1.0)
    }
}

/// Follows the ranks of one run.
#[derive(Debug, Default)]
struct Builder {
    run: LogRun,
    ranks: FxHashMap<u32, Rank>,
    /// Per data-parallel rank, the tag of the first scheduler that spoke for it: others repeat it.
    voices: FxHashMap<u32, u32>,
    dedup: Deduplicator,
    engines: Engines,
    /// Decode lines that all ranks have written.
    wrote: u64,
}

#[derive(Debug, Default)]
struct Rank {
    contexts: Contexts,
    previous: Option<u32>,
    batches: u32,
    tokens: u64,
    clock_s: Option<f64>,
    /// How many lines all ranks had written when this one wrote its last, and the one before.
    wrote: (u64, u64),
}

/// Takes the records of logs and gives the runs in them. Feed it from a [`Reader`](crate::evidence::Reader): one
/// [`begin`](Self::begin) for each log, then its records.
#[derive(Debug, Default)]
pub struct Observer {
    /// Verify steps a decode line, over what the log says.
    interval: Option<u32>,
    /// KV tokens that a vLLM engine's cache holds.
    kv_cache: Option<u64>,
    done: Vec<LogRun>,
    open: Vec<(String, Builder)>,
    names: HashMap<String, usize>,
    current: Option<usize>,
    overflow: bool,
}

impl Observer {
    /// An observer; `interval` overrides the verify steps a decode line that the logs state.
    #[must_use]
    pub fn new(interval: Option<u32>) -> Self {
        Self { interval, ..Self::default() }
    }

    /// With the KV tokens that the cache of a vLLM engine holds: its lines print a share of them.
    #[must_use]
    pub fn with_kv_cache(self, tokens: Option<u64>) -> Self {
        Self { kv_cache: tokens, ..self }
    }

    /// The records that follow belong to the run called `name`.
    pub fn begin(&mut self, name: &str) {
        let next = self.open.len();
        if let Some(index) = self.names.get(name) {
            self.current = Some(*index);
            if let Some((_, builder)) = self.open.get_mut(*index) {
                builder.another_file(self.kv_cache);
            }
        } else if next >= MOST_RUNS {
            (self.overflow, self.current) = (true, None);
        } else {
            self.names.insert(name.to_owned(), next);
            self.open.push((name.to_owned(), Builder::named(name)));
            self.current = Some(next);
        }
    }

    /// The next record.
    pub fn record(&mut self, place: Place, record: &Record<'_>) {
        let Some((name, builder)) = self.current.and_then(|index| self.open.get_mut(index)) else { return };
        builder.run.line = place.line;
        match record {
            Record::Start(start) => {
                if builder.run.decode_lines > 0 || builder.run.prefill_lines > 0 {
                    if self.done.len() >= MOST_RUNS {
                        self.overflow = true;
                        return;
                    }
                    let ended = std::mem::replace(builder, Builder::named(name));
                    self.done.push(ended.ended(self.kv_cache));
                }
                builder.run.server = Some((**start).clone());
            }
            Record::Prefill(line) => builder.prefill(line),
            Record::Decode(line) => builder.decode(place, line, self.interval),
            Record::Engine(line) => builder.engines.line(line, &mut builder.run, self.kv_cache),
            Record::CacheFlush(_) | Record::Setting(_) | Record::Counters(_) | Record::Skipped(_) => {}
        }
    }

    /// The runs, those of one input together; runs without a decode line are among them.
    pub fn finish(self) -> Result<Vec<LogRun>, ObserveError> {
        if self.overflow {
            return Err(ObserveError::TooManyRuns);
        }
        let open = self.open.into_iter().map(|(_, builder)| builder.ended(self.kv_cache));
        Ok(self.done.into_iter().chain(open).collect())
    }
}

impl Builder {
    fn named(name: &str) -> Self {
        Self { run: LogRun { name: name.to_owned(), ..LogRun::default() }, ..Self::default() }
    }

    /// Another file of the same run: its clock and its first lines stand alone.
    fn another_file(&mut self, kv_cache: Option<u64>) {
        self.engines.another_file(&mut self.run, kv_cache);
        for rank in self.ranks.values_mut() {
            *rank = Rank::default();
        }
    }

    fn ended(mut self, kv_cache: Option<u64>) -> LogRun {
        self.engines.flush(&mut self.run, kv_cache);
        self.run
    }

    /// The data-parallel rank of a line, unless another scheduler speaks for it.
    fn rank(&mut self, tags: crate::evidence::Tags) -> Option<u32> {
        let rank = tags.rank("DP").unwrap_or(0);
        let voice = tags.rank("TP").unwrap_or(0);
        if self.ranks.len() >= MOST_RANKS && !self.ranks.contains_key(&rank) {
            return None;
        }
        (*self.voices.entry(rank).or_insert(voice) == voice).then_some(rank)
    }

    fn prefill(&mut self, line: &PrefillLine<'_>) {
        let Some(rank) = self.rank(line.tags) else { return };
        let figures = line.figures();
        let (Some(requests), Some(tokens)) = (figures.new_seq, figures.new_tokens) else { return };
        let cached = figures.cached_tokens.unwrap_or(0);
        self.run.prefill_lines += 1;
        self.run.prompts.requests += u64::from(requests);
        self.run.prompts.tokens = self.run.prompts.tokens.saturating_add(tokens);
        self.run.prompts.cached = self.run.prompts.cached.saturating_add(cached);
        let prompt = crate::law::float(tokens.saturating_add(cached));
        self.ranks.entry(rank).or_default().contexts.prefill(requests, prompt);
        // Ranks that step together wait for each other's prefill.
        for state in self.ranks.values_mut() {
            state.batches = state.batches.saturating_add(1);
            state.tokens = state.tokens.saturating_add(tokens);
        }
    }

    fn decode(&mut self, place: Place, line: &DecodeLine<'_>, interval: Option<u32>) {
        if self.dedup.is_duplicate(line) {
            self.run.duplicates += 1;
            return;
        }
        let Some(rank) = self.rank(line.tags) else { return };
        let stated = self.run.server.as_ref().and_then(|server| server.decode_log_interval);
        let interval = interval.or(stated).unwrap_or(DEFAULT_INTERVAL).max(1);
        self.run.has_transfer_fields |=
            line.field("#transfer-req").is_some() || line.field("pre-allocated usage").is_some();
        self.run.ranks = self.run.ranks.max(rank.saturating_add(1));
        let busy = self.busy(rank);
        let state = self.ranks.entry(rank).or_default();
        let accept_len = line.accept_len.map_or(1.0, crate::evidence::Hundredths::as_f64);
        let tps = line.gen_throughput_tps.filter(|tps| tps.is_finite() && *tps > 0.0);
        let kv_printed = line.tokens().map(crate::law::float);
        let means = state.contexts.decode(line.running_req, kv_printed.unwrap_or(0.0), accept_len, interval);
        let tokens = f64::from(line.running_req) * accept_len * f64::from(interval);
        let (gap_s, jump) = state.clock(line.timestamp, tps.map(|tps| tokens / tps));
        if let Some(seconds) = jump {
            self.run.clock_jumps += 1;
            self.run.clock_jump = self.run.clock_jump.or(Some((place, seconds)));
        }
        let window = Window {
            running: line.running_req,
            previous: state.previous.replace(line.running_req),
            accept_len,
            speculated: line.accept_len.is_some(),
            tps,
            kv_printed,
            kv_tokens: means.sum.max(0.0),
            longest: means.longest.max(0.0),
            prefill_batches: std::mem::take(&mut state.batches),
            prefill_tokens: std::mem::take(&mut state.tokens),
            graph: line.graph.map(|graph| graph.on),
            gap_s,
            clock_jumped: jump.is_some(),
            interval,
            busy,
        };
        self.run.output_tokens += tokens;
        if !line.capped {
            self.run.note_length(accept_len);
        }
        if let Some((length, rate)) = line.accept_len.zip(line.accept_rate)
            && !line.capped
            && self.run.pairs.len() < MOST_PAIRS
        {
            self.run.pairs.insert((length.count(), rate.count()));
        }
        self.run.spec_lines += u64::from(line.accept_len.is_some());
        self.run.timed_lines += u64::from(tps.is_some());
        self.run.push(window);
    }
}

impl Builder {
    /// Notes a line of a rank: how many ranks wrote one since its last but one, itself included. Ranks step together, so one that
    /// has requests writes as often; which of two writes first may change from line to line.
    fn busy(&mut self, rank: u32) -> u32 {
        self.wrote += 1;
        let own = self.ranks.entry(rank).or_default();
        let before = own.wrote.1;
        own.wrote = (self.wrote, own.wrote.0);
        let others =
            self.ranks.iter().filter(|(other, state)| **other != rank && state.wrote.0 > before).count();
        u32::try_from(others).unwrap_or(u32::MAX).saturating_add(1)
    }
}

impl LogRun {
    /// Notes the accept length of a line.
    pub(super) fn note_length(&mut self, length: f64) {
        if length > self.longest.0 {
            self.longest = (length, self.line);
        }
    }

    /// Mean output tokens of a request, where prefill lines count the requests.
    pub(in crate::throughput) fn mean_output(&self) -> Option<f64> {
        let requests = crate::law::float(self.prompts.requests);
        (requests > 0.0).then(|| self.output_tokens / requests).filter(|output| *output >= 1.0)
    }

    /// Whether its lines show prefills: SGLang's prefill lines, or windows of vLLM with prompt tokens.
    #[must_use]
    pub fn sees_prefill(&self) -> bool {
        self.prefill_lines > 0
    }

    /// The printed pairs of accept length and accept rate, in hundredths.
    pub(in crate::throughput) fn rate_pairs(&self) -> Vec<(u32, u32)> {
        self.pairs.iter().copied().collect()
    }

    /// A line shows its draft length; of several different ones none is the run's.
    pub(super) fn note_drafts(&mut self, drafts: Option<u32>) {
        let Some(drafts) = drafts else { return };
        self.drafts_vary |= self.drafts_shown.is_some_and(|shown| shown != drafts);
        self.drafts_shown = Some(drafts).filter(|_| !self.drafts_vary);
    }

    /// Keeps a window, or every 2nd, 4th, .. of a long log.
    pub(super) fn push(&mut self, window: Window) {
        let stride = self.stride.max(1);
        if self.decode_lines.is_multiple_of(stride) {
            if self.windows.len() >= MOST_WINDOWS {
                let mut at = 0_u64;
                self.windows.retain(|_| {
                    at += 1;
                    at % 2 == 1
                });
                self.stride = stride * 2;
            }
            self.windows.push(window);
        }
        self.decode_lines += 1;
    }
}

impl Rank {
    /// Notes the time of a line: seconds since the last one where it has milliseconds, and how far the clock jumped against what
    /// the throughput says.
    fn clock(&mut self, time: Option<Timestamp<'_>>, expected_s: Option<f64>) -> (Option<f64>, Option<i64>) {
        let now = time.and_then(LocalTime::seconds_of);
        let passed = now.zip(self.clock_s).map(|(now, last)| now - last);
        self.clock_s = now.or(self.clock_s);
        // Times without a date begin anew at midnight.
        let is_dated = time.is_some_and(|time| time.as_bytes().len() >= 19);
        let Some(passed) = passed else { return (None, None) };
        let passed = if !is_dated && passed < -43_200.0 { passed + 86_400.0 } else { passed };
        let back = passed < -1.5;
        let ahead = expected_s.is_some_and(|expected| passed > expected * 3.0 + CLOCK_SLACK_S);
        let jump = (back || ahead).then(|| {
            let whole = crate::law::whole(passed.abs().round());
            let whole = i64::try_from(whole).unwrap_or(i64::MAX);
            if back { -whole } else { whole }
        });
        let is_fine = time.is_some_and(|time| time.as_bytes().contains(&b'.'));
        (Some(passed).filter(|_| is_fine && jump.is_none()), jump)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_its_name_and_prompts_their_mean() {
        assert_eq!(Builder::named("a.log").run.name, "a.log");
        let prompts = Prompts { requests: 2, tokens: 10, cached: 4 };
        assert_eq!((prompts.mean_input(), Prompts::default().mean_input()), (Some(7.0), None));
    }

    /// A line for which the throughput tells 100 seconds: three times as many, and five for the clock, are no jump yet.
    #[test]
    fn a_clock_jumps_where_the_throughput_tells_far_less() {
        let jump = |time: &str| {
            let mut rank = Rank::default();
            rank.clock(Timestamp::parse(b"2026-10-12 01:00:00.000"), None);
            rank.clock(Timestamp::parse(time.as_bytes()), Some(100.0))
        };
        assert_eq!(jump("2026-10-12 01:05:04.000"), (Some(304.0), None));
        assert_eq!(jump("2026-10-12 01:05:06.000"), (None, Some(306)));
        assert_eq!(jump("2026-10-12 00:59:00.000"), (None, Some(-60)));
    }
}
