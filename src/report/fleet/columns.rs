//! The columns of a fleet's table, with their types.

use crate::report::csv::COLUMNS;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum Kind {
    Text,
    /// A whole number that a signed word of 64 bits holds.
    Count,
    /// A whole number of 64 bits without a sign.
    Word,
    Number,
}

/// One column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::report) struct Column {
    pub(in crate::report) name: String,
    pub(in crate::report) kind: Kind,
}

/// Columns of real numbers; what is no text and not named here is a count.
const NUMBERS: [&str; 14] = [
    "target_accept_len",
    "margin_tokens",
    "confidence",
    "independent_steps",
    "rank_correlation",
    "accept_len_mean",
    "accept_len_weighted",
    "accept_len_min",
    "accept_len_max",
    "accept_len_ci_low",
    "accept_len_ci_high",
    "gen_throughput_median_tps",
    "gen_throughput_steady_mean_tps",
    "replay_log10_chance",
];

const TEXTS: [&str; 17] = [
    "point",
    "verdict",
    "reason",
    "engine",
    "target_source",
    "curve",
    "thinking",
    "steps_per_line_source",
    "speculative_algorithm",
    "mechanism",
    "mechanisms_rejected",
    "replay",
    "errors",
    "warnings",
    "notes",
    "injected",
    "files",
];

/// The row of the manifest, what could not be done, those of an audit's table, and one a label.
pub(in crate::report) fn columns(labels: &[String]) -> Vec<Column> {
    let own = [("row", Kind::Count), ("failure", Kind::Text)];
    let own = own.into_iter().map(|(name, kind)| Column { name: name.to_owned(), kind });
    let audit = COLUMNS.iter().map(|name| Column { name: (*name).to_owned(), kind: kind(name) });
    let labels = labels.iter().map(|label| Column { name: format!("label_{label}"), kind: Kind::Text });
    own.chain(audit).chain(labels).collect()
}

fn kind(name: &str) -> Kind {
    if name == "replay_seed" {
        Kind::Word
    } else if NUMBERS.contains(&name) {
        Kind::Number
    } else if TEXTS.contains(&name) {
        Kind::Text
    } else {
        Kind::Count
    }
}
