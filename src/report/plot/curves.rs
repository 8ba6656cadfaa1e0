//! Golden curves as a chart.

use crate::golden::Curve;

use super::figure::{Axis, Figure, Layer, Look, Shape};
use super::{Chart, Series};

/// Accept length over draft length, one series a curve and mode. Cells without a usable value are gaps.
pub fn chart<'a>(curves: impl IntoIterator<Item = &'a Curve>) -> Chart {
    Chart { x: "draft length", y: "accept length", series: series(curves) }
}

fn series<'a>(curves: impl IntoIterator<Item = &'a Curve>) -> Vec<Series> {
    let series = curves.into_iter().flat_map(|curve| {
        curve.modes.keys().map(|mode| Series {
            name: format!("{} {mode}", curve.name),
            points: curve.values(*mode).map(|(draft_length, value)| (draft_length, value.get())).collect(),
        })
    });
    series.collect()
}

/// The same for a page or a file.
pub fn curves<'a>(curves: impl IntoIterator<Item = &'a Curve>) -> Figure {
    let mut layers = Vec::new();
    let mut names = Vec::new();
    for (number, series) in series(curves).into_iter().enumerate() {
        let points: Vec<(f64, f64)> = series.points.iter().map(|(x, y)| (f64::from(*x), *y)).collect();
        names.push(series.name.clone());
        layers.push(Layer::new("", Look::Series(number), Shape::Dots(points.clone())));
        layers.push(Layer::new(series.name, Look::Series(number), Shape::Line(points)));
    }
    Figure {
        id: "curves".to_owned(),
        title: "Golden accept lengths".to_owned(),
        description: format!("Accept length over draft length of {}.", names.join(", ")),
        caption: "Only whole draft lengths have a value; the lines lead the eye.".to_owned(),
        x: Axis::of("draft length"),
        y: Axis::of("accept length, tokens a verify step"),
        layers,
        marks: Vec::new(),
    }
}
