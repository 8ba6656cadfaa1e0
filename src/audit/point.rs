//! From records to what one run showed: one pass, bounded memory, no judgement.

use crate::evidence::{
    Batch, CompactLine, Deduplicator, Novelty, Part, Place, Record, SkipReason, Source, Tags,
};

use super::rank::{Gather, Rank, Rooms};
use super::rates::Rates;
use super::server::{self, Servers};
use super::skipped::{SkipKind, SkippedLine, SkippedLines};

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
#[derive(Debug)]
pub struct PointBuilder {
    seen: Observed,
    gathers: Vec<Gather>,
    /// The rank of each voice: copies of one scheduler speak for one rank.
    rank_of: Vec<Option<usize>>,
    /// The voice of each set of tags of the batch at hand.
    voices: Vec<Option<usize>>,
    duplicates: Deduplicator,
    rooms: Rooms,
    file: Option<u32>,
    /// The server only decodes: prefill lines in its log are another server's.
    decode_only: bool,
}

/// What the lines of one point add up to.
#[derive(Debug, Default)]
pub struct Observed {
    pub(super) name: String,
    /// Files that records came from.
    pub(super) files: Vec<u32>,
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
            file: None,
            decode_only: false,
        }
    }

    /// The same point, which keeps the first `most` lines that count for nothing; without this, none.
    #[must_use]
    pub fn keeping_skipped(mut self, most: usize) -> Self {
        self.seen.skipped.most = most;
        self
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
            Record::Prefill(line) if !self.decode_only => self.prefill(line.tags),
            Record::Decode(_) | Record::Prefill(_) => {}
            Record::Start(arguments) => {
                if self.seen.servers.start(arguments, place()) {
                    self.gathers.iter_mut().for_each(Gather::begin_segment);
                }
                self.decode_only = arguments.disaggregation_mode.as_deref() == Some("decode");
            }
            // The engine begins a new window; the one at hand is lost.
            Record::CacheFlush(_) => self.gathers.iter_mut().for_each(Gather::break_window),
            Record::Skipped(skipped) => {
                self.seen.skipped.add(SkipKind::Unread(skipped.reason), place, skipped.text);
            }
        }
    }

    /// Ends the point.
    #[must_use]
    pub fn finish(mut self) -> Observed {
        let rooms = &mut self.rooms;
        let rates = &mut self.seen.rates;
        self.seen.ranks = self.gathers.into_iter().map(|gather| gather.finish(rooms, rates)).collect();
        self.seen.ranks.sort_by_key(|rank| rank.tags);
        self.seen
    }

    /// Takes the decode lines at the start of `lines` that are like the last one of their rank but for their numbers, and
    /// are not to be taken for another of the same time. Most lines of a log are. Returns how many.
    fn calm_lines(&mut self, lines: &[CompactLine], index: u32, batch: &Batch<'_>) -> usize {
        let Some(first) = lines.first() else { return 0 };
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
            return self.seen.skipped.add(SkipKind::Idle, &place, source.message(line));
        }
        let graph = source.graph(line).map(|graph| graph.on);
        let is_capped = source.is_capped(line);
        self.seen.count(line, graph, is_capped, &place);
        let number = self.rank(voice);
        if let Some(gather) = self.gathers.get_mut(number) {
            gather.add(line, graph, is_capped, time, &place, &mut self.rooms);
        }
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
    fn prefill(&mut self, tags: Tags) {
        let data_rank = tags.rank("DP");
        let same = self.gathers.iter_mut().filter(|gather| gather.tags().rank("DP") == data_rank);
        same.for_each(Gather::prefill);
    }
}

/// Pipeline and tensor rank: the lowest one speaks for its scheduler.
fn height(tags: Tags) -> (u32, u32) {
    (tags.rank("PP").unwrap_or(0), tags.rank("TP").unwrap_or(0))
}

impl Observed {
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

    /// Most tokens that one verify step can emit, as the arguments of the log's first server have it.
    #[must_use]
    pub fn max_accept_length(&self) -> Option<u32> {
        server::max_accept_length(self.servers.first()?)
    }
}
