//! A curve as the text of a file.

use std::fmt;

use super::{Cells, Curve, Thinking};

/// The current form: one model key, modes, `K: AL` with two decimals; `unstated` cells stand below the model key
/// itself. Comments are not part of it, and a cell without a usable value is written as an empty one.
///
/// ```
/// use accsim::golden::parse_curve;
///
/// let curve = parse_curve("demo_mtp", b"demo: [{1: 1.9}, {2: 2.6}]\n").curve.unwrap();
/// assert_eq!(curve.to_string(), "demo:\n  1: 1.90\n  2: 2.60\n");
/// ```
impl fmt::Display for Curve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}:", Key(&self.model))?;
        for (mode, cells) in &self.modes {
            if *mode == Thinking::Unstated {
                write_cells(f, "  ", cells)?;
            } else {
                writeln!(f, "  {mode}:")?;
                write_cells(f, "    ", cells)?;
            }
        }
        Ok(())
    }
}

fn write_cells(f: &mut fmt::Formatter<'_>, indent: &str, cells: &Cells) -> fmt::Result {
    for (draft_length, cell) in cells {
        match cell.accept_length() {
            Some(value) => writeln!(f, "{indent}{draft_length}: {value}")?,
            None => writeln!(f, "{indent}{draft_length}:")?,
        }
    }
    Ok(())
}

/// A mapping key, quoted unless every reader takes it as text as it stands.
struct Key<'a>(&'a str);

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const WORDS: [&str; 9] = ["true", "false", "yes", "no", "on", "off", "y", "n", "null"];
        let name = self.0;
        let plain = name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'/'));
        if plain && !WORDS.contains(&name.to_ascii_lowercase().as_str()) {
            return f.write_str(name);
        }
        f.write_str("\"")?;
        for character in name.chars() {
            match character {
                '"' | '\\' => write!(f, "\\{character}")?,
                character if character.is_control() => write!(f, "\\u{:04x}", u32::from(character))?,
                character => write!(f, "{character}")?,
            }
        }
        f.write_str("\"")
    }
}
