//! From records to what one run showed: one pass, bounded memory, no judgement.

use crate::evidence::{
    DecodeLine, Deduplicator, EchoedSetting, Novelty, Place, PrefillLine, Record, SkipReason, Tags,
};
use crate::golden::SettingSource;
use crate::replay::{ReplayEvidence, ReplayOptions};

use super::injection::InjectedSetting;
use super::rank::{Gather, Rank, Rooms};
use super::rates::Rates;
use super::replay::Feed;
use super::scope::Scope;
use super::server::{self, Servers};

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
    duplicates: Deduplicator,
    rooms: Rooms,
    /// For the next segment.
    replay_options: Option<ReplayOptions>,
    scope: Scope,
    /// Earlier segments, where each is a point.
    ended: Vec<Observed>,
    file: Option<u32>,
    /// The server only decodes: prefill lines in its log are another server's.
    decode_only: bool,
    replay: Option<Feed>,
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
    pub(super) skipped: Skipped,
    pub(super) first_duplicate: Option<Place>,
    pub(super) graphs_on: u64,
    pub(super) graphs_off: u64,
    pub(super) first_graph_off: Option<Place>,
    pub(super) batch: Option<(u32, u32)>,
    pub(super) max_queue: Option<u32>,
    pub(super) capped_lines: u64,
    pub(super) first_capped: Option<Place>,
    pub(super) first_line: Option<Place>,
    pub(super) replay: Option<ReplayEvidence>,
}

/// Lines that count for nothing, by the reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Cut, spliced, or elided by hand.
    pub truncated: u64,
    /// The same line again.
    pub duplicate: u64,
    /// Prose, documentation, or a line of another kind.
    pub lookalike: u64,
    /// No running request.
    pub idle: u64,
    /// Outside the time that was asked for, or among the first lines that were to be passed over.
    pub out_of_scope: u64,
    /// NaN or infinite acceptance fields.
    pub not_finite: u64,
}

impl PointBuilder {
    /// An empty point with the name it is reported under.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            seen: Observed { name: name.into(), ..Observed::default() },
            gathers: Vec::new(),
            rank_of: Vec::new(),
            duplicates: Deduplicator::default(),
            rooms: Rooms::default(),
            replay_options: None,
            scope: Scope::default(),
            ended: Vec::new(),
            file: None,
            decode_only: false,
            replay: None,
        }
    }

    /// Leaves out what the scope says.
    #[must_use]
    pub fn with_scope(self, scope: Scope) -> Self {
        Self { scope, ..self }
    }

    /// The lines are laid against the server's own draws.
    #[must_use]
    pub fn with_replay(self, options: ReplayOptions) -> Self {
        Self { replay: Some(Feed::new(options.clone())), replay_options: Some(options), ..self }
    }

    /// Takes the next record.
    pub fn add(&mut self, place: Place, record: &Record<'_>) {
        if self.file != Some(place.file) {
            self.file = Some(place.file);
            self.seen.files.push(place.file);
            self.gathers.iter_mut().for_each(Gather::begin_segment);
            self.replay.iter_mut().for_each(Feed::file);
        }
        match record {
            Record::Decode(line) => self.decode(place, line),
            Record::Prefill(line) if !self.decode_only => self.prefill(line),
            Record::Prefill(_) => {}
            Record::Start(arguments) => {
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
            Record::Setting(setting) => self.seen.inject(place, *setting),
            Record::Skipped(skipped) => match skipped.reason {
                SkipReason::Truncated => self.seen.skipped.truncated += 1,
                SkipReason::Duplicate => self.seen.skipped.duplicate += 1,
                SkipReason::Lookalike => self.seen.skipped.lookalike += 1,
                SkipReason::NotFinite => self.seen.skipped.not_finite += 1,
            },
        }
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
        if all.is_empty() || last.decode_lines() > 0 {
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
        seen.replay = self.replay.take().map(Feed::finish);
        if !self.scope.is_whole() {
            seen.servers.forget_silent();
        }
        seen
    }

    /// Begins another point where segments are points and this one has lines; says whether it did. The server goes on.
    fn split(&mut self) -> bool {
        let is_due = self.scope.by_segment
            && self.ended.len() < MAX_SEGMENTS
            && self.gathers.iter().any(Gather::has_lines);
        if is_due {
            let ended = self.end();
            self.seen.name.clone_from(&ended.name);
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

    fn decode(&mut self, place: Place, line: &DecodeLine<'_>) {
        let voice = self.duplicates.voice(&line.tags);
        let novelty = self.duplicates.check_voice(voice, line);
        if novelty != Novelty::New {
            if let Novelty::CopyOf(original) = novelty {
                let original = self.duplicates.voice(&original);
                self.join(voice, original);
            }
            self.seen.skipped.duplicate += 1;
            self.seen.first_duplicate.get_or_insert(place);
            return;
        }
        if line.running_req == 0 {
            self.seen.skipped.idle += 1;
            // Its window was drawn all the same.
            if let (Some(replay), Some(Some(rank))) = (&mut self.replay, self.rank_of.get(voice)) {
                replay.line(*rank, place, line);
            }
            return;
        }
        let mut number = self.rank(voice);
        let gather = self.gathers.get_mut(number);
        let is_in_time = self.scope.admits(line.timestamp);
        if !is_in_time || gather.is_some_and(|gather| gather.is_warming_up(self.scope.skip_lines)) {
            self.seen.skipped.out_of_scope += 1;
            return;
        }
        if self.scope.by_segment && self.gathers.get(number).is_some_and(|gather| gather.is_before(line)) {
            self.split();
            number = self.rank(voice);
        }
        self.seen.count(place, line);
        if let Some(gather) = self.gathers.get_mut(number) {
            gather.add(line, place, &mut self.rooms);
        }
        if let Some(replay) = &mut self.replay {
            replay.line(number, place, line);
        }
    }

    /// The rank that a voice speaks for.
    fn rank(&mut self, voice: usize) -> usize {
        if self.rank_of.len() <= voice {
            self.rank_of.resize(voice + 1, None);
        }
        if let Some(Some(rank)) = self.rank_of.get(voice) {
            return *rank;
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
        let data_rank = line.tags.rank("DP");
        let new_seq = self.replay.as_ref().and_then(|_| line.figures().new_seq);
        for (rank, gather) in self.gathers.iter_mut().enumerate() {
            if gather.tags().rank("DP") == data_rank {
                gather.prefill();
                self.replay.iter_mut().for_each(|replay| replay.prefill(rank, new_seq));
            }
        }
    }
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
    fn inject(&mut self, place: Place, setting: EchoedSetting<'_>) {
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

    fn count(&mut self, place: Place, line: &DecodeLine<'_>) {
        self.first_line.get_or_insert(place);
        self.servers.count_line();
        let batch = line.running_req;
        let (min, max) = self.batch.unwrap_or((batch, batch));
        self.batch = Some((min.min(batch), max.max(batch)));
        self.max_queue = self.max_queue.max(Some(line.queue_req));
        match line.graph {
            Some(graph) if graph.on => self.graphs_on += 1,
            Some(_) => {
                self.graphs_off += 1;
                self.first_graph_off.get_or_insert(place);
            }
            None => {}
        }
        if line.capped {
            self.capped_lines += 1;
            self.first_capped.get_or_insert(place);
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

    /// Most tokens that one verify step can emit, as the arguments of the log's first server have it.
    #[must_use]
    pub fn max_accept_length(&self) -> Option<u32> {
        server::max_accept_length(self.servers.first()?)
    }
}
