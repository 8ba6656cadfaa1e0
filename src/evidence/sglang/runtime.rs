//! Files of the container runtime (CRI): each line is `time stream P|F text`, and a long line of the program comes in
//! parts: `P` parts, then an `F` part that ends it.

use crate::evidence::pattern::begins_like;

/// Longest text that parts are joined to; a part that would make it longer is passed over.
const MAX_JOINED: usize = 1 << 20;

/// Which of its two streams the program wrote to. Their parts are joined apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    Out,
    Err,
}

/// One line of such a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part<'a> {
    stream: Stream,
    /// The stream's next line goes on with this one.
    partial: bool,
    text: &'a [u8],
}

impl<'a> Part<'a> {
    /// Reads a line with or without its line break; `None` when it is not the runtime's.
    pub(super) fn read(line: &'a [u8]) -> Option<Self> {
        begins_like(line, b"0000-00-00T00:00:00")?;
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let mut words = line.splitn(4, |byte| *byte == b' ');
        let (_time, stream, flag) = (words.next()?, words.next()?, words.next()?);
        let stream = match stream {
            b"stdout" => Stream::Out,
            b"stderr" => Stream::Err,
            _ => return None,
        };
        let partial = match flag {
            b"P" => true,
            b"F" => false,
            _ => return None,
        };
        let text = words.next().unwrap_or(&[]);
        Some(Self { stream, partial, text })
    }
}

/// A line of the program that is whole, or will not become so.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Whole {
    pub(super) text: Vec<u8>,
    /// Physical line of its first part.
    pub(super) line: u64,
}

/// Parts that wait for the last one of their line.
#[derive(Debug, Default)]
pub(super) struct Joiner {
    waiting: [Option<Whole>; 2],
}

impl Joiner {
    /// Takes the part on physical line `line`; gives the program's line that it ends.
    pub(super) fn add(&mut self, part: Part<'_>, line: u64) -> Option<Whole> {
        let [out, err] = &mut self.waiting;
        let slot = match part.stream {
            Stream::Out => out,
            Stream::Err => err,
        };
        let whole = slot.get_or_insert_with(|| Whole { text: Vec::new(), line });
        if whole.text.len().saturating_add(part.text.len()) <= MAX_JOINED {
            whole.text.extend_from_slice(part.text);
        }
        if part.partial { None } else { slot.take() }
    }

    /// Gives up what waits, one line a call, the earliest first.
    pub(super) fn give_up(&mut self) -> Option<Whole> {
        self.waiting.sort_by_key(|whole| whole.as_ref().map_or(u64::MAX, |whole| whole.line));
        self.waiting.iter_mut().find_map(Option::take)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_runtime() {
        let part = Part::read(b"2026-06-01T10:00:02.0Z stdout P [x \n").unwrap();
        assert_eq!(part, Part { stream: Stream::Out, partial: true, text: b"[x " });
        assert_eq!(Part::read(b"2026-06-01T10:00:02.0Z stderr F\r\n").unwrap().text, b"");
        for line in
            [&b"[2026-06-01 10:00:02] stdout F x"[..], b"2026-06-01T10:00:02.0Z stdout X x", b"", b"1"]
        {
            assert_eq!(Part::read(line), None);
        }
    }

    #[test]
    fn streams_are_joined_apart() {
        let mut joiner = Joiner::default();
        let mut add = |text: &str, line| {
            let text = format!("2026-06-01T10:00:02.0Z {text}");
            joiner.add(Part::read(text.as_bytes()).unwrap(), line)
        };
        assert_eq!(add("stderr P a", 1), None);
        assert_eq!(add("stdout F x", 2), Some(Whole { text: b"x".to_vec(), line: 2 }));
        assert_eq!(add("stderr F b", 3), Some(Whole { text: b"ab".to_vec(), line: 1 }));
        assert_eq!(add("stdout P late", 4), None);
        assert_eq!(add("stderr P cut", 3), None);
        assert_eq!(joiner.give_up().unwrap().text, b"cut");
        assert_eq!(joiner.give_up().unwrap().text, b"late");
        assert_eq!(joiner.give_up(), None);
    }

    #[test]
    fn joined_text_is_bounded() {
        let mut joiner = Joiner::default();
        let line = [b"2026-06-01T10:00:02.0Z stdout P ", vec![b'x'; 100_000].as_slice()].concat();
        for number in 0..100 {
            joiner.add(Part::read(&line).unwrap(), number);
        }
        assert_eq!(joiner.give_up().unwrap().text.len(), 1_000_000);
    }
}
