//! A slow, obviously right reader of SGLang logs: SGLANG.md sections 4 and 5 rule by rule, with regular expressions and
//! copies wherever that is plainer. Nothing here comes from `src/`.
//!
//! Where the specification leaves a choice, the rule that was chosen stands beside the code.

use std::collections::BTreeMap;

use super::message::{decode, number, prefill};
use super::pattern::{
    BLANK, BRACKET, CUT_BRACKET, CUT_HEAD, DOCKER, ESCAPE, HEAD, ITERATION, LABEL, MARKDOWN, PROSE, RAY,
    RUNTIME, TAG, TIME, TOUCHING, WORD,
};

/// What a record says, every value as text.
pub(crate) type Said = BTreeMap<&'static str, String>;

/// One record, or one line that looked like one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) line: u64,
    pub(crate) kind: &'static str,
    pub(crate) said: Said,
}

/// Reads a whole log.
pub(crate) fn read(log: &[u8]) -> Vec<Found> {
    let mut found = Vec::new();
    for (number, text) in unwrapped_lines(log) {
        let text = ESCAPE.replace_all(&undock(&text), &b""[..]).into_owned();
        for segment in text.split(|byte| matches!(byte, b'\r' | b'\n')) {
            segment_records(segment, number, &mut found);
        }
    }
    found
}

/// Physical lines, those of a container runtime joined and without its prefix. Such lines are known by their shape, but a
/// file is the runtime's only from a line on that is its first or holds a word of a head: what some program prints in
/// that shape before is no wrapper.
fn unwrapped_lines(log: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let mut lines = Vec::new();
    let mut is_runtime = false;
    let mut waiting: BTreeMap<Vec<u8>, (u64, Vec<u8>)> = BTreeMap::new();
    let mut physical: Vec<&[u8]> = log.split(|byte| *byte == b'\n').collect();
    if log.ends_with(b"\n") || log.is_empty() {
        physical.pop();
    }
    for (number, line) in (1..).zip(physical) {
        let stripped = line.strip_suffix(b"\r").unwrap_or(line);
        let part = RUNTIME.captures(stripped);
        is_runtime |= part.is_some() && (number == 1 || WORD.is_match(line));
        let Some(part) = part.filter(|_| is_runtime) else {
            give_up(&mut waiting, &mut lines);
            // A line is looked at where a word of a head stands whole: a colour in the middle of a word hides it.
            if is_runtime || WORD.is_match(line) {
                lines.push((number, line.to_vec()));
            }
            continue;
        };
        let stream = part[1].to_vec();
        let text = part.get(3).map_or(&b""[..], |text| text.as_bytes());
        waiting.entry(stream.clone()).or_insert_with(|| (number, Vec::new())).1.extend_from_slice(text);
        if &part[2] == b"F" {
            lines.extend(waiting.remove(&stream));
        }
    }
    give_up(&mut waiting, &mut lines);
    lines
}

/// Parts that wait for their last one will not get it.
fn give_up(waiting: &mut BTreeMap<Vec<u8>, (u64, Vec<u8>)>, lines: &mut Vec<(u64, Vec<u8>)>) {
    let mut left: Vec<_> = std::mem::take(waiting).into_values().collect();
    left.sort();
    lines.extend(left);
}

/// The text of a line of Docker's `json-file` driver; other lines as they are.
fn undock(line: &[u8]) -> Vec<u8> {
    let Some(start) = DOCKER.find(line) else { return line.to_vec() };
    let mut text = Vec::new();
    let mut rest = &line[start.end()..];
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        match first {
            b'"' => break,
            b'\\' => {
                let Some((escape, behind)) = rest.split_first() else { break };
                rest = behind;
                match escape {
                    b'n' => text.push(b'\n'),
                    b'r' => text.push(b'\r'),
                    b't' => text.push(b'\t'),
                    b'b' => text.push(8),
                    b'f' => text.push(12),
                    b'u' => {
                        let hex = rest.get(..4).and_then(|hex| std::str::from_utf8(hex).ok());
                        let code = hex.and_then(|hex| u32::from_str_radix(hex, 16).ok());
                        let letter = code.and_then(char::from_u32).unwrap_or('\u{fffd}');
                        text.extend_from_slice(letter.to_string().as_bytes());
                        rest = rest.get(4..).unwrap_or(&[]);
                    }
                    other => text.push(*other),
                }
            }
            other => text.push(*other),
        }
    }
    text
}

/// Section 5, rules 1 to 3: heads, and what stands before and behind each.
fn segment_records(text: &[u8], line: u64, found: &mut Vec<Found>) {
    let heads: Vec<_> = HEAD.captures_iter(text).map(|head| (head.get(0).unwrap(), head)).collect();
    let mut done = 0;
    for (index, (at, head)) in heads.iter().enumerate() {
        // A record ends where the next begins: at its bracket, or at its head.
        let end = heads.get(index + 1).map_or(text.len(), |(next, _)| {
            let between = &text[at.end()..next.start()];
            BRACKET.find(between).map_or(next.start(), |bracket| at.end() + bracket.start())
        });
        let prefix = prefix(text, done, at.start());
        let message = &text[at.end()..end];
        let mut push = |kind: &'static str, said: Said| found.push(Found { line, kind, said });
        let skipped = |reason: &str| Said::from([("reason", reason.to_owned())]);
        if let Some(name) = head.get(1) {
            let is_decode = name.as_bytes() == b"Decode";
            match batch(prefix, message, is_decode) {
                Ok(said) => push(if is_decode { "decode" } else { "prefill" }, said),
                Err(reason) => push("skipped", skipped(reason)),
            }
        } else if head.get(2).is_some() {
            if let Some(prefix) =
                prefix.filter(|_| message.starts_with(b"ServerArgs(") || message.starts_with(b"{"))
            {
                push("start", prefix.into_iter().filter(|(name, _)| *name == "timestamp").collect());
            }
        } else if head.get(3).is_some() {
            if let Some(prefix) = prefix {
                push("flush", prefix);
            }
        } else {
            push("skipped", skipped("lookalike"));
        }
        done = end;
    }
}

pub(crate) fn trimmed(text: &[u8]) -> &[u8] {
    text.trim_ascii()
}

/// Whether a string or a piece of code is open at `at`: an odd number of one of the three marks, those behind an odd
/// number of backslashes and apostrophes within words aside.
fn is_open_quote(text: &[u8], at: usize) -> bool {
    let is_word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    [b'"', b'\'', b'`'].into_iter().any(|mark| {
        let marks = (0..at).filter(|index| {
            let backslashes = text[..*index].iter().rev().take_while(|byte| **byte == b'\\').count();
            let apostrophe = mark == b'\''
                && is_word(index.checked_sub(1).and_then(|before| text.get(before)))
                && is_word(text.get(index + 1));
            text[*index] == mark && backslashes % 2 == 0 && !apostrophe
        });
        marks.count() % 2 == 1
    })
}

/// Whether what stands before a record quotes it.
fn is_quoting(wrapper: &[u8]) -> bool {
    TOUCHING.is_match(wrapper) || MARKDOWN.is_match(trimmed(wrapper)) || PROSE.is_match(wrapper)
}

/// Time and tags of the record whose head is at `head`; `None` when it is quoted or told about.
fn prefix(text: &[u8], done: usize, head: usize) -> Option<Said> {
    let before = &text[done..head];
    let bracket = BRACKET.find(before);
    let start = bracket.map_or(before.len(), |bracket| bracket.start());
    if is_open_quote(text, done + start) {
        return None;
    }
    if let Some(bracket) = bracket {
        if is_quoting(&before[..bracket.start()]) {
            return None;
        }
        let inside = trimmed(bracket.as_bytes());
        let inside = &inside[1..inside.len() - 1];
        let time = TIME.find(inside);
        let mut said =
            Said::from([("tags", tags(words(&inside[time.map_or(0, |time| time.end())..]).into_iter()))]);
        if let Some(time) = time {
            said.insert("timestamp", string(time.as_bytes()));
        }
        return Some(said);
    }
    if let Some(close) = CUT_BRACKET.find(before) {
        // A host dropped the opening bracket and the time: the tags stand at the end.
        let cut = &before[..close.start()];
        let words = words(cut).into_iter().rev().take_while(|word| TAG.is_match(word));
        return (!is_quoting(cut)).then(|| Said::from([("tags", tags(words))]));
    }
    let before = before.strip_prefix("\u{feff}".as_bytes()).unwrap_or(before);
    let plain = BLANK.is_match(before) || (!is_quoting(before) && LABEL.is_match(trimmed(before)));
    plain.then(|| Said::from([("tags", String::new())]))
}

fn words(text: &[u8]) -> Vec<&[u8]> {
    text.split(|byte| byte.is_ascii_whitespace() || *byte == b',').filter(|word| !word.is_empty()).collect()
}

/// Tags as a set in the order of their names; of two with one name the later stands, and there are six at most.
fn tags<'a>(words: impl Iterator<Item = &'a [u8]>) -> String {
    let mut set: BTreeMap<String, u32> = BTreeMap::new();
    for word in words {
        if let Some(tag) = TAG.captures(word) {
            let rank: u32 = string(&tag[2]).parse().unwrap();
            let name = string(&tag[1]);
            if rank < 1 << 24 && (set.len() < 6 || set.contains_key(&name)) {
                set.insert(name, rank);
            }
        }
    }
    // The underscore counts as a letter behind Z, and it does in ASCII.
    set.iter().map(|(name, rank)| format!("{name}{rank}")).collect::<Vec<_>>().join(" ")
}

pub(crate) fn string(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A decode or prefill line from its prefix and what stands behind its head.
fn batch(prefix: Option<Said>, behind: &[u8], is_decode: bool) -> Result<Said, &'static str> {
    let mut said = prefix.ok_or("lookalike")?;
    if CUT_HEAD.is_match(behind) {
        return Err("truncated");
    }
    let mut message = behind;
    if behind.starts_with(b" [") {
        let iteration = ITERATION.captures(behind).ok_or("lookalike")?;
        said.insert("iteration", number(&iteration[1]));
        message = &behind[iteration.get(0).unwrap().end()..];
    }
    let message = message.strip_prefix(b",").or_else(|| message.strip_prefix(b".")).ok_or("lookalike")?;
    if message.first().is_some_and(|byte| *byte != b' ') {
        return Err("lookalike");
    }
    // What Ray appends stands at the end.
    let ends_like_ray = matches!(message.trim_ascii_end().last(), Some(b']' | b')'));
    let ray = RAY.find(message).filter(|_| ends_like_ray);
    let message = ray.map_or(message, |ray| &message[..ray.start()]);
    said.insert("message", string(message));
    if is_decode { decode(said, message) } else { prefill(said, message) }
}
