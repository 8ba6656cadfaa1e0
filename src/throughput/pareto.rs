//! Which points no other point beats: smaller x and larger y are better.

/// What a point is on the plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// No other point beats it.
    Frontier,
    /// The frontier point of smallest index that beats it.
    Dominated {
        /// Index of that point.
        by: usize,
    },
    /// Not finite, x not above 0, or y below 0: it beats nothing.
    Invalid,
}

/// Judges points (x, y). One is dominated by another with `x' <= x` and `y' >= y`, one of them strict; equal points are both
/// kept. n log n in the number of points.
///
/// ```
/// use accsim::throughput::{Standing, pareto};
///
/// let standing = pareto(&[(2.0, 100.0), (3.0, 180.0), (3.0, 150.0)]);
/// assert_eq!(standing, [Standing::Frontier, Standing::Frontier, Standing::Dominated { by: 1 }]);
/// ```
#[must_use]
pub fn pareto(points: &[(f64, f64)]) -> Vec<Standing> {
    let is_valid = |(x, y): (f64, f64)| x.is_finite() && y.is_finite() && x > 0.0 && y >= 0.0;
    let mut order: Vec<(usize, (f64, f64))> =
        points.iter().copied().enumerate().filter(|(_, point)| is_valid(*point)).collect();
    // By x; of one x the largest y first.
    order.sort_by(|left, right| left.1.0.total_cmp(&right.1.0).then(right.1.1.total_cmp(&left.1.1)));
    // The frontier rises: each entry has a larger x and a larger y than the one before, or is equal to it.
    let mut frontier: Vec<(f64, f64, usize)> = Vec::new();
    let mut standing = vec![Standing::Invalid; points.len()];
    let mut beaten: Vec<(usize, (f64, f64))> = Vec::new();
    for (index, (x, y)) in order {
        let best = frontier.last().copied();
        let on_it = match best {
            None => true,
            Some((bx, by, _)) => y > by || (same(x, bx) && same(y, by)),
        };
        if !on_it {
            beaten.push((index, (x, y)));
            continue;
        }
        if let Some(slot) = standing.get_mut(index) {
            *slot = Standing::Frontier;
        }
        frontier.push((x, y, index));
    }
    let smallest = Smallest::new(frontier.iter().map(|(_, _, index)| *index).collect());
    for (index, (x, y)) in beaten {
        // Those with x' <= x are a prefix and those with y' >= y a suffix of it.
        let end = frontier.partition_point(|(fx, _, _)| *fx <= x);
        let start = frontier.partition_point(|(_, fy, _)| *fy < y);
        if let (Some(by), Some(slot)) = (smallest.between(start, end), standing.get_mut(index)) {
            *slot = Standing::Dominated { by };
        }
    }
    standing
}

/// The smallest of neighbouring entries, for any range in two look-ups: entry i of level l covers 2^l of them.
struct Smallest(Vec<Vec<usize>>);

impl Smallest {
    fn new(entries: Vec<usize>) -> Self {
        let mut levels = vec![entries];
        let mut width = 1;
        while let Some(last) = levels.last().filter(|last| last.len() > width) {
            let ahead = last.get(width..).unwrap_or(&[]);
            let next = last.iter().zip(ahead).map(|(left, right)| *left.min(right)).collect();
            levels.push(next);
            width *= 2;
        }
        Self(levels)
    }

    fn between(&self, start: usize, end: usize) -> Option<usize> {
        let length = end.checked_sub(start).filter(|length| *length > 0)?;
        let level = usize::try_from(length.ilog2()).ok()?;
        let entries = self.0.get(level)?;
        Some(*entries.get(start)?.min(entries.get(end - (1 << level))?))
    }
}

/// Equal numbers, as the rule counts them.
fn same(left: f64, right: f64) -> bool {
    left.partial_cmp(&right) == Some(std::cmp::Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Worked value 11.
    #[test]
    fn worked_points() {
        let points = [
            (2.0, 100.0),
            (3.0, 180.0),
            (3.0, 150.0),
            (5.0, 260.0),
            (6.0, 255.0),
            (9.0, 400.0),
            (9.0, 400.0),
            (f64::NAN, 10.0),
        ];
        let expected = [
            Standing::Frontier,
            Standing::Frontier,
            Standing::Dominated { by: 1 },
            Standing::Frontier,
            Standing::Dominated { by: 3 },
            Standing::Frontier,
            Standing::Frontier,
            Standing::Invalid,
        ];
        assert_eq!(pareto(&points), expected);
    }

    /// The rule as it is written, point against point.
    fn plain(points: &[(f64, f64)]) -> Vec<Standing> {
        let valid = |p: (f64, f64)| p.0.is_finite() && p.1.is_finite() && p.0 > 0.0 && p.1 >= 0.0;
        let beats =
            |a: (f64, f64), b: (f64, f64)| valid(a) && a.0 <= b.0 && a.1 >= b.1 && (a.0 < b.0 || a.1 > b.1);
        let free = |p: (f64, f64)| !points.iter().any(|other| beats(*other, p));
        points
            .iter()
            .map(|point| {
                if !valid(*point) {
                    Standing::Invalid
                } else if free(*point) {
                    Standing::Frontier
                } else {
                    let by = points.iter().position(|other| beats(*other, *point) && free(*other));
                    Standing::Dominated { by: by.unwrap() }
                }
            })
            .collect()
    }

    proptest! {
        #[test]
        fn the_fast_way_is_the_rule(points in prop::collection::vec((-1_i32..6, -1_i32..6), 0..24)) {
            let points: Vec<(f64, f64)> =
                points.into_iter().map(|(x, y)| (f64::from(x), f64::from(y))).collect();
            prop_assert_eq!(pareto(&points), plain(&points));
        }
    }
}
