//! `simulate --json`: a law, exactly and as a sample.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::golden::GoldenCell;
use crate::law::{AcceptanceLaw, LineValues};
use crate::simulate::{Answer, Plan, Replicates, Simulation};

use super::number::{hundredths, tidy};
use super::prediction::{NoteEntry, PredictionEntry};

/// Two-sided 95 % of a normal variable, in standard deviations.
const Z95: f64 = 1.96;

/// Least probability that is printed of a line's values.
const LEAST: f64 = 1e-12;

/// What a target leads to. `law`, `exact`, `sample` and `line` are null where a server draws from no law.
#[derive(Debug, Serialize)]
pub struct SimulateDocument<'a> {
    target: TargetEntry<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    engine: Option<PredictionEntry>,
    /// Where no engine was named, whose notes stand beside it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<NoteEntry>,
    law: Option<LawEntry>,
    exact: Option<ExactEntry>,
    sample: Option<SampleEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replicates: Option<ReplicatesEntry>,
    line: Option<LineEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    random_seed: Option<u64>,
    /// What the decode lines of a server with that seed read.
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<Vec<f64>>,
}

#[derive(Debug, Serialize)]
struct TargetEntry<'a> {
    golden: bool,
    curve: Option<&'a str>,
    thinking: Option<&'static str>,
    draft_length: Option<u32>,
    accept_length: f64,
    max_accept_length: u32,
}

#[derive(Debug, Serialize)]
struct LawEntry {
    method: &'static str,
    accept_length: f64,
    max_accept_length: u32,
    /// A fixed, repeating sequence in place of draws.
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed_sequence: Option<FixedEntry>,
}

#[derive(Debug, Serialize)]
struct FixedEntry {
    period: u32,
    offset_sd: f64,
    modelled_offset: f64,
}

#[derive(Debug, Serialize)]
struct ExactEntry {
    mean: f64,
    variance: f64,
    pmf: BTreeMap<u32, f64>,
}

#[derive(Debug, Serialize)]
struct SampleEntry {
    seed: u64,
    steps: u64,
    batch: u32,
    ranks: u32,
    ranks_share_draws: bool,
    replicates: u32,
    draws: u64,
    mean: Option<f64>,
    variance: Option<f64>,
    histogram: BTreeMap<u32, u64>,
}

#[derive(Debug, Serialize)]
struct ReplicatesEntry {
    count: u32,
    mean_sd: f64,
    exact_mean_sd: f64,
    mean_min: f64,
    mean_max: f64,
}

#[derive(Debug, Serialize)]
struct LineEntry {
    interval: u32,
    sd: f64,
    low95: f64,
    high95: f64,
    values: Values,
}

/// Printed values with their probability, ascending.
#[derive(Debug)]
struct Values(Vec<(u32, f64)>);

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(value, probability)| (hundredths(*value), probability)))
    }
}

impl<'a> SimulateDocument<'a> {
    /// The document.
    #[must_use]
    pub fn new(answer: &'a Answer) -> Self {
        let drawn = answer.drawn.as_ref();
        let law = drawn.map(|(plan, _)| &plan.law);
        Self {
            target: TargetEntry::new(answer),
            engine: answer
                .engine
                .as_ref()
                .map(|(server, prediction)| PredictionEntry::new(server, prediction)),
            notes: answer.notes.iter().map(NoteEntry::from).collect(),
            law: law.map(|law| LawEntry::new(law, answer)),
            exact: law.map(ExactEntry::from),
            sample: drawn.map(|(plan, simulation)| SampleEntry::new(plan, simulation)),
            replicates: drawn.and_then(|(_, simulation)| simulation.replicates.map(ReplicatesEntry::from)),
            line: drawn.map(|(plan, simulation)| LineEntry::new(plan.interval, &simulation.line)),
            random_seed: answer.seeded.as_ref().map(|seeded| seeded.seed),
            lines: answer
                .seeded
                .as_ref()
                .map(|seeded| seeded.lines.iter().map(|line| line.as_f64()).collect()),
        }
    }
}

impl<'a> TargetEntry<'a> {
    fn new(answer: &'a Answer) -> Self {
        let cell = answer.cell.as_ref();
        Self {
            golden: cell.is_some(),
            curve: cell.map(|cell: &GoldenCell| cell.curve.as_str()),
            thinking: cell.map(|cell| cell.thinking.key()),
            draft_length: cell.map(|cell| cell.draft_length),
            accept_length: tidy(answer.accept_length),
            max_accept_length: answer.max_accept_length,
        }
    }
}

impl LawEntry {
    fn new(law: &AcceptanceLaw, answer: &Answer) -> Self {
        let fixed_sequence = match law {
            AcceptanceLaw::Pool(pool) => Some(FixedEntry {
                period: pool.period(),
                offset_sd: tidy(pool.offset_sd()),
                modelled_offset: tidy(pool.offset()),
            }),
            _ => None,
        };
        Self {
            method: law.kind().name(),
            accept_length: tidy(answer.accept_length),
            max_accept_length: answer.max_accept_length,
            fixed_sequence,
        }
    }
}

impl From<&AcceptanceLaw> for ExactEntry {
    fn from(law: &AcceptanceLaw) -> Self {
        let pmf = law.pmf().iter().map(|(length, probability)| (length, tidy(probability))).collect();
        Self { mean: tidy(law.mean()), variance: tidy(law.variance()), pmf }
    }
}

impl SampleEntry {
    fn new(plan: &Plan, simulation: &Simulation) -> Self {
        let sample = &simulation.sample;
        Self {
            seed: plan.seed,
            steps: plan.steps,
            batch: plan.batch,
            ranks: plan.ranks,
            ranks_share_draws: plan.ranks_share_draws,
            replicates: plan.replicates,
            draws: sample.draws(),
            mean: sample.mean().map(tidy),
            variance: sample.variance().map(tidy),
            histogram: sample.iter().collect(),
        }
    }
}

impl From<Replicates> for ReplicatesEntry {
    fn from(replicates: Replicates) -> Self {
        Self {
            count: replicates.count,
            mean_sd: tidy(replicates.sd),
            exact_mean_sd: tidy(replicates.exact_sd),
            mean_min: tidy(replicates.lowest),
            mean_max: tidy(replicates.highest),
        }
    }
}

impl LineEntry {
    fn new(interval: u32, line: &LineValues) -> Self {
        let values = line
            .iter()
            .filter(|(_, probability)| *probability >= LEAST)
            .map(|(value, probability)| (value, tidy(probability)))
            .collect();
        Self {
            interval,
            sd: tidy(line.sd()),
            low95: tidy(line.mean() - Z95 * line.sd()),
            high95: tidy(line.mean() + Z95 * line.sd()),
            values: Values(values),
        }
    }
}
