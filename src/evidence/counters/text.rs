//! A file of Prometheus text, line by line.

use std::io::{self, BufRead, Read};

use super::exposition::{Exposed, LineFault, parse_line};
use super::snapshot::Snapshot;

/// What a text came to.
#[derive(Debug, Default)]
pub struct TextRead {
    /// Its series.
    pub snapshot: Snapshot,
    /// Lines that could not be read: the first, and how many.
    pub fault: Option<(u64, LineFault)>,
    /// Lines that could not be read.
    pub faults: u64,
    /// Whether the text ends inside a line: then nobody knows what is missing.
    pub is_cut: bool,
    /// Lines.
    pub lines: u64,
}

/// Reads a text to its end. Scrapes that were appended to each other are told apart by the comment that the first one
/// begins with.
pub fn read_text(source: &mut dyn BufRead, longest: u64) -> io::Result<TextRead> {
    let mut read = TextRead::default();
    let mut line = Vec::new();
    let mut first_described: Option<(String, bool)> = None;
    let mut scrape = 0_i64;
    loop {
        line.clear();
        let len = Read::take(&mut *source, longest).read_until(b'\n', &mut line)?;
        if len == 0 {
            return Ok(read);
        }
        read.lines += 1;
        let is_whole = line.ends_with(b"\n");
        if !is_whole {
            // The rest of a line that is too long, or the end of the text.
            let is_end = source.fill_buf()?.is_empty();
            if !is_end {
                pass_line(source)?;
                read.fault(LineFault::Rest);
                continue;
            }
            read.is_cut = !is_blank_or_end(&line);
        }
        let Ok(text) = std::str::from_utf8(&line) else {
            read.fault(LineFault::Name);
            continue;
        };
        match parse_line(text.trim_end_matches('\n')) {
            Ok(Exposed::Nothing) => {}
            Ok(Exposed::Described(name)) => match &mut first_described {
                None => first_described = Some((name.to_owned(), false)),
                Some((first, has_samples)) if first == name && *has_samples => {
                    scrape += 1;
                    *has_samples = false;
                }
                Some(_) => {}
            },
            Ok(Exposed::Sample(sample)) => {
                if let Some((_, has_samples)) = &mut first_described {
                    *has_samples = true;
                }
                // The last number of a cut text may lack digits.
                if !read.is_cut {
                    read.snapshot.add("", sample.name, sample.labels, Some(scrape), sample.value, false);
                }
            }
            Err(fault) => read.fault(fault),
        }
    }
}

impl TextRead {
    fn fault(&mut self, fault: LineFault) {
        self.faults += 1;
        self.fault.get_or_insert((self.lines, fault));
    }
}

/// `# EOF` may stand without a line end, and so may nothing.
fn is_blank_or_end(line: &[u8]) -> bool {
    line.trim_ascii().is_empty() || line.trim_ascii() == b"# EOF"
}

/// Passes over the rest of a line.
fn pass_line(source: &mut dyn BufRead) -> io::Result<()> {
    loop {
        let held = source.fill_buf()?;
        if held.is_empty() {
            return Ok(());
        }
        let end = memchr::memchr(b'\n', held);
        let len = held.len();
        source.consume(end.map_or(len, |at| at + 1));
        if end.is_some() {
            return Ok(());
        }
    }
}
