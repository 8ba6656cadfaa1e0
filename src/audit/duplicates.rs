//! Lines that occur more than once: a log joined with itself, and copies that other ranks of a scheduler print.
//!
//! Exact within one second, for as many lines as a server prints in it. Across time, a line is compared with the
//! earlier ones of its own tags, of which the first four million of a point are remembered in four bytes each. While
//! a clock only moves forward nothing earlier can be equal, so a log of any length in increasing time is never
//! thinned by a chance agreement.

use memchr::memmem;

use crate::evidence::{DecodeLine, Timestamp};

use super::fingerprint::fingerprint;

/// Lines remembered per point, in four bytes each.
const LINES_PER_POINT: usize = 1 << 22;

/// Lines between two marks of the time index.
const LINES_PER_MARK: usize = 64;

/// Lines of one time that are compared in full.
const LINES_AT_ONE_TIME: usize = 2048;

/// Stretches of increasing time that are searched. A log joined from more pieces keeps its surplus.
const MAX_RUNS: usize = 8;

/// Searches without a hit after which a rank's clock counts as no clock, and no more are made.
const MAX_MISSES: u32 = 1 << 16;

/// Lines of a point whose values are compared across voices before it is known that a scheduler has several.
const FIRST_LINES: u64 = 256;

/// What a line turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Novelty {
    /// Not seen before.
    New,
    /// As [`Novelty::New`], and the clock of its tags went back before it.
    NewAfterJump,
    /// The same line again, from the same tags.
    Again,
    /// The line that another voice of the same scheduler printed.
    CopyOf(usize),
}

/// The lines seen so far. Voices are sets of tags by their number.
#[derive(Debug)]
pub(super) struct Duplicates {
    memories: Vec<Memory>,
    /// The place in `moments` of each voice.
    schedulers: Vec<usize>,
    moments: Vec<Moment>,
    /// Whether two voices share a data-parallel rank.
    has_copies: bool,
    lines: u64,
    room: usize,
    clock: Clock,
}

impl Default for Duplicates {
    fn default() -> Self {
        Self {
            memories: Vec::new(),
            schedulers: Vec::new(),
            moments: Vec::new(),
            has_copies: false,
            lines: 0,
            room: LINES_PER_POINT,
            clock: Clock::default(),
        }
    }
}

impl Duplicates {
    /// Compares a line with those before it and remembers it. A line without a time is always new: its likeness
    /// proves nothing.
    pub(super) fn check(&mut self, voice: usize, line: &DecodeLine<'_>) -> Novelty {
        let Some(timestamp) = line.timestamp else { return Novelty::New };
        self.lines += 1;
        let time = self.clock.number(timestamp);
        let print = fingerprint(time, line.message);
        while self.memories.len() <= voice {
            self.add_voice(line.tags.rank("DP"));
        }
        let Some(memory) = self.memories.get_mut(voice) else { return Novelty::New };
        let novelty = memory.check(time, print, &mut self.room);
        if novelty == Novelty::Again || !(self.has_copies || self.lines <= FIRST_LINES) {
            return novelty;
        }
        self.schedulers
            .get(voice)
            .and_then(|scheduler| self.moments.get_mut(*scheduler))
            .and_then(|moment| moment.copy_of(time, values(line), voice))
            .map_or(novelty, Novelty::CopyOf)
    }

    fn add_voice(&mut self, data_rank: Option<u32>) {
        let known = self.moments.iter().position(|moment| moment.data_rank == data_rank);
        self.has_copies |= known.is_some();
        let scheduler = known.unwrap_or(self.moments.len());
        if known.is_none() {
            self.moments.push(Moment { data_rank, time: 0, lines: Vec::new() });
        }
        self.schedulers.push(scheduler);
        self.memories.push(Memory::default());
    }
}

/// The digits of printed times as numbers that are ordered as the times are. Lines come in the order of their time, so
/// most of them repeat the one before.
#[derive(Debug, Default)]
struct Clock {
    text: Vec<u8>,
    number: u64,
}

impl Clock {
    fn number(&mut self, timestamp: Timestamp<'_>) -> u64 {
        let text = timestamp.as_bytes();
        if self.text != text {
            self.text.clear();
            self.text.extend_from_slice(text);
            let digits = text.iter().filter(|byte| byte.is_ascii_digit());
            self.number = digits
                .fold(0, |number: u64, digit| number.wrapping_mul(10).wrapping_add(u64::from(digit - b'0')));
        }
        self.number
    }
}

/// What ranks that print the same window agree in. Throughput and what follows it are left out: every process
/// measures its own time.
fn values(line: &DecodeLine<'_>) -> u64 {
    let end = memmem::find(line.message, b"gen throughput").unwrap_or(line.message.len());
    fingerprint(u64::from(line.queue_req), line.message.get(..end).unwrap_or(line.message))
}

/// The lines of one data-parallel rank at its latest time.
#[derive(Debug)]
struct Moment {
    data_rank: Option<u32>,
    time: u64,
    lines: Vec<(u64, usize)>,
}

impl Moment {
    /// Another voice that printed the same values at the same time; the line is remembered if there is none.
    fn copy_of(&mut self, time: u64, values: u64, voice: usize) -> Option<usize> {
        if time != self.time {
            self.time = time;
            self.lines.clear();
        }
        let original =
            self.lines.iter().find(|(seen, by)| *seen == values && *by != voice).map(|(_, by)| *by);
        if original.is_none() && self.lines.len() < LINES_AT_ONE_TIME {
            self.lines.push((values, voice));
        }
        original
    }
}

/// The lines of one set of tags.
#[derive(Debug, Default)]
struct Memory {
    /// Fingerprints of the lines, cut to 32 bits, in the order of reading.
    prints: Vec<u32>,
    /// Time and index of every 64th line and of each run's first.
    marks: Vec<(u64, usize)>,
    runs: Vec<Run>,
    misses: u32,
    time: u64,
    /// Full fingerprints of the lines at `time`.
    now: Vec<u64>,
}

/// A stretch of lines whose time does not fall.
#[derive(Clone, Copy, Debug)]
struct Run {
    first_mark: usize,
    begin: u64,
    end: u64,
}

impl Memory {
    fn check(&mut self, time: u64, print: u64, room: &mut usize) -> Novelty {
        let is_again = if time == self.time { self.now.contains(&print) } else { self.recalls(time, print) };
        if is_again || (self.runs.len() > 1 && time == self.time && self.recalls(time, print)) {
            return Novelty::Again;
        }
        let jumps = time < self.time;
        if time != self.time {
            self.now.clear();
        }
        if self.now.len() < LINES_AT_ONE_TIME {
            self.now.push(print);
        }
        self.time = time;
        self.remember(time, print, jumps, room);
        if jumps { Novelty::NewAfterJump } else { Novelty::New }
    }

    fn remember(&mut self, time: u64, print: u64, jumps: bool, room: &mut usize) {
        let begins_run = self.runs.is_empty() || jumps;
        if *room == 0 || self.runs.len() > MAX_RUNS || (begins_run && self.runs.len() == MAX_RUNS) {
            // Run MAX_RUNS + 1 has no lines; it stands for all that is forgotten.
            if begins_run && self.runs.len() == MAX_RUNS {
                self.runs.push(Run { first_mark: self.marks.len(), begin: u64::MAX, end: 0 });
            }
            return;
        }
        *room -= 1;
        let index = self.prints.len();
        if begins_run {
            self.runs.push(Run { first_mark: self.marks.len(), begin: time, end: time });
        }
        if begins_run || index.is_multiple_of(LINES_PER_MARK) {
            self.marks.push((time, index));
        }
        if let Some(run) = self.runs.last_mut() {
            run.end = time;
        }
        self.prints.push(short(print));
    }

    /// Whether an earlier run holds the line.
    fn recalls(&mut self, time: u64, print: u64) -> bool {
        if self.misses >= MAX_MISSES {
            return false;
        }
        let mut searched = false;
        for (index, run) in self.runs.iter().enumerate() {
            if (run.begin..=run.end).contains(&time) {
                searched = true;
                let end = self.runs.get(index + 1).map_or(self.marks.len(), |next| next.first_mark);
                if self.holds(run.first_mark, end, time, print) {
                    return true;
                }
            }
        }
        self.misses += u32::from(searched);
        false
    }

    /// Whether the run with the marks from `first` to `end` holds the line.
    fn holds(&self, first: usize, end: usize, time: u64, print: u64) -> bool {
        let marks = self.marks.get(first..end).unwrap_or(&[]);
        let at = |mark: usize| marks.get(mark).map(|(_, index)| *index);
        // Lines of this time may begin before the first mark that carries it.
        let from = at(marks.partition_point(|(mark, _)| *mark < time).saturating_sub(1)).unwrap_or(0);
        let run_end = self.marks.get(end).map_or(self.prints.len(), |(_, index)| *index);
        let to = at(marks.partition_point(|(mark, _)| *mark <= time)).unwrap_or(run_end);
        let lines = self.prints.get(from..to).unwrap_or(&[]);
        lines.iter().take(LINES_AT_ONE_TIME).any(|seen| *seen == short(print))
    }
}

fn short(print: u64) -> u32 {
    u32::try_from(print >> 32).unwrap_or(0)
}

#[cfg(test)]
mod tests;
