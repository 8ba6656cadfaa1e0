//! vLLM's windows, read by a parser of the test's own.

use accsim::law::{AcceptanceLaw, PerPosition, Setting};
use accsim::simulate::log::{LawSource, Load, LogPlan, VllmEra, VllmLog, VllmPause, VllmPlan, Window};

use super::support::{Written, write};

fn log(era: VllmEra, draft_length: u32, windows: u64) -> VllmLog {
    VllmLog::new(era, "2026-10-12T01:02:03".parse().unwrap(), draft_length, windows)
}

fn write_vllm(log: VllmLog, source: &LawSource) -> (Written, String) {
    let written = write(&LogPlan::Vllm(VllmPlan::new(log).unwrap()), source);
    let text = String::from_utf8(written.text.clone()).unwrap();
    (written, text)
}

fn source(length: f64) -> LawSource {
    LawSource::new(AcceptanceLaw::per_request(Setting::new(length, 6).unwrap()), 4)
}

/// The text behind `name` up to the next comma that is followed by a letter, or the end.
fn field<'a>(line: &'a str, name: &str) -> &'a str {
    let at = line.find(name).unwrap_or_else(|| panic!("{name} in {line}"));
    let rest = &line[at + name.len()..];
    let end = rest.match_indices(", ").find(|(at, _)| rest[at + 2..].starts_with(char::is_alphabetic));
    rest[..end.map_or(rest.len(), |(at, _)| at)].trim_end_matches([',', ' '])
}

fn number(line: &str, name: &str) -> f64 {
    field(line, name).trim_end_matches([' ', '%']).trim_end_matches(" tokens/s").parse().unwrap()
}

fn count(line: &str, name: &str) -> u64 {
    field(line, name).trim_end_matches(" tokens").trim_end_matches('.').parse().unwrap()
}

fn windows(text: &str) -> Vec<&str> {
    text.lines()
        .filter(|line| line.contains("SpecDecoding metrics: ") || line.contains("Speculative metrics: "))
        .collect()
}

/// A and D of a line are the counts that were drawn; its figures follow from them.
fn check_line(line: &str, window: &Window, draft_length: u64) {
    let (accepted, steps) = (window.accepted - window.request_steps, window.request_steps);
    assert_eq!(count(line, " Accepted: "), accepted, "{line}");
    assert_eq!(count(line, " Drafted: "), steps * draft_length, "{line}");
    let near = |name: &str, expected: f64, decimals: f64| {
        assert!((number(line, name) - expected).abs() <= 0.5 * decimals + 1e-9, "{name} {expected} {line}");
    };
    let rate = accepted as f64 / (steps * draft_length) as f64;
    if line.contains("Avg Draft acceptance rate: ") {
        near("Avg Draft acceptance rate: ", rate * 100.0, 0.1);
    } else {
        near("Draft acceptance rate: ", rate * 100.0, 0.1);
    }
    if line.contains("Mean acceptance length: ") {
        near("Mean acceptance length: ", 1.0 + accepted as f64 / steps as f64, 0.01);
        let positions: Vec<f64> = field(line, "Per-position acceptance rate: ")
            .split(", ")
            .map(|text| text.parse().unwrap())
            .collect();
        assert_eq!(positions.len() as u64, draft_length);
        assert!(positions.is_sorted_by(|left, right| left >= right), "{line}");
        let sum: f64 = positions.iter().sum();
        assert!((sum - accepted as f64 / steps as f64).abs() < 0.0005 * draft_length as f64 + 1e-9, "{line}");
    }
}

#[test]
fn windows_hold_what_was_drawn() {
    for era in [VllmEra::Percent, VllmEra::Positions, VllmEra::Throughput] {
        for draft_length in [1, 5, 16] {
            let mut plan = log(era, draft_length, 40);
            plan.load = Load { running: 1..=32, cycle_lines: 20, ..Load::constant(1) };
            let length = f64::from(draft_length) * 0.5 + 1.0;
            let law = AcceptanceLaw::per_request(Setting::new(length, draft_length + 1).unwrap());
            let (written, text) = write_vllm(plan, &LawSource::new(law, 4));
            let lines = windows(&text);
            assert_eq!(lines.len(), 40);
            for (line, window) in lines.iter().zip(&written.windows) {
                check_line(line, window, draft_length.into());
            }
        }
    }
}

/// ENGINES.md 2.3 and the lines of `other_engines.jsonl`: every text around the numbers, era by era.
#[test]
fn lines_look_as_each_era_writes_them() {
    // Digits are all that may differ.
    let shape = |line: &str| line.replace(|letter: char| letter.is_ascii_digit(), "");
    let engine = "Engine 000: Avg prompt throughput: 11244.6 tokens/s, Avg generation throughput: 267.6 tokens/s, \
                  Running: 337 reqs, Waiting: 633 reqs, GPU KV cache usage: 9.5%, Prefix cache hit rate: 0.5%";
    for (era, draft_length, spec) in [
        (
            VllmEra::V0,
            4,
            "INFO 06-06 14:20:34 metrics.py:367] Speculative metrics: Draft acceptance rate: 0.607, System efficiency: \
             0.510, Number of speculative tokens: 4, Number of accepted tokens: 32594, Number of draft tokens: 53716, \
             Number of emitted tokens: 34244.",
        ),
        (
            VllmEra::V1Early,
            1,
            "INFO 06-06 14:20:34 [metrics.py:86] Speculative metrics: Draft acceptance rate: 1.000, Number of accepted \
             tokens: 66, Number of draft tokens: 66, ",
        ),
        (
            VllmEra::Percent,
            3,
            "INFO 06-06 14:20:34 [metrics.py:86] SpecDecoding metrics: Draft acceptance rate: 38.8%, Accepted: 150 \
             tokens, Drafted: 387 tokens",
        ),
        (
            VllmEra::Positions,
            3,
            "INFO 06-06 14:20:34 [metrics.py:86] SpecDecoding metrics: Draft acceptance rate: 38.8%, Mean acceptance \
             length: 2.16, Accepted: 150 tokens, Drafted: 387 tokens, Per-position acceptance rate: 0.543, 0.357, 0.264",
        ),
        (
            VllmEra::Throughput,
            3,
            "(APIServer pid=722408) INFO 10-26 12:36:16 [metrics.py:96] SpecDecoding metrics: Mean acceptance length: \
             2.01, Accepted throughput: 20.60 tokens/s, Drafted throughput: 60.90 tokens/s, Accepted: 206 tokens, \
             Drafted: 609 tokens, Per-position acceptance rate: 0.601, 0.286, 0.128, Avg Draft acceptance rate: 33.8%",
        ),
    ] {
        let (_, text) = write_vllm(log(era, draft_length, 3), &source(1.5));
        let lines: Vec<&str> = text.lines().collect();
        if era == VllmEra::V0 {
            assert_eq!(lines.len(), 3);
        } else {
            assert_eq!(lines.len(), 6);
            assert!(shape(lines[0]).ends_with(&shape(engine)), "{}", lines[0]);
        }
        assert_eq!(shape(lines[lines.len() - 1]), shape(spec), "{era:?}");
    }
}

/// The counters of V0 run on; a window's own counts are their differences.
#[test]
fn v0_counts_from_the_start() {
    let (written, text) = write_vllm(log(VllmEra::V0, 4, 10), &source(3.5));
    let (mut accepted, mut steps) = (0, 0);
    for (line, window) in windows(&text).iter().zip(&written.windows) {
        accepted += window.accepted - window.request_steps;
        steps += window.request_steps;
        assert_eq!(count(line, "Number of accepted tokens: "), accepted);
        assert_eq!(count(line, "Number of draft tokens: "), steps * 4);
        assert_eq!(count(line, "Number of emitted tokens: "), accepted + steps);
    }
}

/// 2.4: synthetic by length prints 1.000, a fraction, 0.000; and its scatter is that of request-steps.
#[test]
fn synthetic_lengths_leave_their_mark() {
    let (written, text) = write_vllm(log(VllmEra::Throughput, 5, 200), &source(3.51));
    for line in windows(&text) {
        let positions = field(line, "Per-position acceptance rate: ");
        assert!(positions.starts_with("1.000, 1.000, 0.") && positions.ends_with(", 0.000, 0.000"), "{line}");
    }
    let total = |of: fn(&Window) -> u64| written.windows.iter().map(of).sum::<u64>() as f64;
    let (tokens, steps) = (total(|window| window.accepted), total(|window| window.request_steps));
    let error = (tokens / steps - 3.51).abs();
    assert!(error < 5.0 * 0.4999 / steps.sqrt(), "{error} of {steps}");
}

/// Rates [0.9, 0.5, 0.2]: the mean is 2.6 and the positions are the rates.
#[test]
fn synthetic_rates_print_themselves() {
    let law = AcceptanceLaw::PerPosition(PerPosition::new(vec![0.9, 0.5, 0.2]).unwrap());
    let (written, text) = write_vllm(log(VllmEra::Throughput, 3, 100), &LawSource::new(law, 4));
    let mut sums = [0.0; 3];
    for line in windows(&text) {
        for (sum, position) in sums.iter_mut().zip(field(line, "Per-position acceptance rate: ").split(", "))
        {
            *sum += position.parse::<f64>().unwrap();
        }
    }
    for (sum, rate) in sums.iter().zip([0.9, 0.5, 0.2]) {
        assert!((sum / 100.0 - rate).abs() < 0.003, "{sums:?}");
    }
    for (line, window) in windows(&text).iter().zip(&written.windows) {
        check_line(line, window, 3);
    }
}

/// Windows without a draft: older eras print `nan`, newer ones nothing, and their next window's throughput is diluted.
#[test]
fn idle_windows() {
    for era in VllmEra::ALL {
        let mut plan = log(era, 5, 20);
        plan.pauses = vec![VllmPause { after_windows: 10, windows: 12 }];
        let (written, text) = write_vllm(plan, &source(3.51));
        let nan = windows(&text).iter().filter(|line| line.contains("nan")).count();
        let expected = usize::from(!matches!(era, VllmEra::V0 | VllmEra::Throughput));
        assert_eq!(nan, expected, "{era:?}");
        assert_eq!(windows(&text).len(), 20 + expected);
        if era == VllmEra::Throughput {
            for (index, line) in windows(&text).into_iter().enumerate() {
                let accepted = written.windows[index].accepted - written.windows[index].request_steps;
                let elapsed = accepted as f64 / number(line, "Accepted throughput: ");
                let expected = if index == 10 { 130.0 } else { 10.0 };
                assert!((elapsed - expected).abs() < 0.01 * expected, "{index} {elapsed}");
            }
        }
    }
}

#[test]
fn engines_precede_their_windows() {
    let mut plan = log(VllmEra::Throughput, 5, 30);
    plan.engines = 3;
    plan.process = Some(95_669);
    plan.damage = "docker".parse().unwrap();
    let (written, text) = write_vllm(plan, &source(3.51));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 180);
    for (pair, window) in lines.chunks(2).zip(&written.windows) {
        let stamp = |line: &str| line[..60].to_owned();
        assert!(pair[0].contains(&format!("Engine {:03}: ", window.rank)), "{}", pair[0]);
        assert!(pair[0].starts_with("{\"log\":\"(APIServer pid=95669) INFO 10-12 "), "{}", pair[0]);
        assert_eq!(stamp(pair[0])[..46], stamp(pair[1])[..46]);
        assert_eq!(window.accepted - window.request_steps, count(pair[1], " Accepted: "));
    }
    let ranks: Vec<u64> = written.summary.ranks.iter().map(|rank| rank.decode_lines).collect();
    assert_eq!(ranks, [30; 3]);
}

#[test]
fn plans_are_checked() {
    let error = |change: &dyn Fn(&mut VllmLog)| {
        let mut plan = log(VllmEra::Throughput, 5, 1);
        change(&mut plan);
        VllmPlan::new(plan).unwrap_err().to_string()
    };
    assert_eq!(error(&|plan| plan.draft_length = 0), "the draft length must lie between 1 and 64, found 0");
    assert_eq!(error(&|plan| plan.engines = 0), "engines must lie between 1 and 4096, found 0");
    let message = error(&|plan| plan.damage = "truncated=0.1".parse().unwrap());
    assert!(message.starts_with("only SGLang's lines can be cut"), "{message}");
}
