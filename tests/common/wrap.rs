//! Wrappers around lines, and damage to bytes.

use super::loggen::Rng;

/// Wrappers that stand before a line and change nothing.
pub(crate) const PREFIXES: [&str; 14] = [
    "",
    "  3: ",
    "12: ",
    "sglang-decode-1  | ",
    "[pod/decode-0/main] ",
    "2026-10-12T01:02:03.456789012Z ",
    "Oct 12 01:02:03 node7 sglang[123]: ",
    "(SGLangEngine pid=12345, ip=192.0.2.7) ",
    "run/decode.log:12:",
    "C:\\logs\\decode.log ",
    "    ",
    "\0\0\0",
    "  7%|#5        | 4/58 [00:02<00:20,  2.61it/s]\r",
    "\u{1b}[36m(Engine pid=7)\u{1b}[0m ",
];

/// What a wrapper may append.
pub(crate) const SUFFIXES: [&str; 6] = [
    "",
    "\r",
    " ",
    " [repeated 3x across cluster]",
    "\u{1b}[32m [repeated 12x across cluster] (Ray deduplicates logs by default, see http://x)\u{1b}[0m",
    ",",
];

/// One line in a wrapper, without a line break at the end (a container runtime's parts have one between them).
pub(crate) fn wrap(rng: &mut Rng, line: &str) -> Vec<u8> {
    let mut text = match rng.below(12) {
        0 => colour(rng, line),
        1 => return docker(line).into_bytes(),
        2 => return runtime(rng, line).into_bytes(),
        _ => line.to_owned(),
    };
    if rng.chance(30) {
        text = format!("{}{text}", rng.pick(&PREFIXES));
    }
    if rng.chance(20) {
        text = format!("{text}{}", rng.pick(&SUFFIXES));
    }
    let mut bytes = text.into_bytes();
    if rng.chance(3) {
        bytes.splice(0..0, *b"\xff\xfe\x80 ");
    }
    bytes
}

const COLOURS: [&str; 5] = ["\u{1b}[32m", "\u{1b}[0m", "\u{1b}[1;33m", "\u{1b}[K", "\u{1b}(B"];

/// The line with terminal colours at a few places.
pub(crate) fn colour(rng: &mut Rng, line: &str) -> String {
    let mut text = line.to_owned();
    for _ in 0..=rng.below(4) {
        let at = rng.below(text.len() + 1);
        // Not inside another sequence.
        if text.is_char_boundary(at) && !text[..at].ends_with(['\u{1b}', '[', '0', '1', '3', ';', '2']) {
            text.insert_str(at, COLOURS[rng.below(COLOURS.len())]);
        }
    }
    text
}

/// A line of Docker's `json-file` driver.
pub(crate) fn docker(line: &str) -> String {
    let log = serde_json::Value::from(format!("{line}\n"));
    format!("{{\"log\":{log},\"stream\":\"stderr\",\"time\":\"2026-10-12T01:02:03.456789012Z\"}}")
}

/// A line of a container runtime's file, whole or in parts.
pub(crate) fn runtime(rng: &mut Rng, line: &str) -> String {
    let mut parts = vec![line];
    while rng.chance(40) {
        let last = parts.pop().unwrap();
        let at = rng.below(last.len() + 1);
        let (head, tail) = if last.is_char_boundary(at) { last.split_at(at) } else { (last, "") };
        parts.extend([head, tail]);
    }
    let stream = *rng.pick(&["stdout", "stderr"]);
    let last = parts.len() - 1;
    let lines: Vec<String> = parts
        .iter()
        .enumerate()
        .map(|(index, part)| {
            format!(
                "2026-10-12T01:02:03.456789012Z {stream} {} {part}",
                if index == last { "F" } else { "P" }
            )
        })
        .collect();
    lines.join("\n")
}

/// Damages a log: cuts, splices, interleaves, overwrites, doubles, quotes.
pub(crate) fn damage(rng: &mut Rng, log: &mut Vec<u8>) {
    if log.is_empty() {
        return;
    }
    let (one, two) = (rng.below(log.len()), rng.below(log.len()));
    let (from, to) = (one.min(two), one.max(two));
    let near = (from + rng.below(60)).min(log.len());
    match rng.below(14) {
        // Cut.
        0 => log.truncate(to.max(1)),
        1 => drop(log.drain(from..near)),
        // A piece of the log over or into another place.
        2 => {
            let piece = log[from..near].to_vec();
            let at = rng.below(log.len());
            let end = (at + piece.len()).min(log.len());
            log.splice(at..end, piece);
        }
        3 => {
            let piece = log[from..near].to_vec();
            let at = rng.below(log.len());
            log.splice(at..at, piece);
        }
        // A lost or an additional line break.
        4 => {
            if let Some(at) = log[from..].iter().position(|byte| *byte == b'\n') {
                log.remove(from + at);
            }
        }
        5 => log.insert(from, *rng.pick(b"\n\r")),
        // Foreign bytes.
        6 => log[from] = *rng.pick(b"\0\xff\x1b ,:[]\"'0x.\n"),
        7 => log.insert(from, *rng.pick(b"\0\xff\x1b ,:[]\"'`0x.%|>")),
        8 => drop(log.splice(from..near, *b"\0\0\0\0")),
        9 => drop(log.splice(from..from, *b"nan")),
        10 => {
            let words: [&[u8]; 8] = [
                b" [2026-10-12 01:02:03 TP0] INFO:     127.0.0.1 - \"GET\"",
                b"Decode batch",
                b"...",
                b" [repeated 3x across cluster]",
                b"accept len: 3.52, ",
                b"server_args=",
                b"#queue-req: 7",
                b"> ",
            ];
            log.splice(from..from, rng.pick(&words).iter().copied());
        }
        // A line again.
        11 => {
            let start = log[..from].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let end =
                log[from..].iter().position(|byte| *byte == b'\n').map_or(log.len(), |at| from + at + 1);
            let line = log[start..end].to_vec();
            log.splice(start..start, line);
        }
        // A line in Markdown.
        12 => {
            let start = log[..from].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let marks: [&[u8]; 5] = [b"> ", b"- ", b"`", b"| a | ", b"1. "];
            log.splice(start..start, rng.pick(&marks).iter().copied());
        }
        // Two lines of two writers, piece by piece.
        _ => {
            let Some(end) = log[from..].iter().position(|byte| *byte == b'\n').map(|at| from + at) else {
                return;
            };
            let Some(next) = log[end + 1..].iter().position(|byte| *byte == b'\n').map(|at| end + 1 + at)
            else {
                return;
            };
            let piece = log[end + 1..next].to_vec();
            let at = from + rng.below(end - from + 1);
            log.drain(end + 1..=next);
            log.splice(at..at, piece);
        }
    }
}
