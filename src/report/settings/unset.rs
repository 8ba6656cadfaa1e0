//! What an evaluation run must clear: `unset NAME` for a shell, the arguments to leave out one a line, and for vLLM's
//! JSON a merge patch (RFC 7396) in which null takes a key away.

use std::io::{self, Write};

use crate::engine::{Removal, SettingKind};

/// Writes removals.
pub fn write_unset(removals: &[Removal], out: &mut dyn Write) -> io::Result<()> {
    let of = |kind| removals.iter().filter(move |removal| removal.kind == kind);
    for removal in of(SettingKind::Env) {
        writeln!(out, "unset {}", removal.name)?;
    }
    for removal in of(SettingKind::Arg) {
        writeln!(out, "{}", removal.name)?;
    }
    let patch: Vec<String> = of(SettingKind::Json).map(member).collect();
    if patch.is_empty() { Ok(()) } else { writeln!(out, "{{{}}}", patch.join(",")) }
}

fn member(removal: &Removal) -> String {
    match removal.instead {
        Some(word) => format!("\"{}\":\"{word}\"", removal.name),
        None => format!("\"{}\":null", removal.name),
    }
}
