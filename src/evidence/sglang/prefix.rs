//! What stands before a head: the engine's own bracket with time and rank tags, behind any wrapper.

use crate::evidence::{Tags, Timestamp};

use super::tag_cache::TagCache;

/// Time and rank of one record.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Prefix<'a> {
    pub(super) timestamp: Option<Timestamp<'a>>,
    pub(super) tags: Tags,
}

/// Reads the text between the previous record and a head. `None` when the record is quoted or told about, not logged.
pub(super) fn read<'a>(before: &'a [u8], cache: &mut TagCache) -> Option<Prefix<'a>> {
    let before = before.trim_ascii_end();
    let Some(inside) = before.strip_suffix(b"]") else {
        return without_bracket(before).then(Prefix::default);
    };
    // Some hosts cut the opening bracket and the time: `pod-x INFO TP0] Decode batch`.
    let Some(open) = memchr::memrchr(b'[', inside) else {
        return (!is_quoted(inside)).then(|| Prefix { timestamp: None, tags: Tags::parse(inside) });
    };
    let (wrapper, bracket) = inside.split_at_checked(open)?;
    if is_quoted(wrapper) {
        return None;
    }
    let bracket = bracket.get(1..)?;
    let timestamp = Timestamp::parse(bracket);
    let behind = bracket.get(timestamp.map_or(0, |time| time.as_bytes().len())..)?;
    Some(Prefix { timestamp, tags: cache.get(behind) })
}

/// Index where the prefix of the head at `head` begins: its bracket, or the head itself.
pub(super) fn start(text: &[u8], head: usize) -> usize {
    let Some(before) = text.get(..head).map(<[u8]>::trim_ascii_end) else {
        return head;
    };
    match before.strip_suffix(b"]") {
        Some(inside) => memchr::memrchr(b'[', inside).unwrap_or(head),
        None => head,
    }
}

/// Whether a record stands inside a string: a quote or an escape just before it, or an open double quote.
fn is_quoted(wrapper: &[u8]) -> bool {
    let touching = wrapper.last().is_some_and(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    let escaped = [&b"\\n"[..], b"\\r", b"\\t"].iter().any(|escape| wrapper.ends_with(escape));
    let open = memchr::memchr_iter(b'"', wrapper).count() % 2 == 1;
    touching || escaped || open
}

/// Without a bracket a record stands at the start of its line, or behind a wrapper's own label.
fn without_bracket(before: &[u8]) -> bool {
    let before = before.trim_ascii_start();
    if before.is_empty() {
        return true;
    }
    if is_quoted(before) {
        return false;
    }
    let one_word = !before.iter().any(u8::is_ascii_whitespace);
    let dated = before.first().is_some_and(u8::is_ascii_digit);
    match before.last() {
        Some(b'|' | b')') => true,
        Some(b':') => one_word || dated,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(before: &[u8]) -> Option<Prefix<'_>> {
        super::read(before, &mut TagCache::default())
    }

    #[test]
    fn wrappers_before_the_bracket_are_ignored() {
        for wrapper in [
            "",
            "  3: ",
            "sglang-1  | ",
            "C:\\logs\\run.txt:12:",
            "2026-06-01T10:00:02.0Z stdout F ",
            "0%|   | 0/58 ",
        ] {
            let text = format!("{wrapper}[2026-10-12 01:02:03.001 DP0 TP3] ");
            let prefix = read(text.as_bytes()).unwrap();
            assert_eq!(prefix.timestamp.map(Timestamp::as_str), Some("2026-10-12 01:02:03.001"), "{wrapper}");
            assert_eq!(prefix.tags.to_string(), "DP0 TP3");
        }
    }

    #[test]
    fn the_shortest_and_the_custom_brackets() {
        assert_eq!(read(b"[04:40:55 TP0] ").unwrap().timestamp.map(Timestamp::as_str), Some("04:40:55"));
        let custom =
            read(b"2025-10-20 03:02:22 INFO 31223 [DP3 TP3 EP3 scheduler_metrics_mixin.py:222] ").unwrap();
        assert_eq!(custom.timestamp, None);
        assert_eq!(custom.tags.to_string(), "DP3 EP3 TP3");
        assert_eq!(read(b"2026-09-27T00:15:25.500Z pod INFO TP0] ").unwrap().tags.to_string(), "TP0");
    }

    #[test]
    fn quoted_records_are_not_logged_ones() {
        for before in [
            "`[2026-10-12 01:02:03] ",
            "\"[2026-10-12 01:02:03] ",
            "text=\"see: [2026-10-12 01:02:03] ",
            "a\\n[2026-10-12 01:02:03] ",
            "`",
            "as we saw, ",
            "say \"",
            "the log shows: ",
        ] {
            assert_eq!(read(before.as_bytes()), None, "{before}");
        }
        for before in ["", "    ", "name-1  | ", "(Engine pid=1) ", "3: ", "2026-01-01 10:00:00 INFO sched: "]
        {
            assert_eq!(read(before.as_bytes()), Some(Prefix::default()), "{before}");
        }
    }
}
