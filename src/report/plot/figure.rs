//! What a plot shows, whatever draws it: page, file or terminal.

/// A plot with its words.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Unique on its page; letters, digits and dashes.
    pub id: String,
    /// What it shows, in a few words.
    pub title: String,
    /// What a reader who does not see it should know.
    pub description: String,
    /// What is said below it.
    pub caption: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// From the back to the front.
    pub layers: Vec<Layer>,
    /// Places that something is said about.
    pub marks: Vec<Mark>,
}

/// One axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it counts, with its unit.
    pub label: String,
    /// Whether it begins at 0 at the latest.
    pub with_zero: bool,
    /// Whether nothing stands between whole numbers.
    pub is_whole: bool,
}

impl Axis {
    /// An axis as long as its values need.
    #[must_use]
    pub fn of(label: impl Into<String>) -> Self {
        Self { label: label.into(), with_zero: false, is_whole: false }
    }

    /// An axis that begins at 0.
    #[must_use]
    pub fn from_zero(label: impl Into<String>) -> Self {
        Self { label: label.into(), with_zero: true, is_whole: false }
    }

    /// An axis of whole numbers, as long as its values need.
    #[must_use]
    pub fn whole(label: impl Into<String>) -> Self {
        Self { label: label.into(), with_zero: false, is_whole: true }
    }
}

/// Things of one look.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Name in the legend; empty: none.
    pub name: String,
    /// How it looks.
    pub look: Look,
    /// What is drawn.
    pub shape: Shape,
}

/// How a layer looks. Colours follow the reader's scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// The series with this number: a colour and a dash of its own, repeated after eight.
    Series(usize),
    /// What should be.
    Target,
    /// How far off is near enough.
    Margin,
    /// What a law says.
    Law,
    /// What counts less.
    Faint,
    /// What stands out.
    Chosen,
}

/// What a layer draws. Points that are not finite are gaps.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Points joined in their order.
    Line(Vec<(f64, f64)>),
    /// Points each for itself.
    Dots(Vec<(f64, f64)>),
    /// From a lowest to a highest value along x: (x, low, high).
    Band(Vec<(f64, f64, f64)>),
    /// A zone between two values over the whole width.
    Zone(f64, f64),
    /// One value over the whole width.
    Rule(f64),
    /// Bars of one width: (x, from, to).
    Bars(f64, Vec<(f64, f64, f64)>),
    /// Short flat strokes of one width at (x, y).
    Steps(f64, Vec<(f64, f64)>),
}

/// A numbered place on the horizontal axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Its number, which the text beside the plot repeats.
    pub number: usize,
    /// Unique on its page.
    pub id: String,
    /// The element that speaks of it, where there is a page.
    pub href: String,
    /// Where.
    pub x: f64,
    /// What it is.
    pub title: String,
}

impl Layer {
    /// A layer with a name in the legend.
    #[must_use]
    pub fn new(name: impl Into<String>, look: Look, shape: Shape) -> Self {
        Self { name: name.into(), look, shape }
    }
}

impl Shape {
    /// All x that are drawn.
    pub(super) fn xs(&self) -> Vec<f64> {
        match self {
            Self::Line(points) | Self::Dots(points) => points.iter().map(|(x, _)| *x).collect(),
            Self::Band(points) => points.iter().map(|(x, ..)| *x).collect(),
            Self::Zone(..) | Self::Rule(_) => Vec::new(),
            Self::Bars(width, bars) => sides(*width, bars.iter().map(|(x, ..)| *x)),
            Self::Steps(width, steps) => sides(*width, steps.iter().map(|(x, _)| *x)),
        }
    }

    /// All y that are drawn.
    pub(super) fn ys(&self) -> Vec<f64> {
        match self {
            Self::Line(points) | Self::Dots(points) | Self::Steps(_, points) => {
                points.iter().map(|(_, y)| *y).collect()
            }
            Self::Band(points) | Self::Bars(_, points) => {
                points.iter().flat_map(|(_, low, high)| [*low, *high]).collect()
            }
            Self::Zone(low, high) => vec![*low, *high],
            Self::Rule(y) => vec![*y],
        }
    }
}

fn sides(width: f64, xs: impl Iterator<Item = f64>) -> Vec<f64> {
    xs.flat_map(|x| [x - width / 2.0, x + width / 2.0]).collect()
}

impl Figure {
    /// Whether what is drawn has more than one place along x. Where it has one alone, the number says all.
    #[must_use]
    pub fn has_course(&self) -> bool {
        let mut xs = self.layers.iter().flat_map(|layer| layer.shape.xs()).filter(|x| x.is_finite());
        xs.next().is_some_and(|first| xs.any(|x| (x - first).abs() > 0.0))
    }

    /// Whether anything is drawn that has a place.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.layers.iter().all(|layer| layer.shape.xs().is_empty())
    }
}
