//! From records to what one run showed: one pass, bounded memory, no judgement.

use crate::engine::Engine;
use crate::evidence::{
    Batch, CompactLine, Deduplicator, EchoedSetting, EngineLine, Novelty, Part, Place, PrefillLine, Record,
    ServerStart, SkipReason, Source, Tags,
};
use crate::golden::SettingSource;
use crate::law::whole;
use crate::replay::{ReplayEvidence, ReplayOptions};
use crate::simulate::log::LocalTime;

use super::figures::{Cut, Figures};
use super::finding::{Finding, FindingCode};
use super::injection::{self, InjectedSetting};
use super::partial::Rest;
use super::pooled::{self, LineLog, PooledEvidence};
use super::rank::{Gather, Rank, Rooms};
use super::rates::Rates;
use super::replay::Feed;
use super::scope::Scope;
use super::series::Series;
use super::server::{self, Servers};
use super::skipped::{SkipKind, SkippedLine, SkippedLines};
use super::stray::Stray;

/// Segments that are told apart; what follows stays with the last one.
const MAX_SEGMENTS: usize = 1 << 12;

/// Settings kept per point; a run has three or four.
const MAX_SETTINGS: usize = 16;

/// Collects the records of one point: one run of one server.
///
/// Sums and counts of bounded size are kept, no lines: a log may have any length. The records of one file come in
/// their order; the files of a point come one after the other.
///
/// ```
/// use accsim::audit::PointBuilder;
/// use accsim::evidence::Scanner;
///
/// let log = b"[2026-10-12 01:02:03 TP0] Decode batch, #running-req: 16, #token: 793, token usage: 0.05, \
///     accept len: 3.52, accept rate: 0.50, cuda graph: True, gen throughput (token/s): 585.98, #queue-req: 0\n";
/// let mut point = PointBuilder::new("decode.log");
/// Scanner::new(0).lines(log, &mut |place, record| point.add(place, &record));
/// assert_eq!(point.finish().spec_lines(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct PointBuilder {
    seen: Observed,
    gathers: Vec<Gather>,
    /// The rank of each voice: copies of one scheduler speak for one rank.
    rank_of: Vec<Option<usize>>,
    /// The voice of each set of tags of the batch at hand.
    voices: Vec<Option<usize>>,
    duplicates: Deduplicator,
    rooms: Rooms,
    /// For the next segment.
    replay_options: Option<ReplayOptions>,
    scope: Scope,
    /// Earlier segments, where each is a point.
    ended: Vec<Observed>,
    file: Option<u32>,
    ignores_settings: bool,
    /// The server only decodes: prefill lines in its log are another server's.
    decode_only: bool,
    replay: Option<Feed>,
    figures: Figures,
    pooled: pooled::Gather,
    keeps_series: bool,
    /// Sums of the logs' later lines, where they come from parts.
    rests: Vec<(u32, Rest)>,
}

/// What the lines of one point add up to.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    pub(super) name: String,
    /// Files that records came from.
    pub(super) files: Vec<u32>,
    pub(super) injected: Vec<InjectedSetting>,
    pub(super) ranks: Vec<Rank>,
    pub(super) servers: Servers,
    pub(super) rates: Rates,
    pub(super) skipped: SkippedLines,
    pub(super) first_duplicate: Option<Place>,
    pub(super) graphs_on: u64,
    pub(super) graphs_off: u64,
    pub(super) first_graph_off: Option<Place>,
    pub(super) batch: Option<(u32, u32)>,
    pub(super) max_queue: Option<u32>,
    pub(super) capped_lines: u64,
    pub(super) first_capped: Option<Place>,
    pub(super) first_line: Option<Place>,
    /// Prefill lines tell when requests join.
    pub(super) has_prefills: bool,
    pub(super) replay: Option<ReplayEvidence>,
    /// Sums of accepted drafts and steps, of engines that print or count them.
    pub(super) pooled: Vec<PooledEvidence>,
    /// Whose counters or requests came first, be they of drafting or not.
    pub(super) exporter: Option<Engine>,
    /// What is to be said of counters and requests.
    pub(super) figure_findings: Vec<Finding>,
    /// What lines of engines that print sums say besides.
    pub(super) line_log: LineLog,
    /// The engine that the caller named.
    pub(super) engine: Option<Engine>,
    /// What is no server's log, by what it looks like.
    pub(super) stray: Option<(Stray, Place)>,
    pub(super) series: Option<Series>,
    /// The first server was known before: its arguments stand among what was forgotten.
    pub(super) goes_on: bool,
    /// Of some lines only what they add up to is known.
    pub(super) is_summed: bool,
}

impl PointBuilder {
    /// An empty point with the name it is reported under.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            seen: Observed { name: name.into(), ..Observed::default() },
            gathers: Vec::new(),
            rank_of: Vec::new(),
            voices: Vec::new(),
            duplicates: Deduplicator::default(),
            rooms: Rooms::default(),
            replay_options: None,
            scope: Scope::default(),
            ended: Vec::new(),
            file: None,
            ignores_settings: false,
            decode_only: false,
            replay: None,
            figures: Figures::default(),
            pooled: pooled::Gather::default(),
            keeps_series: false,
            rests: Vec::new(),
        }
    }

    /// Leaves out what the scope says.
    #[must_use]
    pub fn with_scope(self, scope: Scope) -> Self {
        Self { scope, ..self }
    }

    /// Records of other engines than this one count for nothing.
    #[must_use]
    pub fn with_engine(mut self, engine: Option<Engine>) -> Self {
        self.seen.engine = engine;
        self.pooled.only(engine);
        self
    }

    /// The lines are laid against the server's own draws.
    #[must_use]
    pub fn with_replay(self, options: ReplayOptions) -> Self {
        Self { replay: Some(Feed::new(options.clone())), replay_options: Some(options), ..self }
    }

    /// The same point, which keeps the first `most` lines that count for nothing; without this, none.
    #[must_use]
    pub fn keeping_skipped(mut self, most: usize) -> Self {
        self.seen.skipped.most = most;
        self
    }

    /// The same point, which keeps the lines in their order, for plots. That takes more time and some memory.
    #[must_use]
    pub fn keeping_series(mut self) -> Self {
        self.keeps_series = true;
        self.seen.series = Some(Series::default());
        self
    }

    /// Whether settings that the next files show are none of the run's: they are scripts, not logs.
    pub fn ignore_settings(&mut self, ignores: bool) {
        self.ignores_settings = ignores;
    }

    /// Takes the next record.
    pub fn add(&mut self, place: Place, record: &Record<'_>) {
        self.begin_file(place.file);
        match record {
            Record::Decode(line) => {
                let voice = self.duplicates.voice(&line.tags);
                self.decode(voice, 0, &CompactLine::of(line), Source::Line(line), || place);
            }
            other => self.other(|| place, other),
        }
    }

    /// Takes the next records: as [`add`](Self::add) of each, and faster.
    pub fn add_batch(&mut self, batch: &Batch<'_>) {
        if batch.is_empty() {
            return;
        }
        self.begin_file(batch.file());
        self.voices.clear();
        self.voices.resize(batch.voices().len(), None);
        // Shapes are numbered anew.
        self.gathers.iter_mut().for_each(Gather::end_calm);
        let mut index = 0;
        batch.parts(&mut |part| match part {
            Part::Decodes(lines) => {
                let mut rest = lines;
                loop {
                    let calm = self.calm_lines(rest, index, batch);
                    rest = rest.get(calm..).unwrap_or(&[]);
                    index += u32::try_from(calm).unwrap_or(0);
                    let Some((line, behind)) = rest.split_first() else { break };
                    let voice = self.voice(batch, line.voice());
                    self.decode(voice, index, line, Source::Batch(batch), || batch.place(&batch.mark(line)));
                    rest = behind;
                    index += 1;
                }
            }
            Part::Other(mark, record) => self.other(|| batch.place(&mark), record),
        });
        self.duplicates.end_batch(batch);
    }

    fn begin_file(&mut self, file: u32) {
        if self.file != Some(file) {
            self.file = Some(file);
            self.seen.files.push(file);
            self.gathers.iter_mut().for_each(Gather::begin_segment);
            self.replay.iter_mut().for_each(Feed::file);
            self.pooled.begin_file();
        }
    }

    /// The number in this point of a set of tags that has another one in its batch.
    #[inline]
    fn voice(&mut self, batch: &Batch<'_>, voice: u32) -> usize {
        let index = usize::try_from(voice).unwrap_or(usize::MAX);
        if let Some(Some(known)) = self.voices.get(index) {
            return *known;
        }
        let tags = batch.voices().get(index).copied().unwrap_or_default();
        let number = self.duplicates.voice(&tags);
        if let Some(slot) = self.voices.get_mut(index) {
            *slot = Some(number);
        }
        number
    }

    /// Takes a record that is no decode line.
    fn other(&mut self, place: impl Fn() -> Place, record: &Record<'_>) {
        match record {
            Record::Prefill(line) if !self.decode_only => self.prefill(line),
            Record::Decode(_) | Record::Prefill(_) => {}
            Record::Start(arguments) => {
                let place = place();
                let is_new = self.seen.servers.is_new(arguments, place);
                if is_new {
                    if self.split() {
                        self.seen.servers = Servers::default();
                        self.replay = self.replay_options.clone().map(Feed::new);
                    }
                    self.gathers.iter_mut().for_each(Gather::begin_segment);
                    self.seen.servers.start(arguments, place);
                }
                self.replay.iter_mut().for_each(|replay| replay.start(arguments, is_new));
                self.decode_only = arguments.disaggregation_mode.as_deref() == Some("decode");
            }
            // The engine begins a new window; the one at hand is lost.
            Record::CacheFlush(_) => {
                self.split();
                self.gathers.iter_mut().for_each(Gather::break_window);
                self.replay.iter_mut().for_each(Feed::flush);
            }
            Record::Engine(line) => self.engine_line(place(), line),
            Record::Setting(_) if self.ignores_settings => {}
            Record::Setting(setting) => {
                // A server that is configured after windows is another one.
                if setting.engine() != Engine::Sglang && self.pooled.has_lines() {
                    self.split();
                }
                self.seen.inject(place(), *setting);
                let length = self.seen.injected.iter().rev().find_map(InjectedSetting::draft_length);
                if let Some(length) = length {
                    self.pooled.configured(length);
                }
            }
            Record::Counters(record) => self.figures.add(place(), record),
            Record::Skipped(skipped) => {
                if matches!(skipped.reason, SkipReason::Truncated | SkipReason::NotFinite) {
                    self.replay.iter_mut().for_each(Feed::damaged);
                }
                if skipped.reason == SkipReason::NotFinite {
                    self.pooled.undrafted(&place, skipped.text);
                }
                if let Some(what) = Cut::of(skipped) {
                    self.figures.cut(place(), what);
                }
                if let (None, Some(stray)) = (self.seen.stray, Stray::of(skipped.text)) {
                    self.seen.stray = Some((stray, place()));
                }
                self.seen.skipped.add(SkipKind::Unread(skipped.reason), &place, skipped.text);
            }
        }
    }

    /// Takes a line of an engine that prints sums.
    fn engine_line(&mut self, place: Place, line: &EngineLine) {
        let begins_anew = || self.pooled.jumps_back(line) || self.pooled.is_another_server(line);
        if self.scope.by_segment && self.pooled.has_lines() && begins_anew() {
            self.split();
        }
        if let Some(kind) = self.pooled.add(place, line, &self.scope) {
            let text = format!("{line:?}");
            self.seen.skipped.add(kind, || place, text.as_bytes());
        } else if let EngineLine::AtomForced(forced) = line {
            let value = forced.target_accept_len.to_string();
            self.seen.inject(place, EchoedSetting { name: injection::FORCED, value: &value });
            if let Some(length) = forced.draft_length {
                self.seen.inject(
                    place,
                    EchoedSetting { name: "num_speculative_tokens", value: &length.to_string() },
                );
            }
        }
    }

    /// Forgets what the lines so far added up to, not what the next ones have to know of them.
    pub(super) fn forget_sums(&mut self) {
        let seen = std::mem::take(&mut self.seen);
        self.seen.name = seen.name;
        self.seen.files.extend(self.file);
        self.seen.servers = seen.servers.last_alone();
        self.seen.goes_on = self.seen.servers.count() > 0;
        self.gathers.iter_mut().for_each(Gather::forget_sums);
        self.rooms = Rooms::default();
    }

    /// The later lines of a log whose first ones came: only their sums are known, so no draws are followed any more.
    pub(super) fn add_rest(&mut self, file: u32, rest: Rest) {
        self.begin_file(file);
        if let Some(replay) = self.replay.take() {
            self.seen.replay = Some(replay.finish().of_sums());
        }
        self.rests.push((file, rest));
    }

    /// Ends the point. Where segments are points, this is the last one.
    #[must_use]
    pub fn finish(mut self) -> Observed {
        self.end()
    }

    /// Ends the point, or all of them where segments are points: in the order of the log, numbered from 1 where there
    /// are several.
    #[must_use]
    pub fn finish_segments(mut self) -> Vec<Observed> {
        let last = self.end();
        let mut all = self.ended;
        if all.is_empty() || last.decode_lines() > 0 || last.line_log.lines > 0 {
            all.push(last);
        }
        if all.len() > 1 {
            for (number, seen) in (1..).zip(&mut all) {
                seen.name = format!("{}#{number}", seen.name);
            }
        }
        all
    }

    /// What came together since the last segment's end.
    fn end(&mut self) -> Observed {
        let mut seen = std::mem::take(&mut self.seen);
        let gathers = std::mem::take(&mut self.gathers);
        self.rank_of.clear();
        let (rooms, rates) = (&mut self.rooms, &mut seen.rates);
        seen.ranks = gathers.into_iter().map(|gather| gather.finish(rooms, rates)).collect();
        seen.ranks.sort_by_key(|rank| rank.tags);
        if let Some(replay) = self.replay.take() {
            seen.replay = Some(replay.finish());
        }
        for (file, rest) in std::mem::take(&mut self.rests) {
            seen.absorb(file, &rest);
        }
        let (log, evidence) = std::mem::take(&mut self.pooled).finish();
        self.pooled.only(seen.engine);
        seen.line_log = log;
        seen.pooled.extend(evidence);
        seen.exporter = self.figures.engine();
        let (evidence, findings) = std::mem::take(&mut self.figures).finish();
        for evidence in evidence {
            if seen.engine.is_none_or(|engine| engine == evidence.engine) {
                seen.pooled.push(evidence);
            } else if let Some(place) = evidence.first {
                seen.line_log.leave_out(evidence.engine, place);
            }
        }
        seen.figure_findings = findings;
        if !self.scope.is_whole() {
            seen.servers.forget_silent();
        }
        seen
    }

    /// Begins another point where segments are points and this one has lines; says whether it did. The server goes on.
    fn split(&mut self) -> bool {
        let is_due = self.scope.by_segment
            && self.ended.len() < MAX_SEGMENTS
            && (self.gathers.iter().any(Gather::has_lines) || self.pooled.has_lines());
        if is_due {
            let ended = self.end();
            self.seen.name.clone_from(&ended.name);
            self.seen.engine = ended.engine;
            if let Some(length) = ended.line_log.draft_length {
                self.pooled.configured(length);
            }
            self.seen.skipped.most = ended.skipped.room();
            self.seen.series = self.keeps_series.then(Series::default);
            self.seen.files.extend(self.file);
            self.seen.servers = ended.servers.last_alone();
            self.seen.injected = last_of_each(&ended.injected);
            self.replay = self.replay_options.clone().map(Feed::new);
            if let (Some(replay), Some(server)) = (&mut self.replay, self.seen.servers.first()) {
                // It has drawn before.
                replay.start(server, true);
                replay.file();
            }
            self.ended.push(ended);
        }
        is_due
    }

    /// Whether lines may be taken without a look at each: all of them count, none begins a point, and where they stand
    /// in the server's draws is asked of none.
    fn may_be_calm(&self) -> bool {
        let scope = &self.scope;
        scope.is_whole()
            && !scope.by_segment
            && !self.keeps_series
            && self.replay.as_ref().is_none_or(Feed::only_counts)
    }

    /// Takes the decode lines at the start of `lines` that are like the last one of their rank but for their numbers, and
    /// are not to be taken for another of the same time. Most lines of a log are. Returns how many.
    fn calm_lines(&mut self, lines: &[CompactLine], index: u32, batch: &Batch<'_>) -> usize {
        let Some(first) = lines.first().filter(|_| self.may_be_calm()) else { return 0 };
        let voice = usize::try_from(first.voice()).ok().and_then(|voice| *self.voices.get(voice)?);
        let rank = voice.and_then(|voice| Some((voice, (*self.rank_of.get(voice)?)?)));
        let Some((voice, rank)) = rank.filter(|_| self.duplicates.is_full()) else { return 0 };
        let Some(gather) = self.gathers.get_mut(rank) else { return 0 };
        let (Some(clock), Some(mut run)) = (batch.clock(first), gather.calm_run(first.shape())) else {
            return 0;
        };
        let most_queued = self.seen.max_queue.unwrap_or(0);
        let mut last = None;
        let mut taken = 0;
        for (index, line) in (index..).zip(lines) {
            let is_alike = line.shape() == first.shape()
                && line.voice() == first.voice()
                && line.running_req() == run.batch()
                && line.queue_req() <= most_queued;
            let Some(time) = batch.read(clock, line).filter(|_| is_alike) else { break };
            let Some(is_later) = self.duplicates.is_new(voice, line, batch, time) else { break };
            if !run.add(line) {
                break;
            }
            self.duplicates.remember_new(voice, index, time, is_later);
            last = Some(time);
            taken += 1;
        }
        let run = run.end();
        if let Some(last) = last {
            gather.end_run(&run, last);
            let count = u64::try_from(taken).unwrap_or(0);
            self.seen.servers.count_lines(count);
            self.replay.iter_mut().for_each(|replay| replay.count(rank, count));
            // The graph of such lines was on, or is not named.
            self.seen.graphs_on += if batch.graph(first).is_some() { count } else { 0 };
        }
        taken
    }

    /// Takes a decode line: that with this index in its batch, if it has one.
    #[inline]
    fn decode(
        &mut self,
        voice: usize,
        index: u32,
        line: &CompactLine,
        source: Source<'_>,
        place: impl Fn() -> Place,
    ) {
        let time = source.time(line);
        let novelty = self.duplicates.check_compact(voice, index, line, source, time);
        if novelty != Novelty::New {
            return self.duplicate(voice, novelty, source.message(line), &place);
        }
        if line.running_req() == 0 {
            // Its window was drawn all the same.
            if let (Some(replay), Some(Some(rank))) = (&mut self.replay, self.rank_of.get(voice)) {
                replay.line(*rank, line, &place, millis(source, line), source.message(line));
            }
            return self.seen.skipped.add(SkipKind::Idle, &place, source.message(line));
        }
        let mut number = self.rank(voice);
        if !self.scope.is_whole() && !self.is_in_scope(number, line, source) {
            if let Some(replay) = &mut self.replay {
                replay.pass(number, line, &place, millis(source, line), source.message(line));
            }
            return self.seen.skipped.add(SkipKind::OutOfScope, &place, source.message(line));
        }
        if self.scope.by_segment && self.gathers.get(number).is_some_and(|gather| gather.is_before(time)) {
            self.split();
            number = self.rank(voice);
        }
        if let Some(replay) = &mut self.replay
            && self.gathers.get(number).is_some_and(|gather| gather.is_before(time))
        {
            replay.joined(number);
        }
        let graph = source.graph(line).map(|graph| graph.on);
        let is_capped = source.is_capped(line);
        self.seen.count(line, graph, is_capped, &place);
        if let Some(gather) = self.gathers.get_mut(number) {
            let is_steady = gather.add(line, graph, is_capped, time, &place, &mut self.rooms);
            if let Some(series) = &mut self.seen.series {
                series.add(number, gather.tags(), line, source.timestamp(line), is_steady, place());
            }
        }
        if let Some(replay) = &mut self.replay {
            replay.line(number, line, &place, millis(source, line), source.message(line));
        }
    }

    /// Whether a line of this rank was asked for.
    fn is_in_scope(&mut self, rank: usize, line: &CompactLine, source: Source<'_>) -> bool {
        let (scope, gather) = (&self.scope, self.gathers.get_mut(rank));
        scope.admits(source.timestamp(line))
            && !gather.is_some_and(|gather| gather.is_warming_up(scope.skip_lines))
    }

    #[cold]
    fn duplicate(&mut self, voice: usize, novelty: Novelty, text: &[u8], place: &impl Fn() -> Place) {
        if let Novelty::CopyOf(original) = novelty {
            let original = self.duplicates.voice(&original);
            self.join(voice, original);
        }
        self.seen.skipped.add(SkipKind::Unread(SkipReason::Duplicate), place, text);
        self.seen.first_duplicate.get_or_insert_with(place);
    }

    /// The rank that a voice speaks for.
    #[inline]
    fn rank(&mut self, voice: usize) -> usize {
        if let Some(Some(rank)) = self.rank_of.get(voice) {
            return *rank;
        }
        self.new_rank(voice)
    }

    #[cold]
    fn new_rank(&mut self, voice: usize) -> usize {
        if self.rank_of.len() <= voice {
            self.rank_of.resize(voice + 1, None);
        }
        let rank = self.gathers.len();
        self.gathers.push(Gather::new(self.duplicates.tags(voice)));
        if let Some(slot) = self.rank_of.get_mut(voice) {
            *slot = Some(rank);
        }
        rank
    }

    /// Two voices of one scheduler: they speak for one rank, under the lowest tags.
    fn join(&mut self, voice: usize, original: usize) {
        let number = self.rank(original);
        if self.rank_of.len() <= voice {
            self.rank_of.resize(voice + 1, None);
        }
        let own = self.rank_of.get_mut(voice);
        let Some(slot @ None) = own else { return };
        *slot = Some(number);
        let tags = self.duplicates.tags(voice);
        if let Some(gather) =
            self.gathers.get_mut(number).filter(|gather| height(tags) < height(gather.tags()))
        {
            gather.set_tags(tags);
        }
    }

    /// Requests join the batches of one data-parallel rank.
    fn prefill(&mut self, line: &PrefillLine<'_>) {
        self.seen.has_prefills = true;
        self.replay.iter_mut().for_each(Feed::shows_prefills);
        let data_rank = line.tags.rank("DP");
        // Figures are read only for draws that are followed.
        let mut replay = self.replay.as_mut().filter(|replay| !replay.only_counts());
        let new_seq = replay.as_ref().and_then(|_| line.figures().new_seq);
        for (rank, gather) in self.gathers.iter_mut().enumerate() {
            if gather.tags().rank("DP") == data_rank {
                gather.prefill();
                if let Some(replay) = &mut replay {
                    replay.prefill(rank, new_seq);
                }
            }
        }
    }
}

/// When a line was printed.
fn millis(source: Source<'_>, line: &CompactLine) -> Option<u64> {
    let seconds = source.timestamp(line).and_then(LocalTime::seconds_of)?;
    (seconds >= 0.0).then(|| whole(1000.0 * seconds))
}

/// Of settings that occur with several values the last one.
fn last_of_each(settings: &[InjectedSetting]) -> Vec<InjectedSetting> {
    let is_last = |(number, setting): &(usize, &InjectedSetting)| {
        !settings.iter().skip(number + 1).any(|later| later.name == setting.name)
    };
    settings.iter().enumerate().filter(is_last).map(|(_, setting)| setting.clone()).collect()
}

/// Pipeline and tensor rank: the lowest one speaks for its scheduler.
fn height(tags: Tags) -> (u32, u32) {
    (tags.rank("PP").unwrap_or(0), tags.rank("TP").unwrap_or(0))
}

impl Observed {
    /// Keeps a setting that no earlier line shows.
    pub(super) fn inject(&mut self, place: Place, setting: EchoedSetting<'_>) {
        let EchoedSetting { name, value } = setting;
        let is_known = self.injected.iter().any(|known| known.name == name && known.value == value);
        if !is_known && self.injected.len() < MAX_SETTINGS {
            self.injected.push(InjectedSetting {
                name: name.to_owned(),
                value: value.to_owned(),
                place,
                source: SettingSource::Log,
                is_beside: false,
            });
        }
    }

    /// Adds settings that stand in files about the run.
    pub fn add_settings(&mut self, settings: impl IntoIterator<Item = InjectedSetting>) {
        self.injected.extend(settings);
    }

    /// Adds evidence that comes as sums: counters, requests. It is judged together with what the log shows.
    pub fn add_pooled(&mut self, evidence: PooledEvidence) {
        self.pooled.push(evidence);
    }

    /// The evidence that comes as sums.
    #[must_use]
    pub fn pooled(&self) -> &[PooledEvidence] {
        &self.pooled
    }

    /// The settings of the simulation that are known.
    #[must_use]
    pub fn injected(&self) -> &[InjectedSetting] {
        &self.injected
    }

    /// Files that records came from, in the order of reading.
    #[must_use]
    pub fn files(&self) -> &[u32] {
        &self.files
    }

    #[inline]
    fn count(
        &mut self,
        line: &CompactLine,
        graph: Option<bool>,
        is_capped: bool,
        place: &impl Fn() -> Place,
    ) {
        self.first_line.get_or_insert_with(place);
        self.servers.count_lines(1);
        let batch = line.running_req();
        let (min, max) = self.batch.unwrap_or((batch, batch));
        self.batch = Some((min.min(batch), max.max(batch)));
        self.max_queue = self.max_queue.max(Some(line.queue_req()));
        match graph {
            Some(true) => self.graphs_on += 1,
            Some(false) => {
                self.graphs_off += 1;
                self.first_graph_off.get_or_insert_with(place);
            }
            None => {}
        }
        if is_capped {
            self.capped_lines += 1;
            self.first_capped.get_or_insert_with(place);
        }
    }

    /// What the server's own draws are laid against, where the point was built with replay.
    #[must_use]
    pub fn replay(&self) -> Option<&ReplayEvidence> {
        self.replay.as_ref()
    }

    /// The name it is reported under.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The first lines that count for nothing, in the order of reading, where they were to be kept.
    #[must_use]
    pub fn skipped_lines(&self) -> &[SkippedLine] {
        &self.skipped.first
    }

    /// How many lines count for nothing.
    #[must_use]
    pub fn skipped_total(&self) -> u64 {
        self.skipped.counts.total()
    }

    /// Whether any record was read.
    #[must_use]
    pub fn has_records(&self) -> bool {
        !self.files.is_empty()
    }

    /// Decode lines with running requests.
    #[must_use]
    pub fn decode_lines(&self) -> u64 {
        self.ranks.iter().map(|rank| rank.decode_lines).sum()
    }

    /// Those of them with an accept length.
    #[must_use]
    pub fn spec_lines(&self) -> u64 {
        self.ranks.iter().map(|rank| rank.spec_lines).sum()
    }

    /// What the first server's own arguments say.
    #[must_use]
    pub fn server(&self) -> Option<&ServerStart> {
        self.servers.first()
    }

    /// Most tokens that one verify step can emit, as the arguments of the log's first server have it.
    #[must_use]
    pub fn max_accept_length(&self) -> Option<u32> {
        let configured = || self.injected.iter().rev().find_map(InjectedSetting::draft_length);
        let shown = || self.pooled.iter().find_map(|evidence| evidence.total().draft_length());
        match self.servers.first() {
            Some(server) => server::max_accept_length(server),
            None => configured().or_else(shown).map(|length| length.saturating_add(1)),
        }
    }

    /// Drafts a step, as the evidence shows them.
    #[must_use]
    pub fn draft_length(&self) -> Option<u32> {
        self.max_accept_length().and_then(|max| max.checked_sub(1)).filter(|length| *length > 0)
    }

    /// The engine that the point is of, where that is known.
    #[must_use]
    pub fn engine(&self) -> Option<Engine> {
        let sglang = || (self.decode_lines() > 0 || self.servers.count() > 0).then_some(Engine::Sglang);
        self.engine.or_else(sglang).or_else(|| self.engine_hint())
    }

    /// Whether windows or counters are there in which nothing was drafted.
    pub(super) fn shows_no_drafts(&self) -> bool {
        let is_idle = |finding: &Finding| finding.code == FindingCode::NoSpeculativeFields;
        self.line_log.undrafted > 0 || self.figure_findings.iter().any(is_idle)
    }

    /// Whether nothing was left out for the time at which it was logged.
    pub(super) fn is_whole(&self) -> bool {
        self.skipped.counts.out_of_scope == 0
    }

    /// The engine: as the caller named it, as its lines or its evidence show it, or as its settings do.
    pub(super) fn engine_hint(&self) -> Option<Engine> {
        let told = || {
            let is = |name: &str| self.injected.iter().any(|setting| setting.name.starts_with(name));
            if is("TILERT_") {
                Some(Engine::Tilert)
            } else if is("TLLM_") {
                Some(Engine::Trtllm)
            } else {
                None
            }
        };
        let evidence = || self.pooled.first().map(|evidence| evidence.engine);
        self.engine.or(self.line_log.engine).or_else(evidence).or_else(told).or_else(|| {
            // SGLang without lines is judged by its own rules.
            self.exporter.filter(|engine| *engine != Engine::Sglang)
        })
    }

    /// Whether no line and no other evidence shows acceptance, of an engine that never prints it.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        self.is_pooled() && self.pooled.is_empty()
    }

    /// Whether the point is judged by sums: of another engine than SGLang, or without lines of it.
    #[must_use]
    pub fn is_pooled(&self) -> bool {
        match self.engine {
            Some(engine) if engine != Engine::Sglang => true,
            Some(_) => self.decode_lines() == 0 && !self.pooled.is_empty(),
            None => self.decode_lines() == 0 && self.servers.count() == 0 && self.engine_hint().is_some(),
        }
    }
}
