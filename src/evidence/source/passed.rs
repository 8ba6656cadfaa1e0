//! What was seen and, for a reason, not read: no error, and not lost silently either.

use std::fmt;

use super::name::Bytes;

/// Something that was not read, and why. It does not stop the reading and is no error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassedOver {
    /// The file, directory or entry, as it is named to the user.
    pub name: String,
    /// Why it was not read.
    pub why: Why,
}

impl fmt::Display for PassedOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.why)
    }
}

/// Why something was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Why {
    /// A link to a directory: following it could run in a circle.
    LinkToDirectory,
    /// A link to a file that the same walk reads under its own name.
    LinkInside,
    /// A link that leads nowhere, or in a circle.
    LinkToNothing,
    /// A pipe, socket or device that was not itself named on the command line.
    Special,
    /// A link in a tar archive. A zip archive says only at its end which entries are links; there the name of the
    /// target is read as a text, which holds no records.
    ArchivedLink,
    /// A pipe or device in an archive.
    ArchivedSpecial,
    /// A sparse file in an archive.
    Sparse,
    /// A file whose first bytes say that it is no text.
    NotText(&'static str),
    /// A compressed file that we cannot read, and that was not itself named on the command line.
    Unsupported(&'static str),
    /// The rest of lines that are longer than a line may be; their beginning was read.
    LongLines {
        /// How many lines.
        lines: u64,
        /// How long a line may be, in bytes.
        limit: u64,
    },
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LinkToDirectory => f.write_str("a link to a directory"),
            Self::LinkInside => f.write_str("a link to a file that is read under its own name"),
            Self::LinkToNothing => f.write_str("a link that leads nowhere"),
            Self::Special => f.write_str("a pipe, socket or device"),
            Self::ArchivedLink => f.write_str("a link in an archive"),
            Self::ArchivedSpecial => f.write_str("a pipe or device in an archive"),
            Self::Sparse => f.write_str("a sparse file in an archive"),
            Self::NotText(kind) => write!(f, "no text ({kind})"),
            Self::Unsupported(kind) => write!(f, "{kind}, which is not read"),
            Self::LongLines { lines, limit } => write!(
                f,
                "the rest of {lines} line{} longer than {} (--max-line raises the limit)",
                if *lines == 1 { "" } else { "s" },
                Bytes(*limit)
            ),
        }
    }
}
