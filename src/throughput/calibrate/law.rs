//! The law of a regime's steps: which columns its rows can tell apart, and how well the fit holds.

use std::collections::{BTreeMap, BTreeSet};

use crate::throughput::bootstrap;
use crate::throughput::fit::{BendShape, Fit, Row, Shape, bic, fit, residual};
use crate::throughput::model::{
    Coefficient, Fitted, IDENTIFIED, Law, Loose, Merged, Missing, Outcome, Quality, Ranges, Resamples,
};
use crate::throughput::observe::median;
use crate::throughput::step::{PrefillLaw, StepLaw};

use super::levels::{Key, LEAST_OF_LEVEL, by_level, mean_accept_length, slope};
use super::runs::{Regime, count};
use super::server::Options;

/// Largest condition number of a design whose coefficients are believed.
const MOST_CONDITION: f64 = 30.0;

/// Largest median relative residual.
const MOST_RESIDUAL: f64 = 0.05;

/// Contexts a request that differ by less than this factor grow in step with the batch.
const LEAST_SPREAD: f64 = 1.1;

/// Fewest batches, and fewest windows, of a fit.
const LEAST_LEVELS: usize = 3;
const LEAST_WINDOWS: usize = 8;

/// How much better the criterion must be before the law gets another parameter: very strong evidence (Kass, Raftery 1995).
const LEAST_GAIN: f64 = 10.0;

/// Rows that a search over shapes looks at.
const MOST_SEARCHED: usize = 4000;

/// Numbers of lanes that are tried: the eighth roots of 2, up to 64.
const MOST_LANES: i32 = 48;

/// The law of a regime, or why there is none.
pub(super) fn law(regime: &Regime, options: &Options) -> Law {
    let rows = &regime.rows;
    let outcome = match fitted(regime, options) {
        Ok(fitted) => Outcome::Fitted(Box::new(fitted)),
        Err(missing) => Outcome::Refused { missing, slope_s_per_request: slope(rows) },
    };
    let span = |figure: fn(&Row) -> f64| {
        rows.iter()
            .map(figure)
            .fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)))
    };
    let levels = by_level(rows);
    let lengths = levels.values().map(|rows| mean_accept_length(rows));
    let accept_length =
        lengths.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    let running = rows.iter().map(|row| row.running);
    Law {
        draft_lengths: regime.verified.keys().copied().collect(),
        verified: regime.verified.clone(),
        colocated: regime.colocated,
        windows: count(rows.len()),
        ranges: Ranges {
            running: (running.clone().min().unwrap_or(0), running.max().unwrap_or(0)),
            context: span(|row| row.kv_tokens / f64::from(row.running.max(1))),
            accept_length,
        },
        outcome,
    }
}

/// Fits the law of a regime; the reasons why not, most telling first.
fn fitted(regime: &Regime, options: &Options) -> Result<Fitted, Vec<Missing>> {
    let rows = &regime.rows;
    let batches: BTreeSet<u32> = rows.iter().map(|row| row.running).collect();
    // Without the rarest: a line on whose step requests ended shows the tokens of those that are left.
    let has_contexts = rows.iter().all(|row| row.has_context);
    let contexts = rows.iter().map(|row| row.kv_tokens / f64::from(row.running.max(1))).collect();
    let (shortest, longest) = bootstrap::band(contexts).unwrap_or_default();
    let spread = if shortest > 0.0 { longest / shortest } else { f64::INFINITY };
    let mut missing = Vec::new();
    if regime.is_unknown {
        missing.push(Missing::DraftLength);
    }
    if regime.colocated && !regime.sees_prefill {
        missing.push(Missing::PrefillLines);
    }
    if batches.len() < LEAST_LEVELS {
        missing.push(Missing::Levels { found: batches.iter().copied().collect() });
    }
    if !has_contexts {
        missing.push(Missing::KvTokens);
    } else if spread < LEAST_SPREAD {
        missing.push(Missing::Contexts { spread });
    }
    if rows.len() < LEAST_WINDOWS {
        missing.push(Missing::Windows { found: count(rows.len()), least: count(LEAST_WINDOWS) });
    }
    if !missing.is_empty() {
        return Err(missing);
    }
    let sample: Vec<Row> = rows.iter().copied().step_by(rows.len().div_ceil(MOST_SEARCHED)).collect();
    let (shape, merged) = shape(regime, &sample, options)?;
    let fit = fit(rows, &shape).ok_or_else(|| vec![singular(f64::INFINITY)])?;
    let quality = quality(rows, &shape, &fit);
    if quality.median_residual > MOST_RESIDUAL {
        return Err(vec![Missing::Residuals { found: quality.median_residual, most: MOST_RESIDUAL }]);
    }
    let (step, prefill) = shape.law(&fit.solution, &regime.graph_batches);
    let mut strata: BTreeMap<Key, Vec<(Row, f64)>> = BTreeMap::new();
    for (row, weight) in rows.iter().zip(&fit.weights) {
        strata.entry((row.drafts, row.running, row.busy)).or_default().push((*row, *weight));
    }
    let strata: Vec<Vec<(Row, f64)>> = strata.into_values().collect();
    let resamples = bootstrap::coefficients(&strata, &shape);
    let loose = loose(&shape, &step, prefill, &resamples);
    Ok(Fitted { step, prefill, merged, quality, resamples, loose })
}

/// Standard errors within which a coefficient is told.
const TOLD_ERRORS: f64 = 3.0;

/// Standard errors within which one that is not told lies. The bootstrap knows only what varies: contexts in a window in which
/// requests joined are estimates, and pull on the cost of a prefill batch by up to seven of them on simulated logs.
const LOOSE_ERRORS: f64 = 8.0;

/// The coefficients that the rows do not tell to [`IDENTIFIED`] of themselves.
fn loose(shape: &Shape, step: &StepLaw, prefill: PrefillLaw, resamples: &Resamples) -> Vec<Loose> {
    let values = [step.a_s, step.b_s, step.c_s, step.d_s, prefill.p0_s, prefill.p1_s, step.bend.slope_s()];
    let asked = [true, true, true, shape.drafts, shape.batches, shape.prompts, shape.bend != BendShape::None];
    let mut loose = Vec::new();
    for (at, (coefficient, (value, asked))) in
        Coefficient::ALL.into_iter().zip(values.into_iter().zip(asked)).enumerate()
    {
        let column = resamples.rows.iter().filter_map(|row| row.get(at).copied()).collect();
        let Some((low, high)) = bootstrap::band(column).filter(|_| asked) else { continue };
        // 5 % and 95 % points lie 1.645 standard errors from the middle.
        let error = (high - value).max(value - low).max(0.0) / 1.645;
        if TOLD_ERRORS * error > IDENTIFIED * value {
            let off = LOOSE_ERRORS * error;
            loose.push(Loose { coefficient, low_s: (value - off).max(0.0), high_s: value + off });
        }
    }
    loose
}

fn singular(found: f64) -> Missing {
    // A number for the file: infinity has no place in JSON.
    Missing::Condition { found: found.min(1e9), most: MOST_CONDITION }
}

/// The columns that the rows can tell apart, then lanes and bend, each where the criterion asks for it.
fn shape(regime: &Regime, rows: &[Row], options: &Options) -> Result<(Shape, Vec<Merged>), Vec<Missing>> {
    let has_batches = regime.colocated && rows.iter().any(|row| row.batches > 0.0);
    let has_prompts = regime.colocated && rows.iter().any(|row| row.prompt_tokens > 0.0);
    let lengths: BTreeSet<u32> = rows.iter().filter_map(|row| row.drafts).collect();
    let mut shape = Shape {
        lanes: 1.0,
        bend: BendShape::None,
        drafts: lengths.len() > 1,
        batches: has_batches,
        prompts: has_batches || has_prompts,
    };
    let mut merged = Vec::new();
    if !shape.drafts && lengths.iter().any(|drafts| *drafts > 0) {
        merged.push(Merged::DraftIntoFixed);
    }
    if shape.prompts && !shape.batches {
        merged.push(Merged::BatchIntoPrompt);
    }
    let condition = |shape: &Shape| fit(rows, shape).map_or(f64::INFINITY, |fit| fit.condition);
    let mut found = condition(&shape);
    if found > MOST_CONDITION && shape.batches {
        shape.batches = false;
        merged.push(Merged::BatchIntoPrompt);
        found = condition(&shape);
    }
    if found > MOST_CONDITION {
        return Err(vec![singular(found)]);
    }
    let candidates = (1..=MOST_LANES).map(|at| Shape { lanes: libm::exp2(f64::from(at) / 8.0), ..shape });
    shape = better(rows, shape, candidates);
    let candidates = bends(rows, options).into_iter().map(|bend| Shape { bend, ..shape });
    shape = better(rows, shape, candidates);
    Ok((shape, merged))
}

/// The best of the candidates that can be told apart, if it is far better than the plain shape.
fn better(rows: &[Row], plain: Shape, candidates: impl Iterator<Item = Shape>) -> Shape {
    let score = |shape: &Shape, more: usize| {
        let fit = fit(rows, shape).filter(|fit| fit.condition <= MOST_CONDITION)?;
        Some(bic(&fit, rows.len(), shape.size() + more))
    };
    let Some(base) = score(&plain, 0) else { return plain };
    let best = candidates
        .filter_map(|shape| Some((score(&shape, 1)?, shape)))
        .min_by(|left, right| left.0.total_cmp(&right.0));
    match best {
        Some((found, shape)) if found < base - LEAST_GAIN => shape,
        _ => plain,
    }
}

/// Places where the line could bend: two batches at least on either side.
fn bends(rows: &[Row], options: &Options) -> Vec<BendShape> {
    if let Some((experts, active)) = options.experts {
        return vec![BendShape::Experts { experts, active }];
    }
    let mut tokens: Vec<f64> = rows.iter().map(|row| row.tokens).collect();
    tokens.sort_by(f64::total_cmp);
    tokens.dedup_by(|left, right| left.total_cmp(right).is_eq());
    let inner = tokens.len().saturating_sub(3);
    let places = tokens.iter().skip(1).take(inner).copied();
    let stride = inner.div_ceil(24).max(1);
    places.step_by(stride).map(|from_tokens| BendShape::Hinge { from_tokens }).collect()
}

fn quality(rows: &[Row], shape: &Shape, whole: &Fit) -> Quality {
    let mut off: Vec<f64> = whole.residuals.iter().map(|off| off.abs()).collect();
    off.sort_by(f64::total_cmp);
    let at = |share: usize| off.get(off.len() * share / 100).copied().unwrap_or(0.0);
    let left_out = left_out(rows, shape);
    Quality {
        condition_number: whole.condition,
        median_residual: at(50),
        p90_residual: at(90),
        left_out_median: median(left_out.clone()),
        left_out_largest: left_out.into_iter().reduce(f64::max),
    }
}

/// Errors in tokens a second at each batch when it is left out of the fit; none with fewer than four.
fn left_out(rows: &[Row], shape: &Shape) -> Vec<f64> {
    let batches: BTreeSet<u32> = rows.iter().map(|row| row.running).collect();
    // Of three batches two are left, which every shape fits: that would say nothing.
    if batches.len() <= LEAST_LEVELS {
        return Vec::new();
    }
    // Of many batches a spread of them; each costs a fit.
    let stride = batches.len().div_ceil(24);
    let error = |running: u32| {
        let (out, kept): (Vec<Row>, Vec<Row>) = rows.iter().partition(|row| row.running == running);
        if out.len() < LEAST_OF_LEVEL {
            return None;
        }
        let fit = fit(&kept, shape)?;
        let measured: f64 = out.iter().map(|row| row.step_s).sum();
        let predicted: f64 =
            out.iter().map(|row| row.step_s * (1.0 - residual(shape, &fit.solution, row))).sum();
        Some((measured / predicted - 1.0).abs())
    };
    batches.into_iter().step_by(stride).filter_map(error).collect()
}
