//! Plots of throughput: what a model predicts, simulates and sweeps over, and frontiers of points.

use std::collections::BTreeMap;

use crate::throughput::sim::Arrivals;
use crate::throughput::{Basis, Best, Model, Prediction, SimulatedPoint, Standing, SweepReport};

use super::figure::{Axis, Figure, Layer, Look, Shape};

fn figure(id: &str, title: &str, x: &str, y: &str, layers: Vec<Layer>) -> Figure {
    let names: Vec<&str> =
        layers.iter().map(|layer| layer.name.as_str()).filter(|name| !name.is_empty()).collect();
    Figure {
        id: id.to_owned(),
        title: title.to_owned(),
        description: format!("{y} over {x}: {}. The table has the numbers.", names.join(", ")),
        caption: String::new(),
        x: Axis::from_zero(x),
        y: Axis::from_zero(y),
        layers,
        marks: Vec::new(),
    }
}

/// A line with a dot at each point.
fn dotted(name: String, number: usize, points: Vec<(f64, f64)>) -> [Layer; 2] {
    let look = Look::Series(number);
    [Layer::new("", look, Shape::Dots(points.clone())), Layer::new(name, look, Shape::Line(points))]
}

/// Lines by a number, each with its points in ascending order.
fn lines<K: Ord>(by: BTreeMap<K, Vec<(f64, f64)>>, name: impl Fn(K) -> String) -> Vec<Layer> {
    let mut layers = Vec::new();
    for (number, (key, mut points)) in by.into_iter().enumerate() {
        points.sort_by(|left, right| left.0.total_cmp(&right.0));
        layers.extend(dotted(name(key), number, points));
    }
    layers
}

/// Marks on what lies outside of what the logs cover; none where nothing does.
fn beyond(points: Vec<(f64, f64)>) -> Option<Layer> {
    (!points.is_empty()).then(|| Layer::new("extrapolated", Look::Faint, Shape::Dots(points)))
}

/// What the logs of a calibration show: tokens a second and the time of a step over running requests.
#[must_use]
pub fn measured(model: &Model) -> Vec<Figure> {
    let mut bands: BTreeMap<Option<u32>, Vec<(f64, f64, f64)>> = BTreeMap::new();
    let mut tps: BTreeMap<Option<u32>, Vec<(f64, f64)>> = BTreeMap::new();
    let mut steps = tps.clone();
    // Levels of fewer ranks than there are stand on other ground.
    for level in model.levels.iter().filter(|level| level.busy.is_none()) {
        let x = f64::from(level.running);
        bands.entry(level.drafts).or_default().push((x, level.tps_band.0, level.tps_band.1));
        tps.entry(level.drafts).or_default().push((x, level.tps));
        steps.entry(level.drafts).or_default().extend(level.step_s.map(|step| (x, step * 1e3)));
    }
    steps.retain(|_, points| !points.is_empty());
    let name = |drafts: Option<u32>| match drafts {
        Some(0) => "no drafts".to_owned(),
        Some(drafts) => format!("k = {drafts}"),
        None => "draft length unknown".to_owned(),
    };
    let bands = bands
        .into_values()
        .enumerate()
        .map(|(number, band)| Layer::new("", Look::Series(number), Shape::Band(band)));
    let x = "running requests of a rank";
    let mut figures = vec![
        figure(
            "measured-tps",
            "Throughput",
            x,
            "output tokens/s of a rank",
            bands.chain(lines(tps, name)).collect(),
        ),
        figure("measured-step", "Time of a step", x, "milliseconds", lines(steps, name)),
    ];
    if let Some(figure) = figures.first_mut() {
        figure.caption.push_str("The band holds 90 of 100 resamples of the log's lines.");
    }
    figures.retain(|figure| !figure.is_empty());
    figures
}

/// Tokens a second and latencies over accept length and over running requests.
#[must_use]
pub fn predictions(predictions: &[Prediction]) -> Vec<Figure> {
    let is_beyond = |found: &&Prediction| found.basis == Basis::Extrapolated;
    let any_beyond = predictions.iter().any(|found| is_beyond(&found));
    let over = |x: fn(&Prediction) -> f64, key: fn(&Prediction) -> u32, y: fn(&Prediction) -> Option<f64>| {
        let mut by: BTreeMap<u32, Vec<(f64, f64)>> = BTreeMap::new();
        for found in predictions {
            by.entry(key(found)).or_default().extend(y(found).map(|y| (x(found), y)));
        }
        by.retain(|_, points| !points.is_empty());
        by
    };
    let length = |found: &Prediction| found.question.accept_length;
    let running = |found: &Prediction| f64::from(found.running);
    let by_running = |found: &Prediction| found.running;
    // Whole thousandths, so that lengths can be keys.
    let by_length = |found: &Prediction| crate::law::whole32((found.question.accept_length * 1000.0).round());
    let batch = |running: u32| format!("{running} running");
    let al = |thousandths: u32| format!("AL {}", f64::from(thousandths) / 1000.0);
    let mut bands: BTreeMap<u32, Vec<(f64, f64, f64)>> = BTreeMap::new();
    for found in predictions {
        bands.entry(by_running(found)).or_default().push((length(found), found.range.0, found.range.1));
    }
    let mut layers: Vec<Layer> = bands
        .into_values()
        .enumerate()
        .map(|(number, mut band)| {
            band.sort_by(|left, right| left.0.total_cmp(&right.0));
            Layer::new("", Look::Series(number), Shape::Band(band))
        })
        .collect();
    let drawn =
        |x: fn(&Prediction) -> f64, by: Vec<Layer>, y: fn(&Prediction) -> Option<f64>| -> Vec<Layer> {
            let points = predictions.iter().filter(is_beyond).filter_map(|found| Some((x(found), y(found)?)));
            by.into_iter().chain(beyond(points.collect())).collect()
        };
    let tps = |found: &Prediction| Some(found.tps);
    let e2e = |found: &Prediction| found.e2e_s;
    let tpot = |found: &Prediction| found.tpot_s.map(|seconds| seconds * 1e3);
    layers.extend(drawn(length, lines(over(length, by_running, tps), batch), tps));
    let of_length = "accept length, tokens a verify step";
    let of_running = "running requests of a rank";
    let mut figures = vec![
        figure("tps-al", "Throughput over accept length", of_length, "output tokens/s", layers),
        figure(
            "e2e-al",
            "Latency over accept length",
            of_length,
            "seconds a request",
            drawn(length, lines(over(length, by_running, e2e), batch), e2e),
        ),
        figure(
            "tpot-al",
            "Time per token over accept length",
            of_length,
            "milliseconds a token",
            drawn(length, lines(over(length, by_running, tpot), batch), tpot),
        ),
        figure(
            "tps-running",
            "Throughput over running requests",
            of_running,
            "output tokens/s",
            drawn(running, lines(over(running, by_length, tps), al), tps),
        ),
        figure(
            "tpot-running",
            "Time per token over running requests",
            of_running,
            "milliseconds a token",
            drawn(running, lines(over(running, by_length, tpot), al), tpot),
        ),
    ];
    for figure in &mut figures {
        figure.x.with_zero = figure.x.label == of_running;
        if figure.id == "tps-al" {
            figure.caption.push_str("The band holds 90 of 100 resamples of the log's lines. ");
        }
        if any_beyond {
            figure
                .caption
                .push_str("Some numbers are extrapolated: those dots are marked, and the table says which.");
        }
    }
    figures.retain(|figure| !figure.is_empty());
    figures
}

/// Tokens a second and latencies over what was offered.
#[must_use]
pub fn simulation(points: &[SimulatedPoint]) -> Vec<Figure> {
    let of = |point: &SimulatedPoint| match point.arrivals {
        Arrivals::Closed { concurrency } => Some(f64::from(concurrency)),
        Arrivals::Poisson { rate } => Some(rate),
        Arrivals::Trace => None,
    };
    let is_open = points.iter().any(|point| matches!(point.arrivals, Arrivals::Poisson { .. }));
    let x = if is_open { "requests a second" } else { "clients (concurrency)" };
    let along = |y: &dyn Fn(&SimulatedPoint) -> Option<f64>| -> Vec<(f64, f64)> {
        let mut found: Vec<(f64, f64)> =
            points.iter().filter_map(|point| Some((of(point)?, y(point)?))).collect();
        found.sort_by(|left, right| left.0.total_cmp(&right.0));
        found
    };
    let is_beyond = |point: &SimulatedPoint| point.ground.basis == Basis::Extrapolated;
    let outside: Vec<f64> = points.iter().filter(|point| is_beyond(point)).filter_map(of).collect();
    let layers = |list: Vec<(&str, Vec<(f64, f64)>)>| -> Vec<Layer> {
        let marked = list.iter().flat_map(|(_, points)| points).filter(|(x, _)| outside.contains(x)).copied();
        let marked = beyond(marked.collect());
        let list = list.into_iter().filter(|(_, points)| !points.is_empty()).enumerate();
        list.flat_map(|(number, (name, points))| dotted(name.to_owned(), number, points))
            .chain(marked)
            .collect()
    };
    let mut figures = vec![
        figure(
            "tps",
            "Throughput",
            x,
            "output tokens/s",
            layers(vec![
                ("first arrival to last token", along(&|point| Some(point.point.output_tps.mean))),
                ("without warm-up", along(&|point| Some(point.point.steady_tps.mean))),
            ]),
        ),
        figure(
            "e2e",
            "Latency of a request",
            x,
            "seconds",
            layers(vec![
                ("mean", along(&|point| Some(point.point.e2e_s?.mean))),
                ("median", along(&|point| Some(point.point.e2e_s?.p50))),
                ("90 of 100 below", along(&|point| Some(point.point.e2e_s?.p90))),
                ("99 of 100 below", along(&|point| Some(point.point.e2e_s?.p99))),
            ]),
        ),
        figure(
            "ttft",
            "Time to the first token",
            x,
            "seconds",
            layers(vec![
                ("median", along(&|point| Some(point.point.ttft_s?.p50))),
                ("90 of 100 below", along(&|point| Some(point.point.ttft_s?.p90))),
            ]),
        ),
        figure(
            "tpot",
            "Time per further token",
            x,
            "milliseconds",
            layers(vec![
                ("median", along(&|point| Some(point.point.tpot_s?.p50 * 1e3))),
                ("90 of 100 below", along(&|point| Some(point.point.tpot_s?.p90 * 1e3))),
            ]),
        ),
    ];
    if points.iter().any(is_beyond) {
        for figure in &mut figures {
            figure
                .caption
                .push_str("Some numbers are extrapolated: those dots are marked, and the table says which.");
        }
    }
    figures.retain(|figure| !figure.is_empty());
    figures
}

/// Tokens a second and latency over concurrency, a line a draft length; the golden curve with the cells that win.
#[must_use]
pub fn sweep(curve: &str, cells: &[(u32, f64)], report: &SweepReport) -> Vec<Figure> {
    let mut tps: BTreeMap<u32, Vec<(f64, f64)>> = BTreeMap::new();
    let mut e2e = tps.clone();
    let mut beyond: BTreeMap<u32, bool> = BTreeMap::new();
    for cell in &report.cells {
        let x = f64::from(cell.concurrency);
        tps.entry(cell.drafts).or_default().push((x, cell.point.steady_tps.mean));
        e2e.entry(cell.drafts).or_default().extend(cell.point.e2e_s.map(|e2e| (x, e2e.p50)));
        *beyond.entry(cell.drafts).or_default() |= cell.ground.basis == Basis::Extrapolated;
    }
    e2e.retain(|_, points| !points.is_empty());
    let name = |drafts: u32| {
        let label = if beyond.get(&drafts) == Some(&true) { " *" } else { "" };
        if drafts == 0 { format!("no drafts{label}") } else { format!("k = {drafts}{label}") }
    };
    let winners: Vec<(f64, f64)> = report
        .cells
        .iter()
        .filter(|cell| report.best.iter().any(|best| is_best(best, cell.concurrency, cell.drafts)))
        .map(|cell| (f64::from(cell.concurrency), cell.point.steady_tps.mean))
        .collect();
    let mut layers = Vec::new();
    if !winners.is_empty() {
        layers.push(Layer::new("the fastest", Look::Chosen, Shape::Dots(winners)));
    }
    layers.extend(lines(tps, name));
    let any_beyond = beyond.values().any(|beyond| *beyond);
    let x = if any_beyond { "clients (concurrency); * extrapolated" } else { "clients (concurrency)" };
    let mut figures = vec![
        figure("sweep-tps", "Throughput by draft length", x, "output tokens/s", layers),
        figure("sweep-e2e", "Median latency by draft length", x, "seconds a request", lines(e2e, name)),
        chosen(curve, cells, &report.best),
    ];
    figures.extend(frontier(report));
    figures.retain(|figure| !figure.is_empty());
    figures
}

fn is_best(best: &Best, concurrency: u32, drafts: u32) -> bool {
    best.concurrency == concurrency && best.drafts == drafts
}

/// Every cell that was simulated, and those that no other beats in both latency and throughput.
fn frontier(report: &SweepReport) -> Vec<Figure> {
    let points: Vec<(f64, f64)> = report
        .cells
        .iter()
        .filter_map(|cell| Some((cell.point.e2e_s?.p50, cell.point.steady_tps.mean)))
        .collect();
    let standing = crate::throughput::pareto(&points);
    let mut figures = pareto(&points, &standing, ("median seconds a request", "output tokens/s"));
    for figure in &mut figures {
        "sweep-pareto".clone_into(&mut figure.id);
        "Each dot is a draft length at a concurrency; no other one is faster for a request and for all together than those on the line."
            .clone_into(&mut figure.caption);
    }
    figures
}

/// The golden curve with the cells that win somewhere.
fn chosen(curve: &str, cells: &[(u32, f64)], best: &[Best]) -> Figure {
    let points: Vec<(f64, f64)> =
        cells.iter().map(|(drafts, length)| (f64::from(*drafts), *length)).collect();
    let won: Vec<(f64, f64)> = cells
        .iter()
        .filter(|(drafts, _)| best.iter().any(|best| best.drafts == *drafts))
        .map(|(drafts, length)| (f64::from(*drafts), *length))
        .collect();
    let mut layers = Vec::new();
    if !won.is_empty() {
        layers.push(Layer::new("wins somewhere", Look::Chosen, Shape::Dots(won)));
    }
    layers.extend(dotted(curve.to_owned(), 0, points));
    let mut figure =
        figure("sweep-curve", "Golden accept lengths", "draft length (k)", "tokens a verify step", layers);
    (figure.x.with_zero, figure.x.is_whole, figure.y.with_zero) = (false, true, false);
    figure.caption.push_str("A large dot: its draft length is the fastest at some concurrency.");
    figure
}

/// Points, and the frontier as a line.
#[must_use]
pub fn pareto(points: &[(f64, f64)], standing: &[Standing], names: (&str, &str)) -> Vec<Figure> {
    let of = |wanted: fn(&Standing) -> bool| -> Vec<(f64, f64)> {
        let both = points.iter().zip(standing);
        let mut found: Vec<(f64, f64)> =
            both.filter(|(_, standing)| wanted(standing)).map(|(point, _)| *point).collect();
        found.sort_by(|left, right| left.0.total_cmp(&right.0).then(left.1.total_cmp(&right.1)));
        found
    };
    let frontier = of(|found| *found == Standing::Frontier);
    let beaten = of(|found| matches!(found, Standing::Dominated { .. }));
    let invalid = standing.iter().filter(|found| **found == Standing::Invalid).count();
    let mut layers = Vec::new();
    if !beaten.is_empty() {
        layers.push(Layer::new("dominated", Look::Faint, Shape::Dots(beaten)));
    }
    if !frontier.is_empty() {
        layers.extend(dotted("frontier".to_owned(), 0, frontier));
    }
    let mut figure = figure("pareto", "Pareto frontier", names.0, names.1, layers);
    figure.caption = format!("Smaller {} and larger {} are better.", names.0, names.1);
    if invalid > 0 {
        figure.caption = format!("{} {invalid} points without usable numbers are not drawn.", figure.caption);
    }
    vec![figure].into_iter().filter(|figure| !figure.is_empty()).collect()
}
