//! From bytes that come piece by piece to records: a line counts when its end is there.

use crate::evidence::{Place, Record, Scanner};

/// One log, as far as it has been read.
#[derive(Debug)]
pub(super) struct Lines {
    file: u32,
    scanner: Scanner,
    /// A line whose end has not come.
    held: Vec<u8>,
    /// Whether the line at hand was read as far as a line may be long; its rest is passed over.
    passing: bool,
    longest: usize,
}

impl Lines {
    pub(super) fn new(file: u32, longest: usize) -> Self {
        Self { file, scanner: Scanner::new(file), held: Vec::new(), passing: false, longest }
    }

    /// Takes the next bytes.
    pub(super) fn add(&mut self, bytes: &[u8], sink: &mut impl FnMut(Place, &Record<'_>)) {
        let mut rest = bytes;
        if self.passing || !self.held.is_empty() {
            let end = memchr::memchr(b'\n', rest).map(|at| at + 1);
            let (piece, behind) = rest.split_at_checked(end.unwrap_or(rest.len())).unwrap_or((rest, &[]));
            self.piece(piece, sink);
            if end.is_none() {
                return;
            }
            rest = behind;
        }
        let end = memchr::memrchr(b'\n', rest).map_or(0, |at| at + 1);
        let (whole, begun) = rest.split_at_checked(end).unwrap_or((rest, &[]));
        if !whole.is_empty() {
            self.scanner.lines(whole, sink);
        }
        self.piece(begun, sink);
    }

    /// The next part of the line at hand, its end perhaps.
    fn piece(&mut self, piece: &[u8], sink: &mut impl FnMut(Place, &Record<'_>)) {
        let is_end = piece.ends_with(b"\n");
        if !self.passing {
            self.held.extend_from_slice(piece);
            if self.held.len() > self.longest && !is_end {
                self.scanner.part_of_line(self.held.get(..self.longest).unwrap_or(&self.held), sink);
                self.held = Vec::new();
                self.passing = true;
            }
        }
        if is_end {
            // Of a line that was passed over only its end counts.
            self.scanner.lines(if self.passing { b"\n" } else { &self.held }, sink);
            self.held.clear();
            self.passing = false;
        }
    }

    /// No more bytes come: what stands without a line break is the last line.
    pub(super) fn finish(&mut self, sink: &mut impl FnMut(Place, &Record<'_>)) {
        if !self.held.is_empty() {
            self.scanner.lines(&self.held, sink);
        }
        self.restart(sink);
    }

    /// The log begins anew; a line whose end did not come is lost.
    pub(super) fn restart(&mut self, sink: &mut impl FnMut(Place, &Record<'_>)) {
        self.scanner.finish(sink);
        *self = Self::new(self.file, self.longest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "[2026-10-12 01:02:03 TP0] Decode batch, #running-req: 16, #token: 793, token usage: 0.05, \
        accept len: 3.52, accept rate: 0.50, cuda graph: True, gen throughput (token/s): 585.98, #queue-req: 0\n";

    /// Numbers of the lines with a decode record, and how many records were skipped.
    fn read(pieces: &[&[u8]], longest: usize, finish: bool) -> (Vec<u64>, usize) {
        let (mut found, mut skipped) = (Vec::new(), 0);
        let mut sink = |place: Place, record: &Record<'_>| match record {
            Record::Decode(_) => found.push(place.line),
            _ => skipped += 1,
        };
        let mut lines = Lines::new(0, longest);
        for piece in pieces {
            lines.add(piece, &mut sink);
        }
        if finish {
            lines.finish(&mut sink);
        }
        (found, skipped)
    }

    #[test]
    fn every_cut_gives_the_same_records() {
        let text = format!("start\n{LINE}\n\nother\n{LINE}{LINE}end");
        for cut in 0..=text.len() {
            let (one, two) = text.as_bytes().split_at(cut);
            assert_eq!(read(&[one, two], 1 << 20, false), (vec![2, 6, 7], 0), "{cut}");
        }
        let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(read(&bytes, 1 << 20, true), (vec![2, 6, 7], 0));
    }

    #[test]
    fn half_a_line_waits_for_its_end() {
        // "accept len: 3.5" would be a value too.
        let (half, _) = LINE.as_bytes().split_at(LINE.find("3.52").unwrap() + 3);
        assert_eq!(read(&[LINE.as_bytes(), half], 1 << 20, false), (vec![1], 0));
        let without_end = LINE.trim_end().as_bytes();
        assert_eq!(read(&[without_end], 1 << 20, false), (vec![], 0));
        assert_eq!(read(&[without_end], 1 << 20, true), (vec![1], 0));
    }

    #[test]
    fn lines_beyond_the_limit_are_counted_and_not_held() {
        let long = vec![b'x'; 10_000];
        let pieces: Vec<&[u8]> =
            [&long[..]; 50].into_iter().chain([&b"tail\n"[..], LINE.as_bytes(), &long[..100]]).collect();
        let mut lines = Lines::new(0, 4096);
        let mut found = Vec::new();
        for piece in pieces {
            lines.add(piece, &mut |place: Place, _: &Record<'_>| found.push(place.line));
            assert!(lines.held.len() <= 4096);
        }
        assert_eq!(found, [2]);
    }
}
