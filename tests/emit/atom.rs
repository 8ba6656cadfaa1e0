//! ATOM's statistics, read by a parser of the test's own.

use accsim::law::{AcceptanceLaw, Pool, PoolKind, Setting, TwoPoint};
use accsim::simulate::log::{AtomLog, AtomPlan, Forced, LawSource, LogPlan};

use super::support::{Written, write};

/// `Average toks/fwd`, accepted, drafted, rate in percent, distribution in percent.
type Statistics = (f64, u64, u64, f64, Vec<(u64, f64)>);

fn parse(line: &str, head: &str) -> Option<Statistics> {
    let rest = line.split_once(head)?.1.strip_prefix("Average toks/fwd: ")?;
    let (average, rest) = rest.split_once(", Accepted/Total Draft tokens: ")?;
    let (counts, rest) = rest.split_once(", Acceptance rate: ")?;
    let (accepted, drafted) = counts.split_once('/')?;
    let (rate, rest) = rest.split_once("%, Accepted tokens distribution: {")?;
    let distribution = rest.strip_suffix('}')?.split(", ").map(|entry| {
        let (key, share) = entry.split_once(": '").unwrap();
        (key.parse().unwrap(), share.strip_suffix("%'").unwrap().parse().unwrap())
    });
    Some((
        average.parse().ok()?,
        accepted.parse().ok()?,
        drafted.parse().ok()?,
        rate.parse().ok()?,
        distribution.collect(),
    ))
}

fn log(draft_length: u32, intervals: u64) -> AtomLog {
    AtomLog::new("2026-04-20T14:45:49".parse().unwrap(), draft_length, intervals)
}

fn write_atom(log: AtomLog, law: AcceptanceLaw) -> (Written, String) {
    let written = write(&LogPlan::Atom(AtomPlan::new(log).unwrap()), &LawSource::new(law, 4));
    let text = String::from_utf8(written.text.clone()).unwrap();
    (written, text)
}

#[test]
fn pairs_hold_the_interval_and_the_sum() {
    for schedulers in [1, 3] {
        let law = AcceptanceLaw::per_request(Setting::new(1.73, 2).unwrap());
        let plan = AtomLog { schedulers, ..log(1, 50) };
        let (written, text) = write_atom(plan, law);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 100 * schedulers as usize);
        let mut totals = vec![0; schedulers as usize];
        for (pair, window) in lines.chunks(2).zip(&written.windows) {
            let interval = parse(pair[0], "] [MTP Stats Interval] ").unwrap();
            let total = parse(pair[1], "] [MTP Stats         ] ").unwrap();
            assert_eq!(pair[0][..15], pair[1][..15]);
            assert_eq!((window.request_steps, interval.2), (1000, 1000));
            assert_eq!(interval.1, window.accepted - 1000);
            totals[window.rank as usize] += interval.1;
            assert_eq!(total.1, totals[window.rank as usize]);
            assert!((interval.0 - window.accepted as f64 / 1000.0).abs() < 0.0051);
            assert!((interval.3 - interval.1 as f64 / 10.0).abs() < 0.0051);
            assert_eq!(interval.4.iter().map(|(key, _)| *key).collect::<Vec<_>>(), [0, 1]);
            assert!((interval.4[1].1 - interval.3).abs() < 0.0051);
        }
    }
}

/// The texts of `other_engines.jsonl`, digits apart.
#[test]
fn lines_look_as_atom_writes_them() {
    let shape = |line: &str| line.replace(|letter: char| letter.is_ascii_digit(), "");
    let law = AcceptanceLaw::per_request(Setting::new(1.73, 2).unwrap());
    let (_, text) = write_atom(log(1, 1), law);
    let expected = "[atom 14:45:50] [MTP Stats Interval] Average toks/fwd: 1.73, Accepted/Total Draft tokens: 727/1000, \
                    Acceptance rate: 72.70%, Accepted tokens distribution: {0: '27.30%', 1: '72.70%'}";
    assert_eq!(shape(text.lines().next().unwrap()), shape(expected));
}

#[test]
fn forced_acceptance_is_announced_as_the_server_does() {
    let law = AcceptanceLaw::Pool(Pool::new(PoolKind::Atom, TwoPoint::new(Setting::new(3.78, 8).unwrap())));
    let plan = AtomLog { forced: Some(Forced::at(3.78, 7)), ..log(7, 4) };
    let (written, text) = write_atom(plan, law);
    let mut lines = text.lines();
    let announced = "[atom 14:45:49] Forced speculative acceptance ON: mean acceptance length 3.7800 over 7 draft \
                     positions (per-position rates [1.0, 1.0, 0.78, 0.0, 0.0, 0.0, 0.0]). Throughput numbers from this \
                     run are synthetic; output text and accuracy are meaningless.";
    assert_eq!(lines.next(), Some(announced));
    let statistics = parse(lines.next().unwrap(), "[MTP Stats Interval] ").unwrap();
    assert_eq!(statistics.2, 7000);
    assert_eq!(statistics.4.iter().map(|(key, _)| *key).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(written.summary.other_lines, 5);
}
