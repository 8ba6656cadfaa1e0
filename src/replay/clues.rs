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
