//! The decode and prefill lines of a point, and whose they are.

use crate::audit::partial::CourseLine;
use crate::audit::rank::Gather;
use crate::audit::replay::Feed;
use crate::audit::skipped::SkipKind;
use crate::evidence::{Batch, CompactLine, Novelty, Place, PrefillLine, SkipReason, Source, Tags};
use crate::simulate::log::LocalTime;

use super::PointBuilder;

impl PointBuilder {
    /// Whether lines may be taken without a look at each: all of them count, none begins a point, and where they stand
    /// in the server's draws is asked of none.
    fn may_be_calm(&self) -> bool {
        let scope = &self.scope;
        scope.is_whole()
            && !scope.by_segment
            && !self.keeps_series
            && self.course.is_none()
            && self.replay.as_ref().is_none_or(Feed::only_counts)
    }

    /// Takes the decode lines at the start of `lines` that are like the last one of their rank but for their numbers, and
    /// are not to be taken for another of the same time. Most lines of a log are. Returns how many.
    pub(super) fn calm_lines(&mut self, lines: &[CompactLine], index: u32, batch: &Batch<'_>) -> usize {
        let Some(first) = lines.first().filter(|_| self.may_be_calm()) else { return 0 };
        let voice = usize::try_from(first.voice()).ok().and_then(|voice| *self.voices.get(voice)?);
        let rank = voice.and_then(|voice| Some((voice, (*self.rank_of.get(voice)?)?)));
        let Some((voice, rank)) = rank else { return 0 };
        let Some(gather) = self.gathers.get_mut(rank) else { return 0 };
        let Some(clock) = batch.clock(first) else { return 0 };
        let Some(mut fresh) = self.duplicates.run(voice, lines, batch) else { return 0 };
        let Some(mut run) = gather.calm_run(first.shape()) else { return 0 };
        let most_queued = self.seen.max_queue.unwrap_or(0);
        let mut last = None;
        let mut taken = 0;
        for (number, line) in lines.iter().enumerate() {
            let is_alike = line.shape() == first.shape()
                && line.voice() == first.voice()
                && line.running_req() == run.batch()
                && line.queue_req() <= most_queued;
            let Some(time) = batch.read(clock, line).filter(|_| is_alike) else { break };
            if !fresh.is_new(number, line, time) || !run.add(line) {
                break;
            }
            last = Some(time);
            taken += 1;
        }
        let (run, fresh) = (run.end(), fresh.end());
        if let Some(last) = last {
            self.duplicates.end_run(voice, index, taken, &fresh);
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
    pub(super) fn decode(
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
                replay.line(*rank, line, &place, || millis(source, line), source.message(line));
            }
            return self.seen.skipped.add(SkipKind::Idle, &place, source.message(line));
        }
        let mut number = self.rank(voice);
        if !self.scope.is_whole() && !self.is_in_scope(number, line, source) {
            if let Some(replay) = &mut self.replay {
                replay.pass(number, line, &place, || millis(source, line), source.message(line));
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
            let tokens = || crate::evidence::leading_tokens(source.message(line));
            let before = gather.batch_before();
            let is_steady = gather.add(line, graph, is_capped, time, &place, &mut self.rooms);
            gather.grow(line, tokens, is_steady);
            if let (Some(course), Some(printed)) = (&mut self.course, line.accept_len()) {
                let batch = line.running_req();
                course.add(&CourseLine {
                    rank: number,
                    hundredths: printed.count(),
                    before: before.unwrap_or(batch),
                    batch,
                    is_steady,
                    line: place().line,
                });
            }
            if let Some(series) = &mut self.seen.series {
                series.add(number, gather.tags(), line, source.timestamp(line), is_steady, place());
            }
        }
        if let Some(replay) = &mut self.replay {
            replay.line(number, line, &place, || millis(source, line), source.message(line));
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
    pub(super) fn prefill(&mut self, line: &PrefillLine<'_>) {
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
    (seconds >= 0.0).then(|| crate::law::whole(1000.0 * seconds))
}

/// Pipeline and tensor rank: the lowest one speaks for its scheduler.
fn height(tags: Tags) -> (u32, u32) {
    (tags.rank("PP").unwrap_or(0), tags.rank("TP").unwrap_or(0))
}
