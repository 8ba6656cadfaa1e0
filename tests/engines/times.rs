//! Lines without a year or a date, and the times that are asked for.

use super::support::{TARGET, audit};

/// Windows of vLLM at these times.
fn windows(times: &[String]) -> String {
    let line = |time: &String| {
        format!(
            "(APIServer pid=1) INFO {time} [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 3.51, Accepted \
             throughput: 50.20 tokens/s, Drafted throughput: 100.00 tokens/s, Accepted: 502 tokens, Drafted: 1000 tokens, \
             Per-position acceptance rate: 1.000, 1.000, 0.510, 0.000, 0.000, Avg Draft acceptance rate: 50.2%\n"
        )
    };
    times.iter().map(line).collect()
}

fn lines(log: &str, flags: &str) -> u64 {
    let (_, document) = audit(log, &format!("{TARGET} {flags}"));
    document["points"][0]["spec_lines"].as_u64().unwrap_or_else(|| panic!("{document:#}"))
}

#[test]
fn a_range_goes_over_new_year() {
    let seconds = |from: u32| (0..6).map(move |index| from + 10 * index);
    let old = seconds(0).map(|second| format!("12-31 23:59:{second:02}"));
    let new = seconds(0).map(|second| format!("01-01 00:00:{second:02}"));
    let log = windows(&old.chain(new).collect::<Vec<String>>());
    assert_eq!(lines(&log, "--since 2026-12-31T23:59:00 --until 2027-01-01T00:00:30"), 10);
    assert_eq!(lines(&log, "--since 2026-12-31T23:59:30"), 9);
    assert_eq!(lines(&log, "--until 2027-01-01T00:00:20"), 9);
    assert_eq!(lines(&log, "--since 2027-01-01"), 6);
    assert_eq!(lines(&log, "--since 23:59:50 --until 00:00:10"), 3);
    assert_eq!(lines(&log, "--since 2027-01-02"), 0);
}

#[test]
fn a_range_of_times_goes_over_midnight() {
    let log = "[atom TIME] [MTP Stats Interval] Average toks/fwd: 3.51, Accepted/Total Draft tokens: 2510/5000, Acceptance rate: \
        50.20%, Accepted tokens distribution: {2: '49.00%', 3: '51.00%'}\n";
    let times = ["23:59:45", "23:59:50", "23:59:55", "00:00:00", "00:00:05", "00:00:10", "00:00:15"];
    let log: String = times.iter().map(|time| log.replace("TIME", time)).collect();
    assert_eq!(lines(&log, "--since 23:59:50 --until 00:00:10"), 5);
}
