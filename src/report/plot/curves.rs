//! Golden curves as a chart.

use crate::golden::Curve;

use super::{Chart, Series};

/// Accept length over draft length, one series a curve and mode. Cells without a usable value are gaps.
pub fn chart<'a>(curves: impl IntoIterator<Item = &'a Curve>) -> Chart {
    let series = curves.into_iter().flat_map(|curve| {
        curve.modes.keys().map(|mode| Series {
            name: format!("{} {mode}", curve.name),
            points: curve.values(*mode).map(|(draft_length, value)| (draft_length, value.get())).collect(),
        })
    });
    Chart { x: "draft length", y: "accept length", series: series.collect() }
}
