//! `--format text|json`, and `--json` for short.

use clap::{Args, ValueEnum};

/// How a result is printed.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct FormatFlags {
    /// How to print the result
    #[arg(long, value_name = "FORMAT", default_value = "text", overrides_with = "json")]
    format: TextFormat,

    /// The same as --format json
    #[arg(long, overrides_with = "format")]
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
