//! `NAME=value`: for an env file of Docker or Compose. The values are numbers and words, which need no quotes there.

use std::io::{self, Write};

use crate::engine::{Setting, SettingKind};

use super::format::of_kind;

pub(super) fn write(settings: &[Setting], out: &mut dyn Write) -> io::Result<()> {
    for (name, value) in of_kind(settings, SettingKind::Env) {
        writeln!(out, "{name}={value}")?;
    }
    Ok(())
}
