//! `-e NAME=value -e ...` on one line: for the command line of `docker run`.

use std::io::{self, Write};

use crate::engine::{Setting, SettingKind};

use super::format::{of_kind, quoted};

pub(super) fn write(settings: &[Setting], out: &mut dyn Write) -> io::Result<()> {
    let mut gap = "";
    for (name, value) in of_kind(settings, SettingKind::Env) {
        write!(out, "{gap}-e {name}={}", quoted(value)?)?;
        gap = " ";
    }
    if gap.is_empty() { Ok(()) } else { writeln!(out) }
}
