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

/// Series of one plot; more would not be told apart.
const MOST_SERIES: usize = 8;

/// The same for a page or a file: together while they can be told apart, else a plot a curve.
pub fn curves<'a>(curves: impl IntoIterator<Item = &'a Curve>) -> Vec<Figure> {
    let curves: Vec<&Curve> = curves.into_iter().collect();
    if series(curves.iter().copied()).len() <= MOST_SERIES {
        return vec![figure("curves".to_owned(), "Golden accept lengths", &curves)];
    }
    let each = curves.iter().enumerate();
    each.map(|(number, curve)| figure(format!("curve{number}"), &curve.name, &[*curve])).collect()
}

fn figure(id: String, title: &str, curves: &[&Curve]) -> Figure {
    let mut layers = Vec::new();
    let mut names = Vec::new();
    for (number, series) in series(curves.iter().copied()).into_iter().enumerate() {
        let points: Vec<(f64, f64)> = series.points.iter().map(|(x, y)| (f64::from(*x), *y)).collect();
        names.push(series.name.clone());
        layers.push(Layer::new("", Look::Series(number), Shape::Dots(points.clone())));
        layers.push(Layer::new(series.name, Look::Series(number), Shape::Line(points)));
    }
    Figure {
        id,
        title: title.to_owned(),
        description: format!("Accept length over draft length of {}.", names.join(", ")),
        caption: "Only whole draft lengths have a value; the lines lead the eye.".to_owned(),
        x: Axis::whole("draft length"),
        y: Axis::of("tokens a verify step"),
        layers,
        marks: Vec::new(),
    }
}
