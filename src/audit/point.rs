//! From records to what one run showed: one pass, bounded memory, no judgement.

mod lines;

use crate::engine::Engine;
use crate::evidence::{
    Batch, CompactLine, Deduplicator, EchoedSetting, EngineLine, Part, Place, Record, SkipReason, Source,
};
use crate::replay::ReplayOptions;

use super::figures::{Cut, Figures};
use super::injection::{self, InjectedSetting};
use super::observed::Observed;
use super::partial::Rest;
use super::pooled;
use super::rank::{Gather, Rooms};
use super::replay::Feed;
use super::scope::Scope;
use super::series::Series;
use super::server::Servers;
use super::skipped::SkipKind;
use super::stray::Stray;

/// Segments that are told apart; what follows stays with the last one.
const MAX_SEGMENTS: usize = 1 << 12;

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
            self.gathers.iter_mut().for_each(Gather::begin_file);
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
}

/// Of settings that occur with several values the last one.
fn last_of_each(settings: &[InjectedSetting]) -> Vec<InjectedSetting> {
    let is_last = |(number, setting): &(usize, &InjectedSetting)| {
        !settings.iter().skip(number + 1).any(|later| later.name == setting.name)
    };
    settings.iter().enumerate().filter(is_last).map(|(_, setting)| setting.clone()).collect()
}
