//! The other engines: logs of vLLM and ATOM under laws that are known.

use std::fmt::Write as _;

use accsim::audit::{Mechanism, Options, PointBuilder, RivalCell, Verdict, judge};
use accsim::evidence::Scanner;
use accsim::golden::{Catalogue, Target};
use accsim::law::{AcceptanceLaw, Pool, PoolKind, Setting, TwoPoint};
use accsim::simulate::log::{
    AtomLog, AtomPlan, LawSource, Load, LogPlan, VllmEra, VllmLog, VllmPlan, write_log,
};
use rayon::prelude::*;

use crate::tally::is_beyond;
use crate::truth::{ASKED, Asked, real};

/// Windows of vLLM, intervals of ATOM.
pub(crate) const SIZES: [u64; 4] = [5, 10, 30, 100];

/// What a server did with its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Truth {
    Vllm,
    Atom,
    VllmOffByMargin,
    AtomOffByMargin,
    VllmReal,
    AtomReal,
    VllmRounded,
}

impl Truth {
    const ALL: [Self; 7] = [
        Self::Vllm,
        Self::Atom,
        Self::VllmOffByMargin,
        Self::AtomOffByMargin,
        Self::VllmReal,
        Self::AtomReal,
        Self::VllmRounded,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Vllm => "vLLM, honest: a draw a request at the target",
            Self::Atom => "ATOM, honest: its repeating generator at the target",
            Self::VllmOffByMargin => "vLLM 2 % off the target",
            Self::AtomOffByMargin => "ATOM 2 % off the target",
            Self::VllmReal => "vLLM, real, with the target as its mean",
            Self::AtomReal => "ATOM, real, with the target as its mean",
            Self::VllmRounded => "vLLM at the rounded target",
        }
    }

    fn is_honest(self) -> bool {
        matches!(self, Self::Vllm | Self::Atom)
    }

    fn is_atom(self) -> bool {
        matches!(self, Self::Atom | Self::AtomOffByMargin | Self::AtomReal)
    }

    /// Whether this target is among those where it shows.
    fn differs(self, asked: &Asked) -> bool {
        match self {
            Self::Vllm | Self::Atom => true,
            Self::VllmOffByMargin | Self::AtomOffByMargin => asked.length.fract() != 0.0,
            Self::VllmReal | Self::AtomReal => asked.max > 2,
            Self::VllmRounded => {
                let length = asked.length.round_ties_even();
                (length - asked.length).abs() >= 0.02 * asked.length
            }
        }
    }

    fn law(self, asked: &Asked, number: u32) -> AcceptanceLaw {
        let setting = |length| Setting::new(length, asked.max).unwrap();
        let above = asked.length * 1.02;
        let is_above = number.is_multiple_of(2) && above <= f64::from(asked.max);
        let off = setting(if is_above { above } else { asked.length * 0.98 });
        match self {
            Self::Vllm => AcceptanceLaw::per_request(setting(asked.length)),
            Self::VllmOffByMargin => AcceptanceLaw::per_request(off),
            Self::Atom => {
                AcceptanceLaw::Pool(Pool::new(PoolKind::Atom, TwoPoint::new(setting(asked.length))))
            }
            Self::AtomOffByMargin => AcceptanceLaw::Pool(Pool::new(PoolKind::Atom, TwoPoint::new(off))),
            Self::VllmReal | Self::AtomReal => AcceptanceLaw::Real(real(asked)),
            Self::VllmRounded => AcceptanceLaw::per_request(setting(asked.length.round_ties_even())),
        }
    }
}

/// What an audit said.
type Outcome = (Verdict, Option<Mechanism>);

/// Counts of one truth and size.
pub(crate) struct Row {
    truth: Truth,
    windows: u64,
    audits: u32,
    consistent: u32,
    inconsistent: u32,
    /// Audits that named another mechanism than `match-expected` on an honest log.
    misnamed: u32,
}

/// All audits.
pub(crate) fn measure(audits: u32) -> Vec<Row> {
    let cells = RivalCell::all(&Catalogue::builtin()).collect();
    let options = Options { cells, ..Options::default() };
    let mut rows = Vec::new();
    for truth in Truth::ALL {
        let asked: Vec<&Asked> = ASKED.iter().filter(|asked| truth.differs(asked)).collect();
        for windows in SIZES {
            let outcomes: Vec<Outcome> = (0..audits)
                .into_par_iter()
                .map(|number| {
                    let index = usize::try_from(number).unwrap();
                    let running = [1, 4, 16, 64][index / asked.len() % 4];
                    audit(&options, truth, asked[index % asked.len()], running, windows, number)
                })
                .collect();
            let count = |is: &dyn Fn(&Outcome) -> bool| {
                u32::try_from(outcomes.iter().filter(|outcome| is(outcome)).count()).unwrap()
            };
            let is_other =
                |best: Option<Mechanism>| best.is_some_and(|best| best != Mechanism::MatchExpected);
            let row = Row {
                truth,
                windows,
                audits,
                consistent: count(&|(verdict, _)| *verdict == Verdict::Consistent),
                inconsistent: count(&|(verdict, _)| *verdict == Verdict::Inconsistent),
                misnamed: count(&|(_, best)| truth.is_honest() && is_other(*best)),
            };
            eprintln!(
                "{truth:?}, {windows} windows: {} consistent, {} inconsistent of {audits}; misnamed {}",
                row.consistent, row.inconsistent, row.misnamed
            );
            rows.push(row);
        }
    }
    rows
}

fn audit(options: &Options, truth: Truth, asked: &Asked, running: u32, windows: u64, number: u32) -> Outcome {
    let seed = (u64::from(number) << 16) | (windows << 4) | u64::try_from(truth as usize).unwrap();
    let start = "2026-10-12T01:02:03".parse().unwrap();
    let plan = if truth.is_atom() {
        LogPlan::Atom(
            AtomPlan::new(AtomLog { running, seed, ..AtomLog::new(start, asked.max - 1, windows) }).unwrap(),
        )
    } else {
        let load = Load::constant(running);
        let log = VllmLog { load, seed, ..VllmLog::new(VllmEra::Throughput, start, asked.max - 1, windows) };
        LogPlan::Vllm(VllmPlan::new(log).unwrap())
    };
    let mut text = Vec::new();
    write_log(&plan, &LawSource::new(truth.law(asked, number), seed), &mut text).unwrap();
    let mut point = PointBuilder::new("");
    Scanner::new(0).lines(&text, &mut |place, record| point.add(place, record));
    let target = Target::explicit(asked.length, asked.max).unwrap();
    let report = judge(&point.finish(), Some(&target), options);
    (report.verdict, report.mechanisms.and_then(|found| found.best))
}

/// What is beyond the promised bounds, by more than the noise of so many audits.
pub(crate) fn beyond_bounds(rows: &[Row]) -> Vec<String> {
    rows.iter()
        .filter_map(|row| {
            let (wrong, share, what) = if row.truth.is_honest() {
                (row.inconsistent, 0.001, "inconsistent")
            } else {
                (row.consistent, 0.05, "consistent")
            };
            is_beyond(wrong, row.audits, share).then(|| {
                format!("{}, {} windows: {wrong} of {} {what}", row.truth.name(), row.windows, row.audits)
            })
        })
        .collect()
}

/// The section of the published page.
pub(crate) fn section(page: &mut String, rows: &[Row]) {
    page.push_str(
        "\n## vLLM and ATOM\n\nThe same for logs of vLLM (windows of ten seconds) and ATOM (intervals of 1,000 steps), with 1, 4, 16 \
         and 64 requests at a\ntime, in turn. ATOM's generator repeats, so its mean may be off by 0.02 tokens without being \
         `inconsistent`.\n\n\
         | what the server does | windows | consistent | inconsistent | insufficient |\n|---|---|---|---|---|\n",
    );
    for row in rows {
        let rest = row.audits - row.consistent - row.inconsistent;
        writeln!(
            page,
            "| {} | {} | {} | {} | {rest} |",
            row.truth.name(),
            row.windows,
            row.consistent,
            row.inconsistent
        )
        .unwrap();
    }
    let misnamed: u32 = rows.iter().map(|row| row.misnamed).sum();
    writeln!(page, "\nOf the honest ones {misnamed} were named by another mechanism than `match-expected`.")
        .unwrap();
}
