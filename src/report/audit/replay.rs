//! What a replay lays side by side, in words.

use crate::evidence::Hundredths;
use crate::replay::{Replay, ReplayStatus, SideBySide};

use super::AuditRun;

/// Slips that are listed one by one.
const LISTED: usize = 8;

/// The first lines of a log, and what the server's own draws print for them.
pub(in crate::report) struct SideBySideLines {
    /// Where they begin.
    pub(in crate::report) place: String,
    /// `3.62 3.52 3.55`
    pub(in crate::report) printed: String,
    /// The same, recomputed.
    pub(in crate::report) recomputed: String,
}

/// The first lines, where draws could be laid against them.
pub(in crate::report) fn side_by_side(run: &AuditRun<'_>, replay: &Replay) -> Option<SideBySideLines> {
    let first = replay.first_lines.first().filter(|_| replay.status != ReplayStatus::Unavailable)?;
    let row = |of: fn(&SideBySide) -> u32| -> String {
        let values = replay.first_lines.iter().map(|line| Hundredths::new(of(line)).to_string());
        values.collect::<Vec<_>>().join(" ")
    };
    Some(SideBySideLines {
        place: run.place(first.place),
        printed: row(|line| line.printed),
        recomputed: row(|line| line.expected),
    })
}

/// Draws that were passed over: `40 draws before run.log:123`.
pub(in crate::report) fn slips(run: &AuditRun<'_>, replay: &Replay) -> Option<String> {
    if replay.slips.is_empty() || replay.status == ReplayStatus::Unavailable {
        return None;
    }
    let listed = replay.slips.iter().take(LISTED);
    let mut parts: Vec<String> =
        listed.map(|slip| format!("{} draws before {}", slip.draws, run.place(slip.place))).collect();
    if replay.slips.len() > LISTED {
        parts.push(format!("{} more", replay.slips.len() - LISTED));
    }
    Some(parts.join("; "))
}
