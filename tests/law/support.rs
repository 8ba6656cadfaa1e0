//! Laws by short names, and how far counts are from what they should be.

use accsim::law::{AcceptanceLaw, GeometricDecay, PerPosition, Pool, PoolKind, RealHead, Setting, TwoPoint};
use statrs::distribution::{ChiSquared, ContinuousCDF as _};

pub(crate) fn setting(accept_length: f64, max: u32) -> Setting {
    Setting::new(accept_length, max).unwrap()
}

pub(crate) fn match_expected(accept_length: f64, max: u32) -> AcceptanceLaw {
    AcceptanceLaw::match_expected(setting(accept_length, max))
}

pub(crate) fn per_position(rates: &[f64]) -> AcceptanceLaw {
    AcceptanceLaw::PerPosition(PerPosition::new(rates.to_vec()).unwrap())
}

pub(crate) fn pool(kind: PoolKind, accept_length: f64, max: u32) -> AcceptanceLaw {
    AcceptanceLaw::Pool(Pool::new(kind, TwoPoint::new(setting(accept_length, max))))
}

/// One law of every kind around one target.
pub(crate) fn every_law(accept_length: f64, max: u32) -> Vec<AcceptanceLaw> {
    let setting = setting(accept_length, max);
    let drafts = max - 1;
    let rate = ((accept_length - 1.0) / f64::from(drafts)).clamp(0.0, 1.0);
    let decay = GeometricDecay::with_mean_rate(rate, drafts).unwrap();
    let rates: Vec<f64> = (1..=drafts).map(|position| 0.9 / f64::from(position)).collect();
    vec![
        AcceptanceLaw::match_expected(setting),
        AcceptanceLaw::multinomial(setting),
        AcceptanceLaw::clamped_short(setting),
        AcceptanceLaw::rounded(setting),
        AcceptanceLaw::Constant(max),
        AcceptanceLaw::per_request(setting),
        // The shorter of the two sequences: the longer one takes a while to build.
        pool(PoolKind::Atom, accept_length, max),
        AcceptanceLaw::Geometric(decay),
        per_position(&rates),
        AcceptanceLaw::Real(RealHead::new(&rates).unwrap()),
    ]
}

/// Probability of counts at least this far from what the probabilities say, by Pearson's chi-square.
pub(crate) fn chi_square_p(cells: impl IntoIterator<Item = (u64, f64)>) -> f64 {
    let cells: Vec<(u64, f64)> = cells.into_iter().collect();
    let total: u64 = cells.iter().map(|(count, _)| count).sum();
    let pooled = pool_cells(cells.iter().map(|(count, p)| (*count as f64, p * total as f64)));
    let statistic = pooled.iter().map(|(observed, expected)| (observed - expected).powi(2) / expected).sum();
    upper_tail(statistic, pooled.len())
}

/// The same for two samples of equal size that may have come from one law.
pub(crate) fn two_sample_p(left: &[u64], right: &[u64]) -> f64 {
    let cells =
        left.iter().zip(right).map(|(left, right)| (*left as f64 - *right as f64, (left + right) as f64));
    let pooled = pool_cells(cells);
    let statistic = pooled.iter().map(|(difference, both)| difference.powi(2) / both).sum();
    upper_tail(statistic, pooled.len())
}

/// Neighbours added up until each cell expects at least 5.
fn pool_cells(cells: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut pooled = Vec::new();
    let (mut observed, mut expected) = (0.0, 0.0);
    for cell in cells {
        (observed, expected) = (observed + cell.0, expected + cell.1);
        if expected >= 5.0 {
            pooled.push((observed, expected));
            (observed, expected) = (0.0, 0.0);
        }
    }
    match pooled.last_mut() {
        Some(last) => *last = (last.0 + observed, last.1 + expected),
        None => pooled.push((observed, expected)),
    }
    pooled
}

fn upper_tail(statistic: f64, cells: usize) -> f64 {
    if cells < 2 { 1.0 } else { ChiSquared::new((cells - 1) as f64).unwrap().sf(statistic) }
}
