//! `(APIServer pid=1) INFO 05-03 18:50:55 [metrics.py:101] `: process and time, behind any wrapper.

use crate::evidence::decimal::{behind, integer, owned};
use crate::evidence::pattern::begins_like;

/// The form of vLLM's time: no year.
const TIME: &[u8] = b"00-00 00:00:00";

/// Bytes before a head that are looked at.
const NEAR: usize = 256;

/// Process and time of one record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Prefix {
    pub(super) pid: Option<u64>,
    pub(super) timestamp: Option<String>,
}

impl Prefix {
    /// What stands before a head.
    pub(super) fn read(before: &[u8]) -> Self {
        let near = before.get(before.len().saturating_sub(NEAR)..).unwrap_or(before);
        let is_time = |at: &usize| {
            let is_whole = at.checked_sub(1).and_then(|last| near.get(last)).is_none_or(|byte| {
                // `2026-05-03 18:50:55` is a wrapper's.
                !byte.is_ascii_digit() && *byte != b'-'
            });
            is_whole && near.get(*at..).and_then(|text| begins_like(text, TIME)).is_some()
        };
        let at = (0..near.len()).rev().find(is_time);
        let timestamp = at.and_then(|at| near.get(at..at + TIME.len())).map(owned);
        let pid = behind(near, b"pid=").and_then(integer);
        Self { pid, timestamp }
    }
}

#[cfg(test)]
mod tests {
    use super::Prefix;

    #[test]
    fn process_and_time() {
        for (before, pid, time) in [
            ("(APIServer pid=1) INFO 05-03 18:50:55 [metrics.py:101] ", Some(1), Some("05-03 18:50:55")),
            ("INFO 08-17 03:06:10 [v1/metrics.py:120] ", None, Some("08-17 03:06:10")),
            ("INFO 08-09 01:02:03 metrics.py:367] ", None, Some("08-09 01:02:03")),
            (
                "2026-05-03 20:50:55 w | (APIServer pid=7) INFO 05-03 18:50:55 [m.py:1] ",
                Some(7),
                Some("05-03 18:50:55"),
            ),
            ("2026-05-03 20:50:55 ", None, None),
            ("", None, None),
        ] {
            let prefix = Prefix::read(before.as_bytes());
            assert_eq!((prefix.pid, prefix.timestamp.as_deref()), (pid, time), "{before}");
        }
    }
}
