//! Arguments on one line: `--name value`, and vLLM's keys as the JSON object that `--speculative-config` takes.

use std::io::{self, Write};

use crate::engine::{Setting, SettingKind, SettingValue};

use super::format::{of_kind, quoted};

pub(super) fn write(settings: &[Setting], out: &mut dyn Write) -> io::Result<()> {
    let mut words = Vec::new();
    for (name, value) in of_kind(settings, SettingKind::Arg) {
        words.push(format!("{name} {}", quoted(value)?));
    }
    let keys: Vec<String> =
        settings.iter().filter(|setting| setting.kind == SettingKind::Json).map(member).collect();
    if !keys.is_empty() {
        let object = format!("{{{}}}", keys.join(","));
        words.push(format!("--speculative-config {}", quoted(&object)?));
    }
    if words.is_empty() { Ok(()) } else { writeln!(out, "{}", words.join(" ")) }
}

/// One member of a JSON object. Names and words are the engine's own and need no escapes.
fn member(setting: &Setting) -> String {
    let name = setting.name;
    match &setting.value {
        SettingValue::Number(number) => format!("\"{name}\":{number}"),
        SettingValue::Word(word) => format!("\"{name}\":\"{word}\""),
    }
}
