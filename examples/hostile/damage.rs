//! What is done to a file before it is read.

use rand::RngExt as _;
use rand::rngs::ChaCha8Rng;

/// One way to spoil a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Damage {
    Cut,
    FlippedBits,
    LostRange,
    RepeatedRange,
    Spliced,
    RandomBytes,
    NulBytes,
    InvalidUtf8,
    EnormousNumbers,
    OddNumbers,
    LongLine,
    NoLineEnds,
    Nested,
    Quotes,
    TerminalEscapes,
    Markup,
    Formulas,
    Utf16,
    ByteOrderMark,
    CarriageReturns,
    ManyCopies,
    Empty,
}

impl Damage {
    pub(crate) const ALL: [Self; 22] = [
        Self::Cut,
        Self::FlippedBits,
        Self::LostRange,
        Self::RepeatedRange,
        Self::Spliced,
        Self::RandomBytes,
        Self::NulBytes,
        Self::InvalidUtf8,
        Self::EnormousNumbers,
        Self::OddNumbers,
        Self::LongLine,
        Self::NoLineEnds,
        Self::Nested,
        Self::Quotes,
        Self::TerminalEscapes,
        Self::Markup,
        Self::Formulas,
        Self::Utf16,
        Self::ByteOrderMark,
        Self::CarriageReturns,
        Self::ManyCopies,
        Self::Empty,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Cut => "cut",
            Self::FlippedBits => "flipped bits",
            Self::LostRange => "a range lost",
            Self::RepeatedRange => "a range repeated",
            Self::Spliced => "spliced with another file",
            Self::RandomBytes => "random bytes put in",
            Self::NulBytes => "NUL bytes put in",
            Self::InvalidUtf8 => "invalid UTF-8 put in",
            Self::EnormousNumbers => "enormous numbers",
            Self::OddNumbers => "odd numbers",
            Self::LongLine => "a very long line",
            Self::NoLineEnds => "line ends removed",
            Self::Nested => "deep nesting put in",
            Self::Quotes => "quotes and separators put in",
            Self::TerminalEscapes => "terminal escapes put in",
            Self::Markup => "markup and scripts put in",
            Self::Formulas => "spreadsheet formulas put in",
            Self::Utf16 => "written as UTF-16",
            Self::ByteOrderMark => "byte order mark in front",
            Self::CarriageReturns => "carriage returns for line ends",
            Self::ManyCopies => "repeated to a megabyte",
            Self::Empty => "emptied but for some bytes",
        }
    }

    #[expect(clippy::too_many_lines, reason = "a table: one entry a damage")]
    /// The spoiled file; `other` is a second one of its kind.
    pub(crate) fn apply(self, seed: &[u8], other: &[u8], random: &mut ChaCha8Rng) -> Vec<u8> {
        let mut bytes = seed.to_vec();
        match self {
            Self::Cut => bytes.truncate(place(&bytes, random)),
            Self::FlippedBits => {
                for _ in 0..random.random_range(1..64) {
                    let at = place(&bytes, random);
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte ^= 1 << random.random_range(0..8);
                    }
                }
            }
            Self::LostRange => drop(bytes.drain(range(seed, random))),
            Self::RepeatedRange => {
                let range = range(seed, random);
                let at = place(&bytes, random);
                bytes.splice(at..at, seed[range].iter().copied());
            }
            Self::Spliced => {
                bytes.truncate(place(&bytes, random));
                bytes.extend_from_slice(&other[place(other, random)..]);
            }
            Self::RandomBytes => {
                let noise: Vec<u8> = (0..random.random_range(1..4096)).map(|_| random.random()).collect();
                insert(&mut bytes, &noise, random);
            }
            Self::NulBytes => insert(&mut bytes, &[0; 512], random),
            Self::InvalidUtf8 => {
                several(&mut bytes, &[&b"\xff\xfe\xc0\x80"[..], b"\xed\xa0\x80", b"\xf5\x80"], random);
            }
            Self::EnormousNumbers => {
                let digits = "9".repeat(random.random_range(1..2000));
                numbers(
                    &mut bytes,
                    &[digits.as_bytes(), b"1e999", b"18446744073709551616", b"4294967296"],
                    random,
                );
            }
            Self::OddNumbers => numbers(
                &mut bytes,
                &[
                    b"-1",
                    b"nan",
                    b"inf",
                    b"-0.0",
                    b"1e-320",
                    b"0x10",
                    b"1_000",
                    b"\xd9\xa3",
                    b"..",
                    b"0",
                    b"1,5",
                ],
                random,
            ),
            Self::LongLine => {
                let line = vec![*b"a{[\" ,".get(random.random_range(0..6)).unwrap(); 1 << 20];
                insert(&mut bytes, &line, random);
            }
            Self::NoLineEnds => bytes.retain(|byte| *byte != b'\n'),
            Self::Nested => {
                let (open, depth) = (
                    [&b"["[..], b"{\"a\":", b"- - ", b"((", b"? ", b"$(", b"${x:-"],
                    random.random_range(64..50_000),
                );
                let nest = open[random.random_range(0..open.len())].repeat(depth);
                insert(&mut bytes, &nest, random);
            }
            Self::Quotes => {
                several(
                    &mut bytes,
                    &[
                        &b"'"[..],
                        b"\"",
                        b"\\",
                        b"`",
                        b"'\"'\"'",
                        b"<<EOF",
                        b": ",
                        b"#",
                        b"&a *a",
                        b"!!x",
                        b"%",
                    ],
                    random,
                );
            }
            Self::TerminalEscapes => {
                several(
                    &mut bytes,
                    &[
                        &b"\x1b[2J"[..],
                        b"\x1b]0;title\x07",
                        b"\x9b31m",
                        b"\x1bP+q\x1b\\",
                        b"\x08\x08",
                        b"\xe2\x80\xae",
                    ],
                    random,
                );
            }
            Self::Markup => {
                several(
                    &mut bytes,
                    &[
                        &b"<script>alert(1)</script>"[..],
                        b"]]>",
                        b"--><img src=x onerror=alert(1)>",
                        b"|x|\n|-|",
                        b"::error::x",
                        b"%0A::warning::",
                    ],
                    random,
                );
            }
            Self::Formulas => several(
                &mut bytes,
                &[&b"=cmd|' /C calc'!A0"[..], b"\n=1+1,", b"\n@SUM(A1)", b"\n+1\t-1"],
                random,
            ),
            Self::Utf16 => {
                bytes = [0xff, 0xfe].into_iter().chain(seed.iter().flat_map(|byte| [*byte, 0])).collect();
            }
            Self::ByteOrderMark => drop(bytes.splice(0..0, *b"\xef\xbb\xbf")),
            Self::CarriageReturns => {
                bytes.iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b'\r');
            }
            Self::ManyCopies => {
                let copies = (1 << 20) / (bytes.len() + 1) + 1;
                bytes = bytes.repeat(copies);
            }
            Self::Empty => bytes.truncate(random.random_range(0..8)),
        }
        bytes
    }
}

fn place(bytes: &[u8], random: &mut ChaCha8Rng) -> usize {
    random.random_range(0..=bytes.len())
}

fn range(bytes: &[u8], random: &mut ChaCha8Rng) -> std::ops::Range<usize> {
    let (a, b) = (place(bytes, random), place(bytes, random));
    a.min(b)..a.max(b)
}

fn insert(bytes: &mut Vec<u8>, what: &[u8], random: &mut ChaCha8Rng) {
    let at = place(bytes, random);
    bytes.splice(at..at, what.iter().copied());
}

/// Puts some of `what` at some places.
fn several(bytes: &mut Vec<u8>, what: &[&[u8]], random: &mut ChaCha8Rng) {
    for _ in 0..random.random_range(1..24) {
        insert(bytes, what[random.random_range(0..what.len())], random);
    }
}

/// Writes some of `what` over numbers of the file.
fn numbers(bytes: &mut Vec<u8>, what: &[&[u8]], random: &mut ChaCha8Rng) {
    for _ in 0..random.random_range(1..24) {
        let from = place(bytes, random);
        let Some(start) = bytes[from..].iter().position(u8::is_ascii_digit).map(|at| from + at) else {
            continue;
        };
        let length = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
        bytes.splice(start..start + length, what[random.random_range(0..what.len())].iter().copied());
    }
}
