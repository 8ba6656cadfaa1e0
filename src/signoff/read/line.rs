//! One line of a log, a trace, a script, an environment.

use super::asked::{Asked, Needle};
use super::assign;
use crate::evidence::{Place, server_arguments};
use crate::signoff::facts::{Access, AccessCount, Argument, Facts, Origin, Seen, Sighting};

/// Paths that are told apart.
const MOST_PATHS: usize = 256;

/// Longest path kept.
const LONGEST_PATH: usize = 128;

/// Sightings kept of one point: a log may repeat a line without end.
pub(super) const MOST_SIGHTINGS: usize = 4096;

/// Arguments kept of one server.
const MOST_ARGUMENTS: usize = 2048;

/// A server's arguments, and whether their line is whole.
pub(super) struct Started {
    pub(super) arguments: Vec<Argument>,
    pub(super) is_whole: bool,
}

/// Takes what a line says into `facts`; returns a server's arguments where it holds them.
pub(super) fn read(
    asked: &Asked,
    text: &[u8],
    place: Place,
    origin: Origin,
    facts: &mut Facts,
) -> Option<Started> {
    let mut started = None;
    let is_printed = is_printed(text);
    for (start, end, needle) in asked.find(text) {
        // Of a script counts what reaches its servers; that is for its own reader.
        let is_of_script = origin == Origin::Launcher || is_printed;
        match needle {
            Needle::Access => {
                if let Some((call, status)) = call(text, start) {
                    count(&mut facts.access, call, status, place);
                }
            }
            Needle::ServerArguments => {
                started = self::started(asked, text, place);
                // What else stands in that line are its own arguments.
                if started.is_some() {
                    break;
                }
            }
            Needle::Version => {
                let rest = text.get(end..).unwrap_or(&[]);
                let is_end = |byte: &u8| !(byte.is_ascii_alphanumeric() || b".+".contains(byte));
                let length = rest.iter().position(is_end).unwrap_or(rest.len()).min(64);
                let value = String::from_utf8_lossy(rest.get(..length).unwrap_or(&[])).into_owned();
                if value.starts_with(|first: char| first.is_ascii_digit()) {
                    see(facts, Sighting::new(Seen::Version, "sglang", value, origin, place));
                }
            }
            Needle::Variable(_) => {
                let end = whole_name(text, end);
                let name = String::from_utf8_lossy(text.get(start..end).unwrap_or(&[])).into_owned();
                let Some(seen) = asked.variable(&name) else { continue };
                if is_printed || (is_of_script && seen == Seen::Variable) {
                    continue;
                }
                if let Some(value) = assign::variable(text, start, end) {
                    see(facts, Sighting::new(seen, name, value, origin, place));
                }
            }
            Needle::Argument(seen, name) => {
                if is_printed || (is_of_script && *seen == Seen::Argument) {
                    continue;
                }
                if let Some(value) = assign::argument(text, start, end) {
                    see(facts, Sighting::new(*seen, name, value, origin, place));
                }
            }
            Needle::Key(name) => {
                if let Some(value) = assign::key(text, start, end).filter(|_| !is_of_script) {
                    see(facts, Sighting::new(Seen::Argument, name, value, origin, place));
                }
            }
        }
    }
    if origin != Origin::Launcher && is_environment(text) && facts.environments.last() != Some(&place.file) {
        facts.environments.push(place.file);
    }
    started
}

/// Adds a sighting, once for each value of a file.
pub(super) fn see(facts: &mut Facts, sighting: Sighting) {
    if facts.sightings.len() >= MOST_SIGHTINGS {
        return;
    }
    let is_known = facts.sightings.iter().any(|held| {
        held.place.file == sighting.place.file
            && Sighting { place: sighting.place, ..held.clone() } == sighting
    });
    if !is_known {
        facts.sightings.push(sighting);
    }
}

/// Where the name ends that goes on at `end`.
pub(super) fn whole_name(text: &[u8], end: usize) -> usize {
    let rest = text.get(end..).unwrap_or(&[]);
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    end + rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len())
}

/// Whether a line of a script or of a shell's trace prints a text: nothing in it is set.
fn is_printed(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    let text = text.strip_prefix(b"+").map_or(text, |rest| rest.trim_start_plus());
    [b"echo ".as_slice(), b"printf ", b"unset "].iter().any(|command| text.starts_with(command))
}

/// Whether a line is one of an environment or of a launcher: an assignment of a variable.
fn is_environment(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    let text = text.strip_prefix(b"+").map_or(text, |rest| rest.trim_start_plus());
    let text = text.strip_prefix(b"export ").or_else(|| text.strip_prefix(b"declare -x ")).unwrap_or(text);
    let name =
        text.iter().take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || **byte == b'_');
    let length = name.count();
    length >= 2 && text.first().is_some_and(u8::is_ascii_uppercase) && text.get(length) == Some(&b'=')
}

trait TrimPlus {
    fn trim_start_plus(&self) -> &[u8];
}

impl TrimPlus for [u8] {
    /// A shell's trace has a `+` for each level.
    fn trim_start_plus(&self) -> &[u8] {
        let depth = self.iter().take_while(|byte| matches!(byte, b'+' | b' ')).count();
        self.get(depth..).unwrap_or(&[])
    }
}

/// `"POST /v1/chat/completions HTTP/1.1" 200 OK`: method and path without its query, and the status.
fn call(text: &[u8], http: usize) -> Option<(String, u16)> {
    let before = text.get(..http)?.strip_suffix(b" ")?;
    let quote = memchr::memrchr(b'"', before)?;
    let request = std::str::from_utf8(before.get(quote + 1..)?).ok()?;
    let (method, target) = request.split_once(' ')?;
    let is_method = (3..=7).contains(&method.len()) && method.bytes().all(|byte| byte.is_ascii_uppercase());
    if !is_method || target.contains(' ') {
        return None;
    }
    let path = target.split(['?', '#']).next()?;
    // An absolute target may carry who asks.
    let path = path.find("://").map_or(path, |at| {
        let rest = path.get(at + 3..).unwrap_or("");
        rest.find('/').and_then(|slash| rest.get(slash..)).unwrap_or("/")
    });
    let path: String = path.chars().take(LONGEST_PATH).collect();
    let behind = text.get(http..)?;
    let rest = behind.get(memchr::memchr(b'"', behind)? + 1..)?.trim_ascii_start();
    let status = std::str::from_utf8(rest.get(..3)?).ok()?.parse().ok()?;
    Some((format!("{method} {path}"), status))
}

fn count(access: &mut Access, call: String, status: u16, place: Place) {
    if access.calls.len() >= MOST_PATHS && !access.calls.contains_key(&call) {
        let others = access.others.get_or_insert((0, place));
        others.0 += 1;
        return;
    }
    let calls = access.calls.entry(call).or_insert(AccessCount {
        count: 0,
        first: place,
        refused: 0,
        first_refused: None,
    });
    calls.count += 1;
    if status >= 400 {
        calls.refused += 1;
        calls.first_refused.get_or_insert((status, place));
    }
}

/// A server's arguments; of those that no rule names a number alone.
fn started(asked: &Asked, text: &[u8], place: Place) -> Option<Started> {
    let arguments = server_arguments(text)?
        .take(MOST_ARGUMENTS)
        .map(|(name, value)| {
            let name = String::from_utf8_lossy(name).into_owned();
            let is_asked = asked.is_argument(&name);
            let value_text = is_asked.then(|| unquoted(&String::from_utf8_lossy(value)).to_owned());
            Argument { name, value: value_text, digest: digest(value), place }
        })
        .collect();
    let is_whole = matches!(text.trim_ascii_end().last(), Some(b')' | b'}'));
    Some(Started { arguments, is_whole })
}

fn unquoted(value: &str) -> &str {
    ['\'', '"'].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote)).unwrap_or(value)
}

/// A number that differs where texts do (FNV-1a); it tells equal from different and nothing else.
fn digest(text: &[u8]) -> u64 {
    text.iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn access_lines_lose_their_queries() {
        let call_in = |text: &str| call(text.as_bytes(), text.find("HTTP/1.").unwrap());
        let line = "[2026-11-30 07:32:33] INFO:     127.0.0.1:1 - \"POST /v1/chat/completions?key=s HTTP/1.1\" 200 OK";
        assert_eq!(call_in(line), Some(("POST /v1/chat/completions".to_owned(), 200)));
        assert_eq!(
            call_in("\"GET http://u:p@h/health HTTP/1.0\" 503"),
            Some(("GET /health".to_owned(), 503))
        );
        assert_eq!(call_in("speaks HTTP/1.1 to \"x\" 200"), None);
        assert_eq!(call_in("\"POST /x HTTP/1.1\""), None);
    }

    #[test]
    fn environments_are_recognised() {
        for text in ["PATH=/bin", "+ export A_B=1", "++ X1=2", "declare -x HOME=\"/\""] {
            assert!(is_environment(text.as_bytes()), "{text}");
        }
        for text in ["a=1", "[2026] server_args=X", "X=1".get(..1).unwrap(), "FOO bar=1", "=1"] {
            assert!(!is_environment(text.as_bytes()), "{text}");
        }
    }
}
