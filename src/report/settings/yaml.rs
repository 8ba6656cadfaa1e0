//! YAML, as recipes have it: variables with quoted values for an environment block, ATOM's argument without its dashes,
//! vLLM's keys under `speculative-config`.

use std::io::{self, Write};

use crate::engine::{Setting, SettingKind, SettingValue};

pub(super) fn write(settings: &[Setting], out: &mut dyn Write) -> io::Result<()> {
    if settings.is_empty() {
        return writeln!(out, "{{}}");
    }
    let mut in_config = false;
    for setting in settings {
        let (name, value) = (setting.name, setting.value.text());
        match setting.kind {
            // The value of a variable is text, also where it looks like a number.
            SettingKind::Env => writeln!(out, "{name}: \"{value}\"")?,
            SettingKind::Arg => writeln!(out, "{}: {value}", name.trim_start_matches('-'))?,
            SettingKind::Json => {
                if !in_config {
                    writeln!(out, "speculative-config:")?;
                    in_config = true;
                }
                match &setting.value {
                    SettingValue::Number(number) => writeln!(out, "  {name}: {number}")?,
                    SettingValue::Word(word) => writeln!(out, "  {name}: \"{word}\"")?,
                }
            }
        }
    }
    Ok(())
}
