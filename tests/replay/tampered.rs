//! Real logs with one digit changed, or with lines missing.

use accsim::audit::{FindingCode, Verdict};
use accsim::replay::{DrawMethod, ReplayStatus};

use super::support::{audit, decode_lines, log, replay};

/// The logs with what was injected.
const LOGS: [(&str, f64, u32, DrawMethod); 8] = [
    ("e3k5_al351", 3.51, 6, DrawMethod::MatchExpected),
    ("e3k5_al351_int1", 3.51, 6, DrawMethod::MatchExpected),
    ("e3k3_al299", 2.99, 4, DrawMethod::MatchExpected),
    ("var_k5_al351", 3.51, 6, DrawMethod::MatchExpected),
    ("dp2_k5_al351", 3.51, 6, DrawMethod::MatchExpected),
    ("ngram_al351", 3.51, 6, DrawMethod::MatchExpected),
    ("flush_k5_al278", 2.78, 6, DrawMethod::MatchExpected),
    ("e3k5_multinomial351", 3.51, 6, DrawMethod::Multinomial),
];

/// Indices of the steady decode lines: as many requests as in the rank's line before, no prefill between.
fn steady(lines: &[String]) -> Vec<usize> {
    let rank = |line: &str| {
        line.split(']').next().unwrap().rsplit(' ').find(|tag| tag.starts_with("DP")).map(str::to_owned)
    };
    let running =
        |line: &str| line.split("#running-req: ").nth(1).unwrap().split(',').next().unwrap().to_owned();
    let mut before = std::collections::HashMap::new();
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        if line.contains("] Prefill batch") {
            before.remove(&rank(line));
        } else if line.contains("Cache flushed successfully!") {
            before.clear();
        } else if line.contains("] Decode batch")
            && before.insert(rank(line), running(line)) == Some(running(line))
        {
            found.push(index);
        }
    }
    found
}

/// The line with the last digit of its accept length changed.
fn altered(line: &str) -> String {
    let at = line.find("accept len: ").unwrap() + "accept len: ".len() + 3;
    let digit = line.as_bytes()[at];
    let other = if digit == b'0' { '5' } else { '0' };
    format!("{}{other}{}", &line[..at], &line[at + 1..])
}

#[test]
fn one_altered_digit_is_a_contradiction_at_its_place() {
    for (name, length, max, method) in LOGS {
        let lines = log(name);
        let steady = steady(&lines);
        // Early, in the middle and last.
        for at in [steady[1], steady[steady.len() / 2], steady[steady.len() - 1]] {
            let mut lines = lines.clone();
            lines[at] = altered(&lines[at]);
            let report = audit(lines.concat().as_bytes(), length, max);
            let replay = report.replay.as_ref().unwrap();
            assert_eq!(replay.status, ReplayStatus::Contradicted, "{name} line {}: {replay}", at + 1);
            let mismatch = replay.first_mismatch.unwrap();
            assert_eq!(mismatch.place.line, u64::try_from(at + 1).unwrap(), "{name}");
            assert_ne!(mismatch.printed, mismatch.expected);
            let law = replay.law.unwrap();
            assert_eq!((law.method(), law.accept_length().to_bits()), (method, length.to_bits()), "{name}");
            let finding = report
                .findings
                .iter()
                .find(|finding| finding.code == FindingCode::ReplayContradicted)
                .unwrap_or_else(|| panic!("{name}: no finding"));
            assert_eq!(finding.evidence, Some(mismatch.place));
        }
    }
}

/// Every third steady line of one log, one after the other.
#[test]
fn no_steady_line_can_be_altered_unseen() {
    let lines = log("e3k5_al351");
    for at in steady(&lines).into_iter().step_by(3) {
        let mut lines = lines.clone();
        lines[at] = altered(&lines[at]);
        let replay = replay(lines.concat().as_bytes(), 3.51, 6);
        assert_eq!(replay.status, ReplayStatus::Contradicted, "line {}", at + 1);
        assert_eq!(replay.first_mismatch.unwrap().place.line, u64::try_from(at + 1).unwrap());
    }
}

/// The line with another accept length that the same draws could not have given: nearer ones first.
fn others(line: &str, interval: u32) -> Vec<String> {
    let at = line.find("accept len: ").unwrap() + "accept len: ".len();
    let printed: u32 = line[at..at + 4].replace('.', "").parse().unwrap();
    let floor = printed / 100 - u32::from(printed.is_multiple_of(100));
    let lattice: Vec<u32> = (0..=interval)
        .filter_map(|larger| accsim::law::printed(u64::from(floor * interval + larger), u64::from(interval)))
        .collect();
    let here = lattice.iter().position(|value| *value == printed).unwrap();
    let beside = [here.checked_sub(1), Some(here + 1), here.checked_sub(2), Some(here + 2)];
    let values = beside.into_iter().flatten().filter_map(|at| lattice.get(at));
    let with = |value: &u32| format!("{}{}.{:02}{}", &line[..at], value / 100, value % 100, &line[at + 4..]);
    values.map(with).collect()
}

/// Every steady line that reads as one or two steps more or less is named, but for those of which nobody can tell.
#[test]
#[ignore = "takes minutes without optimisation"]
fn every_steady_line_off_by_a_step_or_two() {
    // What cannot be told from missing lines: near the end, and before a flush.
    let open: [(&str, u32, usize, &[usize]); 6] = [
        ("e3k5_al351", 40, 0, &[]),
        ("e3k3_al299", 40, 0, &[454, 455, 493, 494, 495, 532, 533, 534, 535]),
        ("var_k5_al351", 40, 0, &[]),
        ("ngram_al351", 40, 0, &[]),
        // As 2.80 line 343 is what another phase behind the flush prints, and then four draws are skipped at line 353.
        ("flush_k5_al278", 20, 0, &[324, 328, 343, 575]),
        ("e3k5_al351_int1", 1, 560, &[865]),
    ];
    for (name, interval, from, open) in open {
        let (_, length, max, _) = *LOGS.iter().find(|log| log.0 == name).unwrap();
        let lines = log(name);
        for at in steady(&lines).into_iter().skip(from) {
            for other in others(&lines[at], interval) {
                let mut altered = lines.clone();
                altered[at].clone_from(&other);
                let replay = replay(altered.concat().as_bytes(), length, max);
                let place = replay.first_mismatch.map(|line| line.place.line);
                let is_named =
                    replay.status == ReplayStatus::Contradicted && place == u64::try_from(at + 1).ok();
                assert!(is_named || open.contains(&(at + 1)), "{name} line {}: {replay}: {other}", at + 1);
                // Nothing is proved without a word about its place.
                assert!(
                    replay.status != ReplayStatus::Proved || !replay.slips.is_empty(),
                    "{name} {}",
                    at + 1
                );
            }
        }
    }
}

/// An altered line as another place would print it, by accident, with the four behind it; and one that no place prints.
#[test]
fn one_altered_line_is_no_gap() {
    for (name, length, number, printed, other) in [
        ("var_k5_al351", 3.51, 288, "3.45", "3.48"),
        ("e3k5_al351_int1", 3.51, 854, "3.00", "2.00"),
        ("e3k5_al351_int1", 3.51, 857, "3.00", "2.00"),
    ] {
        let mut lines = log(name);
        let line = &mut lines[number - 1];
        assert!(line.contains(&format!("accept len: {printed}")), "{line}");
        *line = line.replace(&format!("accept len: {printed}"), &format!("accept len: {other}"));
        let replay = replay(lines.concat().as_bytes(), length, 6);
        assert_eq!(replay.status, ReplayStatus::Contradicted, "{name} {number}: {replay}");
        assert_eq!(replay.first_mismatch.unwrap().place.line, u64::try_from(number).unwrap());
        assert!(replay.slips.is_empty(), "{name} {number}: {:?}", replay.slips);
    }
}

/// Lines right behind a flush: the slip stays at the flush, and the altered line is named.
#[test]
fn no_steady_line_behind_a_flush_can_be_altered_unseen() {
    for (number, printed, other) in [
        (341, "2.80", "2.88"),
        (342, "2.75", "2.78"),
        (343, "2.85", "2.88"),
        (344, "2.70", "2.73"),
        (345, "2.85", "2.88"),
    ] {
        let mut lines = log("flush_k5_al278");
        let line = &mut lines[number - 1];
        *line = line.replace(&format!("accept len: {printed}"), &format!("accept len: {other}"));
        let replay = replay(lines.concat().as_bytes(), 2.78, 6);
        assert_eq!(replay.status, ReplayStatus::Contradicted, "{number}: {replay}");
        assert_eq!(replay.first_mismatch.unwrap().place.line, u64::try_from(number).unwrap());
        let slips: Vec<_> = replay.slips.iter().map(|slip| (slip.place.line, slip.draws)).collect();
        assert_eq!(slips, [(337, 4)], "{number}");
    }
}

/// Near the end too few lines follow to bear a place out; but the tokens that the requests gained say what was drawn.
#[test]
fn the_tokens_tell_of_lines_altered_near_the_end() {
    for number in [532, 533, 534] {
        let mut lines = log("e3k3_al299");
        let line = &mut lines[number - 1];
        *line = line.replace("accept len: 3.00", "accept len: 2.95");
        let replay = replay(lines.concat().as_bytes(), 2.99, 4);
        assert_eq!(replay.status, ReplayStatus::Contradicted, "{number}: {replay}");
        assert_eq!(replay.first_mismatch.unwrap().place.line, u64::try_from(number).unwrap());
    }
}

#[test]
fn ten_missing_lines_are_slips_and_no_contradiction() {
    for name in ["e3k5_al351", "e3k5_al351_int1", "e3k3_al299", "var_k5_al351", "flush_k5_al278"] {
        let (_, length, max, _) = *LOGS.iter().find(|log| log.0 == name).unwrap();
        let lines = log(name);
        let decode = decode_lines(&lines);
        let last = decode.len() - 10;
        for (from, slips) in [(0, true), (decode.len() / 2, true), (last, false)] {
            let missing = &decode[from..from + 10];
            let kept = lines.iter().enumerate().filter(|(index, _)| !missing.contains(index));
            let text: String = kept.map(|(_, line)| line.as_str()).collect();
            let report = audit(text.as_bytes(), length, max);
            let replay = report.replay.as_ref().unwrap();
            assert_eq!(
                replay.status,
                ReplayStatus::Proved,
                "{name} without {from} and on: {replay} {replay:?}"
            );
            assert_eq!(report.verdict, Verdict::Consistent);
            // A flush moves the phase too.
            let flushes = usize::from(name.starts_with("flush"));
            assert_eq!(replay.slips.len() - flushes, usize::from(slips), "{name} {from}: {:?}", replay.slips);
        }
    }
}

/// The same at many other places.
#[test]
fn missing_lines_anywhere() {
    for (name, length, max) in
        [("e3k5_al351", 3.51, 6), ("var_k5_al351", 3.51, 6), ("flush_k5_al278", 2.78, 6)]
    {
        let lines = log(name);
        let decode = decode_lines(&lines);
        for from in (5..decode.len() - 30).step_by(7) {
            // Fewer than sixteen lines between the gap and the flush do not tell where they stand.
            if name.starts_with("flush") && (8..23).contains(&from) {
                continue;
            }
            let missing = &decode[from..from + 10];
            let kept = lines.iter().enumerate().filter(|(index, _)| !missing.contains(index));
            let text: String = kept.map(|(_, line)| line.as_str()).collect();
            let replay = replay(text.as_bytes(), length, max);
            assert_eq!(
                replay.status,
                ReplayStatus::Proved,
                "{name} without {from} and on: {replay} {:?}",
                replay.slips
            );
        }
    }
}

/// A log of another server under this seed.
#[test]
fn the_lines_of_another_server_are_contradicted() {
    let lines = log("e3k5_al351");
    let foreign: Vec<String> =
        lines.iter().map(|line| line.replace("random_seed=320846001", "random_seed=320846002")).collect();
    let report = audit(foreign.concat().as_bytes(), 3.51, 6);
    let replay = report.replay.as_ref().unwrap();
    assert_eq!(replay.status, ReplayStatus::Contradicted);
    assert_eq!(replay.seed, Some(320_846_002));
    assert!(replay.first_mismatch.is_some());
    // The statistics still speak for the target.
    assert_eq!(report.verdict, Verdict::Consistent);
    assert!(report.findings.iter().any(|finding| finding.code == FindingCode::ReplayContradicted));
}

#[test]
fn without_a_seed_it_is_given_by_hand() {
    // Without the arguments nobody says that a line of the second is one step: the draws tell it.
    for (name, seed) in [("e3k5_al351", 320_846_001), ("e3k5_al351_int1", 742_343_424)] {
        let lines = log(name);
        let text: String =
            lines.iter().filter(|line| !line.contains("server_args=")).map(String::as_str).collect();
        assert_eq!(replay(text.as_bytes(), 3.51, 6).status, ReplayStatus::Unavailable, "{name}");
        let mut options = super::support::options(3.51, 6);
        options.seed = Some(seed);
        let report = super::support::audit_with(text.as_bytes(), 3.51, 6, options);
        let replay = report.replay.unwrap();
        assert_eq!(replay.status, ReplayStatus::Proved, "{name}: {replay}");
    }
}

/// A block of lines printed over with an earlier one: no server draws twice, and the place is named.
#[test]
fn lines_printed_again_are_a_contradiction() {
    let lines = log("e3k5_al351");
    let decode = decode_lines(&lines);
    for (from, to, count) in [(10, 30, 12), (20, 21, 20), (22, 20, 20), (5, 60, 12)] {
        let mut changed = lines.clone();
        let value = |line: &str| line.split("accept len: ").nth(1).unwrap()[..4].to_owned();
        for number in 0..count {
            let (source, target) = (decode[from + number], decode[to + number]);
            let (old, new) = (value(&lines[target]), value(&lines[source]));
            changed[target] =
                lines[target].replace(&format!("accept len: {old}"), &format!("accept len: {new}"));
        }
        let replay = replay(changed.concat().as_bytes(), 3.51, 6);
        assert_eq!(replay.status, ReplayStatus::Contradicted, "{from} {to} {count}: {replay:?}");
        let first = replay.first_mismatch.unwrap().place.line;
        let block = decode[to]..=decode[to + count - 1] + 20;
        assert!(block.contains(&usize::try_from(first - 1).unwrap()), "{from} {to}: {first}");
    }
}

/// Two lines near the end of a changing batch, altered by hand: thousands of draws that nobody had time for do not explain
/// them.
#[cfg(feature = "cli")]
#[test]
fn altered_lines_near_the_end_are_no_gap() {
    for (length, max, lines, seeds, edits) in [
        (3.69, 8, 15, (56_174, 588_303_455), [(76, "3.75", "3.70"), (84, "3.65", "3.70")]),
        (2.3, 4, 20, (46, 892_261_666), [(93, "2.27", "2.35"), (100, "2.29", "2.38")]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server.log");
        let line = format!(
            "simulate --accept-length {length} --max-accept-length {max} --lines {lines} --seed {} --running-req 1-64 \
             --random-seed {} --emit-log {}",
            seeds.0,
            seeds.1,
            path.display()
        );
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_accsim"));
        assert!(command.args(line.split_whitespace()).output().unwrap().status.success());
        let text = std::fs::read_to_string(&path).unwrap();
        let mut changed: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        assert_eq!(replay(text.as_bytes(), length, max).status, ReplayStatus::Proved);
        for (number, old, new) in edits {
            let line: &mut String = &mut changed[number - 1];
            assert!(line.contains(&format!("accept len: {old}")), "{line}");
            *line = line.replace(&format!("accept len: {old}"), &format!("accept len: {new}"));
        }
        let replay = replay(changed.concat().as_bytes(), length, max);
        assert_ne!(replay.status, ReplayStatus::Proved, "{length}: {replay:?}");
    }
}
