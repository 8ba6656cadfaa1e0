//! The first steady lines of a server whose seed nobody names.

use super::line::Line;
use super::recover::Clue;

/// Ranks looked at, and steady lines kept of each.
const RANKS: usize = 8;
const LINES: usize = 256;

/// What a search for a seed needs to know of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnknownSeed {
    /// Verify steps of a line, where the server says it.
    pub interval: Option<u32>,
    /// Most tokens of a step, where the server says it.
    pub max_accept_length: Option<u32>,
    /// The steady lines from the server's start on, of the rank that has most of them.
    pub clues: Vec<Clue>,
}

/// Keeps the first steady lines of each rank, as long as no flush moves their phase.
#[derive(Clone, Debug, Default)]
pub(super) struct ClueKeeper {
    ranks: Vec<RankClues>,
}

#[derive(Clone, Debug, Default)]
struct RankClues {
    lines: u64,
    is_over: bool,
    clues: Vec<Clue>,
}

impl ClueKeeper {
    pub(super) fn add(&mut self, rank: usize, line: &Line) {
        if rank >= RANKS {
            return;
        }
        if self.ranks.len() <= rank {
            self.ranks.resize(rank + 1, RankClues::default());
        }
        let Some(kept) = self.ranks.get_mut(rank) else { return };
        kept.is_over |= line.flushed;
        if let Some(hundredths) = line.hundredths
            && line.window.is_steady()
            && !kept.is_over
            && kept.clues.len() < LINES
        {
            kept.clues.push(Clue { line: kept.lines, hundredths });
        }
        kept.lines += 1;
    }

    pub(super) fn best(self) -> Vec<Clue> {
        self.ranks.into_iter().map(|rank| rank.clues).max_by_key(Vec::len).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::line::WindowKind;
    use super::*;
    use crate::evidence::Place;

    fn line(number: u64) -> Line {
        Line {
            number,
            place: Place { file: 0, line: number },
            hundredths: Some(351),
            window: WindowKind::Steady,
            flushed: false,
            gap: false,
            succession: crate::replay::line::Succession::Next,
            joined: false,
            millis: None,
            draws_per_milli: 0.0,
            belied: None,
            gained: None,
        }
    }

    fn kept(lines: impl Iterator<Item = (usize, Line)>) -> Vec<u64> {
        let mut keeper = ClueKeeper::default();
        lines.for_each(|(rank, line)| keeper.add(rank, &line));
        keeper.best().iter().map(|clue| clue.line).collect()
    }

    #[test]
    fn the_first_steady_lines_are_kept_until_a_flush() {
        let lines = (0..1000).map(|number| (0, line(number)));
        assert_eq!(kept(lines.clone()), (0..256).collect::<Vec<u64>>());
        let unsteady = lines.clone().take(10).map(|(rank, line)| match line.number {
            3 => (rank, Line { window: WindowKind::Unknown, ..line }),
            4 => (rank, Line { hundredths: None, ..line }),
            8 => (rank, Line { flushed: true, ..line }),
            _ => (rank, line),
        });
        assert_eq!(kept(unsteady), [0, 1, 2, 5, 6, 7]);
    }

    #[test]
    fn the_rank_of_most_lines_is_taken_among_the_first_eight() {
        let lines = (0..30).map(|number| (if number % 3 == 0 { 7 } else { 8 }, line(number)));
        assert_eq!(kept(lines), (0..10).collect::<Vec<u64>>());
        let lines = (0..30).map(|number| (if number % 3 == 0 { 1 } else { 4 }, line(number)));
        assert_eq!(kept(lines).len(), 20);
    }
}
