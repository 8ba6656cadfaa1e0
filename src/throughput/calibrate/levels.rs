//! What was measured at each draft length and batch.

use std::collections::BTreeMap;

use crate::law::float;
use crate::throughput::bootstrap;
use crate::throughput::fit::Row;
use crate::throughput::model::{Law, Level};
use crate::throughput::observe::median;
use crate::throughput::step::PrefillLaw;

use super::runs::{Regime, count};

/// Fewest windows of a level that is reported.
pub(super) const LEAST_OF_LEVEL: usize = 3;

/// Draft length, where known, batch, and busy ranks, where not all are.
pub(super) type Key = (Option<u32>, u32, Option<u32>);

/// Rows by draft length and batch, in their order.
pub(super) fn by_level(rows: &[Row]) -> BTreeMap<Key, Vec<Row>> {
    let mut levels: BTreeMap<Key, Vec<Row>> = BTreeMap::new();
    for row in rows {
        levels.entry((row.drafts, row.running, row.busy)).or_default().push(*row);
    }
    levels
}

pub(super) fn mean_accept_length(rows: &[Row]) -> f64 {
    let steps: f64 = rows.iter().map(|row| row.batch * f64::from(row.interval)).sum();
    rows.iter().map(Row::output_tokens).sum::<f64>() / steps
}

/// Theil and Sen's slope: the median over all pairs of levels of the slope between their median step times. None below 0: no
/// request makes a step shorter, so the levels then differ in something else.
pub(super) fn slope(rows: &[Row]) -> Option<f64> {
    let medians: Vec<(u32, f64)> = by_level(rows)
        .into_iter()
        .filter_map(|((_, running, _), rows)| {
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
    median(pairs.collect()).filter(|slope| *slope >= 0.0)
}

/// The measured levels of a regime.
pub(super) fn measured(regime: &Regime, law: &Law) -> Vec<Level> {
    let fitted = law.fitted();
    let costs: Option<Vec<(f64, f64)>> =
        fitted.map(|fitted| fitted.resamples.rows.iter().map(|[_, _, _, _, p0, p1, _]| (*p0, *p1)).collect());
    by_level(&regime.rows)
        .into_iter()
        .filter(|(_, rows)| rows.len() >= LEAST_OF_LEVEL)
        .map(|((drafts, running, busy), rows)| {
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
                busy,
                output: mean_output(&rows),
                windows: count(rows.len()),
                accept_length: mean_accept_length(&rows),
                tps,
                tps_band: band.unwrap_or((tps, tps)),
                step_s,
                context: rows
                    .iter()
                    .all(|row| row.has_context)
                    .then(|| mean(|row| row.kv_tokens) / f64::from(running.max(1))),
                longest: mean(|row| row.longest),
                prefill_share,
                prefill_share_band: share_band.filter(|_| prefill_share.is_some()),
            }
        })
        .collect()
}

/// Mean output tokens of the requests of rows: all tokens over the requests that they make.
fn mean_output(rows: &[Row]) -> Option<f64> {
    let known = rows.iter().filter_map(|row| Some((row.output_tokens(), row.output?)));
    let (tokens, requests) = known
        .fold((0.0, 0.0), |(tokens, requests), (more, output)| (tokens + more, requests + more / output));
    (requests > 0.0).then_some(tokens / requests)
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
    // Without prefill lines in the log a window shows none of its prefills.
    let free: Vec<&Row> = rows
        .iter()
        .filter(|row| row.sees_prefill && row.batches <= 0.0 && row.prompt_tokens <= 0.0)
        .collect();
    if free.len() < LEAST_OF_LEVEL {
        return (None, None);
    }
    if free.len() == rows.len() {
        return (Some(0.0), Some(whole));
    }
    let free_steps: f64 = free.iter().map(|row| f64::from(row.interval)).sum();
    let without = free.iter().map(|row| row.seconds()).sum::<f64>() / free_steps;
    (Some((1.0 - without / whole).clamp(0.0, 0.999)), Some(without))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows of ten steps without prefill that take 8 ms each, and with prompts 10 ms.
    fn rows(free: usize, busy: usize) -> Vec<Row> {
        let row = |prompt_tokens: f64, step_s: f64| Row {
            drafts: Some(3),
            verified: 4,
            running: 4,
            batch: 4.0,
            tokens: 16.0,
            kv_tokens: 1000.0,
            longest: 300.0,
            batches: if prompt_tokens > 0.0 { 0.1 } else { 0.0 },
            prompt_tokens,
            accept_len: 2.5,
            step_s,
            interval: 10,
            has_context: true,
            sees_prefill: true,
            busy: None,
            output: None,
        };
        [vec![row(0.0, 0.008); free], vec![row(50.0, 0.010); busy]].concat()
    }

    #[test]
    fn without_a_law_the_windows_without_prompts_say_what_prefill_takes() {
        let near = |found: (Option<f64>, Option<f64>), share: f64, step_s: f64| {
            let (found_share, found_step_s) = (found.0.unwrap(), found.1.unwrap());
            assert!(
                (found_share - share).abs() < 1e-12 && (found_step_s - step_s).abs() < 1e-12,
                "{found:?}"
            );
        };
        // Three of 8 ms and three of 10 ms: 9 ms, of which 8 are steps.
        near(prefill_share(&rows(3, 3), None, true), 1.0 - 8.0 / 9.0, 0.008);
        near(prefill_share(&rows(3, 0), None, true), 0.0, 0.008);
        // Prefilled on another server, all of a step is decoding.
        near(prefill_share(&rows(3, 3), None, false), 0.0, 0.009);
        // 5 ms a batch, a tenth of one a step, and 10 us a token: 1 ms of the 10.
        let law = PrefillLaw { p0_s: 0.005, p1_s: 1e-5 };
        near(prefill_share(&rows(0, 4), Some(law), true), 0.1, 0.009);
        assert_eq!(prefill_share(&rows(2, 3), None, true), (None, None));
    }
}
