//! What the server's own draws say about a point, with the first lines side by side.

use std::io::{self, Write};

use crate::evidence::Hundredths;
use crate::replay::{Replay, ReplayStatus, SideBySide};

use crate::report::audit::AuditRun;

/// Slips that are listed one by one.
const LISTED: usize = 8;

/// One plain sentence; below it the first lines, printed and recomputed.
pub(super) fn write_replay(replay: &Replay, run: &AuditRun<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "  {:<11} {replay}", "replay")?;
    if replay.status == ReplayStatus::Unavailable {
        return Ok(());
    }
    if let Some(first) = replay.first_lines.first() {
        let row = |of: fn(&SideBySide) -> u32| -> String {
            let values = replay.first_lines.iter().map(|line| Hundredths::new(of(line)).to_string());
            values.collect::<Vec<_>>().join(" ")
        };
        let place = run.place(first.place);
        writeln!(out, "  {:<11} printed    {}  ({place} and on)", "", row(|line| line.printed))?;
        writeln!(out, "  {:<11} recomputed {}", "", row(|line| line.expected))?;
    }
    if !replay.slips.is_empty() {
        let mut parts: Vec<String> = replay
            .slips
            .iter()
            .take(LISTED)
            .map(|slip| format!("{} draws before {}", slip.draws, run.place(slip.place)))
            .collect();
        if replay.slips.len() > LISTED {
            parts.push(format!("{} more", replay.slips.len() - LISTED));
        }
        writeln!(out, "  {:<11} passed over: {}", "", parts.join("; "))?;
    }
    Ok(())
}
