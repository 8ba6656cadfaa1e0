//! A slow, obviously right reader of SGLang logs: SGLANG.md sections 4 and 5 rule by rule, with regular expressions and
//! copies wherever that is plainer. Nothing here comes from `src/`.
//!
//! Where the specification leaves a choice, the rule that was chosen stands beside the code.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::bytes::Regex;

/// What a record says, every value as text.
pub(crate) type Said = BTreeMap<&'static str, String>;

/// One record, or one line that looked like one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) line: u64,
    pub(crate) kind: &'static str,
    pub(crate) said: Said,
}

macro_rules! pattern {
    ($name:ident, $text:expr) => {
        static $name: LazyLock<Regex> = LazyLock::new(|| Regex::new(concat!("(?s-u)", $text)).unwrap());
    };
}

// White space is that of ASCII without the vertical tab.
pattern!(RUNTIME, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[^ ]* (stdout|stderr) ([PF])(?: (.*))?$");
pattern!(WORD, r"Decode|Prefill|server_args=|Cache flushed");
pattern!(
    HEAD,
    r"(Decode|Prefill) batch|(?:Decode|Prefill) [a-z]* batch|(server_args=)|(Cache flushed successfully!)"
);
pattern!(DOCKER, r#"^[ \t\n\x0c\r]*\{"log":""#);
pattern!(ESCAPE, r"\x1b(?:\[[0-?]*[ -/]*[A-Za-z~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][0-~])?");
pattern!(BRACKET, r"\[[^\[\]]*\][ \t\n\x0c\r]*$");
pattern!(CUT_BRACKET, r"\][ \t\n\x0c\r]*$");
pattern!(TIME, r"^((?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d(?:\.\d+)?)");
pattern!(TAG, r"^([A-Z_]{1,8})(\d{1,8})$");
pattern!(TOUCHING, r#"(?:["'`]|\\[nrt])$"#);
pattern!(MARKDOWN, r"^(?:[>|].*|[-*+#_~ ]+|\d+[.)])$");
pattern!(
    PROSE,
    r"(?:^|[ \t\n\x0c\r])[a-z]+[:,]?[ \t\n\x0c\r]+[a-z]+[:,]?[ \t\n\x0c\r]+[a-z]+[:,]?[ \t\n\x0c\r]+$"
);
pattern!(BLANK, r"^[ \t\n\x0c\r\x00]*$");
pattern!(LABEL, r"^(?:\d.*:|[^ \t\n\x0c\r]*:|.*\]:|\d.*[ \t\n\x0c\r](?:-|DEBUG|INFO|WARNING|ERROR)|.*[|)])$");
pattern!(CUT_HEAD, r"^(?: \[)?\d*(?:[ \t\n\x0c\r]*|\])$");
pattern!(ITERATION, r"^ \[(\d{1,18})(?:[ \t\n\x0c\r%][^\]]*)?\]");
pattern!(RAY, r" \[repeated \d+x across cluster\]");
pattern!(CONTINUED, r"^[a-z_]+=");
pattern!(POOLS, r"^[a-z]+=");
pattern!(INTEGER, r"^(\d{1,18})(?:[ \t\n\x0c\r%]|$)");
pattern!(NEGATIVE_INTEGER, r"^-\d{1,18}(?:[ \t\n\x0c\r%]|$)");
pattern!(F2, r"^(\d{1,18}\.\d\d)(?:[ \t\n\x0c\r%]|$)");
pattern!(NEGATIVE_F2, r"^-\d{1,18}\.\d\d(?:[ \t\n\x0c\r%]|$)");
pattern!(NOT_FINITE, r"^-?(?:nan|inf)(?:[ \t\n\x0c\r%]|$)");
pattern!(BOOLEAN, r"^(True|False)(?:[ \t\n\x0c\r%]|$)");
pattern!(GRAPH, r"^(cuda|cpu|npu|musa) graph$");
pattern!(NAME, r"^[A-Za-z0-9#_+./() %-]{1,64}$");
pattern!(MIXED, r#"\x22|:[ \t\n\x0c\r]|:$|\[\d+[-:]"#);

/// Names that have a meaning. One of them at the end of a longer name, with no blank before it, is the trace of a line
/// that was overwritten.
const KNOWN: [&str; 18] = [
    "#running-req",
    "#token",
    "token usage",
    "accept len",
    "accept rate",
    "cap len",
    "block accept len",
    "cuda graph",
    "cpu graph",
    "npu graph",
    "musa graph",
    "gen throughput (token/s)",
    "#queue-req",
    "#retracted-req",
    "#new-seq",
    "#new-token",
    "#cached-token",
    "input throughput (token/s)",
];

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

fn trimmed(text: &[u8]) -> &[u8] {
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

fn string(bytes: &[u8]) -> String {
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

/// Splits at commas outside brackets; a bracket that never closes hides none.
fn pieces(message: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    let mut rest = message;
    while !rest.is_empty() {
        let mut depth = 0_usize;
        let mut end = None;
        for (index, byte) in rest.iter().enumerate() {
            match byte {
                b',' if depth == 0 => {
                    end = Some(index);
                    break;
                }
                b'(' | b'[' => depth += 1,
                b')' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        if depth > 0 {
            end = rest.iter().position(|byte| *byte == b',');
        }
        let end = end.unwrap_or(rest.len());
        pieces.push(&rest[..end]);
        rest = rest.get(end + 1..).unwrap_or(&[]);
    }
    pieces.into_iter().map(trimmed).filter(|piece| !piece.is_empty()).collect()
}

fn is_ellipsis(piece: &[u8]) -> bool {
    piece.starts_with(b"...") || piece.ends_with(b"...") || piece.starts_with("…".as_bytes())
}

/// A message without one known field: cut right behind its head, or prose.
fn unknown(message: &[u8], first: &[u8]) -> &'static str {
    let text = trimmed(message);
    if text.starts_with(first) || first.starts_with(text) { "truncated" } else { "lookalike" }
}

/// The fields that were read so far.
#[derive(Default)]
struct Fields {
    known: BTreeMap<String, Vec<u8>>,
    /// Names that have no meaning here. More than 32 in one line are damage, and so are more than 32 pool figures.
    foreign: Vec<Vec<u8>>,
    continued: usize,
}

impl Fields {
    /// Takes one piece: `Err` with what its damage is.
    fn take(
        &mut self,
        piece: &[u8],
        is_last: bool,
        check: impl Fn(&str, &[u8]) -> Option<bool>,
    ) -> Result<(), &'static str> {
        let colon = piece.iter().position(|byte| *byte == b':');
        let Some(colon) = colon else {
            let whole = CONTINUED.is_match(piece) && (is_last || !MIXED.is_match(piece));
            self.continued += usize::from(whole);
            let fits = whole && self.continued <= 32;
            return if fits {
                Ok(())
            } else {
                Err(if is_ellipsis(piece) { "lookalike" } else { "truncated" })
            };
        };
        let name = piece[..colon].trim_ascii_end();
        let value = piece[colon + 1..].trim_ascii_start();
        if colon == 0 || value.is_empty() {
            return Err(if is_ellipsis(piece) { "lookalike" } else { "truncated" });
        }
        let damage = if is_ellipsis(value) { "lookalike" } else { "truncated" };
        // More than a value in the middle of a message: two lines run together.
        if !is_last && MIXED.is_match(value) {
            return Err(damage);
        }
        match check(&string(name), value) {
            Some(true) => match self.known.insert(string(name), value.to_vec()) {
                // Two values of one name: two records were mixed.
                Some(_) => Err(damage),
                None => Ok(()),
            },
            Some(false) => Err(damage),
            None => {
                let spliced = KNOWN.iter().any(|known| {
                    name.strip_suffix(known.as_bytes())
                        .is_some_and(|rest| rest.last().is_some_and(|byte| !byte.is_ascii_whitespace()))
                });
                let fits = NAME.is_match(name)
                    && !spliced
                    && !is_ellipsis(value)
                    && self.foreign.len() < 32
                    && !self.foreign.iter().any(|seen| seen == name);
                self.foreign.push(name.to_vec());
                if fits { Ok(()) } else { Err(damage) }
            }
        }
    }

    fn get(&self, name: &str) -> Option<&[u8]> {
        self.known.get(name).map(Vec::as_slice)
    }

    /// The graph field under whatever label.
    fn graph(&self) -> Vec<(String, &[u8])> {
        let graphs = self.known.iter().filter(|(name, _)| GRAPH.is_match(name.as_bytes()));
        graphs.map(|(name, value)| (name.replace(" graph", ""), value.as_slice())).collect()
    }
}

fn is_integer(value: &[u8], most: u64) -> bool {
    INTEGER.captures(value).is_some_and(|digits| string(&digits[1]).parse::<u64>().unwrap() <= most)
}

/// A share or a length: two decimals that fit 32 bits as hundredths, `nan`, or less than nothing.
fn is_hundredths(value: &[u8]) -> bool {
    let plain = F2.captures(value).map(|digits| string(&digits[1]).replace('.', "").parse::<u128>().unwrap());
    plain.is_some_and(|hundredths| hundredths <= u128::from(u32::MAX))
        || NOT_FINITE.is_match(value)
        || NEGATIVE_F2.is_match(value)
}

fn is_speed(value: &[u8]) -> bool {
    F2.is_match(value) || NOT_FINITE.is_match(value) || NEGATIVE_F2.is_match(value)
}

/// The number at the start of a value, without leading zeros.
fn number(value: &[u8]) -> String {
    let text = string(value);
    let text = text.split(|letter: char| !letter.is_ascii_digit() && letter != '.').next().unwrap_or("");
    let plain = text.trim_start_matches('0');
    if plain.is_empty() || plain.starts_with('.') { format!("0{plain}") } else { plain.to_owned() }
}

fn say(said: &mut Said, name: &'static str, value: Option<&[u8]>, pattern: &Regex) {
    if let Some(value) = value.filter(|value| pattern.is_match(value)) {
        said.insert(name, number(value));
    }
}

fn say_speed(said: &mut Said, name: &'static str, value: Option<&[u8]>) {
    if let Some(value) = value.filter(|value| F2.is_match(value)) {
        said.insert(name, number(value).parse::<f64>().unwrap().to_string());
    }
}

fn say_graph(said: &mut Said, fields: &Fields) {
    for (label, on) in fields.graph() {
        said.insert("graph", format!("{label} {}", if on.starts_with(b"True") { "True" } else { "False" }));
    }
}

/// Rules 4 to 8 for a decode line.
fn decode(mut said: Said, message: &[u8]) -> Result<Said, &'static str> {
    let check = |name: &str, value: &[u8]| match name {
        "#running-req" | "#queue-req" => Some(is_integer(value, u32::MAX.into())),
        "#token" => {
            Some(POOLS.is_match(value) || is_integer(value, u64::MAX) || NEGATIVE_INTEGER.is_match(value))
        }
        "token usage" => Some(POOLS.is_match(value) || is_hundredths(value)),
        "accept len" | "accept rate" => Some(is_hundredths(value) && !NEGATIVE_F2.is_match(value)),
        "gen throughput (token/s)" => Some(is_speed(value)),
        name if GRAPH.is_match(name.as_bytes()) => Some(BOOLEAN.is_match(value)),
        _ => None,
    };
    let mut fields = Fields::default();
    let pieces = pieces(message);
    for (index, piece) in pieces.iter().enumerate() {
        let outcome = fields.take(piece, index + 1 == pieces.len(), check);
        // One graph field, whatever its label.
        let outcome = if fields.graph().len() > 1 { Err("truncated") } else { outcome };
        if let Err(damage) = outcome {
            let prose = damage == "truncated" && fields.known.is_empty();
            return Err(if prose { unknown(message, b"#running-req") } else { damage });
        }
    }
    if fields.get("#running-req").is_none() || fields.get("#queue-req").is_none() {
        return Err(if fields.known.is_empty() { unknown(message, b"#running-req") } else { "truncated" });
    }
    if ["accept len", "accept rate"]
        .iter()
        .any(|name| fields.get(name).is_some_and(|value| NOT_FINITE.is_match(value)))
    {
        return Err("not_finite");
    }
    for (name, field, pattern) in [
        ("running_req", "#running-req", &INTEGER),
        ("queue_req", "#queue-req", &INTEGER),
        ("tokens", "#token", &INTEGER),
        ("token_usage", "token usage", &F2),
        ("accept_len", "accept len", &F2),
        ("accept_rate", "accept rate", &F2),
    ] {
        say(&mut said, name, fields.get(field), pattern);
    }
    say_speed(&mut said, "gen_throughput", fields.get("gen throughput (token/s)"));
    say_graph(&mut said, &fields);
    let capped = fields.foreign.iter().any(|name| name == b"cap len" || name == b"block accept len");
    said.insert("capped", capped.to_string());
    Ok(said)
}

/// A prefill line: what stands before the first damage. A count at the very end may be cut unless `#queue-req` came.
fn prefill(mut said: Said, message: &[u8]) -> Result<Said, &'static str> {
    let check = |name: &str, value: &[u8]| match name {
        "#new-seq" | "#running-req" | "#queue-req" => Some(is_integer(value, u32::MAX.into())),
        "#new-token" | "#cached-token" => Some(is_integer(value, u64::MAX)),
        "token usage" => Some(POOLS.is_match(value) || is_hundredths(value)),
        "input throughput (token/s)" => Some(is_speed(value)),
        name if GRAPH.is_match(name.as_bytes()) => Some(BOOLEAN.is_match(value)),
        _ => None,
    };
    let mut fields = Fields::default();
    let pieces = pieces(message);
    let is_closed = message.trim_ascii_end().ends_with(b",");
    for (index, piece) in pieces.iter().enumerate() {
        let is_last = index + 1 == pieces.len();
        let is_cut = is_last && !is_closed && fields.get("#queue-req").is_none();
        let counts = [&b"#new-seq"[..], b"#new-token", b"#cached-token", b"#running-req"];
        let is_count = counts.iter().any(|name| piece.starts_with(name));
        let mut trial = Fields {
            known: fields.known.clone(),
            foreign: fields.foreign.clone(),
            continued: fields.continued,
        };
        match trial.take(piece, is_last, check) {
            Err("lookalike") => return Err("lookalike"),
            Err(_) => break,
            Ok(()) if is_cut && is_count => break,
            Ok(()) if trial.graph().len() > 1 => break,
            Ok(()) => fields = trial,
        }
    }
    if fields.known.is_empty() {
        return Err(unknown(message, b"#new-seq"));
    }
    if fields.get("#new-seq").is_none() && fields.get("#new-token").is_none() {
        return Err("truncated");
    }
    for (name, field, pattern) in [
        ("new_seq", "#new-seq", &INTEGER),
        ("new_tokens", "#new-token", &INTEGER),
        ("cached_tokens", "#cached-token", &INTEGER),
        ("running_req", "#running-req", &INTEGER),
        ("queue_req", "#queue-req", &INTEGER),
        ("token_usage", "token usage", &F2),
    ] {
        say(&mut said, name, fields.get(field), pattern);
    }
    say_speed(&mut said, "input_throughput", fields.get("input throughput (token/s)"));
    say_graph(&mut said, &fields);
    Ok(said)
}
