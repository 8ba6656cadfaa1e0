//! Settings of simulated acceptance that a log echoes: the trace of a shell, a dump of the environment, a dictionary
//! that a program printed.

use crate::evidence::EchoedSetting;

/// What stands before `SIMULATE_ACC_` in the names: releases of SGLang up to 0.5.2 have nothing there.
const OWNERS: [&[u8]; 3] = [b"SGLANG_", b"", b"TILERT_"];

/// What stands before `FORCE_NUM_ACCEPTED_TOKENS`.
const TRTLLM: &[u8] = b"TLLM_SPEC_DECODE_";

/// The name under which a value is handed on that TensorRT-LLM refused.
const REFUSED: &str = "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS (refused)";

/// Longest value taken, in bytes. Lengths and methods are words.
const LONGEST: usize = 64;

/// Reads the setting whose name holds the word at `word`; `None` for a mere mention. `text` begins with its line.
pub(super) fn parse(text: &[u8], word: usize) -> Option<EchoedSetting<'_>> {
    let is_letter = |byte: &u8| byte.is_ascii_uppercase() || *byte == b'_';
    let before = text.get(..word)?;
    let owner = before.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let start = word - owner;
    let (owner, is_trtllm) = (text.get(start..word)?, text.get(word..)?.starts_with(b"FORCE_"));
    if is_trtllm != (owner == TRTLLM) || (!is_trtllm && !OWNERS.contains(&owner)) {
        return None;
    }
    let end = word + text.get(word..)?.iter().take_while(|byte| is_letter(byte)).count();
    let (name, before, behind) = (text.get(start..end)?, text.get(..start)?, text.get(end..)?);
    let is_comment = before.trim_ascii_start().starts_with(b"#");
    // `$NAME` and `${NAME:-3}` ask for the value.
    if is_comment || before.ends_with(b"$") || before.ends_with(b"${") {
        return None;
    }
    if let Some(value) = is_trtllm.then(|| refused(behind)).flatten() {
        return Some(EchoedSetting { name: REFUSED, value });
    }
    let value = value(assigned(before, behind)?)?;
    let (name, value) = (std::str::from_utf8(name).ok()?, std::str::from_utf8(value).ok()?);
    // Help texts write a letter where the number goes.
    let is_sound = !(is_trtllm || name.ends_with("_LEN")) || value.parse::<f64>().is_ok();
    is_sound.then_some(EchoedSetting { name, value })
}

/// The value that a server says it does not take: ` must be a valid integer, got '2.51'. Using default value 0.`
fn refused(behind: &[u8]) -> Option<&str> {
    let value = value(behind.strip_prefix(b" must be a valid integer, got ")?)?;
    std::str::from_utf8(value).ok()
}

/// What is assigned to a name that stands between these two: `NAME=`, `'NAME': `, or a line `NAME: `.
fn assigned<'a>(before: &[u8], behind: &'a [u8]) -> Option<&'a [u8]> {
    if let Some(value) = behind.strip_prefix(b"=") {
        return Some(value);
    }
    let quote = before.last().filter(|byte| matches!(byte, b'"' | b'\''));
    if let Some(quote) = quote {
        let rest = behind.strip_prefix(&[*quote])?.trim_ascii_start();
        return Some(rest.strip_prefix(b":").or_else(|| rest.strip_prefix(b","))?.trim_ascii_start());
    }
    let value = behind.strip_prefix(b": ")?.trim_ascii();
    // Prose goes on.
    let is_alone = before.trim_ascii().is_empty() && !value.contains(&b' ');
    is_alone.then_some(value)
}

/// The value at the start of `text`: in quotes, or up to what ends a word.
fn value(text: &[u8]) -> Option<&[u8]> {
    let quote = text.first().filter(|byte| matches!(byte, b'"' | b'\''));
    let value = if let Some(quote) = quote {
        let inside = text.get(1..)?;
        let near = inside.get(..=LONGEST).unwrap_or(inside);
        near.get(..memchr::memchr(*quote, near)?)?
    } else {
        let is_end = |byte: &u8| byte.is_ascii_whitespace() || b",;:=()[]{}<>\"'`&|\\".contains(byte);
        let end = text.iter().take(LONGEST + 1).position(is_end).unwrap_or(text.len());
        text.get(..end)?
    };
    // A variable is no value yet.
    let is_word = value.iter().all(|byte| byte.is_ascii_graphic() && *byte != b'$');
    (is_word && (1..=LONGEST).contains(&value.len())).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(&str, &str)> {
        let word = text.find("SIMULATE_ACC_")?;
        parse(text.as_bytes(), word).map(|setting| (setting.name, setting.value))
    }

    #[test]
    fn a_value_that_the_server_refused_is_told_as_that() {
        let text = "[10/12/2026-01:01:00] [TRT-LLM] [W] Environment variable TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS must be \
            a valid integer, got '2.51'. Using default value 0.";
        let word = text.find("FORCE_NUM").unwrap();
        let setting = parse(text.as_bytes(), word).unwrap();
        assert_eq!((setting.name, setting.value), (REFUSED, "2.51"));
    }

    #[test]
    fn echoes_are_settings() {
        for (text, name, value) in [
            ("+ export SGLANG_SIMULATE_ACC_LEN=3.51", "SGLANG_SIMULATE_ACC_LEN", "3.51"),
            ("export SGLANG_SIMULATE_ACC_LEN='3.51' # golden", "SGLANG_SIMULATE_ACC_LEN", "3.51"),
            ("SGLANG_SIMULATE_ACC_METHOD=match-expected", "SGLANG_SIMULATE_ACC_METHOD", "match-expected"),
            ("docker run -e SGLANG_SIMULATE_ACC_LEN=2 -e X=1", "SGLANG_SIMULATE_ACC_LEN", "2"),
            ("environ({'A': 'b', 'SGLANG_SIMULATE_ACC_LEN': '3.51', 'C'", "SGLANG_SIMULATE_ACC_LEN", "3.51"),
            (r#"{"SGLANG_SIMULATE_ACC_LEN":3.51}"#, "SGLANG_SIMULATE_ACC_LEN", "3.51"),
            (r#"["SGLANG_SIMULATE_ACC_LEN=3.51", "X=1"]"#, "SGLANG_SIMULATE_ACC_LEN", "3.51"),
            (
                "  SGLANG_SIMULATE_ACC_TOKEN_MODE: real-draft-token",
                "SGLANG_SIMULATE_ACC_TOKEN_MODE",
                "real-draft-token",
            ),
            ("SIMULATE_ACC_LEN=2.5", "SIMULATE_ACC_LEN", "2.5"),
        ] {
            assert_eq!(read(text), Some((name, value)), "{text}");
        }
    }

    #[test]
    fn mentions_are_none() {
        for text in [
            "# export SGLANG_SIMULATE_ACC_LEN=3.51",
            "unset SGLANG_SIMULATE_ACC_LEN",
            "SGLANG_SIMULATE_ACC_LEN=",
            "SGLANG_SIMULATE_ACC_LEN=''",
            "echo $SGLANG_SIMULATE_ACC_LEN=3",
            "X=${SGLANG_SIMULATE_ACC_LEN:-3}",
            "export SGLANG_SIMULATE_ACC_LEN=$AL",
            "export SGLANG_SIMULATE_ACC_LEN=\"${AL}\"",
            "SGLANG_SIMULATE_ACC_LEN>1.0 with DSpark requires a verify-all schedule",
            "SGLANG_SIMULATE_ACC_LEN=X sets the length",
            "if [ \"$SGLANG_SIMULATE_ACC_LEN\" == 3 ]",
            "if SGLANG_SIMULATE_ACC_METHOD==x",
            "SGLANG_SIMULATE_ACC_METHOD: set it to match-expected",
            "see SGLANG_SIMULATE_ACC_METHOD: multinomial",
            "MY_SIMULATE_ACC_LEN=3",
            "OLDSGLANG_SIMULATE_ACC_LEN=3",
            "SGLANG_SIMULATE_ACC_METHOD='never closed",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
