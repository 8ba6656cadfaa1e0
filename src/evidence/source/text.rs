//! Whole lines of any text, for those who look for more than records.

use std::io::{self, BufReader, Read};
use std::sync::Arc;

use crate::evidence::Place;
use crate::evidence::sglang::{docker_line, plain, strip_colours};

use super::budget::{Budget, Raw};
use super::failure::{Failure, ReadError};
use super::log::LogFile;
use super::passed::PassedOver;
use super::stream::Content;
use super::unpack::Visitor;

/// Longest line that is handed on, in bytes; the rest of a longer one is passed over. A `server_args` has some 20 KiB.
const LONGEST: usize = 1 << 20;

/// Takes the lines of texts while they are read.
pub trait TextSink {
    /// The text with index `file` begins: its name, and the input that led to it. Lines come only if the answer is yes.
    fn begin(&mut self, file: u32, name: &str, input: &str) -> bool;

    /// The next line, without its line break, colours, or the JSON that Docker wraps around it.
    fn line(&mut self, place: Place, text: &[u8]);
}

/// Hands the lines of every text to one sink.
pub(super) struct Texts<'a> {
    pub(super) files: &'a mut Vec<LogFile>,
    pub(super) passed_over: &'a mut Vec<PassedOver>,
    pub(super) input: Arc<str>,
    pub(super) errors: &'a mut Vec<ReadError>,
    pub(super) sink: &'a mut dyn TextSink,
}

impl Visitor for Texts<'_> {
    fn log(&mut self, name: String, content: Content<'_>, budget: &Budget<'_>) -> Option<Failure> {
        let file = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        let is_wanted = self.sink.begin(file, &name, &self.input);
        let read = if is_wanted {
            match content {
                Content::Plain(plain) => lines(&mut Raw::new(plain, budget), file, self.sink),
                Content::Stream(stream) => lines(stream, file, self.sink),
            }
        } else {
            Ok(())
        };
        self.files.push(LogFile { name: name.clone(), input: Arc::clone(&self.input), has_records: false });
        let failure = read.err().map(|error| Failure::of_system(&error))?;
        self.errors.push(ReadError { name, failure: failure.clone(), bytes: 0 });
        Some(failure)
    }

    fn failed(&mut self, error: ReadError) {
        self.errors.push(error);
    }

    fn passed_over(&mut self, passed: PassedOver) {
        self.passed_over.push(passed);
    }
}

fn lines(source: &mut dyn Read, file: u32, sink: &mut dyn TextSink) -> io::Result<()> {
    let mut source = BufReader::with_capacity(1 << 16, source);
    let (mut line, mut scratch, mut wrapped) = (Vec::new(), Vec::new(), Vec::new());
    let mut number = 0;
    while read_line(&mut source, &mut line)? {
        number += 1;
        let place = Place { file, line: number };
        if let Some(text) = plain(&line) {
            sink.line(place, text);
            continue;
        }
        wrapped.clear();
        let text = if docker_line(&line, &mut wrapped) { &wrapped } else { &line };
        scratch.clear();
        strip_colours(text, &mut scratch);
        sink.line(place, scratch.trim_ascii_end());
    }
    Ok(())
}

/// The next line, cut at [`LONGEST`]; `false` at the end.
fn read_line(source: &mut impl io::BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let mut any = false;
    loop {
        let room = match source.fill_buf() {
            Ok(room) => room,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if room.is_empty() {
            return Ok(any);
        }
        any = true;
        let end = memchr::memchr(b'\n', room);
        let piece = room.get(..end.unwrap_or(room.len())).unwrap_or(room);
        let free = LONGEST.saturating_sub(line.len()).min(piece.len());
        line.extend_from_slice(piece.get(..free).unwrap_or(piece));
        let used = piece.len() + usize::from(end.is_some());
        source.consume(used);
        if end.is_some() {
            return Ok(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Kept(Vec<(u64, String)>);

    impl TextSink for Kept {
        fn begin(&mut self, _file: u32, _name: &str, _input: &str) -> bool {
            true
        }

        fn line(&mut self, place: Place, text: &[u8]) {
            self.0.push((place.line, String::from_utf8_lossy(text).into_owned()));
        }
    }

    #[test]
    fn lines_come_without_their_wrappers() {
        let text = b"plain\n\x1b[1mcolour\x1b[0m\r\n{\"log\":\"in \\\"docker\\\"\\n\",\"stream\":\"stderr\"}\n\nlast";
        let mut kept = Kept(Vec::new());
        lines(&mut &text[..], 0, &mut kept).unwrap();
        let seen: Vec<(u64, &str)> = kept.0.iter().map(|(line, text)| (*line, text.as_str())).collect();
        assert_eq!(seen, [(1, "plain"), (2, "colour"), (3, "in \"docker\""), (4, ""), (5, "last")]);
    }

    #[test]
    fn a_long_line_is_cut_and_the_next_one_is_whole() {
        let text = [vec![b'x'; 3 * LONGEST], b"\nnext".to_vec()].concat();
        let mut kept = Kept(Vec::new());
        lines(&mut text.as_slice(), 0, &mut kept).unwrap();
        assert_eq!(kept.0[0].1.len(), LONGEST);
        assert_eq!(kept.0[1], (2, "next".to_owned()));
    }
}
