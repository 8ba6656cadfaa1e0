//! Sentences that a sign-off quotes.

use std::fmt;

use crate::audit::PointReport;

use super::words::{decimal, graphs, plural, thousands};

/// `mean accept len 3.508 to 3.513 on every one of 8 points`.
pub(in crate::report) struct Summary {
    /// Means, rounded as they are printed: smallest and largest.
    means: Option<(f64, f64)>,
    /// Points with a mean, and all.
    measured: usize,
    points: usize,
    /// Largest distance of a mean from its target.
    farthest: Option<f64>,
}

impl Summary {
    pub(in crate::report) fn of(points: &[PointReport]) -> Self {
        let mean = |point: &PointReport| point.accept_len.as_ref().map(|accept_len| accept_len.mean);
        let means = || points.iter().filter_map(mean);
        let low = means().min_by(f64::total_cmp);
        let high = means().max_by(f64::total_cmp);
        let distances = points.iter().map(|point| {
            let target = point.target.as_ref()?.accept_length().get();
            mean(point).map(|mean| (mean - target).abs())
        });
        Self {
            means: low.zip(high),
            measured: means().count(),
            points: points.len(),
            // Only where every point has one: `on every point` must mean it.
            farthest: distances
                .collect::<Option<Vec<f64>>>()
                .and_then(|all| all.into_iter().max_by(f64::total_cmp)),
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((low, high)) = self.means else { return f.write_str("no point has an accept length") };
        f.write_str("mean accept len ")?;
        if decimal(low) == decimal(high) {
            f.write_str(&decimal(low))?;
        } else {
            write!(f, "{} to {}", decimal(low), decimal(high))?;
        }
        match (self.measured, self.points) {
            (1, 1) => {}
            (measured, points) if measured == points => write!(f, " on every one of {points} points")?,
            (measured, points) => write!(f, " on {measured} of {points} points; the others have none")?,
        }
        match self.farthest {
            Some(farthest) => write!(f, ", at most {} from the target", decimal(farthest)),
            None => Ok(()),
        }
    }
}

/// ``per-rank decode batch at most 49 in 6,187 decode lines, all with `cuda graph: True` ``.
pub(in crate::report) fn batches(point: &PointReport) -> Option<String> {
    // A line is one rank's, so the largest batch of any line is the largest of any rank.
    let (_, largest) = point.running_req?;
    Some(format!(
        "per-rank decode batch at most {largest} in {} decode line{}, {}",
        thousands(point.decode_lines),
        plural(point.decode_lines),
        graphs(point)
    ))
}
