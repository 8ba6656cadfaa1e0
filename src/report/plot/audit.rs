//! Plots of one point of an audit.

use std::collections::BTreeMap;

use crate::audit::{Extent, LineStretch, Mechanism, PointReport, RankSeries, Series};
use crate::evidence::{Hundredths, Place};
use crate::golden::Target;
use crate::law::{AcceptanceLaw, LineValues, Setting, float, whole};
use crate::report::audit::{decimal, thousands};
use crate::simulate::log::LocalTime;

use super::figure::{Axis, Figure, Layer, Look, Mark, Shape};

/// Bars of a histogram; values nearer to each other share one.
const MOST_BARS: u32 = 400;

/// Dots drawn on their own.
const MOST_DOTS: usize = 1500;

/// Seconds of a day: times below have no date.
const DAY: f64 = 86_400.0;

/// All plots of a point that kept its lines; `stretches` bounds what is drawn of each rank. Identifiers begin with `id`.
#[must_use]
pub fn point(point: &PointReport, id: &str, stretches: usize) -> Vec<Figure> {
    let Some(series) = point.series.as_ref() else { return Vec::new() };
    let lines = Lines::of(series, stretches);
    let mut figures = vec![of_accept_length(point, &lines, id), histogram(point, series, id)];
    figures.push(lines.figure(
        format!("{id}-running"),
        "Running requests over time",
        Axis::from_zero("running requests of a rank"),
        |stretch| stretch.running_req,
    ));
    figures.push(lines.figure(
        format!("{id}-tps"),
        "Throughput over time",
        Axis::from_zero("tokens/s of a rank, as printed"),
        |stretch| stretch.tps,
    ));
    let has_accept_len = figures.first().is_some_and(|figure| !figure.is_empty());
    figures.retain(|figure| !figure.is_empty());
    // Without accept lengths the findings stand over another plot of the same axis.
    let running = figures.iter_mut().find(|figure| figure.id.ends_with("-running"));
    if let Some(figure) = running.filter(|_| !has_accept_len) {
        figure.marks = marks(point, &lines, id);
    }
    figures
}

/// Accept length over time, alone.
#[must_use]
pub fn accept_length(point: &PointReport, id: &str, stretches: usize) -> Option<Figure> {
    let lines = Lines::of(point.series.as_ref()?, stretches);
    Some(of_accept_length(point, &lines, id)).filter(|figure| !figure.is_empty())
}

/// The histogram, alone.
#[must_use]
pub fn values(point: &PointReport, id: &str) -> Option<Figure> {
    Some(histogram(point, point.series.as_ref()?, id)).filter(|figure| !figure.is_empty())
}

/// The lines of a point along one axis.
struct Lines {
    ranks: Vec<RankSeries>,
    count: u64,
    left_out: u64,
    axis: Axis,
    /// What an x is: seconds since the first line over a unit, or the number of a line.
    clock: Option<(f64, f64)>,
}

impl Lines {
    fn of(series: &Series, stretches: usize) -> Self {
        let mut ranks: Vec<RankSeries> = series.ranks.iter().map(|rank| rank.at_most(stretches)).collect();
        ranks.sort_by_key(|rank| rank.tags);
        ranks.iter_mut().for_each(spread);
        let ranks = ranks;
        let all = || ranks.iter().flat_map(|rank| &rank.stretches);
        let start = all().map(|stretch| stretch.seconds.0).fold(f64::INFINITY, f64::min);
        let end = all().map(|stretch| stretch.seconds.1).fold(f64::NEG_INFINITY, f64::max);
        let is_timed = ranks.iter().all(|rank| rank.is_timed) && end > start;
        let (axis, clock) = if is_timed {
            let (unit, name) = match end - start {
                short if short < 180.0 => (1.0, "seconds"),
                middle if middle < 10_800.0 => (60.0, "minutes"),
                _ => (3600.0, "hours"),
            };
            let text = LocalTime::at(whole(start)).to_string();
            let text = if start < DAY { text.split(' ').next_back().unwrap_or_default() } else { &text };
            (Axis::of(format!("{name} since {text}")), Some((start, unit)))
        } else {
            (Axis::of("number of the decode line, each rank for itself"), None)
        };
        let count = ranks.iter().map(|rank| rank.lines).sum();
        Self { ranks, count, left_out: series.left_out, axis, clock }
    }

    fn x(&self, stretch: &LineStretch) -> f64 {
        match self.clock {
            Some((start, unit)) => (f64::midpoint(stretch.seconds.0, stretch.seconds.1) - start) / unit,
            // Counted from 1, in the middle of the stretch.
            None => float(stretch.number) + f64::midpoint(float(stretch.lines), 1.0),
        }
    }

    /// How many lines the coarsest stretch holds.
    fn span(&self) -> u64 {
        self.ranks.iter().map(|rank| rank.span).max().unwrap_or(1)
    }

    fn name(&self, rank: &RankSeries) -> String {
        match (self.ranks.len(), rank.tags.is_empty()) {
            (1, _) if rank.span > 1 => format!("mean of {} lines", thousands(rank.span)),
            (1, _) => "decode line".to_owned(),
            (_, true) => "untagged".to_owned(),
            (_, false) => rank.tags.to_string(),
        }
    }

    /// The ranks, one over the other.
    fn layers(&self, of: fn(&LineStretch) -> Extent) -> Vec<Layer> {
        let mut layers = Vec::new();
        for (number, rank) in self.ranks.iter().enumerate() {
            let look = Look::Series(number);
            let has_any = rank.stretches.iter().any(|stretch| of(stretch).count > 0);
            if rank.span > 1 && has_any {
                let band = rank.stretches.iter().map(|stretch| {
                    let extent = of(stretch);
                    (self.x(stretch), extent.min, extent.max)
                });
                layers.push(Layer::new("", look, Shape::Band(band.collect())));
            }
        }
        let dots: usize = self.ranks.iter().map(|rank| rank.stretches.len()).sum();
        for (number, rank) in self.ranks.iter().enumerate() {
            let look = Look::Series(number);
            let points: Vec<(f64, f64)> = rank
                .stretches
                .iter()
                .map(|stretch| (self.x(stretch), of(stretch).mean().unwrap_or(f64::NAN)))
                .collect();
            if points.iter().all(|(_, y)| y.is_nan()) {
                continue;
            }
            if rank.span == 1 && dots <= MOST_DOTS {
                layers.push(Layer::new("", look, Shape::Dots(points.clone())));
            }
            layers.push(Layer::new(self.name(rank), look, Shape::Line(points)));
        }
        layers
    }

    fn figure(&self, id: String, title: &str, y: Axis, of: fn(&LineStretch) -> Extent) -> Figure {
        let extents = || self.ranks.iter().flat_map(|rank| &rank.stretches).map(of);
        let low = extents().map(|extent| extent.min).fold(f64::INFINITY, f64::min);
        let high = extents().map(|extent| extent.max).fold(f64::NEG_INFINITY, f64::max);
        Figure {
            id,
            title: title.to_owned(),
            description: format!("{} From {low} to {high}.", self.scope()),
            caption: self.caption(),
            x: self.axis.clone(),
            y,
            layers: self.layers(of),
            marks: Vec::new(),
        }
    }

    /// `73 decode lines of 1 rank.`
    fn scope(&self) -> String {
        let (lines, ranks) = (self.count, self.ranks.len());
        let of = if ranks == 1 { "1 rank".to_owned() } else { format!("{ranks} ranks") };
        format!("{} decode line{} of {of}.", thousands(lines), if lines == 1 { "" } else { "s" })
    }

    /// What is drawn of how many lines.
    fn caption(&self) -> String {
        let mut text = self.scope();
        let span = self.span();
        if span > 1 {
            let stretches: usize = self.ranks.iter().map(|rank| rank.stretches.len()).sum();
            text = format!(
                "{text} Downsampled: {} stretches of up to {} lines; the line is the mean of a stretch, the band runs from its \
                 smallest to its largest value, so no extreme is lost.",
                thousands(u64::try_from(stretches).unwrap_or(u64::MAX)),
                thousands(span)
            );
        } else {
            text.push_str(" Every line is drawn.");
        }
        if self.left_out > 0 {
            text = format!("{text} {} lines of further ranks are not drawn.", thousands(self.left_out));
        }
        text
    }

    /// Where a line stands on the axis: at the first stretch that reaches it.
    fn locate(&self, place: Place) -> Option<f64> {
        let all = || self.ranks.iter().flat_map(|rank| &rank.stretches);
        let reaching =
            all().filter(|stretch| stretch.places.1 >= place).min_by_key(|stretch| stretch.places.0);
        let found = reaching.or_else(|| all().max_by_key(|stretch| stretch.places.1))?;
        Some(self.x(found))
    }
}

/// Stretches of one printed second, evenly over that second: where the clock has no finer ticks they would hide each
/// other.
fn spread(rank: &mut RankSeries) {
    let is_whole =
        |stretch: &LineStretch| stretch.seconds.0.fract() <= 0.0 && stretch.seconds.1.fract() <= 0.0;
    if rank.span > 1 || !rank.is_timed || !rank.stretches.iter().all(is_whole) {
        return;
    }
    for group in
        rank.stretches.chunk_by_mut(|left, right| left.seconds.0.to_bits() == right.seconds.0.to_bits())
    {
        let all = float(u64::try_from(group.len()).unwrap_or(1));
        for (number, stretch) in (0_u32..).zip(group) {
            let later = f64::from(number) / all;
            stretch.seconds = (stretch.seconds.0 + later, stretch.seconds.1 + later);
        }
    }
}

fn of_accept_length(point: &PointReport, lines: &Lines, id: &str) -> Figure {
    let mut layers = Vec::new();
    if let Some(expected) = point.expected_line.filter(|expected| expected.high95 > expected.low95) {
        layers.push(Layer::new(
            "95 of 100 lines of the target",
            Look::Faint,
            Shape::Zone(expected.low95, expected.high95),
        ));
    }
    let target = point.target.as_ref().map(Target::accept_length);
    if let Some(target) = target {
        let margin = point.margin.tokens(target.get());
        layers.push(Layer::new(
            format!("margin of the mean, ±{}", decimal(margin)),
            Look::Margin,
            Shape::Zone(target.get() - margin, target.get() + margin),
        ));
    }
    layers.extend(lines.layers(|stretch| stretch.accept_len));
    if layers.iter().all(|layer| layer.shape.xs().is_empty()) {
        layers.clear();
    }
    if let Some(target) = target {
        layers.push(Layer::new(format!("target {target}"), Look::Target, Shape::Rule(target.get())));
    }
    let mut description = lines.scope();
    if let Some(measured) = point.accept_len {
        description = format!(
            "{description} Printed accept lengths from {:.2} to {:.2}, mean {}.",
            measured.min,
            measured.max,
            decimal(measured.mean)
        );
    }
    if let Some(target) = target {
        description = format!("{description} Target {target}.");
    }
    Figure {
        id: format!("{id}-accept"),
        title: "Accept length over time".to_owned(),
        description,
        caption: lines.caption(),
        x: lines.axis.clone(),
        y: Axis::of("tokens a verify step"),
        layers,
        marks: marks(point, lines, id),
    }
}

/// The findings that a line of this point shows.
fn marks(point: &PointReport, lines: &Lines, id: &str) -> Vec<Mark> {
    let findings = (1..).zip(&point.findings);
    let known = findings.filter_map(|(number, finding)| {
        let place = finding.evidence.filter(|place| point.files.contains(&place.file))?;
        Some(Mark {
            number,
            id: format!("{id}-m{number}"),
            href: format!("{id}-f{number}"),
            x: lines.locate(place)?,
            title: format!("{number}: {} {}", finding.severity, finding.code),
        })
    });
    known.collect()
}

/// A law that lines may follow, with its name.
struct Expected {
    name: String,
    values: LineValues,
    look: Look,
}

fn laws(point: &PointReport) -> Vec<Expected> {
    let interval = point.interval.steps;
    let mut laws = Vec::new();
    let mut add = |name: String, law: &AcceptanceLaw, look| {
        laws.push(Expected { name, values: LineValues::new(law, interval, 1), look });
    };
    let setting = point
        .target
        .as_ref()
        .and_then(|target| Setting::new(target.accept_length().get(), target.max_accept_length()).ok());
    if let Some(setting) = setting {
        let name = format!("expected: match-expected {:.2}", setting.accept_length());
        add(name, &AcceptanceLaw::match_expected(setting), Look::Law);
    }
    let proved = point.replay.as_ref().filter(|replay| replay.is_simulated());
    let best = point.mechanisms.as_ref().and_then(|mechanisms| mechanisms.best);
    if let Some(law) = proved.and_then(|replay| replay.law) {
        let is_target =
            setting.is_some_and(|setting| law.acceptance() == AcceptanceLaw::match_expected(setting));
        if !is_target {
            add(
                format!("found: {} {:.2}", law.method(), law.accept_length()),
                &law.acceptance(),
                Look::Chosen,
            );
        }
    } else if let (Some(setting), Some(Mechanism::Multinomial)) = (setting, best) {
        add("found: multinomial".to_owned(), &AcceptanceLaw::multinomial(setting), Look::Chosen);
    } else if let (Some(setting), Some(Mechanism::Rounded)) = (setting, best) {
        add("found: rounded".to_owned(), &AcceptanceLaw::rounded(setting), Look::Chosen);
    }
    laws
}

/// How often each value was printed, beside what the laws say.
fn histogram(point: &PointReport, series: &Series, id: &str) -> Figure {
    let lines: u64 = series.values.values().map(|count| count.steady + count.changing).sum();
    let laws = laws(point);
    let ends =
        laws.iter().filter_map(|law| law.values.range(lines, 0.99)).flat_map(|(low, high)| [low, high]);
    let all: Vec<u32> = series.values.keys().copied().chain(ends).collect();
    let (low, high) = (all.iter().min().copied().unwrap_or(0), all.iter().max().copied().unwrap_or(0));
    let group = ((high - low) / MOST_BARS).saturating_add(1);
    let width = f64::from(group) / 100.0;
    let middle = |hundredths: u32| {
        let first = hundredths / group * group;
        f64::from(first) / 100.0 + (width - 0.01) / 2.0
    };
    let mut bars: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for (value, count) in &series.values {
        let bar = bars.entry(value / group).or_default();
        bar.0 += count.steady;
        bar.1 += count.changing;
    }
    let place = |index: &u32| middle(index.saturating_mul(group));
    let steady: Vec<_> = bars
        .iter()
        .filter(|(_, (steady, _))| *steady > 0)
        .map(|(i, (steady, _))| (place(i), 0.0, float(*steady)))
        .collect();
    let changing: Vec<_> = bars
        .iter()
        .filter(|(_, (_, changing))| *changing > 0)
        .map(|(i, (steady, changing))| (place(i), float(*steady), float(steady + changing)))
        .collect();
    let mut layers = Vec::new();
    if !steady.is_empty() {
        layers.push(Layer::new("lines, batch unchanged", Look::Series(0), Shape::Bars(width, steady)));
    }
    if !changing.is_empty() {
        layers.push(Layer::new("lines, batch changed within", Look::Faint, Shape::Bars(width, changing)));
    }
    if lines > 0 {
        for law in &laws {
            let mut steps: BTreeMap<u32, f64> = BTreeMap::new();
            for (value, p) in law.values.iter().filter(|(value, _)| (low..=high).contains(value)) {
                *steps.entry(value / group).or_default() += p * float(lines);
            }
            let steps = steps.iter().map(|(index, count)| (place(index), *count)).collect();
            layers.push(Layer::new(law.name.clone(), law.look, Shape::Steps(width, steps)));
        }
    }
    let interval = point.interval.steps;
    let mut caption = format!("{} speculative lines. ", thousands(lines));
    if !laws.is_empty() {
        caption = format!(
            "{caption}The strokes are the exact distribution of a line of {interval} verify steps, for as many lines: with one draw a \
             step for the whole batch only multiples of 1/{interval} can be printed, and the gaps between them are that \
             lattice. A batch that changes within a line can print what lies between. "
        );
    }
    if group > 1 {
        caption = format!("{caption}Each bar holds {group} neighbouring values. ");
    }
    if series.other_values > 0 {
        caption =
            format!("{caption}{} lines of further values are not drawn. ", thousands(series.other_values));
    }
    let most = series.values.iter().max_by_key(|(_, count)| count.steady + count.changing);
    let description = most.map_or_else(String::new, |(value, count)| {
        format!(
            "{} printed values from {} to {}; the most frequent is {}, on {} lines.",
            series.values.len(),
            Hundredths::new(low),
            Hundredths::new(high),
            Hundredths::new(*value),
            count.steady + count.changing
        )
    });
    Figure {
        id: format!("{id}-values"),
        title: "Values that lines print".to_owned(),
        description,
        caption: caption.trim_end().to_owned(),
        x: Axis::of("printed accept len, tokens a verify step"),
        y: Axis::from_zero("decode lines"),
        layers,
        marks: Vec::new(),
    }
}
