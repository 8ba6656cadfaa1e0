//! Damaged and wrapped logs: the reader loses what was destroyed and nothing else.

use accsim::simulate::log::{Fate, Load, Parallel, Pools, Role, Run, SglangLog};

use super::support::{Written, log, match_expected, read, write_sglang};

fn damaged(version: &str, damage: &str, change: impl Fn(&mut SglangLog)) -> Written {
    let mut run = Run::new(3000);
    run.load = Load { running: 1..=9, output: 200..=2000, ..Load::constant(1) };
    let mut plan = log(version, vec![run]);
    plan.parallel = Parallel { tp: 2, dp: 2, ep: 1, pp: 1, dp_attention: true };
    plan.damage = damage.parse().unwrap();
    plan.seed = 5;
    change(&mut plan);
    write_sglang(plan, &match_expected(3.51))
}

/// Every window that was not lost is read, in order, and as it was drawn; each one that was lost is counted.
fn check(written: &Written) {
    let found = read(&written.text);
    assert_eq!(found.truncated, written.summary.damage.unreadable);
    assert!(found.otherwise_skipped.is_empty(), "{:?}", found.otherwise_skipped);
    let mut lines = found.decode.iter();
    for window in &written.windows {
        let times = match window.fate {
            Fate::Whole => 1,
            Fate::Repeated => 2,
            Fate::Lost => 0,
        };
        for _ in 0..times {
            written.check_line(lines.next().unwrap(), window);
        }
    }
    assert_eq!(lines.next(), None);
    let lost = written.windows.iter().filter(|window| window.fate == Fate::Lost).count() as u64;
    assert_eq!(lost, written.summary.damage.unreadable);
}

const ALL: &str = "truncated=0.05,interleaved=0.05,duplicated=0.05,glued=0.05,ansi=0.2";

#[test]
fn each_release_survives_damage() {
    for version in accsim::simulate::log::sglang_releases().map(|version| version.to_string()) {
        let written = damaged(&version, ALL, |_| {});
        check(&written);
        let counts = written.summary.damage;
        for count in [counts.truncated, counts.interleaved, counts.duplicated, counts.glued, counts.coloured]
        {
            assert!(count > 150, "{version} {counts:?}");
        }
        assert!(counts.unreadable >= counts.truncated + counts.interleaved);
    }
}

#[test]
fn lines_with_more_fields_survive_damage() {
    for pools in [Pools::SlidingWindow, Pools::Mamba, Pools::SlidingWindowAndMamba, Pools::Hisparse] {
        check(&damaged("0.5.23", ALL, |plan| {
            plan.pools = pools;
            plan.role = Role::Decode;
            plan.mfu = true;
            plan.occupancy = true;
        }));
    }
    check(&damaged("0.4.9", ALL, |plan| plan.pools = Pools::SlidingWindow));
}

#[test]
fn noise_between_the_lines_changes_nothing() {
    check(&damaged("0.5.16", ALL, |plan| plan.noise.decode_per_mille = Some(250)));
    check(&damaged("0.5.8", ALL, |plan| plan.noise.decode_per_mille = Some(250)));
}

#[test]
fn wrapped_logs_are_unwrapped() {
    for wrapper in ["crlf", "docker", "docker,crlf", "cri", "cri=0.3", "cri=0.3,crlf", "srun", "srun,crlf"] {
        check(&damaged("0.5.16", wrapper, |_| {}));
        check(&damaged("0.5.16", &format!("{ALL},{wrapper}"), |_| {}));
    }
}

#[test]
fn what_one_damage_does() {
    let written = damaged("0.5.16", "glued=1", |_| {});
    check(&written);
    assert_eq!(written.summary.damage.unreadable, 0);
    assert!(written.summary.damage.glued > 1000);
    let written = damaged("0.5.16", "duplicated=100%", |_| {});
    check(&written);
    assert!(written.windows.iter().all(|window| window.fate == Fate::Repeated));
    let written = damaged("0.5.16", "truncated=1", |_| {});
    check(&written);
    assert_eq!(written.summary.damage.unreadable, 6000);
    let written = damaged("0.5.16", "interleaved=1", |_| {});
    check(&written);
    let counts = written.summary.damage;
    // Half of the pairs of decode lines are both lost.
    assert!(counts.unreadable > counts.interleaved && counts.unreadable < 2 * counts.interleaved);
}
