//! One audit: a log is written, read and judged.

use accsim::audit::{Mechanism, Options, PointBuilder, RivalCell, Verdict, judge, judge_growing};
use accsim::evidence::{Record, Scanner};
use accsim::golden::Catalogue;
use accsim::simulate::log::{
    self, LawSource, LogPlan, Parallel, Run, SglangLog, SglangPlan, Speculation, write_log,
};

use crate::truth::{Asked, Truth};

/// Batches, in turn; none is one that changes.
pub(crate) const BATCHES: [Option<u32>; 4] = [Some(1), Some(16), Some(64), None];

/// Ranks, and whether they draw one sequence, in turn.
pub(crate) const RANKS: [(u32, bool); 7] =
    [(1, true), (2, true), (2, false), (4, true), (4, false), (8, true), (8, false)];

/// Who asks what of the server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    batch: Option<u32>,
    ranks: u32,
    shared: bool,
}

/// What an audit said.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    pub(crate) verdict: Verdict,
    pub(crate) best: Option<Mechanism>,
}

/// What all audits share.
pub(crate) struct Auditor {
    options: Options,
}

impl Load {
    /// The load with this number, over and over; those at which the truth is nothing of its own are left out.
    pub(crate) fn number(truth: Truth, number: usize) -> Self {
        let batches: Vec<Option<u32>> =
            BATCHES.iter().copied().filter(|batch| truth.differs_at(*batch)).collect();
        let batch = batches[number % batches.len()];
        let (ranks, shared) = RANKS[number / batches.len() % RANKS.len()];
        // Requests that draw for themselves are not the same ones on every rank.
        let shared = shared && !matches!(truth, Truth::Real | Truth::RealAlone | Truth::PerRequest);
        Self { batch, ranks, shared }
    }
}

impl Auditor {
    pub(crate) fn new() -> Self {
        let cells = RivalCell::all(&Catalogue::builtin()).collect();
        Self { options: Options { cells, ..Options::default() } }
    }

    /// Audit number `number` of a log with so many lines of each rank.
    pub(crate) fn audit(&self, truth: Truth, asked: &Asked, load: Load, lines: u64, number: u32) -> Outcome {
        let text = write(truth, asked, load, lines, number);
        let mut point = PointBuilder::new("");
        Scanner::new(0).lines(&text, &mut |place, record| point.add(place, record));
        let report = judge(&point.finish(), Some(&asked.target()), &self.options);
        Outcome { verdict: report.verdict, best: report.mechanisms.and_then(|found| found.best) }
    }

    /// The same of a log that grows, looked at after every decode line: what it says when it is decided, and the lines of
    /// all ranks that this took. `prefills` is whether the server logged those too.
    pub(crate) fn follow(
        &self,
        truth: Truth,
        asked: &Asked,
        load: Load,
        lines: u64,
        number: u32,
        prefills: bool,
    ) -> (Verdict, u64) {
        let text = write(truth, asked, load, lines, number);
        let target = asked.target();
        let mut point = PointBuilder::new("");
        let mut looks = 0;
        let mut settled = None;
        Scanner::new(0).lines(&text, &mut |place, record| {
            if settled.is_some() || (!prefills && matches!(record, Record::Prefill(_))) {
                return;
            }
            point.add(place, record);
            if matches!(record, Record::Decode(_)) {
                looks += 1;
                let report = judge_growing(&point.clone().finish(), Some(&target), &self.options);
                settled = report.is_settled().then_some(report.verdict);
            }
        });
        (settled.unwrap_or(Verdict::Insufficient), looks)
    }
}

/// Log number `number` of a truth, as a server writes it.
fn write(truth: Truth, asked: &Asked, load: Load, lines: u64, number: u32) -> Vec<u8> {
    let seed = (u64::from(number) << 16) | (lines << 4) | u64::try_from(truth as usize).unwrap();
    let mut run = Run::new(lines);
    run.speculation = Some(Speculation::eagle(asked.max - 1));
    run.load = match load.batch {
        // Long requests, so that few of them end in a line.
        Some(batch) => log::Load { output: 8192..=8192, ..log::Load::constant(batch) },
        None => log::Load { running: 1..=32, cycle_lines: 24, output: 256..=1024, ..log::Load::constant(1) },
    };
    let mut plan =
        SglangLog::new("0.5.18".parse().unwrap(), "2026-10-12T01:02:03".parse().unwrap(), vec![run]);
    plan.parallel =
        Parallel { tp: load.ranks, dp: load.ranks, dp_attention: load.ranks > 1, ..Parallel::ONE };
    plan.ranks_share_draws = load.shared;
    plan.seed = seed;
    let plan = LogPlan::Sglang(SglangPlan::new(plan).unwrap());
    let mut text = Vec::new();
    write_log(&plan, &LawSource::new(truth.law(asked, number), seed), &mut text).unwrap();
    text
}
