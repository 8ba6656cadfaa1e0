//! ATOM's sums since the start: one for each process, where a log holds several.

use crate::evidence::{AtomStats, Place, Pool, Spread, StepCount, Window};

use super::evidence::PooledRank;

/// Processes that are told apart; more of them say no more.
const MOST: usize = 64;

/// Sequence-steps between two lines of a scheduler.
const BETWEEN: u64 = 1000;

/// The last sums of each process, in the order of their first line.
#[derive(Clone, Debug, Default)]
pub(super) struct Cumulative {
    processes: Vec<Process>,
    /// The process that wrote the last line.
    recent: usize,
}

#[derive(Clone, Debug)]
struct Process {
    file: u32,
    first: Place,
    last: AtomStats,
    /// The place where its sums begin below those of the process before it in the same file, and those sums.
    fell: Option<(Place, u64)>,
}

impl Cumulative {
    /// Takes a line: the next one of the process whose sums it can follow, else the first one of another process. Sums of a
    /// process never fall.
    pub(super) fn add(&mut self, place: Place, line: &AtomStats) {
        let goes_on =
            |process: &Process| process.last.drafted < line.drafted && process.last.accepted <= line.accepted;
        // A scheduler prints after so many steps: equal drafts and another acceptance are two of them.
        let is_copy = |process: &Process| {
            (process.last.drafted, process.last.accepted) == (line.drafted, line.accepted)
        };
        let nearest = |follows: &dyn Fn(&Process) -> bool| {
            let processes = self.processes.iter().enumerate();
            let followed = processes.filter(|(_, process)| process.file == place.file && follows(process));
            let nearest =
                followed.max_by_key(|(index, process)| (process.last.drafted, *index == self.recent));
            nearest.map(|(index, _)| index)
        };
        let known = nearest(&goes_on).or_else(|| nearest(&is_copy));
        if let Some(index) = known {
            self.recent = index;
            if let Some(process) = self.processes.get_mut(index) {
                line.clone_into(&mut process.last);
            }
        } else if self.processes.len() < MOST {
            let before = self.processes.get(self.recent).filter(|before| before.file == place.file);
            let fell = before.map(|before| (place, before.last.drafted));
            self.recent = self.processes.len();
            self.processes.push(Process { file: place.file, first: place, last: line.clone(), fell });
        }
    }

    /// Whether no sums came.
    pub(super) fn is_empty(&self) -> bool {
        self.processes.is_empty()
    }

    /// Whether a line begins far below the sums before it, as a process does that was started anew.
    pub(super) fn is_another(&self, line: &AtomStats) -> bool {
        self.processes.get(self.recent).is_some_and(|recent| {
            line.drafted < recent.last.drafted / 2 && line.accepted < recent.last.accepted
        })
    }

    /// The sums of each process, of those files alone that `counts`; `known` is K as the configuration has it.
    pub(super) fn ranks(&self, known: Option<u32>, counts: impl Fn(u32) -> bool) -> Vec<(Place, PooledRank)> {
        let processes = self.processes.iter().filter(|process| counts(process.file));
        processes.filter_map(|process| Some((process.first, rank(&process.last.window(known)?)))).collect()
    }

    /// Steps of the process with the most of them, in files that `counts`.
    pub(super) fn most_steps(&self, known: Option<u32>, counts: impl Fn(u32) -> bool) -> Option<u64> {
        let processes = self.processes.iter().filter(|process| counts(process.file));
        processes.filter_map(|process| process.last.steps(known)).max()
    }

    /// The first place at which sums fell, and the drafted tokens before it.
    pub(super) fn fall(&self) -> Option<(Place, u64)> {
        self.processes.iter().find_map(|process| process.fell)
    }
}

/// Sums that stand for all intervals of a thousand steps before them.
fn rank(window: &Window) -> PooledRank {
    let steps = match window.steps {
        StepCount::Exact(steps) | StepCount::Between(steps, _) => steps,
    };
    let mut pool = Pool::default();
    pool.add(window);
    pool.windows = (steps / BETWEEN).max(1);
    pool.spread = Spread::default();
    PooledRank { lines: 1, pool, ..PooledRank::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(thousands: u64) -> AtomStats {
        AtomStats {
            is_cumulative: true,
            accepted: thousands * 2510,
            drafted: thousands * 5000,
            draft_length: Some(5),
            ..AtomStats::default()
        }
    }

    fn steps(lines: &[(u32, u64)]) -> Vec<u64> {
        let mut sums = Cumulative::default();
        for (number, (file, thousands)) in (1..).zip(lines) {
            sums.add(Place { file: *file, line: number }, &line(*thousands));
        }
        sums.ranks(Some(5), |_| true).iter().map(|(_, rank)| rank.pool.whole_steps()).collect()
    }

    #[test]
    fn a_process_that_was_started_anew_has_sums_of_its_own() {
        assert_eq!(steps(&[(0, 1), (0, 2), (0, 3), (0, 4)]), [4000]);
        assert_eq!(steps(&[(0, 39), (0, 40), (0, 1), (0, 2)]), [40_000, 2000]);
        // The second one overtakes the first.
        let over: Vec<(u32, u64)> = (1..=40).chain(1..=60).map(|thousands| (0, thousands)).collect();
        assert_eq!(steps(&over), [40_000, 60_000]);
        // Two schedulers that accept alike are one sample, and two files are two servers.
        assert_eq!(steps(&[(0, 1), (0, 1), (0, 2), (0, 2)]), [2000]);
        assert_eq!(steps(&[(0, 40), (1, 50)]), [40_000, 50_000]);
    }

    #[test]
    fn two_schedulers_are_told_by_what_they_accepted() {
        let mut sums = Cumulative::default();
        let mut number = 0;
        let mut add = |thousands: u64, more: u64| {
            number += 1;
            let line = line(thousands);
            let accepted = line.accepted + more;
            sums.add(Place { file: 0, line: number }, &AtomStats { accepted, ..line });
        };
        for thousands in 1..=12 {
            add(thousands, 3 * thousands);
            add(thousands, 17);
        }
        // One of them runs ahead.
        for thousands in [13, 14, 13, 15, 14, 16, 15, 16] {
            add(thousands, 20);
        }
        let steps: Vec<u64> =
            sums.ranks(Some(5), |_| true).iter().map(|(_, rank)| rank.pool.whole_steps()).collect();
        assert_eq!(steps, [16_000, 16_000]);
    }
}
