//! What a search for a place found.

/// Decimal orders by which an offset must be borne out better than any at which a line fails.
pub(super) const MARGIN: f64 = 3.0;

/// Where lines go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::replay) struct Found {
    /// The first line that goes on there: those before it stand at neither offset.
    pub(in crate::replay) line: usize,
    pub(in crate::replay) draws: i64,
    /// Offsets tried.
    pub(in crate::replay) tried: u64,
    /// Other offsets at which all lines fit that were looked at, the found one being 0.
    pub(in crate::replay) rivals: Vec<i64>,
    /// Offsets at which some line fails are borne out nearly as well: a line that is missing would explain that.
    pub(in crate::replay) is_doubtful: bool,
    /// The lines that follow bear the place out, one that fails left aside.
    pub(in crate::replay) is_certain: bool,
}

impl Found {
    /// All lines go on at this offset, and nothing speaks for another one.
    pub(super) fn alone(draws: i64, tried: u64) -> Self {
        Self { line: 0, draws, tried, rivals: Vec::new(), is_doubtful: false, is_certain: false }
    }

    /// The lines from number `line` on go on at this offset, one of those that were laid; `others` is how well all those
    /// are borne out that did not come into question.
    pub(super) fn among(
        fits: &[(i64, Fit)],
        (draws, fit): (i64, Fit),
        line: usize,
        tried: u64,
        others: f64,
    ) -> Self {
        let (rivals, failing): (Vec<_>, Vec<_>) = fits
            .iter()
            .filter(|(other, _)| *other != draws)
            .partition(|(_, other)| other.length >= fit.length);
        let others = failing.iter().map(|(_, fit)| fit.chance).fold(others, f64::min);
        Self {
            line,
            draws,
            tried,
            rivals: rivals.iter().map(|(other, _)| other - draws).collect(),
            is_doubtful: others < fit.chance + MARGIN,
            is_certain: false,
        }
    }
}

/// How lines fit from a draw on, the first of which has no known predecessor.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fit {
    /// Lines before the first that fails.
    pub(super) length: usize,
    pub(super) exact: u64,
    /// Decimal logarithm of the chance of so many exact ones, of as many lines as bear it out best.
    pub(super) chance: f64,
}
