//! The flags that raise the limits on hostile input, shared by every command that reads logs.

use clap::Args;

use super::number::whole;
use crate::evidence::Limits;

/// Limits on what a file may cost; each error that comes from one names its flag.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Limits on hostile input (per file)")]
#[expect(clippy::struct_field_names, reason = "the flags are called that")]
pub(crate) struct LimitFlags {
    /// Read at most SIZE of a line; the rest of it is passed over and the line counted [default: 4MiB]
    #[arg(long, value_name = "SIZE", value_parser = size, hide_short_help = true)]
    max_line: Option<u64>,

    /// Refuse a file that decompresses to more than SIZE [default: 64GiB]
    #[arg(long, value_name = "SIZE", value_parser = size, hide_short_help = true)]
    max_decompressed: Option<u64>,

    /// Refuse a file that decompresses to more than N times its size and 64 MiB [default: 1000]
    #[arg(long, value_name = "N", value_parser = whole::<u64>(..), hide_short_help = true)]
    max_ratio: Option<u64>,

    /// Refuse zstd and xz streams that ask for more than SIZE of memory [default: 64MiB]
    #[arg(long, value_name = "SIZE", value_parser = size, hide_short_help = true)]
    max_window: Option<u64>,

    /// Read at most N files of a directory, or entries of an archive [default: 100000]
    #[arg(long, value_name = "N", value_parser = whole::<u64>(..), hide_short_help = true)]
    max_entries: Option<u64>,

    /// Read through at most N layers of archives and compression; .tar.gz is two [default: 5]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(..=u64::from(Limits::MOST_LAYERS)), hide_short_help = true)]
    max_layers: Option<u32>,
}

impl From<&LimitFlags> for Limits {
    fn from(flags: &LimitFlags) -> Self {
        let limits = Self::default();
        Self::default()
            .with_line(flags.max_line.unwrap_or(limits.line))
            .with_decompressed(flags.max_decompressed.unwrap_or(limits.decompressed))
            .with_ratio(flags.max_ratio.unwrap_or(limits.ratio))
            .with_window(flags.max_window.unwrap_or(limits.window))
            .with_entries(flags.max_entries.unwrap_or(limits.entries))
            .with_layers(flags.max_layers.unwrap_or(limits.layers))
    }
}

/// Reads a number of bytes: `4096`, `64KiB`, `4M`, `1GB`. A bare letter counts in 1024s, as `head -c` and `xz` do.
fn size(text: &str) -> Result<u64, String> {
    let digits = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit.trim_start().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => return Err(format!("unknown unit {unit:?}; expected KiB, MiB, GiB, TiB or kB, MB, GB, TB")),
    };
    let number: u64 = number.parse().map_err(|_| "expected a number of bytes such as 64MiB".to_owned())?;
    number.checked_mul(factor).ok_or_else(|| "more bytes than can be counted".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        limits: LimitFlags,
    }

    fn limits(args: &[&str]) -> Result<Limits, clap::Error> {
        let command = Command::try_parse_from([&["x"], args].concat())?;
        Ok(Limits::from(&command.limits))
    }

    #[test]
    fn sizes() {
        let read: Vec<_> =
            ["4096", "0", "64KiB", "4M", "1 GB", "2tib"].map(|text| size(text).unwrap()).into();
        assert_eq!(read, [4096, 0, 64 << 10, 4 << 20, 1_000_000_000, 2 << 40]);
        for text in ["", "MiB", "-1", "1.5MiB", "1 parsec", "99999999999GiB"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn flags_change_the_limit_they_name() {
        assert_eq!(limits(&[]).unwrap(), Limits::default());
        let changed = limits(&["--max-line", "8MiB", "--max-ratio=7", "--max-layers", "9"]).unwrap();
        assert_eq!(changed, Limits::default().with_line(8 << 20).with_ratio(7).with_layers(9));
        let changed =
            limits(&["--max-window", "1k", "--max-entries", "3", "--max-decompressed", "1T"]).unwrap();
        assert_eq!(changed, Limits::default().with_window(1024).with_entries(3).with_decompressed(1 << 40));
        assert!(limits(&["--max-layers", "51"]).is_err());
    }

    #[test]
    fn help_names_the_defaults() {
        let help = <Command as clap::CommandFactory>::command().render_long_help().to_string();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        let Limits { line, decompressed, ratio, window, entries, layers, .. } = Limits::default();
        let defaults = [
            format!("{}MiB", line >> 20),
            format!("{}GiB", decompressed >> 30),
            ratio.to_string(),
            format!("{}MiB", window >> 20),
            entries.to_string(),
            layers.to_string(),
        ];
        for default in defaults {
            assert!(help.contains(&format!("[default: {default}]")), "{default}: {help}");
        }
    }
}
