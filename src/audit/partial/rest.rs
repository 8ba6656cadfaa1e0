//! Sums of the lines that a part does not hold one by one.

use serde::{Deserialize, Serialize};

use crate::audit::observed::Observed;
use crate::audit::rank::Rank;
use crate::audit::speed::Speed;
use crate::audit::stray::Stray;
use crate::audit::tally::{Budget, Cell, Tally};
use crate::evidence::{EchoedSetting, Place, ServerStart, Tags};

use super::clip::{clip, clipped};
use super::wire::pack;

/// Packed bytes of the sums, of a log that may be as large as any.
const MOST_PACKED: usize = 15 << 10;

/// How coarse sums can be made. Batch sizes lose a binary digit at each of the first steps; then lines whose batch changed
/// are not counted by value and batch any more, then none: a choice among them would tell of another spread than all do.
/// At last lists are cut, half as long at each step. What each rank adds up to is kept exactly at every step.
const COARSEST: u32 = 14;
const WITHOUT_CHANGING: u32 = 5;
const WITHOUT_CELLS: u32 = 6;
const TOGETHER: u32 = 7;
const MOST_DIGITS: u32 = 7;
const LEAST_DIGITS: u32 = 4;

/// What is kept of lists that a log of one server keeps short, at the first step that cuts them.
const MOST_STARTS: usize = 16;
const MOST_PAIRS: usize = 256;
const MOST_VALUES: usize = 400;

/// Values that are kept at every step: all that a line of 40 draws of two lengths prints. Their mean would not be exact else.
const LEAST_VALUES: usize = 48;

/// Ranks whose sums a part keeps. Put together they would be the sums of no rank.
const MOST_RANKS: usize = 128;

/// The sums of one log's later lines. Lines of a log are told by their number; the log's is not known here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::audit) struct Rest {
    /// How coarse it was made to be small enough.
    coarse: u32,
    ranks: Vec<RankRest>,
    /// Of all ranks: printed value, lines, their kappa, the first of them.
    values: Vec<(u32, u64, u128, u64)>,
    rates: Vec<(u32, u32, u64)>,
    /// Lines of the server that the first records show last.
    going_on: u64,
    starts: Vec<(ServerStart, u64, u64)>,
    more_starts: u64,
    injected: Vec<(String, String, u64)>,
    skipped: [u64; 6],
    first_duplicate: Option<u64>,
    graphs: (u64, u64),
    first_graph_off: Option<u64>,
    batch: Option<(u32, u32)>,
    max_queue: Option<u32>,
    capped: (u64, Option<u64>),
    first_line: Option<u64>,
    /// Prefill lines are there.
    #[serde(default)]
    has_prefills: bool,
    /// What is no server's log: its words, and the line.
    #[serde(default)]
    stray: Option<(String, u64)>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct RankRest {
    tags: String,
    lines: (u64, u64),
    hundredths: (u128, u128, u128),
    max_batch: Option<u32>,
    kappa: (u64, u128, u128),
    pairs: (u64, [u128; 5]),
    steady: Cells,
    changing: Cells,
}

/// Lines by printed value and batch sizes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Cells {
    lines: u64,
    cells: Vec<(u32, u32, u32, u64)>,
}

impl Rest {
    /// The sums of what was seen, made as coarse as it takes at a level; `before` are those of the level before, if any.
    /// `None` where there are more ranks than a part keeps apart.
    pub(super) fn of(seen: &Observed, level: u32, before: Option<&Self>) -> Option<Self> {
        if seen.ranks.len() > MOST_RANKS {
            return None;
        }
        let first = before.map_or(0, |before| before.coarse).min(COARSEST);
        let mut rest = Self::at(seen, first);
        for coarse in first + 1..=COARSEST {
            if pack(&rest.bytes()).len() <= MOST_PACKED >> level {
                break;
            }
            rest = Self::at(seen, coarse);
        }
        Some(rest)
    }

    /// The bytes of all that was seen.
    pub(super) fn all(seen: &Observed) -> Vec<u8> {
        Self::at(seen, 0).bytes()
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        // Plain data: nothing in it that JSON cannot say.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads the bytes of sums; `None` for what no log adds up to.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok().filter(Self::is_possible)
    }

    /// Whether sums of many such parts can be formed: whoever writes a part by hand must not make the arithmetic overflow.
    fn is_possible(&self) -> bool {
        let mut lines = vec![self.going_on, self.more_starts, self.graphs.0, self.graphs.1, self.capped.0];
        lines.extend(self.skipped);
        lines.extend(self.starts.iter().map(|start| start.2));
        lines.extend(self.values.iter().map(|value| value.1));
        let mut wide: Vec<u128> = self.values.iter().map(|value| value.2).collect();
        for rank in &self.ranks {
            lines.extend([rank.lines.0, rank.lines.1, rank.kappa.0, rank.pairs.0]);
            lines.extend([rank.steady.lines, rank.changing.lines]);
            lines.extend(rank.steady.cells.iter().chain(&rank.changing.cells).map(|cell| cell.3));
            wide.extend([
                rank.hundredths.0,
                rank.hundredths.1,
                rank.hundredths.2,
                rank.kappa.1,
                rank.kappa.2,
            ]);
            wide.extend(rank.pairs.1);
        }
        let below = |numbers: &[u64], limit: u64| {
            let total = numbers.iter().try_fold(0_u64, |total, number| total.checked_add(*number));
            total.is_some_and(|total| total < limit)
        };
        self.ranks.len() <= MOST_RANKS
            && below(&lines, 1 << 50)
            && wide.iter().all(|number| *number < 1 << 100)
    }

    fn at(seen: &Observed, coarse: u32) -> Self {
        let line = |place: Option<Place>| place.map(|place| place.line);
        let (starts, surplus) = seen.servers.all();
        let mut starts: Vec<(ServerStart, u64, u64)> =
            starts.map(|(arguments, place, lines)| (clipped(arguments), place.line, lines)).collect();
        // The first one stands among the first records.
        let going_on = if seen.goes_on && !starts.is_empty() { starts.remove(0).2 } else { 0 };
        let surplus = surplus + cut(&mut starts, most(MOST_STARTS, coarse));
        let mut rates: Vec<_> = seen
            .rates
            .sorted()
            .into_iter()
            .map(|((hundredths, rate), place)| (hundredths, rate, place.line))
            .collect();
        cut(&mut rates, most(MOST_PAIRS, coarse));
        let counts = seen.skipped.counts;
        Self {
            coarse,
            ranks: ranks(&seen.ranks, coarse),
            values: values(&seen.ranks, coarse),
            rates,
            going_on,
            starts,
            more_starts: surplus,
            injected: seen
                .injected()
                .iter()
                .map(|set| (clip(&set.name).to_owned(), clip(&set.value).to_owned(), set.place.line))
                .collect(),
            skipped: [
                counts.truncated,
                counts.duplicate,
                counts.lookalike,
                counts.idle,
                counts.out_of_scope,
                counts.not_finite,
            ],
            first_duplicate: line(seen.first_duplicate),
            graphs: (seen.graphs_on, seen.graphs_off),
            first_graph_off: line(seen.first_graph_off),
            batch: seen.batch,
            max_queue: seen.max_queue,
            capped: (seen.capped_lines, line(seen.first_capped)),
            first_line: line(seen.first_line),
            has_prefills: seen.has_prefills,
            stray: seen.stray.map(|(stray, place)| (stray.mark().to_owned(), place.line)),
        }
    }
}

/// How many of a list are kept at a step: all, then so many, then half as many at each step.
fn most(first: usize, coarse: u32) -> usize {
    coarse.checked_sub(TOGETHER).map_or(usize::MAX, |steps| (first >> steps.min(31)).max(4))
}

/// Leaves the first of a list; says how many go.
fn cut<T>(list: &mut Vec<T>, most: usize) -> u64 {
    let gone = list.len().saturating_sub(most);
    list.truncate(most);
    u64::try_from(gone).unwrap_or(0)
}

/// Printed values of all ranks: no rule looks at them by rank.
fn values(ranks: &[Rank], coarse: u32) -> Vec<(u32, u64, u128, u64)> {
    let mut all: std::collections::BTreeMap<u32, (u64, u128, u64)> = std::collections::BTreeMap::new();
    for value in ranks.iter().flat_map(|rank| rank.values.iter()) {
        let (lines, kappa, _) = value.sums.raw();
        let sums = all.entry(value.hundredths).or_insert((0, 0, value.first.line));
        *sums = (sums.0 + lines, sums.1 + kappa, sums.2.min(value.first.line));
    }
    let all: Vec<_> =
        all.into_iter().map(|(value, (lines, kappa, first))| (value, lines, kappa, first)).collect();
    together(&all, most(MOST_VALUES, coarse).max(LEAST_VALUES))
}

/// At most so many values; the smallest and the largest stay as they are, neighbours between them are put together.
fn together(values: &[(u32, u64, u128, u64)], most: usize) -> Vec<(u32, u64, u128, u64)> {
    let ([first, middle @ .., last], true) = (values, values.len() > most) else { return values.to_vec() };
    let groups = middle.chunks(middle.len().div_ceil((most.saturating_sub(2) / 2).max(1)));
    std::iter::once(*first).chain(groups.flat_map(pair)).chain([*last]).collect()
}

/// Values put together: as the two of them that stand around their mean, which stays the same.
fn pair(group: &[(u32, u64, u128, u64)]) -> Vec<(u32, u64, u128, u64)> {
    let lines: u64 = group.iter().map(|value| value.1).sum();
    let kappa: u128 = group.iter().map(|value| value.2).sum();
    let tokens = |value: u32, kappa: u128| kappa.saturating_mul(u128::from(value));
    let all = group.iter().fold(0_u128, |all, value| all.saturating_add(tokens(value.0, value.2)));
    let first = group.iter().map(|value| value.3).min().unwrap_or(0);
    let Some(mean) = all.checked_div(kappa).filter(|_| group.len() > 2) else { return group.to_vec() };
    let above = group.partition_point(|value| u128::from(value.0) <= mean).clamp(1, group.len() - 1);
    let (Some(low), Some(high)) = (group.get(above - 1), group.get(above)) else { return group.to_vec() };
    let high_kappa =
        (all.saturating_sub(tokens(low.0, kappa)) / u128::from((high.0 - low.0).max(1))).min(kappa);
    // The share of the lines in words that do not overflow.
    let unit = (kappa >> 64) + 1;
    let share = u128::from(lines) * (high_kappa / unit) / (kappa / unit).max(1);
    let high_lines = u64::try_from(share).unwrap_or(lines).min(lines);
    vec![(low.0, lines - high_lines, kappa - high_kappa, first), (high.0, high_lines, high_kappa, first)]
}

fn ranks(ranks: &[Rank], coarse: u32) -> Vec<RankRest> {
    let digits = match coarse {
        0 => u32::BITS,
        steps => (MOST_DIGITS + 1).saturating_sub(steps).max(LEAST_DIGITS),
    };
    ranks
        .iter()
        .map(|rank| RankRest {
            tags: rank.tags.to_string(),
            lines: (rank.decode_lines, rank.spec_lines),
            hundredths: (rank.hundredths, rank.batch_hundredths, rank.batches),
            max_batch: rank.max_batch,
            kappa: rank.sums.raw(),
            pairs: rank.lag.raw(),
            steady: Cells::of(&rank.steady, digits, coarse < WITHOUT_CELLS),
            changing: Cells::of(&rank.changing, digits, coarse < WITHOUT_CHANGING),
        })
        .collect()
}

impl Cells {
    fn of(tally: &Tally, digits: u32, are_kept: bool) -> Self {
        if !are_kept {
            return Self { lines: tally.lines(), cells: Vec::new() };
        }
        let mut cells: Vec<(u32, u32, u32, u64)> = Vec::new();
        let mut rounded: Vec<(Cell, u64)> =
            tally.sorted().into_iter().map(|(cell, lines)| (cell.rounded(digits), lines)).collect();
        rounded.sort_unstable();
        for (Cell { hundredths, before, batch }, lines) in rounded {
            match cells.last_mut() {
                Some(last) if (last.0, last.1, last.2) == (hundredths, before, batch) => last.3 += lines,
                _ => cells.push((hundredths, before, batch, lines)),
            }
        }
        Self { lines: tally.lines(), cells }
    }

    fn add_to(&self, tally: &mut Tally, budget: &mut Budget) {
        let mut counted = 0_u64;
        for (hundredths, before, batch, lines) in &self.cells {
            tally.add(Cell { hundredths: *hundredths, before: *before, batch: *batch }, *lines, budget);
            counted = counted.saturating_add(*lines);
        }
        tally.add_uncounted(self.lines.saturating_sub(counted));
    }
}

impl RankRest {
    fn add_to(&self, rank: &mut Rank, budget: &mut Budget) {
        rank.decode_lines = rank.decode_lines.saturating_add(self.lines.0);
        rank.spec_lines = rank.spec_lines.saturating_add(self.lines.1);
        rank.hundredths = rank.hundredths.saturating_add(self.hundredths.0);
        rank.batch_hundredths = rank.batch_hundredths.saturating_add(self.hundredths.1);
        rank.batches = rank.batches.saturating_add(self.hundredths.2);
        rank.max_batch = rank.max_batch.max(self.max_batch);
        rank.sums.add_raw(self.kappa);
        rank.trace.add_rest(self.kappa);
        rank.lag.add_raw(self.pairs);
        self.steady.add_to(&mut rank.steady, budget);
        self.changing.add_to(&mut rank.changing, budget);
    }
}

impl Observed {
    /// Adds the sums of a log's later lines.
    pub(in crate::audit) fn absorb(&mut self, file: u32, rest: &Rest) {
        let at = |line: u64| Place { file, line };
        self.is_summed = true;
        let mut budget = Budget::default();
        for own in &rest.ranks {
            let tags = Tags::parse(own.tags.as_bytes());
            let known = self.ranks.iter().position(|rank| rank.tags == tags);
            let index = known.unwrap_or_else(|| {
                self.ranks.push(Rank { tags, ..Rank::default() });
                self.ranks.len() - 1
            });
            self.ranks.get_mut(index).into_iter().for_each(|rank| own.add_to(rank, &mut budget));
        }
        self.ranks.sort_by_key(|rank| rank.tags);
        // The first lines say nothing about the throughput of the others.
        self.ranks.iter_mut().for_each(|rank| rank.speed = Speed::default());
        // A rank without accept lengths is not looked at.
        if let Some(rank) = self.ranks.iter_mut().find(|rank| rank.spec_lines > 0) {
            for (hundredths, lines, kappa, first) in &rest.values {
                rank.values.add_raw(*hundredths, (*lines, *kappa), at(*first));
            }
        }
        for (hundredths, rate, line) in &rest.rates {
            self.rates.add(*hundredths, *rate, at(*line));
        }
        self.servers.count_lines(rest.going_on);
        for (arguments, line, lines) in &rest.starts {
            self.servers.start(arguments, at(*line));
            self.servers.count_lines(*lines);
        }
        self.servers.add_surplus(rest.more_starts);
        for (name, value, line) in &rest.injected {
            self.inject(at(*line), EchoedSetting { name, value });
        }
        let counts = &mut self.skipped.counts;
        for (count, more) in [
            &mut counts.truncated,
            &mut counts.duplicate,
            &mut counts.lookalike,
            &mut counts.idle,
            &mut counts.out_of_scope,
            &mut counts.not_finite,
        ]
        .into_iter()
        .zip(rest.skipped)
        {
            *count = count.saturating_add(more);
        }
        let first = |own: &mut Option<Place>, line: Option<u64>| *own = own.or(line.map(at));
        first(&mut self.first_duplicate, rest.first_duplicate);
        first(&mut self.first_graph_off, rest.first_graph_off);
        first(&mut self.first_capped, rest.capped.1);
        first(&mut self.first_line, rest.first_line);
        self.has_prefills |= rest.has_prefills;
        if let (None, Some((words, line))) = (self.stray, &rest.stray) {
            self.stray = Stray::of(words.as_bytes()).map(|stray| (stray, at(*line)));
        }
        self.graphs_on = self.graphs_on.saturating_add(rest.graphs.0);
        self.graphs_off = self.graphs_off.saturating_add(rest.graphs.1);
        self.capped_lines = self.capped_lines.saturating_add(rest.capped.0);
        self.max_queue = self.max_queue.max(rest.max_queue);
        self.batch = match (self.batch, rest.batch) {
            (Some((min, max)), Some((low, high))) => Some((min.min(low), max.max(high))),
            (own, more) => own.or(more),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_that_no_log_has_are_refused() {
        let rest = Rest { going_on: 1 << 40, ..Rest::default() };
        assert_eq!(Rest::read(&rest.bytes()), Some(rest));
        let mut absurd = Rest { going_on: u64::MAX, ..Rest::default() };
        assert_eq!(Rest::read(&absurd.bytes()), None);
        absurd.going_on = 0;
        absurd.ranks.push(RankRest { kappa: (0, u128::MAX, 0), ..RankRest::default() });
        assert_eq!(Rest::read(&absurd.bytes()), None);
        assert_eq!(Rest::read(b"{}"), None);
    }

    #[test]
    fn values_are_put_together_between_the_outer_ones() {
        let values: Vec<_> = (0..1000).map(|value| (value * 25, 3, 1 << 20, u64::from(value))).collect();
        let few = together(&values, 100);
        assert!(few.len() <= 100, "{}", few.len());
        assert_eq!((few.first(), few.last()), (values.first(), values.last()));
        let sums = |values: &[(u32, u64, u128, u64)]| {
            values.iter().fold((0, 0, 0), |(lines, kappa, tokens), value| {
                (lines + value.1, kappa + value.2, tokens + value.2 * u128::from(value.0))
            })
        };
        let (found, all) = (sums(&few), sums(&values));
        assert_eq!((found.0, found.1), (all.0, all.1));
        assert!(all.2 - found.2 <= 1000 * 100, "{found:?} {all:?}");
        // Nothing that no line prints.
        assert!(few.iter().all(|value| value.0 % 25 == 0), "{few:?}");
        assert_eq!(together(&values[..100], 100), values[..100]);
    }
}
