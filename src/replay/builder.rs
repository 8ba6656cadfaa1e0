//! Takes the lines of one point in their order, while they are read.

use crate::evidence::Place;

use super::clock::Clock;
use super::effort::Pool;
use super::line::{Line, Succession, WindowKind};
use super::options::ReplayOptions;
use super::reach::BatchPath;
use super::run::{Run, RunOutcome, ServerDraws};

/// Servers of one log that are looked at; later ones are passed over.
const MOST_RUNS: usize = 64;

/// Ranks that are looked at.
const MOST_RANKS: usize = 256;

/// One decode line of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayLine {
    /// Where it stands.
    pub place: Place,
    /// Printed accept length in hundredths; `None` where it shows none.
    pub hundredths: Option<u32>,
    /// `#running-req`.
    pub batch: u32,
    /// `#token`, where the line shows it: how much it rose tells whether a line is missing.
    pub tokens: Option<u64>,
    /// When it was printed, in milliseconds of any clock, where the log shows it: between two lines no more steps can be
    /// missing than there was time for.
    pub millis: Option<u64>,
    /// Hundredths of a token per second, where the line shows it: tells how long its steps took.
    pub throughput_hundredths: Option<u32>,
}

/// Lays the lines of one point against the draws of its server.
///
/// The first few thousand lines decide which laws are followed; of all others nothing is kept. Memory is bounded by a few
/// megabytes whatever the length of the log.
///
/// ```
/// use accsim::evidence::Place;
/// use accsim::replay::{ReplayBuilder, ReplayLine, ReplayOptions, ReplayStatus, ServerDraws};
///
/// let mut replay = ReplayBuilder::new(ReplayOptions::default());
/// replay.start(ServerDraws {
///     seed: Some(320_846_001),
///     interval: Some(40),
///     max_accept_length: Some(6),
///     decode_only: false,
/// });
/// let printed = [
///     362, 352, 355, 360, 342, 358, 345, 348, 345, 340, 375, 350, 358, 367, 352, 362, 355, 358, 350, 342, 355, 340, 340, 355,
/// ];
/// for (line, hundredths) in (1..).zip(printed) {
///     let place = Place { file: 0, line };
///     let line = ReplayLine {
///         place,
///         hundredths: Some(hundredths),
///         batch: 16,
///         tokens: None,
///         millis: None,
///         throughput_hundredths: None,
///     };
///     replay.line(0, line);
/// }
/// let seen = replay.finish();
/// assert_eq!(seen.conclude(None, 24).status, ReplayStatus::Proved);
/// ```
#[derive(Clone, Debug)]
pub struct ReplayBuilder {
    options: ReplayOptions,
    done: Vec<RunOutcome>,
    run: Run,
    ranks: Vec<RankState>,
    pool: Pool,
    /// Decode lines so far.
    lines: u64,
    /// A prefill line came: the log shows when requests join.
    has_prefills: bool,
    /// Least and greatest batch so far.
    batches: Option<(u32, u32)>,
}

/// What the next line of a rank needs to know.
#[derive(Clone, Copy, Debug, Default)]
struct RankState {
    /// `#running-req` of the line before.
    before: Option<u32>,
    /// Requests that joined since; `None` for any number.
    arrivals: Arrivals,
    flushed: bool,
    /// Another log began since, or lines joined by hand.
    joined: bool,
    /// Something could not be read since.
    damaged: bool,
    /// `#token` of the line before.
    tokens: Option<u64>,
    clock: Clock,
}

impl RankState {
    /// What comes next may stand before what came.
    fn join(&mut self) {
        self.before = None;
        self.joined = true;
    }
}

/// Requests that joined a batch.
#[derive(Clone, Copy, Debug)]
enum Arrivals {
    Known { prefills: u32, requests: u32 },
    Unknown,
}

impl Default for Arrivals {
    fn default() -> Self {
        Self::Known { prefills: 0, requests: 0 }
    }
}

/// All that replay saw of one point.
#[derive(Clone, Debug)]
pub struct ReplayEvidence {
    pub(super) runs: Vec<RunOutcome>,
    pub(super) options: ReplayOptions,
    /// Of later lines only sums are known.
    pub(super) is_summed: bool,
}

impl ReplayEvidence {
    /// The same of a point of whose later lines only sums are known: nobody can follow their draws.
    #[must_use]
    pub(crate) fn of_sums(self) -> Self {
        Self { is_summed: true, ..self }
    }
}

impl ReplayBuilder {
    /// No line yet.
    #[must_use]
    pub fn new(options: ReplayOptions) -> Self {
        Self {
            options,
            done: Vec::new(),
            run: Run::default(),
            ranks: Vec::new(),
            pool: Pool::default(),
            lines: 0,
            has_prefills: false,
            batches: None,
        }
    }

    /// A server begins: its draws start anew.
    pub fn start(&mut self, server: ServerDraws) {
        let run = std::mem::replace(&mut self.run, Run::new(server));
        if run.has_lines() && self.done.len() < MOST_RUNS {
            self.done.push(run.finish(&self.options, &mut self.pool));
        }
        self.ranks.clear();
    }

    /// Another log of the same server, or lines joined by hand: what stood before a rank's next line is not known.
    pub fn gap(&mut self) {
        self.ranks.iter_mut().for_each(RankState::join);
    }

    /// The same for one rank.
    pub fn gap_of(&mut self, rank: usize) {
        self.ranks.get_mut(rank).into_iter().for_each(RankState::join);
    }

    /// The cache was flushed: counters and phase start anew.
    pub fn flush(&mut self) {
        self.ranks.iter_mut().for_each(|rank| {
            rank.before = None;
            rank.flushed = true;
        });
    }

    /// A line that could not be read: it may have been anybody's, and of any kind.
    pub fn damaged(&mut self) {
        self.ranks.iter_mut().for_each(|rank| {
            rank.before = None;
            rank.damaged = true;
        });
    }

    /// A prefill line of any rank: the log shows when requests join.
    pub fn shows_prefills(&mut self) {
        self.has_prefills = true;
    }

    /// A prefill line: so many requests join a rank's batch, or an unknown number.
    pub fn prefill(&mut self, rank: usize, new_seq: Option<u32>) {
        self.has_prefills = true;
        let Some(state) = self.rank(rank) else { return };
        state.arrivals = match (state.arrivals, new_seq) {
            (Arrivals::Known { prefills, requests }, Some(new)) => Arrivals::Known {
                prefills: prefills.saturating_add(1),
                requests: requests.saturating_add(new),
            },
            _ => Arrivals::Unknown,
        };
    }

    /// The next decode line of a rank, copies left out.
    pub fn line(&mut self, rank: usize, line: ReplayLine) {
        let decode_only = self.run.server.decode_only;
        let interval = self.options.decode_log_interval.or(self.run.server.interval);
        let (least, greatest) = self.batches.unwrap_or((line.batch, line.batch));
        self.batches = Some((least.min(line.batch), greatest.max(line.batch)));
        // Without any prefill line nobody sees when requests join, and a batch as before may be of others.
        let is_blind = !self.has_prefills;
        let is_varied = self.batches.is_some_and(|(least, greatest)| least != greatest);
        let Some(state) = self.rank(rank) else { return };
        let before = state.before.take().filter(|before| *before > 0 && line.batch > 0);
        let flushed = std::mem::take(&mut state.flushed);
        let damaged = std::mem::take(&mut state.damaged);
        let joined = std::mem::take(&mut state.joined);
        let arrivals = std::mem::take(&mut state.arrivals);
        let is_same = before == Some(line.batch)
            && matches!(arrivals, Arrivals::Known { prefills: 0, .. })
            && !decode_only;
        let tokens = std::mem::replace(&mut state.tokens, line.tokens).zip(line.tokens);
        let tokens = tokens.filter(|_| is_same && !flushed);
        // How many steps a line stands for says how far the tokens rise.
        let known = tokens.zip(line.hundredths).zip(interval);
        let succession = known.map_or(Succession::Unknown, |(((earlier, later), hundredths), interval)| {
            Succession::of(earlier, later, hundredths, line.batch, interval)
        });
        // All of them may have left and others come, unseen.
        let turnover = |before: u32| {
            let arrivals = before.saturating_add(line.batch);
            BatchPath { before, batch: line.batch, arrivals }
        };
        let belied = before.filter(|_| known.is_some() && succession == Succession::Unknown).map(turnover);
        let window = match (before, arrivals) {
            // Requests join unseen.
            _ if decode_only => WindowKind::Unknown,
            (Some(before), Arrivals::Known { .. }) if is_blind && (is_varied || belied.is_some()) => {
                WindowKind::Changing(turnover(before))
            }
            (Some(before), Arrivals::Known { prefills: 0, .. }) if before == line.batch => WindowKind::Steady,
            (Some(before), Arrivals::Known { requests, .. }) => {
                WindowKind::Changing(BatchPath { before, batch: line.batch, arrivals: requests })
            }
            (None, _) | (_, Arrivals::Unknown) => WindowKind::Unknown,
        };
        state.before = Some(line.batch);
        let gained = tokens.and_then(|(earlier, later)| {
            let (rise, batch) = (later.checked_sub(earlier)?, u64::from(line.batch));
            (batch > 0 && rise.is_multiple_of(batch)).then(|| rise / batch)
        });
        let clock = &mut state.clock;
        let is_late = clock.is_late(&line, interval, is_same) && !joined;
        let draws_per_milli = clock.fastest;
        let gap = damaged || is_late || succession == Succession::Missing;
        self.lines += 1;
        let line = Line {
            number: self.lines,
            place: line.place,
            hundredths: line.hundredths,
            window: if gap { WindowKind::Unknown } else { window },
            flushed,
            gap,
            joined,
            millis: line.millis,
            draws_per_milli,
            belied,
            succession,
            gained: gained.filter(|_| succession == Succession::Next),
        };
        self.run.add(rank, line, &self.options, &mut self.pool);
    }

    /// Whether the lines of the server at hand are only counted: its seed is not known, and it is not to be searched.
    /// [`count`](Self::count) then does as well as [`line`](Self::line), until the next [`start`](Self::start).
    #[must_use]
    pub fn only_counts(&self) -> bool {
        self.run.only_counts(&self.options)
    }

    /// The next decode lines of a rank, all with an accept length, of a server whose lines are only counted.
    pub fn count(&mut self, rank: usize, lines: u64) {
        if rank < MOST_RANKS {
            self.run.count(lines);
        }
    }

    /// No line follows.
    #[must_use]
    pub fn finish(mut self) -> ReplayEvidence {
        if self.run.has_lines() || self.done.is_empty() {
            self.done.push(self.run.finish(&self.options, &mut self.pool));
        }
        ReplayEvidence { runs: self.done, options: self.options, is_summed: false }
    }

    fn rank(&mut self, rank: usize) -> Option<&mut RankState> {
        if rank >= MOST_RANKS {
            return None;
        }
        if self.ranks.len() <= rank {
            self.ranks.resize(rank + 1, RankState::default());
        }
        self.ranks.get_mut(rank)
    }
}
