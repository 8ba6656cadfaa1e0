//! `--format text|json`, and `--json` for short.

use clap::{Args, ValueEnum};

/// Heading of the flags that say how a result is printed and where it goes. Each of them names it: the heading of a group
/// of flags before them would hold for them else.
pub(crate) const RESULT: &str = "The result";

/// How a result is printed.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct FormatFlags {
    /// How to print the result
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = RESULT)]
    format: TextFormat,

    /// The same as --format json
    #[arg(long, help_heading = RESULT)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TextFormat {
    /// For people.
    Text,
    /// One JSON document.
    Json,
}

impl FormatFlags {
    /// Whether the result is a JSON document.
    pub(crate) fn is_json(self) -> bool {
        self.json || self.format == TextFormat::Json
    }
}

/// How the report of an audit is printed.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct ReportFlags {
    /// How to print the result
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = RESULT)]
    format: ReportFormat,

    /// The same as --format json
    #[arg(long, help_heading = RESULT)]
    json: bool,
}

/// `--format` of an audit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For a terminal: one point in full, several as a table
    #[default]
    Text,
    /// One document, see docs/schema/audit.schema.json
    Json,
    /// To paste into a sign-off
    Markdown,
    /// A page to look at, one file: plots, a table that sorts, the sign-off text
    Html,
    /// A table, one line a point; texts that a spreadsheet would run as a formula get an apostrophe in front
    Csv,
    /// The table of csv with typed columns, for DuckDB, Polars and Spark; to a file
    Parquet,
    /// Test cases for a CI system: inconsistent fails, what cannot be decided is an error
    Junit,
    /// Annotations of a GitHub Actions workflow
    Github,
}

impl ReportFlags {
    /// The format asked for.
    pub(crate) fn format(self) -> ReportFormat {
        if self.json { ReportFormat::Json } else { self.format }
    }

    /// Whether the result is a JSON document.
    pub(crate) fn is_json(self) -> bool {
        self.format() == ReportFormat::Json
    }

    /// Refuses a format for parts: they have one of their own.
    pub(crate) fn check_partial(self) -> anyhow::Result<()> {
        let is_free = matches!(self.format(), ReportFormat::Text | ReportFormat::Json);
        anyhow::ensure!(
            is_free,
            "parts have one form, a JSON document: --partial goes with no other --format"
        );
        Ok(())
    }
}
