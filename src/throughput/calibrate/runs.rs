//! All runs together: rows by regime, laws, levels, provenance.

use std::collections::BTreeMap;

use crate::law::float;
use crate::throughput::fit::Row;
use crate::throughput::model::{Model, Source, Workload};
use crate::throughput::observe::{LogRun, clean};

use super::error::{CalibrateError, check, no_twins, nothing_steady, same_server};
use super::law::law;
use super::levels::measured;
use super::server::{Options, Server, is_plain, server, told_drafts};

/// Rows of one regime: without speculation, or with it.
#[derive(Default)]
pub(super) struct Regime {
    pub(super) rows: Vec<Row>,
    pub(super) verified: BTreeMap<u32, u32>,
    /// A run whose draft length nothing tells.
    pub(super) is_unknown: bool,
    pub(super) graph_batches: Vec<u32>,
    pub(super) colocated: bool,
    pub(super) sees_prefill: bool,
}

/// Calibrates a model on the runs of one server model: the same weights and hardware, whatever its draft lengths and loads.
///
/// ```
/// use accsim::evidence::{Input, Reader};
/// use accsim::throughput::{Observer, Options, calibrate};
///
/// let log = std::path::Path::new("tests/data/h200/e3k3_al299.log");
/// let mut observer = Observer::new(None);
/// observer.begin("e3k3");
/// let errors = Reader::default().read(&Input::from(log), &mut |place, record| observer.record(place, record));
/// assert!(errors.is_empty());
/// let model = calibrate(&observer.finish()?, &Options::default())?;
/// assert_eq!(model.draft_lengths(), [3]);
/// let batches: Vec<u32> = model.levels.iter().map(|level| level.running).collect();
/// assert_eq!(batches, [1, 4, 16, 32]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn calibrate(runs: &[LogRun], options: &Options) -> Result<Model, CalibrateError> {
    let lone = runs.iter().find(|run| run.lone_spec_lines > 0);
    let runs: Vec<&LogRun> = runs.iter().filter(|run| run.decode_lines > 0).collect();
    if runs.is_empty() {
        if let Some(run) = lone {
            return Err(CalibrateError::NoEngineLines { name: run.name.clone(), lines: run.lone_spec_lines });
        }
        return Err(CalibrateError::NoDecodeLines);
    }
    same_server(&runs)?;
    check_drafts(&runs, options)?;
    let ranks = runs.iter().map(|run| run.ranks).max().unwrap_or(1).clamp(1, 65_536);
    let mut regimes: BTreeMap<bool, Regime> = BTreeMap::new();
    let mut sources = Vec::new();
    for run in &runs {
        check(run)?;
        let server = server(run, options);
        // Of two runs with speculation one without a draft length could be at any: lines of different ones are never pooled.
        if server.drafts.is_none() && runs.iter().filter(|run| !is_plain(run)).count() > 1 {
            return Err(CalibrateError::NoDraftLength { name: run.name.clone() });
        }
        check_lengths(run, &server)?;
        let (windows, excluded) = clean(&run.windows);
        let output = run.mean_output();
        let regime = regimes.entry(server.drafts != Some(0)).or_default();
        let sees_prefill = run.sees_prefill();
        let rows = windows.iter().filter_map(|window| {
            let row = Row::new(window, server.drafts, server.verified, &server.graph_batches)?;
            let busy = Some(window.busy).filter(|busy| *busy < ranks);
            Some(Row { sees_prefill, busy, output, ..row })
        });
        let before = regime.rows.len();
        regime.rows.extend(rows);
        if let Some(drafts) = server.drafts {
            regime.verified.insert(drafts, server.verified);
        }
        regime.is_unknown |= server.drafts.is_none();
        regime.colocated |= server.colocated;
        regime.sees_prefill |= sees_prefill;
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
            input: run.prompts.mean_input(),
            output,
            context: mean_context(regime.rows.get(before..).unwrap_or_default()),
            excluded: excluded.iter().map(|(reason, lines)| (reason.name().to_owned(), *lines)).collect(),
        });
    }
    no_twins(&runs)?;
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
        ranks,
        batch_tokens: stated(|server| server.chunked_prefill_size),
        most_running: stated(|server| server.max_running_requests),
        overlap: runs.iter().find_map(|run| run.server.as_ref()?.overlap_disabled).map(|disabled| !disabled),
    })
}

/// Mean KV tokens of a running request, over the time of rows; none where one of them does not show it.
fn mean_context(rows: &[Row]) -> Option<f64> {
    if !rows.iter().all(|row| row.has_context) {
        return None;
    }
    let requests: f64 = rows.iter().map(|row| f64::from(row.running) * row.seconds()).sum();
    let tokens: f64 = rows.iter().map(|row| row.kv_tokens * row.seconds()).sum();
    (requests > 0.0).then(|| tokens / requests).filter(|context| context.is_finite())
}

pub(super) fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// A draft length by hand speaks for logs that do not say theirs; it may not contradict all that do.
fn check_drafts(runs: &[&LogRun], options: &Options) -> Result<(), CalibrateError> {
    let Some(given) = options.draft_length else { return Ok(()) };
    let speculative: Vec<&LogRun> = runs.iter().copied().filter(|run| !is_plain(run)).collect();
    if speculative.iter().any(|run| told_drafts(run).is_none_or(|told| told == given)) {
        return Ok(());
    }
    match speculative.iter().find_map(|run| Some((run, told_drafts(run)?))) {
        Some((run, stated)) => Err(CalibrateError::DraftLength { name: run.name.clone(), stated, given }),
        None => Ok(()),
    }
}

/// Refuses an accept length that no step of the server has.
fn check_lengths(run: &LogRun, server: &Server) -> Result<(), CalibrateError> {
    let Some(drafts) = server.drafts else { return Ok(()) };
    let most = drafts.saturating_add(1).max(server.verified);
    let (found, line) = run.longest;
    if found > f64::from(most) + 0.005 {
        return Err(CalibrateError::AcceptLength { name: run.name.clone(), line, found, most, drafts });
    }
    Ok(())
}

/// What the requests of the runs with speculation are like; of the others, where there is none.
fn workload(runs: &[&LogRun]) -> Workload {
    let speculative: Vec<&LogRun> = runs.iter().copied().filter(|run| !is_plain(run)).collect();
    let has_requests = speculative.iter().any(|run| run.prompts.requests > 0);
    let runs: &[&LogRun] = if has_requests { &speculative } else { runs };
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
