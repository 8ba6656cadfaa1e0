//! What stands before a head: the engine's own bracket with time and rank tags, behind any wrapper.

use crate::evidence::{Tags, Timestamp};

use super::quotes::Quotes;
use super::tag_cache::TagCache;

/// Time and rank of one record.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Prefix<'a> {
    pub(super) timestamp: Option<Timestamp<'a>>,
    pub(super) tags: Tags,
}

/// Reads what stands in `text` before the head at `head`, down to `done`, where the record before it ended. `None` when
/// the record is quoted or told about, not logged.
///
/// `quotes` follows the text from its beginning.
pub(super) fn read<'a>(
    text: &'a [u8],
    done: usize,
    head: usize,
    quotes: &mut Quotes,
    known: &mut TagCache,
) -> Option<Prefix<'a>> {
    let before = text.get(done..head)?;
    let bracket = bracket(before);
    let start = done + bracket.map_or(before.len(), |open| open);
    quotes.advance(text, start);
    if quotes.are_open() {
        return None;
    }
    if let Some(open) = bracket {
        let (wrapper, bracket) = before.split_at_checked(open)?;
        if is_quoting(wrapper) {
            return None;
        }
        let inside = bracket.trim_ascii_end().strip_prefix(b"[")?.strip_suffix(b"]")?;
        let timestamp = Timestamp::parse(inside);
        let behind = inside.get(timestamp.map_or(0, |time| time.as_bytes().len())..)?;
        return Some(Prefix { timestamp, tags: known.get(behind) });
    }
    // Some hosts cut the opening bracket and the time: `pod-x INFO TP0] Decode batch`.
    if let Some(cut) = before.trim_ascii_end().strip_suffix(b"]") {
        return (!is_quoting(cut)).then(|| Prefix { timestamp: None, tags: Tags::parse_last(cut) });
    }
    without_bracket(before).then(Prefix::default)
}

/// Index where the prefix of the head at `head` begins, down to `done`: its bracket, or the head itself.
pub(super) fn start(text: &[u8], done: usize, head: usize) -> usize {
    text.get(done..head).and_then(bracket).map_or(head, |open| done + open)
}

/// Index of the bracket that closes at the end of `before`, white space behind it aside.
fn bracket(before: &[u8]) -> Option<usize> {
    let inside = before.trim_ascii_end().strip_suffix(b"]")?;
    memchr::memrchr2(b'[', b']', inside).filter(|at| inside.get(*at) == Some(&b'['))
}

/// Whether what stands before a record quotes it: a mark or an escape just before it, the markers of Markdown, prose.
fn is_quoting(wrapper: &[u8]) -> bool {
    let touching = wrapper.last().is_some_and(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    let escaped = [&b"\\n"[..], b"\\r", b"\\t"].iter().any(|escape| wrapper.ends_with(escape));
    touching || escaped || is_markdown(wrapper.trim_ascii()) || is_prose(wrapper)
}

/// A block quote, a cell of a table, or a marker alone: a list's, a heading's, an emphasis.
fn is_markdown(wrapper: &[u8]) -> bool {
    let cell_or_quote = wrapper.first().is_some_and(|byte| matches!(byte, b'>' | b'|'));
    let marker = wrapper.iter().all(|byte| b"-*+#_~ ".contains(byte));
    let numbered = wrapper
        .strip_suffix(b".")
        .or_else(|| wrapper.strip_suffix(b")"))
        .is_some_and(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit));
    cell_or_quote || (marker && !wrapper.is_empty()) || numbered
}

/// Three words in small letters just before: a sentence, where a wrapper has names and numbers.
fn is_prose(wrapper: &[u8]) -> bool {
    let is_word = |word: &[u8]| {
        let word = word.strip_suffix(b":").or_else(|| word.strip_suffix(b",")).unwrap_or(word);
        !word.is_empty() && word.iter().all(u8::is_ascii_lowercase)
    };
    let apart = wrapper.last().is_some_and(u8::is_ascii_whitespace);
    let mut words = wrapper.rsplit(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    apart && (0..3).all(|_| words.next().is_some_and(is_word))
}

/// Without a bracket a record stands at the start of its line, or behind a wrapper's own label.
fn without_bracket(before: &[u8]) -> bool {
    let before = before.strip_prefix("\u{feff}".as_bytes()).unwrap_or(before);
    if before.iter().all(|byte| byte.is_ascii_whitespace() || *byte == 0) {
        return true;
    }
    if is_quoting(before) {
        return false;
    }
    let before = before.trim_ascii();
    let label = before.rsplit(u8::is_ascii_whitespace).next().unwrap_or(before);
    let dated = before.first().is_some_and(u8::is_ascii_digit);
    match before.last() {
        Some(b'|' | b')') => true,
        Some(b':') => dated || label.len() == before.len() || label.ends_with(b"]:"),
        _ => dated && matches!(label, b"-" | b"DEBUG" | b"INFO" | b"WARNING" | b"ERROR"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(before: &str) -> Option<Prefix<'_>> {
        read(before.as_bytes(), 0, before.len(), &mut Quotes::default(), &mut TagCache::default())
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
            "pod-7f main ",
            "Oct 12 01:02:03 node7 sglang[123]: ",
            "[pod/decode-0/main] ",
            "INFO: 127.0.0.1 - \"POST /v1 HTTP/1.1\" 200 OK",
            "we go on without the config.",
            "doesn't exist.",
        ] {
            let text = format!("{wrapper}[2026-10-12 01:02:03.001 DP0 TP3] ");
            let prefix = prefix(&text).unwrap_or_else(|| panic!("{wrapper}"));
            assert_eq!(prefix.timestamp.map(Timestamp::as_str), Some("2026-10-12 01:02:03.001"), "{wrapper}");
            assert_eq!(prefix.tags.to_string(), "DP0 TP3");
        }
    }

    #[test]
    fn the_shortest_and_the_custom_brackets() {
        assert_eq!(prefix("[04:40:55 TP0] ").unwrap().timestamp.map(Timestamp::as_str), Some("04:40:55"));
        let custom =
            prefix("2025-10-20 03:02:22 INFO 31223 [DP3 TP3 EP3 scheduler_metrics_mixin.py:222] ").unwrap();
        assert_eq!(custom.timestamp, None);
        assert_eq!(custom.tags.to_string(), "DP3 EP3 TP3");
    }

    #[test]
    fn a_cut_bracket_keeps_the_tags_at_its_end() {
        for (before, expected) in [
            ("2026-09-27T00:15:25.500Z pod INFO TP0] ", "TP0"),
            ("NODE1 INFO DP2 TP0] ", "DP2 TP0"),
            ("acc len: 3.71 [3.55, 3.87] INFO TP0] ", "TP0"),
            ("INFO] ", ""),
        ] {
            let prefix = prefix(before).unwrap();
            assert_eq!((prefix.timestamp, prefix.tags.to_string().as_str()), (None, expected), "{before}");
        }
    }

    #[test]
    fn quoted_records_are_not_logged_ones() {
        for before in [
            "`[2026-10-12 01:02:03] ",
            "\"[2026-10-12 01:02:03] ",
            "text=\"see: [2026-10-12 01:02:03] ",
            "text='see: [2026-10-12 01:02:03] ",
            "a\\n[2026-10-12 01:02:03] ",
            "> [2026-10-12 01:02:03] ",
            "- [2026-10-12 01:02:03] ",
            "12. [2026-10-12 01:02:03] ",
            "**[2026-10-12 01:02:03] ",
            "| 0.5.9 | [2026-10-12 01:02:03] ",
            "so the log has: [2026-10-12 01:02:03] ",
            "`",
            "as we saw, ",
            "say \"",
            "the log shows: ",
            "2026-10-12 the log shows a ",
        ] {
            assert_eq!(prefix(before), None, "{before}");
        }
    }

    #[test]
    fn labels_that_stand_for_a_bracket() {
        for before in [
            "",
            "    ",
            "\0\0",
            "\u{feff}",
            "name-1  | ",
            "(Engine pid=1) ",
            "3: ",
            "INFO:sglang.srt:",
            "2026-01-01 10:00:00 INFO sched: ",
            "2026-01-01 10:00:00,123 - sglang - INFO - ",
            "Oct 12 01:02:03 node7 sglang[123]: ",
        ] {
            assert_eq!(prefix(before), Some(Prefix::default()), "{before}");
        }
    }

    #[test]
    fn a_quote_that_opened_before_an_earlier_record_is_still_open() {
        let text = b"\"a [2026-10-12 01:02:03] Decode batch, x [2026-10-12 01:02:04] ";
        let (done, head) = (41, text.len());
        assert_eq!(read(text, done, head, &mut Quotes::default(), &mut TagCache::default()), None);
    }
}
