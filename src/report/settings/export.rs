//! `export NAME=value`: for a shell script, or `eval "$(accsim env ...)"`.

use std::io::{self, Write};

use crate::engine::{Setting, SettingKind};

use super::format::{of_kind, quoted};

pub(super) fn write(settings: &[Setting], out: &mut dyn Write) -> io::Result<()> {
    for (name, value) in of_kind(settings, SettingKind::Env) {
        writeln!(out, "export {name}={}", quoted(value)?)?;
    }
    Ok(())
}
