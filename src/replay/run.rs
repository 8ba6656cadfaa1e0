//! The lines of one server: the first ones decide which draws are followed, all others only follow.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::candidates::{Candidates, Shape};
use super::clues::{ClueKeeper, UnknownSeed};
use super::effort::{Effort, Pool};
use super::follow::{Follower, GivenUp};
use super::law::DrawLaw;
use super::line::{Line, WindowKind};
use super::odds::log10_tried;
use super::options::ReplayOptions;
use super::script::Script;
use super::search;
use super::tally::{SideBySide, Tally};

/// Lines of a rank, and of all ranks together, that decide.
const HEAD_LINES: usize = 1 << 12;
const HEAD_LINES_OF_ALL: usize = 1 << 16;

/// Followers that go on beyond the head, over all ranks.
const MOST_FOLLOWERS: usize = 256;

/// Laws that go on beyond the head.
const MOST_LAWS: usize = 8;

/// Chance at which a law is so well borne out that no other start is looked for.
const BORNE_OUT: f64 = -6.0;

/// Laws for which a lost start is searched.
const SEARCHED_LAWS: usize = 6;

/// Longest window that is replayed, in draws.
const LONGEST_INTERVAL: u32 = 1 << 16;

/// What a server's arguments say about its draws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerDraws {
    /// `random_seed`.
    pub seed: Option<u64>,
    /// `decode_log_interval`.
    pub interval: Option<u32>,
    /// Most tokens of a step, by its algorithm's rule.
    pub max_accept_length: Option<u32>,
    /// It only decodes: no prefill line tells when requests join.
    pub decode_only: bool,
}

/// One server's lines.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    pub(super) server: ServerDraws,
    /// The lines of each rank as long as nothing is decided.
    heads: Vec<Vec<Line>>,
    held: usize,
    shape: Shape,
    per_rank: Vec<u64>,
    clues: ClueKeeper,
    trials: Option<Trials>,
}

/// The laws that are tried.
#[derive(Clone, Debug, Default)]
struct Trials {
    list: Vec<Trial>,
    /// Candidates before any was left out.
    candidates: u64,
    interval: u32,
}

/// One law, and each rank's lines along it.
#[derive(Clone, Debug)]
struct Trial {
    script: Arc<Script>,
    /// By rank; `None` where a rank's place in the sequence was not found.
    followers: Vec<Option<Follower>>,
    /// Ranks that are through.
    ended: Vec<Ended>,
}

/// What is left of a rank that is through.
#[derive(Clone, Debug)]
struct Ended {
    tally: Tally,
    given_up: Option<GivenUp>,
    spent: u64,
}

/// What came of one law.
#[derive(Clone, Debug)]
pub(super) struct TrialOutcome {
    pub(super) law: DrawLaw,
    pub(super) given_up: Option<GivenUp>,
    pub(super) failed: u64,
    /// Sums over the ranks; slips of all of them.
    pub(super) tally: Tally,
    /// Decimal logarithms of the best rank's chances: no line failing, and some failing.
    pub(super) chance: f64,
    pub(super) tail: f64,
    /// What the longest rank could have proved.
    pub(super) possible: f64,
}

/// What came of one server's lines.
#[derive(Clone, Debug)]
pub(super) struct RunOutcome {
    pub(super) seed: Option<u64>,
    /// The seed as the log has it.
    pub(super) named_seed: Option<u64>,
    pub(super) lines: u64,
    pub(super) is_constant: bool,
    pub(super) is_interval_too_long: bool,
    /// The server says how many tokens a step can emit.
    pub(super) max_known: bool,
    pub(super) candidates: u64,
    /// Where the seed is not known.
    pub(super) unknown: Option<UnknownSeed>,
    pub(super) trials: Vec<TrialOutcome>,
}

impl Run {
    pub(super) fn new(server: ServerDraws) -> Self {
        Self { server, ..Self::default() }
    }

    /// Whether any line came.
    pub(super) fn has_lines(&self) -> bool {
        self.shape.lines > 0
    }

    /// Whether lines are only counted: no draw is known, and nobody looks for the seed.
    pub(super) fn only_counts(&self, options: &ReplayOptions) -> bool {
        self.seed(options).is_none() && !options.keep_clues
    }

    /// Counts lines with an accept length, where that is all that is done with them.
    pub(super) fn count(&mut self, lines: u64) {
        self.shape.lines += lines;
    }

    /// The next line of a rank.
    pub(super) fn add(&mut self, rank: usize, line: Line, options: &ReplayOptions, pool: &mut Pool) {
        if let Some(hundredths) = line.hundredths {
            self.shape.add(hundredths);
            grow(&mut self.per_rank, rank);
            self.per_rank.get_mut(rank).into_iter().for_each(|lines| *lines += 1);
        }
        if self.seed(options).is_none() {
            if options.keep_clues {
                self.clues.add(rank, &line);
            }
            return;
        }
        if let Some(trials) = &mut self.trials {
            trials.follow(rank, line);
            return;
        }
        grow(&mut self.heads, rank);
        let Some(head) = self.heads.get_mut(rank) else { return };
        head.push(line);
        self.held += 1;
        if head.len() >= HEAD_LINES || self.held >= HEAD_LINES_OF_ALL {
            self.decide(options, pool, false);
        }
    }

    fn seed(&self, options: &ReplayOptions) -> Option<u64> {
        self.server.seed.or(options.seed)
    }

    /// Which laws are followed; what the head says about each. `is_over` says that no line follows.
    fn decide(&mut self, options: &ReplayOptions, pool: &mut Pool, is_over: bool) {
        let heads = std::mem::take(&mut self.heads);
        self.shape.longest = self.per_rank.iter().copied().max().unwrap_or(0);
        let told = options.decode_log_interval.or(self.server.interval);
        let intervals = told.map_or_else(|| likely_intervals(&heads), |interval| vec![interval.max(1)]);
        let charge = log10_tried(u64::try_from(intervals.len()).unwrap_or(u64::MAX));
        let mut best: Option<Trials> = None;
        for interval in intervals {
            let trials = self.lay(&heads, interval, charge, options, pool, is_over);
            if best.as_ref().is_none_or(|best| trials.log10_so_far() < best.log10_so_far()) {
                best = Some(trials);
            }
            if best.as_ref().is_some_and(|best| best.log10_so_far() <= BORNE_OUT) {
                break;
            }
        }
        self.trials = best;
    }

    /// The heads along every law, for lines of so many steps.
    fn lay(
        &self,
        heads: &[Vec<Line>],
        interval: u32,
        charge: f64,
        options: &ReplayOptions,
        pool: &mut Pool,
        is_over: bool,
    ) -> Trials {
        let mut trials = Trials { interval, ..Trials::default() };
        let Some(seed) =
            self.seed(options).filter(|_| interval <= LONGEST_INTERVAL && !self.shape.is_constant())
        else {
            return trials;
        };
        let candidates = Candidates::new(options, self.server.max_accept_length, &self.shape);
        trials.candidates = candidates.len();
        let is_stated = |law: &DrawLaw| {
            options.stated.is_some_and(|stated| (stated.accept_length - law.accept_length()).abs() < 1e-9)
        };
        for law in candidates.iter() {
            if is_stated(law) || self.shape.allows(law, interval) {
                let script = Arc::new(Script::new(*law, seed, interval));
                let effort = pool.effort(is_stated(law), u64::from(interval));
                let trial = Trial::new(script, heads, charge, effort, is_over);
                pool.spend(trial.spent());
                trials.list.push(trial);
                trials.prune(heads.len());
            }
        }
        let claim = options.stated.map_or(self.shape.mean(), |stated| stated.accept_length);
        trials.search_starts(heads, options.search_limit, claim, pool, is_over);
        trials
    }

    /// No line follows.
    pub(super) fn finish(mut self, options: &ReplayOptions, pool: &mut Pool) -> RunOutcome {
        let is_seeded = self.seed(options).is_some();
        if self.trials.is_none() && is_seeded {
            self.decide(options, pool, true);
        }
        let stated_max = options.stated.and_then(|stated| stated.max_accept_length);
        let longest = self.per_rank.iter().copied().max().unwrap_or(0);
        let trials = self.trials.unwrap_or_default();
        let interval = options.decode_log_interval.or(self.server.interval);
        RunOutcome {
            seed: self.server.seed.or(options.seed),
            named_seed: self.server.seed,
            lines: self.shape.lines,
            is_constant: self.shape.is_constant(),
            is_interval_too_long: trials.interval > LONGEST_INTERVAL,
            max_known: self.server.max_accept_length.or(stated_max).is_some(),
            candidates: trials.candidates,
            unknown: (!is_seeded).then(|| UnknownSeed {
                interval,
                max_accept_length: self.server.max_accept_length,
                clues: self.clues.best(),
            }),
            trials: trials.list.into_iter().map(|trial| trial.finish(longest)).collect(),
        }
    }
}

impl Trials {
    fn follow(&mut self, rank: usize, line: Line) {
        for trial in &mut self.list {
            trial.follow(rank, line);
        }
    }

    /// The chance of the law that is borne out best.
    fn log10_so_far(&self) -> f64 {
        self.list.iter().map(Trial::log10_so_far).fold(0.0, f64::min)
    }

    /// Where nothing is borne out from the first draw on, the start may be lost. It is searched for the laws nearest to
    /// the claim, or to the lines' mean where nothing is claimed.
    fn search_starts(&mut self, heads: &[Vec<Line>], limit: u64, claim: f64, pool: &mut Pool, is_over: bool) {
        // A law that was given up on the way began at the first draw all the same.
        let from_first = self.list.iter().map(Trial::log10_of_tallies).fold(0.0, f64::min);
        if limit == 0 || from_first <= BORNE_OUT {
            return;
        }
        let distance = |trial: &Trial| (trial.script.law.accept_length() - claim).abs();
        let mut nearest: Vec<(f64, usize)> = self.list.iter().map(distance).zip(0..).collect();
        nearest.sort_by(|left, right| left.0.total_cmp(&right.0));
        for (_, index) in nearest.into_iter().take(SEARCHED_LAWS) {
            let found = self
                .list
                .get(index)
                .and_then(|trial| Trial::from_starts(&trial.script, heads, limit, pool, is_over));
            if let (Some(found), Some(slot)) = (found, self.list.get_mut(index)) {
                *slot = found;
            }
            self.prune(heads.len());
        }
    }

    /// Keeps what is worth following: the laws that are borne out best, as many as memory allows.
    fn prune(&mut self, ranks: usize) {
        let most = (MOST_FOLLOWERS / ranks.max(1)).clamp(1, MOST_LAWS);
        let mut alive: Vec<(f64, usize)> = self
            .list
            .iter()
            .enumerate()
            .filter(|(_, trial)| !trial.followers.is_empty())
            .map(|(index, trial)| (trial.log10_so_far(), index))
            .collect();
        alive.sort_by(|left, right| left.0.total_cmp(&right.0));
        for (_, index) in alive.into_iter().skip(most) {
            self.list.get_mut(index).into_iter().for_each(Trial::give_up);
        }
    }
}

impl Trial {
    /// Follows the heads from the first draw on.
    /// `charge` is the decimal logarithm of what else was tried.
    fn new(script: Arc<Script>, heads: &[Vec<Line>], charge: f64, effort: Effort, is_over: bool) -> Self {
        let mut trial = Self { script, followers: Vec::new(), ended: Vec::new() };
        for head in heads {
            let follower = Follower::new(Arc::clone(&trial.script), 0, charge, effort);
            trial.add(follower, head.iter().copied(), is_over);
        }
        trial
    }

    /// The ranks from where their first lines are found; `None` where none is.
    fn from_starts(
        script: &Arc<Script>,
        heads: &[Vec<Line>],
        limit: u64,
        pool: &mut Pool,
        is_over: bool,
    ) -> Option<Self> {
        let mut trial = Self { script: Arc::clone(script), followers: Vec::new(), ended: Vec::new() };
        let mut sequence = script.sequence();
        let mut is_found = false;
        for head in heads {
            let Some(start) = search::find_start(script, &mut sequence, head, limit, pool) else {
                trial.followers.push(None);
                continue;
            };
            is_found = true;
            let effort = pool.effort(true, script.steps());
            let mut follower =
                Follower::new(Arc::clone(script), start.first, log10_tried(start.tried), effort);
            let lines = head.get(start.line..).unwrap_or(&[]);
            let draws = i64::try_from(start.first).unwrap_or(i64::MAX);
            follower.tally.begin(lines.first(), draws);
            let lines = lines.iter().enumerate().map(|(index, line)| match index {
                0 => Line { window: WindowKind::Unknown, flushed: false, gap: false, ..*line },
                _ => *line,
            });
            trial.add(follower, lines, is_over);
        }
        is_found.then_some(trial)
    }

    /// A rank with its head. One rank that is given up ends the law.
    fn add(&mut self, mut follower: Follower, head: impl Iterator<Item = Line>, is_over: bool) {
        if self.is_given_up() {
            return;
        }
        head.for_each(|line| follower.follow(line));
        if is_over {
            follower.finish();
        }
        let is_given_up = follower.given_up.is_some();
        if is_over {
            self.ended.push(Ended::from(follower));
        } else {
            self.followers.push(Some(follower));
        }
        if is_given_up {
            self.give_up();
        }
    }

    fn follow(&mut self, rank: usize, line: Line) {
        let Some(Some(follower)) = self.followers.get_mut(rank) else { return };
        follower.follow(line);
        if follower.given_up.is_some() {
            self.give_up();
        }
    }

    /// What looking for places took, over all ranks.
    fn spent(&self) -> u64 {
        let following = self.followers.iter().flatten().map(Follower::spent);
        following.chain(self.ended.iter().map(|ended| ended.spent)).sum()
    }

    fn is_given_up(&self) -> bool {
        self.ended.iter().any(|ended| ended.given_up.is_some())
    }

    /// Follows no more; what was counted stays, and nothing else is held.
    fn give_up(&mut self) {
        for mut follower in std::mem::take(&mut self.followers).into_iter().flatten() {
            follower.give_up();
            self.ended.push(Ended::from(follower));
        }
    }

    /// The best rank's chance, some lines failing; nothing where many fail.
    fn log10_so_far(&self) -> f64 {
        if self.is_given_up() { 0.0 } else { self.log10_of_tallies() }
    }

    /// The same, whatever became of it.
    fn log10_of_tallies(&self) -> f64 {
        let following = self.followers.iter().flatten().map(|follower| &follower.tally);
        let tallies = following.chain(self.ended.iter().map(|ended| &ended.tally));
        tallies.map(|tally| tally.log10_tail(self.script.odds)).fold(0.0, f64::min)
    }

    fn finish(mut self, longest: u64) -> TrialOutcome {
        for mut follower in std::mem::take(&mut self.followers).into_iter().flatten() {
            follower.finish();
            self.ended.push(Ended::from(follower));
        }
        let odds = self.script.odds;
        let mut outcome = TrialOutcome {
            law: self.script.law,
            given_up: None,
            failed: 0,
            tally: Tally::default(),
            chance: 0.0,
            tail: 0.0,
            possible: crate::law::float(longest) * odds.log10_line(),
        };
        let mut best: Option<(f64, Vec<SideBySide>)> = None;
        for Ended { tally, given_up, .. } in self.ended {
            outcome.given_up = outcome.given_up.or(given_up);
            outcome.failed += tally.failed();
            outcome.tail = outcome.tail.min(tally.log10_tail(odds));
            outcome.tally.join(&tally);
            let chance = tally.log10_chance(odds);
            outcome.chance = outcome.chance.min(chance);
            if best.as_ref().is_none_or(|best| chance < best.0) {
                best = Some((chance, tally.first_lines));
            }
        }
        outcome.tally.first_lines = best.map(|best| best.1).unwrap_or_default();
        outcome
    }
}

impl From<Follower> for Ended {
    fn from(follower: Follower) -> Self {
        Self { spent: follower.spent(), tally: follower.tally, given_up: follower.given_up }
    }
}

/// Intervals that are tried where no argument tells it, beside the likeliest.
const USUAL_INTERVALS: [u32; 14] = [1, 2, 4, 5, 8, 10, 16, 20, 25, 30, 40, 50, 80, 100];

/// The intervals that the steady lines' values allow where no argument tells it, the likeliest first.
fn likely_intervals(heads: &[Vec<Line>]) -> Vec<u32> {
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    let steady = heads.iter().flatten().filter(|line| line.window.is_steady());
    steady.filter_map(|line| line.hundredths).for_each(|value| *counts.entry(value).or_insert(0) += 1);
    let values: Vec<(u32, u64)> = counts.into_iter().collect();
    let inferred = crate::law::inferred_interval(&values, None);
    let open = inferred.open.into_iter().filter(|steps| USUAL_INTERVALS.contains(steps));
    std::iter::once(inferred.steps.unwrap_or(crate::law::DEFAULT_INTERVAL)).chain(open).collect()
}

fn grow<T: Default + Clone>(list: &mut Vec<T>, index: usize) {
    if list.len() <= index {
        list.resize(index + 1, T::default());
    }
}

#[cfg(test)]
mod tests {
    use super::super::law::DrawMethod;
    use super::*;
    use crate::law::Setting;

    /// One line of 40 steps at 3.51 reads the same by chance in 0.089 of cases.
    #[test]
    fn what_lines_could_prove_grows_with_each() {
        let law = DrawLaw::new(DrawMethod::MatchExpected, Setting::new(3.51, 6).unwrap()).unwrap();
        let script = Arc::new(Script::new(law, 5, 40));
        let outcome = Trial { script, followers: Vec::new(), ended: Vec::new() }.finish(100);
        assert!((outcome.possible - 100.0 * 0.089_f64.log10()).abs() < 1.0, "{}", outcome.possible);
    }
}
