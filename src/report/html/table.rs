//! Tables that sort.

/// A table with a line under each name.
pub(super) struct Table {
    pub(super) caption: String,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Vec<Cell>>,
}

/// The head of a column.
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) is_number: bool,
}

/// One cell.
#[derive(Default)]
pub(super) struct Cell {
    pub(super) text: String,
    /// What it sorts by, where that is a number.
    pub(super) value: Option<f64>,
    pub(super) is_number: bool,
    /// An element of the page.
    pub(super) href: Option<String>,
    /// The class of a badge.
    pub(super) badge: Option<&'static str>,
}

/// What is unknown.
const NONE: &str = "–";

impl Table {
    /// A table without rows; a name that begins with `#` heads numbers.
    pub(super) fn new(caption: impl Into<String>, columns: &[&'static str]) -> Self {
        let column = |name: &&'static str| match name.strip_prefix('#') {
            Some(name) => Column { name, is_number: true },
            None => Column { name, is_number: false },
        };
        Self { caption: caption.into(), columns: columns.iter().map(column).collect(), rows: Vec::new() }
    }
}

/// Longest text that is kept in one line on a screen: a table of tall rows is hard to follow.
const LONGEST_LINE: usize = 40;

impl Cell {
    /// Whether a few words stand here.
    pub(super) fn is_line(&self) -> bool {
        self.href.is_none() && self.text.chars().count() <= LONGEST_LINE
    }

    pub(super) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A number with so many decimals, thousands apart.
    pub(super) fn number(value: Option<f64>, decimals: usize) -> Self {
        let value = value.filter(|value| value.is_finite());
        let Some(value) = value else {
            return Self { text: NONE.to_owned(), is_number: true, ..Self::default() };
        };
        let text = format!("{value:.decimals$}");
        let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
        let grouped = whole.parse().map_or_else(|_| whole.to_owned(), crate::report::audit::thousands);
        Self::shown(format!("{grouped}{rest}"), value)
    }

    pub(super) fn count(value: u64) -> Self {
        Self::number(Some(crate::law::float(value)), 0)
    }

    /// A number in words of its own.
    pub(super) fn shown(text: String, value: f64) -> Self {
        Self { text, value: Some(value), is_number: true, ..Self::default() }
    }
}
