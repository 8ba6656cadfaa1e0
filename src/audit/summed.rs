//! What one pass tests line by line, tested by sums: how the lines scatter, where they stand, and whether they change.

use std::cmp::Ordering;

use crate::evidence::Place;
use crate::law::{
    Lattice, PrintedMoments, ROUNDING, TwoPoint, beta_reg, chi_square_lower, chi_square_upper, float,
    normal_upper,
};

use super::decision::SLACK;
use super::dispersion::{Dispersion, LatticeCheck, TAIL};
use super::mechanism::{Mechanism, Mechanisms};
use super::partial::{Course, Moments};
use super::stretches::{Change, Stretch};

/// How much wider lines may scatter whose batch changed by a factor of two at most: `(1 + 2)^2 / (4 * 2)` (Kantorovich 1948).
const CHANGING: f64 = 1.125;

/// What batches that changed unseen may add to a scatter, or take from it.
const TOLERANCE: f64 = 1.03;

/// Lines, of ranks that share their draws counted once, below which nothing is told of a scatter.
const MIN_LINES: f64 = 20.0;

/// The share of all lines that has to be in the sums.
const MIN_SHARE: f64 = 0.1;

/// What the sums say.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Summed {
    /// Where the lines change.
    pub(super) change: Option<Change>,
    /// Lines that scatter in another way than the target's law has it: those of one size of batch, or all.
    pub(super) scatter: Option<Dispersion>,
    /// Where lines of constant batches stand; `None` where there are none.
    pub(super) lattice: Option<LatticeCheck>,
    /// Too many lines are of batches that changed too much.
    pub(super) is_untested: bool,
}

/// A law as lines of so many steps show it.
#[derive(Clone, Copy)]
struct LineScatter {
    lo: f64,
    weight: f64,
    steps: u32,
    /// Variance of a line of a constant batch.
    variance: f64,
    /// Those of constant batches and of changing ones, the smaller and the larger: two decimals add to either what they do.
    bounds: (f64, f64),
    /// Degrees of freedom that a line gives for the scatter: fewer where it is skewed (Satterthwaite 1946).
    freedom: f64,
    /// How much wider neighbouring lines are seen to scatter.
    excess: f64,
}

impl LineScatter {
    /// Two neighbouring lengths that print with this mean.
    fn at(mean: f64, steps: u32) -> Self {
        let lo = mean.floor();
        let weight = (mean - lo).clamp(0.0, 1.0);
        // Sums of changing batches stand anywhere: what rounding does to them is even.
        let count = f64::from(steps);
        let spread = weight * (1.0 - weight);
        let variance = spread / count + ROUNDING;
        let changing =
            PrintedMoments { mean, variance, excess: (1.0 - 6.0 * spread) / (count * spread).max(0.1) };
        let constant = PrintedMoments::with_mean(crate::law::whole32(lo), steps, mean).unwrap_or(changing);
        let excess = changing.excess.max(constant.excess).max(0.0);
        Self {
            lo,
            weight,
            steps,
            variance: constant.variance,
            bounds: (variance.min(constant.variance), variance.max(constant.variance)),
            freedom: 2.0 / (2.0 + excess),
            excess: 1.0,
        }
    }

    /// How lines scatter about a mean of their own, `lines` of which are independent.
    fn dispersion(&self, moments: &Moments, ranks: f64) -> Option<Dispersion> {
        let (lines, freedom) = (moments.lines, (moments.lines / ranks - 1.0) * self.freedom);
        if lines / ranks < MIN_LINES {
            return None;
        }
        let scatter = moments.scatter / (lines - ranks).max(1.0);
        let (least, most) = (scatter / self.bounds.0, scatter / self.bounds.1);
        let widest = widest(moments.steady / lines);
        Some(Dispersion {
            d: moments.scatter / self.variance,
            lines: crate::law::whole(lines),
            lower_tail: chi_square_lower(least * TOLERANCE * freedom, freedom),
            upper_tail: chi_square_upper(most / widest * freedom, freedom),
        })
    }

    /// Probability of a mean at least as far from that of this law, by the steps that a window had at least.
    fn tail(&self, moments: &Moments, ranks: f64) -> f64 {
        let trials = moments.lines * f64::from(self.steps) / (ranks * CHANGING * self.excess);
        let hits = (trials * (moments.mean() - self.lo)).clamp(0.0, trials);
        if hits > trials * self.weight {
            beta_reg(hits, trials - hits + 1.0, self.weight)
        } else {
            beta_reg(trials - hits, hits + 1.0, 1.0 - self.weight)
        }
    }
}

/// How much wider than under the law lines may scatter, of which this share is of constant batches.
fn widest(steady: f64) -> f64 {
    TOLERANCE * (steady + (1.0 - steady) * CHANGING)
}

/// A block with the log it is of.
#[derive(Clone, Copy)]
struct Block {
    log: usize,
    file: u32,
    ranks: f64,
    moments: Moments,
}

/// Neighbouring blocks beside all others.
#[derive(Clone, Copy)]
struct Contrast {
    /// The first block, and the one behind the last.
    range: (usize, usize),
    own: Moments,
    others: Moments,
    /// Lines of one draw in either.
    ranks: (f64, f64),
    /// Scatter within the blocks, and its degrees of freedom.
    within: (Within, Within),
}

#[derive(Clone, Copy, Default)]
struct Within {
    scatter: f64,
    freedom: f64,
}

impl Summed {
    /// Tests the logs of a point in their order, `ranks` of which wrote its lines, against draws of the law's two lengths.
    pub(super) fn new(
        courses: &[(u32, Course)],
        law: TwoPoint,
        steps: u32,
        ranks: usize,
        is_blind: bool,
    ) -> Self {
        let ranks = float(u64::try_from(ranks).unwrap_or(1)).max(1.0);
        let blocks: Vec<Block> = blocks(courses).collect();
        let all = blocks.iter().fold(Moments::default(), |all, block| all.and(block.moments));
        let is_untested = courses.iter().any(|(_, course)| {
            let near: f64 = course.blocks().map(|block| block.lines).sum();
            near < MIN_SHARE * (near + course.far())
        });
        let lattice = lattice(courses, law.lo(), steps, is_blind);
        if law.is_constant() || steps == 0 || all.lines <= 0.0 {
            return Self { lattice, is_untested, ..Self::default() };
        }
        let scatter = LineScatter::at(all.mean(), steps);
        let is_untested = is_untested || all.lines / ranks < MIN_LINES;
        Self {
            change: change(&blocks, &all, scatter, law, ranks),
            scatter: wrong_scatter(courses, &scatter, ranks),
            lattice,
            is_untested,
        }
    }
}

impl Summed {
    /// What the sums say in place of the first lines.
    pub(super) fn correct(&self, mechanisms: &mut Mechanisms) {
        if let Some(change) = self.change {
            (mechanisms.best, mechanisms.change) = (Some(Mechanism::Mixed), Some(change));
        }
        if let Some(scatter) = self.scatter {
            mechanisms.dispersion = Some(scatter);
        }
        let is_wrong = self.scatter.is_some() || self.lattice.is_some_and(|lattice| lattice.rejects());
        if is_wrong && mechanisms.best == Some(Mechanism::MatchExpected) {
            mechanisms.best = None;
        }
        if (is_wrong || self.change.is_some()) && !mechanisms.rejected.contains(&Mechanism::MatchExpected) {
            mechanisms.rejected.insert(0, Mechanism::MatchExpected);
        }
    }
}

fn blocks(courses: &[(u32, Course)]) -> impl Iterator<Item = Block> + '_ {
    courses.iter().enumerate().flat_map(|(log, (file, course))| {
        course.blocks().map(move |moments| Block { log, file: *file, ranks: course.ranks(), moments })
    })
}

/// The scatter of lines of one size of batch, or of all, that no two lengths give.
fn wrong_scatter(courses: &[(u32, Course)], law: &LineScatter, ranks: f64) -> Option<Dispersion> {
    let mut octaves: Vec<(u32, Moments)> = courses.iter().flat_map(|(_, course)| course.octaves()).collect();
    octaves.sort_by_key(|(digits, _)| *digits);
    octaves.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        if is_same {
            kept.1 = kept.1.and(next.1);
        }
        is_same
    });
    let all = octaves.iter().fold(Moments::default(), |all, (_, octave)| all.and(*octave));
    let whole = law.dispersion(&all, ranks).filter(Dispersion::rejects);
    let tests = float(u64::try_from(octaves.len()).unwrap_or(1)).max(1.0);
    let is_wrong = |scatter: &Dispersion| scatter.lower_tail.min(scatter.upper_tail) * tests < TAIL;
    whole.or_else(|| octaves.iter().find_map(|(_, octave)| law.dispersion(octave, ranks).filter(is_wrong)))
}

/// Where lines of constant batches stand.
fn lattice(courses: &[(u32, Course)], lo: u32, steps: u32, is_blind: bool) -> Option<LatticeCheck> {
    let lattice = Lattice::new(lo, steps);
    let (mut lines, mut misses) = (0_u64, 0_u64);
    for (residue, count) in courses.iter().flat_map(|(_, course)| course.residues()) {
        // A whole number is on every lattice, be it the lower or the upper length.
        let is_on = residue == 0 || lattice.contains(lo.saturating_mul(100).saturating_add(residue));
        lines = lines.saturating_add(count);
        misses = misses.saturating_add(if is_on { 0 } else { count });
    }
    (lines > 0).then_some(LatticeCheck { lines, misses, is_blind })
}

/// The neighbouring blocks that differ most from all others, in mean or else in scatter, where they do so beyond chance: with
/// a probability below [`TAIL`] for all that are looked at together.
fn change(blocks: &[Block], all: &Moments, law: LineScatter, two: TwoPoint, ranks: f64) -> Option<Change> {
    let seen = blocks.iter().map(Block::within).fold(Within::default(), Within::and);
    let excess = (seen.scatter / (seen.freedom.max(1.0) * law.variance)).max(1.0);
    let law = &LineScatter { excess, ..law };
    let contrasts = contrasts(blocks, all, ranks);
    let tests = float(u64::try_from(contrasts.len()).unwrap_or(1)).max(1.0);
    let by_mean = contrasts.iter().filter_map(|contrast| {
        let z = contrast.z(law);
        (tests * 2.0 * normal_upper(z) < TAIL && tests * contrast.tail(law) < TAIL).then_some((z, contrast))
    });
    let largest = |left: &(f64, &Contrast), right: &(f64, &Contrast)| left.0.total_cmp(&right.0);
    // Blocks within a stretch differ from all others too: the one that differs most is the stretch.
    if let Some((_, contrast)) = by_mean.max_by(largest) {
        return Some(contrast.change(blocks, law, two));
    }
    let by_scatter = contrasts.iter().filter_map(|contrast| {
        let chance = contrast.chance_of_scatter(law)?;
        (tests * chance < TAIL).then_some((-chance, contrast))
    });
    by_scatter.max_by(largest).map(|(_, contrast)| contrast.change(blocks, law, two))
}

/// Neighbouring blocks of each log, and all logs before each other one.
fn contrasts(blocks: &[Block], all: &Moments, ranks: f64) -> Vec<Contrast> {
    let total = blocks.iter().map(Block::within).fold(Within::default(), Within::and);
    let mut contrasts = Vec::new();
    let mut take = |range: (usize, usize), own: Moments, inner: Within, own_ranks: f64| {
        let others = all.without(&own);
        if others.lines >= 1.0 {
            let outer = Within {
                scatter: (total.scatter - inner.scatter).max(0.0),
                freedom: total.freedom - inner.freedom,
            };
            contrasts.push(Contrast {
                range,
                own,
                others,
                ranks: (own_ranks, ranks),
                within: (inner, outer),
            });
        }
    };
    for (first, start) in blocks.iter().enumerate() {
        let (mut own, mut inner) =
            (Moments { first: start.moments.first, ..Moments::default() }, Within::default());
        for (at, block) in
            blocks.iter().enumerate().skip(first).take_while(|(_, block)| block.log == start.log)
        {
            own = own.and(block.moments);
            inner = inner.and(block.within());
            take((first, at + 1), own, inner, start.ranks);
        }
    }
    let (mut own, mut inner) = (Moments::default(), Within::default());
    for (at, pair) in blocks.windows(2).enumerate() {
        let [block, next] = pair else { continue };
        own = own.and(block.moments);
        inner = inner.and(block.within());
        // The first log alone is among them already.
        if block.log != next.log && block.log > 0 {
            take((0, at + 1), own, inner, ranks);
        }
    }
    contrasts
}

impl Block {
    fn within(&self) -> Within {
        let freedom = (self.moments.lines / self.ranks - 1.0).max(0.0);
        Within { scatter: self.moments.scatter / self.ranks, freedom }
    }
}

impl Within {
    fn and(self, other: Self) -> Self {
        Self { scatter: self.scatter + other.scatter, freedom: self.freedom + other.freedom }
    }
}

impl Contrast {
    /// By how many standard errors the means differ, beyond what honest engines do.
    fn z(&self, law: &LineScatter) -> f64 {
        let apart = ((self.own.mean() - self.others.mean()).abs() - SLACK).max(0.0);
        let inverse = self.ranks.0 / self.own.lines + self.ranks.1 / self.others.lines;
        apart / (law.variance * law.excess * widest(0.0) * inverse).sqrt()
    }

    /// The probability of the smaller side's mean under the law of the larger one: that of few steps of a rare length is not
    /// normal.
    fn tail(&self, law: &LineScatter) -> f64 {
        let (few, many) = if self.own.lines <= self.others.lines {
            ((&self.own, self.ranks.0), self.others.mean())
        } else {
            ((&self.others, self.ranks.1), self.own.mean())
        };
        let mean = many + (few.0.mean() - many).clamp(-SLACK, SLACK);
        LineScatter { excess: law.excess, ..LineScatter::at(mean, law.steps) }.tail(few.0, few.1)
    }

    /// The probability of as different a scatter within the blocks, where both have lines enough.
    fn chance_of_scatter(&self, law: &LineScatter) -> Option<f64> {
        let (own, others) = self.within;
        if own.freedom.min(others.freedom) < MIN_LINES {
            return None;
        }
        let (left, right) = (own.scatter / own.freedom, others.scatter / others.freedom);
        let (wide, narrow, over, under) = match left.partial_cmp(&right) {
            Some(Ordering::Greater) => (left, right, own.freedom, others.freedom),
            _ => (right, left, others.freedom, own.freedom),
        };
        let (over, under) = (over * law.freedom, under * law.freedom);
        // Lines of one part may be of changing batches, those of the other one of constant ones.
        let unlike = (law.bounds.1 / law.bounds.0).max(widest(0.0) / TOLERANCE) * TOLERANCE;
        let ratio = wide / (narrow.max(ROUNDING) * unlike);
        // Upper tail of Fisher's F, on both sides.
        Some(2.0 * beta_reg(under / 2.0, over / 2.0, under / (under + over * ratio)))
    }

    fn change(&self, blocks: &[Block], law: &LineScatter, two: TwoPoint) -> Change {
        let (first, end) = self.range;
        let stretch = |moments: &Moments, ranks: f64| Stretch {
            mechanism: mechanism(moments, ranks, law, two),
            accept_length: moments.mean(),
            lines: crate::law::whole(moments.lines),
        };
        let (own, others) = (stretch(&self.own, self.ranks.0), stretch(&self.others, self.ranks.1));
        let (at, before, after) = if first > 0 { (first, others, own) } else { (end, own, others) };
        let place = blocks.get(at).map_or(Place { file: 0, line: 1 }, |block| Place {
            file: block.file,
            line: block.moments.first,
        });
        Change { place, before, after }
    }
}

/// What lines look like by mean and scatter.
fn mechanism(moments: &Moments, ranks: f64, law: &LineScatter, two: TwoPoint) -> Mechanism {
    let mean = moments.mean();
    let own = LineScatter::at(mean, law.steps);
    match own.dispersion(moments, ranks) {
        Some(scatter) if scatter.rejects() => Mechanism::Real,
        _ if (mean - two.mean()).abs() <= SLACK => Mechanism::MatchExpected,
        _ => Mechanism::OtherCell,
    }
}

#[cfg(test)]
mod tests {
    use super::super::partial::CourseLine;
    use super::*;
    use crate::law::{Setting, printed};

    const STEPS: u64 = 40;

    fn law(length: f64) -> TwoPoint {
        TwoPoint::new(Setting::new(length, 6).unwrap())
    }

    /// Steele, Lea and Flood's `SplitMix64` (2014): quick, and good enough for draws that nobody has to find again.
    struct Draws(u64);

    impl Draws {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ (mixed >> 31)
        }
    }

    /// One log: for each line the accept length that is simulated, in hundredths, and the batch at its end. In its window the
    /// batch changes at some step, and the tokens are those of all requests.
    fn log(seed: u64, lines: u64, length: impl Fn(u64) -> u64, batch: impl Fn(u64) -> u32) -> Course {
        let (mut course, mut draws) = (Course::default(), Draws(seed));
        let mut before = batch(0);
        for line in 0..lines {
            let (length, now) = (length(line), batch(line));
            let at = if now == before { 0 } else { draws.next() % (STEPS + 1) };
            let (mut tokens, mut requests) = (0, 0);
            for step in 0..STEPS {
                let running = u64::from(if step < at { before } else { now });
                // Of hundredths, so many in a hundred steps draw the larger length.
                tokens += running * (length / 100 + u64::from(draws.next() % 100 < length % 100));
                requests += running;
            }
            course.add(&CourseLine {
                rank: 0,
                hundredths: printed(tokens, requests).unwrap(),
                before,
                batch: now,
                is_steady: now == before && line > 0,
                line: line + 1,
            });
            before = now;
        }
        course
    }

    fn judged(courses: Vec<Course>, length: u64) -> Summed {
        let courses: Vec<(u32, Course)> = (0..).zip(courses).collect();
        Summed::new(&courses, law(float(length) / 100.0), 40, 1, true)
    }

    /// What the bound promises: a probability of at most [`TAIL`] for each of six questions, so 0.6 of these 400 points.
    #[test]
    fn honest_logs_raise_no_alarm() {
        let mut alarms = Vec::new();
        for seed in 0..400 {
            let length = [351, 303, 290, 179][usize::try_from(seed % 4).unwrap()];
            let batches = 1 + seed / 4 % 5 * 20;
            let batch = |line: u64| u32::try_from(1 + (line * 7919 + seed) % batches).unwrap();
            let lines = [60, 100, 200][usize::try_from(seed % 3).unwrap()];
            let logs = (0..4).map(|log_of| log(seed * 16 + log_of, lines, |_| length, batch)).collect();
            let found = judged(logs, length);
            if found.change.is_some() || found.scatter.is_some() {
                alarms.push((seed, found));
            }
        }
        assert!(alarms.len() <= 1, "{}: {alarms:?}", alarms.len());
    }

    /// With 40 steps 1/40 prints as .02 and 3/40 as .08: near a whole number lines of a constant batch scatter a tenth wider
    /// than their sums, those of changing batches do not.
    #[test]
    fn honest_logs_near_a_whole_number_raise_no_alarm() {
        for length in [297, 302, 303, 304, 396, 397, 398, 504] {
            for changes in [false, true] {
                let batch = |line: u64| if changes { 40 + u32::try_from(line % 3).unwrap() } else { 4 };
                let logs = (0..2).map(|seed| log(length * 16 + seed, 10_000, |_| length, batch)).collect();
                let found = judged(logs, length);
                assert!(found.change.is_none() && found.scatter.is_none(), "{length} {changes}: {found:?}");
            }
        }
    }

    #[test]
    fn a_late_change_in_one_of_several_logs_is_found_where_it_is() {
        let length = |line: u64| if line < 850 { 351 } else { 330 };
        let logs = [log(1, 1000, |_| 351, |_| 4), log(2, 1000, length, |_| 4), log(3, 1000, |_| 351, |_| 4)];
        for level in [0, 10] {
            let logs = logs.iter().map(|course| course.clone().at_level(level)).collect();
            let change = judged(logs, 351).change.unwrap();
            assert_eq!(
                (change.place.file, change.before.mechanism),
                (1, Mechanism::MatchExpected),
                "{change:?}"
            );
            assert!((change.after.accept_length - 3.3).abs() < 0.1, "{change:?}");
            assert!(change.place.line.abs_diff(850) <= 130, "{change:?}");
        }
        // All logs changed alike.
        let logs =
            (0..6).map(|seed| log(seed, 200, |line| if line < 180 { 351 } else { 320 }, |_| 4)).collect();
        assert!(judged(logs, 351).change.is_some());
    }

    #[test]
    fn another_scatter_of_the_same_mean_is_seen() {
        let narrow = |seed: u64| {
            let mut course = Course::default();
            for line in 0..250 {
                let hundredths = 349 + u32::try_from((line * 31 + seed) % 5).unwrap();
                course.add(&CourseLine { rank: 0, hundredths, before: 9, batch: 9, is_steady: true, line });
            }
            course
        };
        let found = judged((0..4).map(narrow).collect(), 351);
        assert!(found.scatter.is_some_and(|scatter| scatter.lower_tail < TAIL), "{found:?}");
        assert!(found.change.is_none());
        // In one half of the logs alone it is a change.
        let logs = (0..8).map(|seed| if seed < 4 { narrow(seed) } else { log(seed, 250, |_| 351, |_| 9) });
        let change = judged(logs.collect(), 351).change.unwrap();
        assert_eq!((change.place.file, change.after.mechanism), (4, Mechanism::MatchExpected), "{change:?}");
    }

    #[test]
    fn what_the_sums_cannot_tell_is_untested() {
        let wild = |line: u64| if line.is_multiple_of(2) { 1 } else { 200 };
        assert!(judged(vec![log(1, 300, |_| 351, wild)], 351).is_untested);
        assert!(judged(vec![log(1, 10, |_| 351, |_| 4)], 351).is_untested);
        assert!(!judged(vec![log(1, 300, |_| 351, |_| 4)], 351).is_untested);
    }

    /// Ranks that drew alike are one sample: 42 lines of two ranks are 21, and leave 20 degrees of freedom.
    #[test]
    fn the_scatter_of_lines_about_their_own_mean_has_a_degree_of_freedom_less() {
        // The upper tail of chi-square with 20 degrees at `2 x`.
        let upper = |x: f64| {
            let terms = (1..10).scan(1.0, |term, number| {
                *term *= x / f64::from(number);
                Some(*term)
            });
            (-x).exp() * (1.0 + terms.sum::<f64>())
        };
        let law = LineScatter::at(3.5, 40);
        let (least, most) = (law.variance / law.bounds.0, law.variance / law.bounds.1);
        let moments =
            Moments { lines: 42.0, steady: 42.0, sum: 147.0, scatter: 40.0 * law.variance, first: 1 };
        let found = law.dispersion(&moments, 2.0).unwrap();
        assert!((found.upper_tail - upper(10.0 * most / TOLERANCE)).abs() < 1e-6, "{found:?}");
        assert!((found.lower_tail - (1.0 - upper(10.0 * least * TOLERANCE))).abs() < 1e-6, "{found:?}");
        assert_eq!(law.dispersion(&Moments { lines: 39.0, ..moments }, 2.0).map(|found| found.lines), None);
    }
}
