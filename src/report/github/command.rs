//! Workflow commands, escaped as the runner unescapes them (`@actions/core`, command.ts).

use std::fmt;
use std::io::{self, Write};

use crate::report::excerpt::printable;

/// What an annotation looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Error,
    Warning,
    Notice,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Notice => "notice",
        })
    }
}

/// One annotation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Annotation<'a> {
    pub(super) level: Level,
    pub(super) place: Option<(&'a str, u64)>,
    /// From 1; none where the whole line is meant.
    pub(super) column: Option<u64>,
    pub(super) title: &'a str,
    pub(super) message: &'a str,
}

impl Annotation<'_> {
    pub(super) fn write(self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "::{} ", self.level)?;
        if let Some((file, line)) = self.place {
            write!(out, "file={},line={line},", property(file))?;
            if let Some(column) = self.column {
                write!(out, "col={column},")?;
            }
        }
        writeln!(out, "title={}::{}", property(self.title), data(self.message))
    }
}

/// A message: one line, whatever stands in it.
pub(super) fn data(text: &str) -> String {
    // `printable` leaves no line break; a percent sign would begin an escape of the runner's.
    printable(text).replace('%', "%25")
}

/// The value of a property: colons and commas end one.
pub(super) fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(annotation: Annotation<'_>) -> String {
        let mut out = Vec::new();
        annotation.write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn an_annotation_is_one_line_that_the_runner_reads_back() {
        let annotation = Annotation {
            level: Level::Error,
            place: Some(("a,b:c.log", 7)),
            column: Some(3),
            title: "100%, sure: yes",
            message: "50 %: one, two\n::error::forged\r\x1b[0m",
        };
        assert_eq!(
            written(annotation),
            "::error file=a%2Cb%3Ac.log,line=7,col=3,title=100%25%2C sure%3A yes::50 %25: one, \
             two\\n::error::forged\\r\\u{1b}[0m\n"
        );
        let bare = Annotation { level: Level::Notice, place: None, column: None, title: "t", message: "m" };
        assert_eq!(written(bare), "::notice title=t::m\n");
    }
}
