//! From the lines of a log to sums: one pass, bounded memory.

use std::hash::{Hash as _, Hasher as _};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::engine::Engine;
use crate::evidence::{
    Adjacent, AtomStats, EngineLine, Place, SkipReason, StepCount, Tags, TrtllmIteration, VllmEngine,
    VllmSpec, Window,
};
use crate::law::float;

use super::super::calendar::Calendar;
use super::super::scope::Scope;
use super::super::skipped::SkipKind;
use super::cumulative::Cumulative;
use super::evidence::{PooledEvidence, PooledRank, PooledSource};
use super::servers::DraftServers;
use super::sources::{Sources, speed};

/// Lines that are remembered, so that a copy is known for one.
const REMEMBERED: usize = 1 << 20;

/// Seconds that a window of vLLM lasts; one of twice as long was idle.
const WINDOW_S: f64 = 10.0;

/// What the lines of engines other than SGLang say besides their sums.
#[derive(Clone, Debug, Default)]
pub(in crate::audit) struct LineLog {
    /// The engine whose lines they are; the first where there are several.
    pub(in crate::audit) engine: Option<Engine>,
    /// Another engine whose lines are there too.
    pub(in crate::audit) other: Option<LeftOut>,
    /// Lines that could show acceptance.
    pub(in crate::audit) lines: u64,
    /// Those of them that do.
    pub(in crate::audit) spec_lines: u64,
    /// vLLM's lines of an era that prints no accept length.
    pub(in crate::audit) legacy: u64,
    pub(in crate::audit) first: Option<Place>,
    /// Requests that ran.
    pub(in crate::audit) running: Option<(u32, u32)>,
    pub(in crate::audit) max_queue: Option<u32>,
    pub(in crate::audit) first_duplicate: Option<Place>,
    /// Windows that were idle for a while, and the first of them.
    pub(in crate::audit) idle: u64,
    pub(in crate::audit) first_idle: Option<Place>,
    /// Windows that did not draft the same number of tokens in every step, and the first of them.
    pub(in crate::audit) varied: u64,
    pub(in crate::audit) first_varied: Option<Place>,
    /// Those of them whose steps are only bounded.
    pub(in crate::audit) bounded: u64,
    /// Windows whose printed rate is not A/D.
    pub(in crate::audit) rates_off: u64,
    pub(in crate::audit) first_rate_off: Option<Place>,
    /// Servers whose logs are of one time, and the first window of the second one.
    pub(in crate::audit) apart: Option<(usize, Place)>,
    /// Generated tokens per second, of each engine of each server.
    pub(in crate::audit) speeds: Vec<Vec<f64>>,
    /// K that the configuration names.
    pub(in crate::audit) draft_length: Option<u32>,
    /// Where ATOM's sums since the start fell, and the drafted tokens before it.
    pub(in crate::audit) fell: Option<(Place, u64)>,
    /// Lines whose figures contradict each other, the first of them, and how.
    pub(in crate::audit) contradictions: u64,
    pub(in crate::audit) first_contradiction: Option<(Place, String)>,
    /// Windows in which nothing was drafted.
    pub(in crate::audit) undrafted: u64,
    pub(in crate::audit) first_undrafted: Option<Place>,
    /// Lines or figures of another engine than the one that was asked for.
    pub(in crate::audit) left_out: Option<LeftOut>,
    /// The servers of vLLM that wrote the windows.
    pub(in crate::audit) servers: DraftServers,
    /// How each window differs from the one before it.
    pub(in crate::audit) succession: Succession,
}

/// How windows differ from the ones before them in the same rank, as squares over single draws' variance of 1: what
/// changes from one setting to another hardly shows in it.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::audit) struct Succession {
    pub(in crate::audit) pairs: u64,
    squares: f64,
}

impl Succession {
    /// Adds the accepted drafts and the steps of two windows.
    fn add(&mut self, (accepted, steps): (f64, f64), (more_accepted, more_steps): (f64, f64)) {
        let difference = accepted / steps - more_accepted / more_steps;
        self.pairs += 1;
        self.squares += difference * difference / (1.0 / steps + 1.0 / more_steps);
    }

    /// Variance of a single step, as neighbouring windows show it.
    pub(in crate::audit) fn variance(&self) -> f64 {
        self.squares / float(self.pairs.max(1))
    }
}

/// What is left out: by `--engine`, or beside the engine that is judged.
#[derive(Clone, Copy, Debug)]
pub(in crate::audit) struct LeftOut {
    /// Whose it is.
    pub(in crate::audit) engine: Engine,
    pub(in crate::audit) lines: u64,
    pub(in crate::audit) first: Place,
}

impl LineLog {
    /// Something of another engine than the one that was asked for.
    pub(in crate::audit) fn leave_out(&mut self, engine: Engine, place: Place) {
        let left_out = self.left_out.get_or_insert(LeftOut { engine, lines: 0, first: place });
        left_out.lines += u64::from(left_out.engine == engine);
    }

    fn contradicts(&mut self, place: Place, what: impl std::fmt::Display) {
        self.contradictions += 1;
        self.first_contradiction.get_or_insert_with(|| (place, what.to_string()));
    }
}

/// Adds up the lines of one point.
#[derive(Clone, Debug, Default)]
pub(in crate::audit) struct Gather {
    pub(in crate::audit) log: LineLog,
    only: Option<Engine>,
    /// Whether a line of the engine that is judged showed acceptance.
    shows_acceptance: bool,
    adjacent: Adjacent,
    calendar: Calendar,
    sources: Sources,
    ranks: Vec<PooledRank>,
    /// The server of each rank.
    server_of: Vec<usize>,
    /// The sums since the start that ATOM printed.
    cumulative: Cumulative,
    /// Files with ATOM's intervals: their sums since the start say the same once more.
    with_intervals: FxHashSet<u32>,
    /// The file that a line was first seen in.
    known: FxHashMap<u64, u32>,
    /// Lines of each rank that were passed over.
    passed: Vec<u64>,
    /// Accepted drafts and steps of each rank's last window.
    last_windows: Vec<Option<(f64, f64)>>,
    /// The last line of speculative decoding.
    last_spec: Option<VllmSpec>,
    last_time: Option<String>,
}

impl Gather {
    /// Lines of other engines than this one count for nothing.
    pub(in crate::audit) fn only(&mut self, engine: Option<Engine>) {
        self.only = engine;
    }

    pub(in crate::audit) fn begin_file(&mut self) {
        self.adjacent.begin_file();
        self.calendar = Calendar::default();
        self.last_time = None;
        self.last_spec = None;
    }

    /// Whether any line that could show acceptance came.
    pub(in crate::audit) fn has_lines(&self) -> bool {
        self.log.lines > 0 || !self.cumulative.is_empty()
    }

    /// The configuration names K.
    pub(in crate::audit) fn configured(&mut self, draft_length: u32) {
        self.log.draft_length = Some(draft_length);
    }

    /// Whether a line's clock stands before that of the line before it. A turn of the year or of the day is none.
    pub(in crate::audit) fn jumps_back(&self, line: &EngineLine) -> bool {
        let (Some(last), Some(now)) = (self.last_time.as_deref(), line.timestamp()) else { return false };
        let turns = (last.starts_with("12-") && now.starts_with("01-"))
            || (last.len() == 8 && last.starts_with("23:") && now.starts_with("00:"));
        now.len() == last.len() && now < last && !turns
    }

    /// Whether a line is of another server than the windows before it.
    pub(in crate::audit) fn is_another_server(&self, line: &EngineLine) -> bool {
        match line {
            EngineLine::VllmEngine(line) => self.log.servers.is_another(line.pid, None),
            EngineLine::VllmSpec(line) => self.log.servers.is_another(line.pid, line.draft_length),
            EngineLine::AtomStats(line) if line.is_cumulative => self.cumulative.is_another(line),
            EngineLine::AtomStats(line) => self.log.servers.is_another(None, self.checked_length(line)),
            EngineLine::AtomForced(line) => self.log.servers.is_another(None, line.draft_length),
            EngineLine::TrtllmIteration(_) => false,
        }
    }

    /// Takes a line; says why, where it counts for nothing.
    pub(in crate::audit) fn add(
        &mut self,
        place: Place,
        line: &EngineLine,
        scope: &Scope,
    ) -> Option<SkipKind> {
        if self.only.is_some_and(|only| only != line.engine()) {
            self.log.leave_out(line.engine(), place);
            return Some(SkipKind::Unread(SkipReason::Lookalike));
        }
        if !self.is_judged(line, place) {
            return Some(SkipKind::Unread(SkipReason::Lookalike));
        }
        let (index, running) = self.adjacent.follow(line);
        self.calendar.follow(line.timestamp());
        self.last_time = line.timestamp().map(str::to_owned).or(self.last_time.take());
        match line {
            EngineLine::VllmEngine(engine) => {
                if scope.admits_text(engine.timestamp.as_deref(), &self.calendar) {
                    self.engine(place, engine);
                }
                None
            }
            EngineLine::VllmSpec(spec) => self.spec(place, spec, index, running, scope),
            EngineLine::TrtllmIteration(iteration) => self.iteration(place, iteration, scope),
            EngineLine::AtomStats(stats) => self.stats(place, stats, scope),
            EngineLine::AtomForced(forced) => {
                self.log.draft_length = forced.draft_length.or(self.log.draft_length);
                None
            }
        }
    }

    /// A window whose figures are no numbers, since nothing was drafted in it; `text` is its line.
    pub(in crate::audit) fn undrafted(&mut self, place: impl Fn() -> Place, text: &[u8]) {
        let has = |word: &[u8]| memchr::memmem::find(text, word).is_some();
        let engine = if has(b"SpecDecoding metrics:") || has(b"Speculative metrics:") {
            Engine::Vllm
        } else if has(b"[MTP Stats") {
            Engine::Atom
        } else {
            return;
        };
        if self.only.is_some_and(|only| only != engine) {
            return self.log.leave_out(engine, place());
        }
        self.log.undrafted += 1;
        self.log.first_undrafted.get_or_insert_with(place);
        self.log.engine.get_or_insert(engine);
    }

    /// Ends the point: its sums, where any line shows acceptance.
    pub(in crate::audit) fn finish(mut self) -> (LineLog, Option<PooledEvidence>) {
        let engine = self.log.engine.unwrap_or(Engine::Vllm);
        let intervals: u64 = self.ranks.iter().map(|rank| rank.pool.whole_steps()).sum();
        let mut evidence = PooledEvidence::new(engine, PooledSource::Log);
        let known = self.log.draft_length;
        let has_intervals = |file| self.with_intervals.contains(&file);
        self.log.fell = self.cumulative.fall();
        self.log.speeds = self.sources.speeds();
        self.log.apart = self.sources.apart();
        if let Some(steps) = self.cumulative.most_steps(known, has_intervals).filter(|_| intervals > 0) {
            // Several schedulers write to one log, and draw alike: the largest sum is one scheduler's.
            let schedulers = (float(intervals) / float(steps.max(1))).round().max(1.0);
            evidence.independent_steps = (schedulers > 1.0).then(|| float(intervals) / schedulers);
        }
        for (place, rank) in self.cumulative.ranks(known, |file| !has_intervals(file)) {
            self.log.lines += 1;
            self.log.spec_lines += 1;
            self.log.first.get_or_insert(place);
            self.ranks.push(rank);
        }
        evidence.first = self.log.first;
        evidence.ranks = self.ranks.into_iter().filter(|rank| rank.pool.windows > 0).collect();
        evidence.ranks.sort_by_key(|rank| rank.tags);
        let evidence = Some(evidence).filter(|evidence| !evidence.ranks.is_empty());
        (self.log, evidence)
    }

    /// Whether a line is of the engine that is judged: the first whose lines show acceptance. Lengths of two engines make
    /// no common mean.
    fn is_judged(&mut self, line: &EngineLine, place: Place) -> bool {
        let engine = line.engine();
        let first = *self.log.engine.get_or_insert(engine);
        let shows = matches!(line, EngineLine::VllmSpec(_) | EngineLine::AtomStats(_));
        if first == engine {
            self.shows_acceptance |= shows;
            return true;
        }
        if shows && !self.shows_acceptance {
            // What came before says how busy another engine was, and no more.
            let other =
                self.log.first.map(|place| LeftOut { engine: first, lines: self.log.lines, first: place });
            self.log = LineLog { engine: Some(engine), other, ..std::mem::take(&mut self.log) };
            (self.log.lines, self.log.first, self.log.running) = (0, None, None);
            self.sources.forget_speeds();
            self.shows_acceptance = true;
            return true;
        }
        let other = self.log.other.get_or_insert(LeftOut { engine, lines: 0, first: place });
        other.lines += u64::from(other.engine == engine);
        false
    }

    fn engine(&mut self, place: Place, line: &VllmEngine) {
        let Some(running) = line.running_req.filter(|running| *running > 0) else { return };
        let (min, max) = self.log.running.unwrap_or((running, running));
        self.log.running = Some((min.min(running), max.max(running)));
        self.log.max_queue = self.log.max_queue.max(line.queue_req);
        let index = usize::try_from(line.engine_index.unwrap_or(0)).unwrap_or(0).min(255);
        if let Some(speed) = line.gen_throughput_tps {
            self.sources.speed(place.file, index, speed);
        }
    }

    fn spec(
        &mut self,
        place: Place,
        line: &VllmSpec,
        index: Option<u32>,
        running: Option<u32>,
        scope: &Scope,
    ) -> Option<SkipKind> {
        // Whole logs are joined twice, and one file of a point may be a copy of another.
        // A line that follows itself has lost the engine's line that named its engine.
        let is_repeated = index.is_none() && self.last_spec.as_ref() == Some(line);
        self.last_spec = Some(line.clone());
        if line.timestamp.is_some() && (is_repeated || self.is_known(place, line, index, false)) {
            self.log.first_duplicate.get_or_insert(place);
            return Some(SkipKind::Unread(SkipReason::Duplicate));
        }
        let tags = index.map_or_else(Tags::default, |index| Tags::parse(format!(" DP{index}").as_bytes()));
        let server = self.sources.server(place, line.timestamp.as_deref());
        let rank = self.rank(server, tags);
        if self.is_outside(rank, line.timestamp.as_deref(), scope) {
            return Some(SkipKind::OutOfScope);
        }
        self.log.lines += 1;
        self.log.first.get_or_insert(place);
        if let Some(contradiction) = line.contradiction(self.log.draft_length) {
            self.log.contradicts(place, contradiction);
            return None;
        }
        let Some(window) = line.window(self.log.draft_length) else {
            self.log.legacy += 1;
            return None;
        };
        self.log.spec_lines += 1;
        self.log.servers.add(place, (line.pid, line.draft_length.or(self.log.draft_length)), &window);
        let (steps, most) = window.steps.bounds();
        let is_bounded = steps < most;
        // N may follow from the printed length and yet not be D/K.
        let is_constant = |length: u32| steps.saturating_mul(length.into()) == line.drafted;
        if is_bounded || window.draft_length.is_some_and(|length| !is_constant(length)) {
            self.log.varied += 1;
            self.log.bounded += u64::from(is_bounded);
            self.log.first_varied.get_or_insert(place);
        }
        let rate = float(line.accepted) / float(line.drafted);
        // One decimal of a percentage.
        if line.draft_accept_rate.is_some_and(|printed| (printed - rate).abs() > 0.000_51) {
            self.log.rates_off += 1;
            self.log.first_rate_off.get_or_insert(place);
        }
        let elapsed = line.accepted_throughput_tps.map(|speed| float(line.accepted) / speed);
        if elapsed.is_some_and(|seconds| seconds.is_finite() && seconds > 2.0 * WINDOW_S) {
            self.log.idle += 1;
            self.log.first_idle.get_or_insert(place);
        }
        self.follow(rank, &window);
        if let Some(rank) = self.ranks.get_mut(rank) {
            rank.max_running_req = rank.max_running_req.max(running);
        }
        None
    }

    fn iteration(&mut self, place: Place, line: &TrtllmIteration, scope: &Scope) -> Option<SkipKind> {
        if !scope.admits_text(line.timestamp.as_deref(), &self.calendar) {
            return Some(SkipKind::OutOfScope);
        }
        if line.num_generation_tokens == Some(0) {
            return Some(SkipKind::Idle);
        }
        self.log.lines += 1;
        self.log.first.get_or_insert(place);
        if let Some(running) = line.scheduled_req.filter(|running| *running > 0) {
            let (min, max) = self.log.running.unwrap_or((running, running));
            self.log.running = Some((min.min(running), max.max(running)));
        }
        None
    }

    fn stats(&mut self, place: Place, line: &AtomStats, scope: &Scope) -> Option<SkipKind> {
        // The lines of two schedulers may be alike, but not those of two files.
        if self.is_known(place, line, None, true) {
            self.log.first_duplicate.get_or_insert(place);
            return Some(SkipKind::Unread(SkipReason::Duplicate));
        }
        let contradiction = line.contradiction(self.log.draft_length);
        if line.is_cumulative {
            if let Some(contradiction) = contradiction {
                self.log.contradicts(place, contradiction);
            } else if scope.is_whole() {
                self.cumulative.add(place, line);
            }
            return None;
        }
        let rank = self.rank(0, Tags::default());
        if self.is_outside(rank, line.timestamp.as_deref(), scope) {
            return Some(SkipKind::OutOfScope);
        }
        self.log.lines += 1;
        self.log.first.get_or_insert(place);
        self.with_intervals.insert(place.file);
        if let Some(contradiction) = contradiction {
            self.log.contradicts(place, contradiction);
            return None;
        }
        let Some(window) = line.window(self.log.draft_length) else {
            self.log.legacy += 1;
            return None;
        };
        self.log.spec_lines += 1;
        if let Some(length) = self.checked_length(line) {
            self.log.servers.add(place, (None, Some(length)), &window);
        }
        self.follow(rank, &window);
        None
    }

    /// K of an interval whose printed mean bears it out.
    fn checked_length(&self, line: &AtomStats) -> Option<u32> {
        let known = self.log.draft_length;
        let is_checked = line.accepted > 0 && line.accept_len_printed.is_some();
        line.draft_length(known).filter(|_| is_checked && line.contradiction(known).is_none())
    }

    /// Adds a window to its rank, and how it differs from the one before.
    fn follow(&mut self, rank: usize, window: &Window) {
        let Some(known) = self.ranks.get_mut(rank) else { return };
        known.lines += 1;
        known.pool.add(window);
        if let (StepCount::Exact(steps), Some(last)) = (window.steps, self.last_windows.get_mut(rank))
            && steps > 0
        {
            let now = (float(window.accepted), float(steps));
            if let Some(before) = last.replace(now) {
                self.log.succession.add(before, now);
            }
        }
    }

    /// Whether a line is a copy: of any line, or of one in another file.
    fn is_known<T: std::fmt::Debug>(
        &mut self,
        place: Place,
        line: &T,
        index: Option<u32>,
        in_other_file: bool,
    ) -> bool {
        let mut hasher = FxHasher::default();
        format!("{line:?}").hash(&mut hasher);
        index.hash(&mut hasher);
        let key = hasher.finish();
        if let Some(file) = self.known.get(&key) {
            return !in_other_file || *file != place.file;
        }
        if self.known.len() < REMEMBERED {
            self.known.insert(key, place.file);
        }
        false
    }

    fn is_outside(&mut self, rank: usize, time: Option<&str>, scope: &Scope) -> bool {
        if !scope.admits_text(time, &self.calendar) {
            return true;
        }
        let Some(passed) = self.passed.get_mut(rank).filter(|passed| **passed < scope.skip_lines) else {
            return false;
        };
        *passed += 1;
        true
    }

    fn rank(&mut self, server: usize, tags: Tags) -> usize {
        let known = self.ranks.iter().zip(&self.server_of);
        if let Some(known) = known.enumerate().find(|(_, (rank, of))| rank.tags == tags && **of == server) {
            return known.0;
        }
        self.server_of.push(server);
        self.ranks.push(PooledRank { tags, ..PooledRank::default() });
        self.passed.push(0);
        self.last_windows.push(None);
        self.ranks.len() - 1
    }
}

impl LineLog {
    pub(in crate::audit) fn speed(&self) -> (Option<f64>, Option<f64>) {
        speed(&self.speeds)
    }
}
