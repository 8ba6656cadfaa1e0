//! Wrappers of a whole file, one physical line at a time.

use super::{Damage, Rate, Wrapper};
use crate::simulate::log::draws::Mixer;
use crate::simulate::log::text::Text;
use crate::simulate::log::time::Clock;

/// Digits behind the second in the times of container runtimes.
const NANOSECONDS: usize = 9;

/// Appends one physical line, made of parts, in its wrapper and with its end; returns whether it was split.
pub(in crate::simulate::log) fn physical_line(
    damage: &Damage,
    parts: &[&[u8]],
    (at, rank): (u64, u32),
    clock: &mut Clock,
    chance: &mut Mixer,
    text: &mut Text,
) -> bool {
    match damage.wrapper {
        Wrapper::None => put(parts, text),
        Wrapper::Srun => {
            text.begin_line();
            if rank < 10 {
                text.byte(b' ');
            }
            text.integer(rank.into());
            text.put(b": ");
            put(parts, text);
        }
        Wrapper::Docker => {
            text.put(b"{\"log\":\"");
            for part in parts {
                escape(part, text);
            }
            text.put(if damage.crlf { b"\\r\\n" } else { b"\\n" });
            text.put(b"\",\"stream\":\"stderr\",\"time\":\"");
            clock.write_iso(at, NANOSECONDS, text);
            text.put(b"Z\"}");
        }
        Wrapper::Cri { split } => return cri(damage, split, parts, at, clock, chance, text),
    }
    end(damage, text);
    false
}

fn put(parts: &[&[u8]], text: &mut Text) {
    for part in parts {
        text.put(part);
    }
}

/// The end of a physical line. Inside Docker's string the line has its own.
fn end(damage: &Damage, text: &mut Text) {
    if damage.crlf && damage.wrapper != Wrapper::Docker {
        text.put(b"\r\n");
    } else {
        text.put(b"\n");
    }
}

fn cri(
    damage: &Damage,
    split: Rate,
    parts: &[&[u8]],
    at: u64,
    clock: &mut Clock,
    chance: &mut Mixer,
    text: &mut Text,
) -> bool {
    let mut label = |flag: &[u8], text: &mut Text| {
        text.begin_line();
        clock.write_iso(at, NANOSECONDS, text);
        text.put(b"Z stderr ");
        text.put(flag);
        text.put(b" ");
    };
    let length: usize = parts.iter().map(|part| part.len()).sum();
    if length < 2 || !chance.hits(split) {
        label(b"F", text);
        put(parts, text);
        end(damage, text);
        return false;
    }
    let cut = chance.index(1, length - 1);
    label(b"P", text);
    let mut room = cut;
    let mut rest = Vec::new();
    for part in parts {
        let (before, behind) = part.split_at_checked(room).unwrap_or((part, &[]));
        text.put(before);
        rest.push(behind);
        room -= before.len();
    }
    // A part ends where the runtime cut it, so no CR there.
    text.put(b"\n");
    label(b"F", text);
    put(&rest, text);
    end(damage, text);
    true
}

/// Appends text as it stands inside a JSON string.
fn escape(part: &[u8], text: &mut Text) {
    let mut rest = part;
    while let Some(special) = rest.iter().position(|byte| *byte < 0x20 || matches!(byte, b'"' | b'\\')) {
        let (before, behind) = rest.split_at_checked(special).unwrap_or((rest, &[]));
        text.put(before);
        match behind.first() {
            Some(byte @ (b'"' | b'\\')) => text.put(&[b'\\', *byte]),
            Some(byte) => text.put(format!("\\u{byte:04x}").as_bytes()),
            None => {}
        }
        rest = behind.get(1..).unwrap_or(&[]);
    }
    text.put(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(damage: &Damage, parts: &[&[u8]]) -> String {
        let mut text = Text::default();
        let mut clock = Clock::new("2026-10-12T01:02:03".parse().unwrap());
        let place = (4_500_000, 3);
        physical_line(damage, parts, place, &mut clock, &mut Mixer::new(1, 1), &mut text);
        String::from_utf8(text.as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn wrappers_look_as_they_do_in_the_field() {
        let wrapped = |wrapper, crlf| {
            line(&Damage { crlf, wrapper, ..Damage::default() }, &[b"[x] say \"a\\b\"", b"\x1b[0m!"])
        };
        assert_eq!(wrapped(Wrapper::None, true), "[x] say \"a\\b\"\x1b[0m!\r\n");
        assert_eq!(wrapped(Wrapper::Srun, false), " 3: [x] say \"a\\b\"\x1b[0m!\n");
        assert_eq!(
            wrapped(Wrapper::Docker, true),
            "{\"log\":\"[x] say \\\"a\\\\b\\\"\\u001b[0m!\\r\\n\",\"stream\":\"stderr\",\
             \"time\":\"2026-10-12T01:02:07.500000000Z\"}\n"
        );
        assert_eq!(
            wrapped(Wrapper::Cri { split: Rate::NEVER }, false),
            "2026-10-12T01:02:07.500000000Z stderr F [x] say \"a\\b\"\x1b[0m!\n"
        );
    }

    #[test]
    fn split_lines_join_to_the_whole() {
        let whole = Rate::new(1.0).unwrap();
        let damage = Damage { wrapper: Wrapper::Cri { split: whole }, ..Damage::default() };
        let text = line(&damage, &[b"abc", b"", b"defgh"]);
        let label = |flag| format!("2026-10-12T01:02:07.500000000Z stderr {flag} ");
        let (first, second) = text.split_once('\n').unwrap();
        let first = first.strip_prefix(&label('P')).unwrap();
        let second = second.strip_prefix(&label('F')).unwrap().strip_suffix('\n').unwrap();
        assert_eq!(format!("{first}{second}"), "abcdefgh");
        assert!(!first.is_empty() && !second.is_empty());
    }
}
