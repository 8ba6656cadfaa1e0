//! What the server's own draws say about a point, with the first lines side by side.

use std::io::{self, Write};

use crate::replay::Replay;
use crate::report::audit::{AuditRun, side_by_side, slips};

/// One plain sentence; below it the first lines, printed and recomputed.
pub(super) fn write_replay(replay: &Replay, run: &AuditRun<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "  {:<11} {replay}", "replay")?;
    if let Some(lines) = side_by_side(run, replay) {
        writeln!(out, "  {:<11} printed    {}  ({} and on)", "", lines.printed, lines.place)?;
        writeln!(out, "  {:<11} recomputed {}", "", lines.recomputed)?;
    }
    if let Some(slips) = slips(run, replay) {
        writeln!(out, "  {:<11} passed over: {slips}", "")?;
    }
    Ok(())
}
