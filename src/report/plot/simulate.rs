//! Plots of a law and of what was drawn from it.

use crate::law::float;
use crate::simulate::{Plan, Simulation};

use super::figure::{Axis, Figure, Layer, Look, Shape};

/// Values of a line that are drawn as bars; more close up to a line.
const MOST_BARS: usize = 200;

/// Probabilities below this share of the largest are not seen, and would only make the axis longer.
const LEAST: f64 = 1e-4;

/// The lengths of a step, exact and drawn, and the values that a decode line prints.
///
/// ```
/// use accsim::law::{AcceptanceLaw, Setting};
/// use accsim::report::plot;
/// use accsim::simulate::Plan;
///
/// let plan = Plan::new(AcceptanceLaw::match_expected(Setting::new(3.51, 6)?));
/// let figures = plot::drawn(&plan, &plan.run()?);
/// assert_eq!(figures[1].title, "Values that a line of 40 steps prints");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn drawn(plan: &Plan, simulation: &Simulation) -> Vec<Figure> {
    let mut figures = vec![lengths(plan, simulation), line(plan, simulation)];
    figures.retain(|figure| !figure.is_empty());
    figures
}

fn lengths(plan: &Plan, simulation: &Simulation) -> Figure {
    let draws = float(simulation.sample.draws().max(1));
    let sample =
        simulation.sample.iter().map(|(length, count)| (f64::from(length), 0.0, float(count) / draws));
    let exact = plan.law.pmf().iter().map(|(length, probability)| (f64::from(length), probability)).collect();
    Figure {
        id: "lengths".to_owned(),
        title: "Lengths of a verify step".to_owned(),
        description: format!("Share of each accept length: drawn, and exact for {}.", plan.law.kind()),
        caption: "The strokes are the exact probabilities.".to_owned(),
        x: Axis::whole("accept length, tokens a verify step"),
        y: Axis::from_zero("share of draws"),
        layers: vec![
            Layer::new("drawn", Look::Series(0), Shape::Bars(0.6, sample.collect())),
            Layer::new("exact", Look::Law, Shape::Steps(0.8, exact)),
        ],
        marks: Vec::new(),
    }
}

fn line(plan: &Plan, simulation: &Simulation) -> Figure {
    let largest = simulation.line.iter().map(|(_, probability)| probability).fold(0.0, f64::max);
    let seen: Vec<(f64, f64)> = simulation
        .line
        .iter()
        .filter(|(_, probability)| *probability >= largest * LEAST)
        .map(|(hundredths, probability)| (f64::from(hundredths) / 100.0, probability))
        .collect();
    let shape = if seen.len() > MOST_BARS {
        Shape::Line(seen)
    } else {
        Shape::Bars(0.008, seen.into_iter().map(|(value, probability)| (value, 0.0, probability)).collect())
    };
    Figure {
        id: "line".to_owned(),
        title: format!("Values that a line of {} steps prints", plan.interval),
        description: "Probability of each value that a decode line can print.".to_owned(),
        caption: "As long as the batch does not change within the line.".to_owned(),
        x: Axis::of("printed accept len, tokens a verify step"),
        y: Axis::from_zero("probability"),
        layers: vec![Layer::new("exact", Look::Series(0), shape)],
        marks: Vec::new(),
    }
}
