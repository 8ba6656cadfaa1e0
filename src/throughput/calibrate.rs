//! From the runs that logs hold to a model.

use std::collections::{BTreeMap, BTreeSet};

use crate::evidence::Place;
use crate::law::float;

use super::bootstrap;
use super::fit::{BendShape, Fit, Row, Shape, bic, fit, residual};
use super::model::{Fitted, Law, Level, Merged, Missing, Model, Outcome, Quality, Ranges, Source, Workload};
use super::observe::{LogRun, clean, median};
use super::step::PrefillLaw;

/// Largest condition number of a design whose coefficients are believed.
const MOST_CONDITION: f64 = 30.0;

/// Largest median relative residual.
const MOST_RESIDUAL: f64 = 0.05;

/// Contexts a request that differ by less than this factor grow in step with the batch.
const LEAST_SPREAD: f64 = 1.1;

/// Fewest batches, and fewest windows, of a fit.
const LEAST_LEVELS: usize = 3;
const LEAST_WINDOWS: usize = 8;

/// Fewest windows of a level that is reported.
const LEAST_OF_LEVEL: usize = 3;

/// How much better the criterion must be before the law gets another parameter: very strong evidence (Kass, Raftery 1995).
const LEAST_GAIN: f64 = 10.0;

/// Rows that a search over shapes looks at.
const MOST_SEARCHED: usize = 4000;

/// Numbers of lanes that are tried: the eighth roots of 2, up to 64.
const MOST_LANES: i32 = 48;

/// What the user says about the logs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Draft tokens (k), where the logs do not say.
    pub draft_length: Option<u32>,
    /// Whether the server prefills too; `None`: as the logs say.
    pub colocated: Option<bool>,
    /// Experts of a layer and those a token is routed to, for the term of mixture-of-experts models.
    pub experts: Option<(u32, u32)>,
}

/// Why logs give no model at all.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CalibrateError {
    /// No decode line in any log.
    #[error("no decode lines: nothing can be calibrated")]
    NoDecodeLines,
    /// Decode lines without a throughput above 0.
    #[error(
        "{name}: none of {lines} decode lines has a gen throughput above 0: step times cannot be told; use a log of SGLang 0.3.6 \
         or later, as the server wrote it"
    )]
    NoThroughput {
        /// The input.
        name: String,
        /// Decode lines.
        lines: u64,
    },
    /// The clock goes back.
    #[error(
        "{name}, line {line}: the clock goes back by {seconds} s, so windows and prefills cannot be matched; cut the log there \
         and give the parts as two logs"
    )]
    ClockBack {
        /// The input.
        name: String,
        /// The line.
        line: u64,
        /// Seconds.
        seconds: i64,
    },
    /// Windows and clock contradict each other throughout.
    #[error(
        "{name}: on {jumps} of {lines} decode lines (first on line {line}) the clock went on by far more than the line's \
         throughput allows; the log is not as a server wrote it"
    )]
    ClockJumps {
        /// The input.
        name: String,
        /// The first line.
        line: u64,
        /// Lines with a jump.
        jumps: u64,
        /// Decode lines.
        lines: u64,
    },
    /// No server arguments with a draft length.
    #[error("{name}: the log does not say how many tokens are drafted a step; name them with --draft-length")]
    NoDraftLength {
        /// The input.
        name: String,
    },
    /// All lines were excluded.
    #[error("no steady decode lines among {lines}: {excluded}; run longer at a constant concurrency")]
    NothingSteady {
        /// Decode lines.
        lines: u64,
        /// Why they do not count.
        excluded: String,
    },
}

/// The server of a run.
struct Server {
    drafts: u32,
    verified: u32,
    graph_batches: Vec<u32>,
    colocated: bool,
}

/// Rows of one regime: without speculation, or with it.
#[derive(Default)]
struct Regime {
    rows: Vec<Row>,
    verified: BTreeMap<u32, u32>,
    graph_batches: Vec<u32>,
    colocated: bool,
    prefill_lines: u64,
}

/// Calibrates a model on the runs of one server model: the same weights and hardware, whatever its draft lengths and loads.
pub fn calibrate(runs: &[LogRun], options: &Options) -> Result<Model, CalibrateError> {
    let runs: Vec<&LogRun> = runs.iter().filter(|run| run.decode_lines > 0).collect();
    if runs.is_empty() {
        return Err(CalibrateError::NoDecodeLines);
    }
    let mut regimes: BTreeMap<bool, Regime> = BTreeMap::new();
    let mut sources = Vec::new();
    for run in &runs {
        check(run)?;
        let server = server(run, options)?;
        let (windows, excluded) = clean(&run.windows);
        let regime = regimes.entry(server.drafts > 0).or_default();
        let rows = windows
            .iter()
            .filter_map(|window| Row::new(window, server.drafts, server.verified, &server.graph_batches));
        let before = regime.rows.len();
        regime.rows.extend(rows);
        regime.verified.insert(server.drafts, server.verified);
        regime.colocated |= server.colocated;
        regime.prefill_lines += run.prefill_lines;
        if regime.graph_batches.is_empty() {
            regime.graph_batches = server.graph_batches;
        }
        sources.push(Source {
            name: run.name.clone(),
            started: run.server.as_ref().and_then(|server| server.timestamp.clone()),
            drafts: server.drafts,
            interval: windows.first().or(run.windows.first()).map_or(0, |window| window.interval),
            decode_lines: run.decode_lines,
            prefill_lines: run.prefill_lines,
            duplicates: run.duplicates,
            used: count(regime.rows.len() - before),
            excluded: excluded.iter().map(|(reason, lines)| (reason.name().to_owned(), *lines)).collect(),
        });
    }
    if regimes.values().all(|regime| regime.rows.is_empty()) {
        return Err(nothing_steady(&sources));
    }
    let mut laws = Vec::new();
    let mut levels = Vec::new();
    for regime in regimes.values().filter(|regime| !regime.rows.is_empty()) {
        let law = law(regime, options);
        levels.extend(measured(regime, &law));
        laws.push(law);
    }
    let stated = |figure: fn(&crate::evidence::ServerStart) -> Option<u32>| {
        runs.iter().filter_map(|run| figure(run.server.as_ref()?)).find(|value| *value > 0)
    };
    Ok(Model {
        laws,
        levels,
        sources,
        workload: workload(&runs),
        ranks: runs.iter().map(|run| run.ranks).max().unwrap_or(1).clamp(1, 65_536),
        batch_tokens: stated(|server| server.chunked_prefill_size),
        most_running: stated(|server| server.max_running_requests),
        overlap: runs.iter().find_map(|run| run.server.as_ref()?.overlap_disabled).map(|disabled| !disabled),
    })
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// Refuses a run whose times cannot be believed.
fn check(run: &LogRun) -> Result<(), CalibrateError> {
    let name = run.name.clone();
    if run.timed_lines == 0 {
        return Err(CalibrateError::NoThroughput { name, lines: run.decode_lines });
    }
    match run.clock_jump {
        Some((Place { line, .. }, seconds)) if seconds < 0 => {
            Err(CalibrateError::ClockBack { name, line, seconds: -seconds })
        }
        Some((Place { line, .. }, _)) if run.clock_jumps * 10 > run.decode_lines => {
            Err(CalibrateError::ClockJumps { name, line, jumps: run.clock_jumps, lines: run.decode_lines })
        }
        _ => Ok(()),
    }
}

fn server(run: &LogRun, options: &Options) -> Result<Server, CalibrateError> {
    let stated = run.server.as_ref();
    let is_plain = stated.map_or(run.spec_lines == 0, |server| server.speculative_algorithm.is_none())
        && run.spec_lines == 0;
    let of_server = stated.and_then(|server| {
        let by_width = server.num_draft_tokens.and_then(|tokens| tokens.checked_sub(1));
        // Servers whose drafts are no chain state no steps, or 0 of them.
        let stated = |drafts: Option<u32>| drafts.filter(|drafts| *drafts > 0);
        stated(server.num_steps).or(stated(server.block_size)).or(stated(by_width))
    });
    let drafts = if is_plain {
        0
    } else {
        options
            .draft_length
            .or(of_server)
            .filter(|drafts| *drafts > 0)
            .ok_or_else(|| CalibrateError::NoDraftLength { name: run.name.clone() })?
    };
    let width = stated.and_then(|server| server.num_draft_tokens).filter(|_| options.draft_length.is_none());
    let verified = if is_plain { 1 } else { width.unwrap_or(drafts.saturating_add(1)) };
    let decodes_only = stated.is_some_and(|server| server.disaggregation_mode.as_deref() == Some("decode"))
        || run.has_transfer_fields;
    let mut graph_batches = stated.map(|server| server.graph_batches.clone()).unwrap_or_default();
    graph_batches.sort_unstable();
    let colocated = options.colocated.unwrap_or(!decodes_only);
    Ok(Server { drafts, verified, graph_batches, colocated })
}

fn nothing_steady(sources: &[Source]) -> CalibrateError {
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    for (reason, lines) in sources.iter().flat_map(|source| &source.excluded) {
        *reasons.entry(reason).or_default() += lines;
    }
    let excluded: Vec<String> = reasons.iter().map(|(reason, lines)| format!("{lines} {reason}")).collect();
    let lines = sources.iter().map(|source| source.decode_lines).sum();
    CalibrateError::NothingSteady { lines, excluded: excluded.join(", ") }
}

fn workload(runs: &[&LogRun]) -> Workload {
    let requests: u64 = runs.iter().map(|run| run.prompts.requests).sum();
    let (tokens, cached): (u64, u64) = runs
        .iter()
        .fold((0, 0), |(tokens, cached), run| (tokens + run.prompts.tokens, cached + run.prompts.cached));
    if requests == 0 {
        return Workload::default();
    }
    let all = float(tokens.saturating_add(cached));
    let output: f64 = runs.iter().filter(|run| run.prompts.requests > 0).map(|run| run.output_tokens).sum();
    Workload {
        input: Some(all / float(requests)),
        cached: if all > 0.0 { float(cached) / all } else { 0.0 },
        output: Some(output / float(requests)).filter(|output| *output >= 1.0),
    }
}

/// The law of a regime, or why there is none.
fn law(regime: &Regime, options: &Options) -> Law {
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

/// Rows by draft length and batch, in their order.
fn by_level(rows: &[Row]) -> BTreeMap<(u32, u32), Vec<Row>> {
    let mut levels: BTreeMap<(u32, u32), Vec<Row>> = BTreeMap::new();
    for row in rows {
        levels.entry((row.drafts, row.running)).or_default().push(*row);
    }
    levels
}

fn mean_accept_length(rows: &[Row]) -> f64 {
    let steps: f64 = rows.iter().map(|row| row.batch * f64::from(row.interval)).sum();
    rows.iter().map(Row::output_tokens).sum::<f64>() / steps
}

/// Theil and Sen's slope: the median over all pairs of levels of the slope between their median step times.
fn slope(rows: &[Row]) -> Option<f64> {
    let medians: Vec<(u32, f64)> = by_level(rows)
        .into_iter()
        .filter_map(|((_, running), rows)| {
            Some((running, median(rows.iter().map(|row| row.step_s).collect())?))
        })
        .take(1000)
        .collect();
    let pairs = medians.iter().enumerate().flat_map(|(at, left)| {
        medians
            .iter()
            .skip(at + 1)
            .filter(|right| right.0 != left.0)
            .map(move |right| (right.1 - left.1) / (f64::from(right.0) - f64::from(left.0)))
    });
    median(pairs.collect())
}

/// Fits the law of a regime; the reasons why not, most telling first.
fn fitted(regime: &Regime, options: &Options) -> Result<Fitted, Vec<Missing>> {
    let rows = &regime.rows;
    let batches: BTreeSet<u32> = rows.iter().map(|row| row.running).collect();
    // Without the rarest: a line on whose step requests ended shows the tokens of those that are left.
    let contexts = rows.iter().map(|row| row.kv_tokens / f64::from(row.running.max(1))).collect();
    let (shortest, longest) = bootstrap::band(contexts).unwrap_or_default();
    let spread = if shortest > 0.0 { longest / shortest } else { f64::INFINITY };
    let mut missing = Vec::new();
    if regime.colocated && regime.prefill_lines == 0 {
        missing.push(Missing::PrefillLines);
    }
    if batches.len() < LEAST_LEVELS {
        missing.push(Missing::Levels { found: batches.iter().copied().collect() });
    }
    if spread < LEAST_SPREAD {
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
    let mut strata: BTreeMap<(u32, u32), Vec<(Row, f64)>> = BTreeMap::new();
    for (row, weight) in rows.iter().zip(&fit.weights) {
        strata.entry((row.drafts, row.running)).or_default().push((*row, *weight));
    }
    let strata: Vec<Vec<(Row, f64)>> = strata.into_values().collect();
    Ok(Fitted { step, prefill, merged, quality, resamples: bootstrap::coefficients(&strata, &shape) })
}

fn singular(found: f64) -> Missing {
    // A number for the file: infinity has no place in JSON.
    Missing::Condition { found: found.min(1e9), most: MOST_CONDITION }
}

/// The columns that the rows can tell apart, then lanes and bend, each where the criterion asks for it.
fn shape(regime: &Regime, rows: &[Row], options: &Options) -> Result<(Shape, Vec<Merged>), Vec<Missing>> {
    let has_prefill = regime.colocated && rows.iter().any(|row| row.batches > 0.0);
    let lengths: BTreeSet<u32> = rows.iter().map(|row| row.drafts).collect();
    let mut shape = Shape {
        lanes: 1.0,
        bend: BendShape::None,
        drafts: lengths.len() > 1,
        batches: has_prefill,
        prompts: has_prefill,
    };
    let mut merged = Vec::new();
    if !shape.drafts && lengths.iter().any(|drafts| *drafts > 0) {
        merged.push(Merged::DraftIntoFixed);
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

/// The measured levels of a regime.
fn measured(regime: &Regime, law: &Law) -> Vec<Level> {
    let fitted = law.fitted();
    let costs: Option<Vec<(f64, f64)>> =
        fitted.map(|fitted| fitted.resamples.rows.iter().map(|[_, _, _, _, p0, p1, _]| (*p0, *p1)).collect());
    by_level(&regime.rows)
        .into_iter()
        .filter(|(_, rows)| rows.len() >= LEAST_OF_LEVEL)
        .map(|((drafts, running), rows)| {
            let seconds: f64 = rows.iter().map(Row::seconds).sum();
            let tps = rows.iter().map(Row::output_tokens).sum::<f64>() / seconds;
            let mean =
                |figure: fn(&Row) -> f64| rows.iter().map(figure).sum::<f64>() / float(count(rows.len()));
            let (prefill_share, step_s) =
                prefill_share(&rows, fitted.map(|fitted| fitted.prefill), law.colocated);
            let (band, share_band) = bootstrap::level(&rows, costs.as_deref());
            Level {
                drafts,
                running,
                windows: count(rows.len()),
                accept_length: mean_accept_length(&rows),
                tps,
                tps_band: band.unwrap_or((tps, tps)),
                step_s,
                context: mean(|row| row.kv_tokens) / f64::from(running.max(1)),
                longest: mean(|row| row.longest),
                prefill_share,
                prefill_share_band: share_band.filter(|_| prefill_share.is_some()),
            }
        })
        .collect()
}

/// The share of time in prefill, and seconds a step without it: by the law, else `1 - t0/t1` from windows without a prefill line.
fn prefill_share(rows: &[Row], prefill: Option<PrefillLaw>, colocated: bool) -> (Option<f64>, Option<f64>) {
    let steps: f64 = rows.iter().map(|row| f64::from(row.interval)).sum();
    let seconds: f64 = rows.iter().map(Row::seconds).sum();
    let whole = seconds / steps;
    if !colocated {
        return (Some(0.0), Some(whole));
    }
    if let Some(prefill) = prefill {
        let spent: f64 = rows
            .iter()
            .map(|row| {
                (prefill.p0_s * row.batches + prefill.p1_s * row.prompt_tokens) * f64::from(row.interval)
            })
            .sum();
        let share = (spent / seconds).clamp(0.0, 0.999);
        return (Some(share), Some(whole * (1.0 - share)));
    }
    let free: Vec<&Row> = rows.iter().filter(|row| row.batches <= 0.0).collect();
    if free.len() < LEAST_OF_LEVEL || free.len() == rows.len() {
        return (None, None);
    }
    let free_steps: f64 = free.iter().map(|row| f64::from(row.interval)).sum();
    let without = free.iter().map(|row| row.seconds()).sum::<f64>() / free_steps;
    (Some((1.0 - without / whole).clamp(0.0, 0.999)), Some(without))
}
