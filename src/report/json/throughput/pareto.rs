//! `throughput pareto --json`.

use serde::Serialize;

use crate::throughput::Standing;

/// How many points, and which are beaten by which.
#[derive(Debug, Serialize)]
pub struct ParetoDocument {
    points: usize,
    invalid: usize,
    frontier: usize,
    /// Share of the valid points that lie on the frontier.
    coverage: Option<f64>,
    frontier_indices: Vec<usize>,
    dominated: Vec<Dominated>,
    /// Every row with its numbers; null where a cell holds none.
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    index: usize,
    x: Option<f64>,
    y: Option<f64>,
    standing: &'static str,
    by: Option<usize>,
}

#[derive(Debug, Serialize)]
struct Dominated {
    index: usize,
    by: usize,
}

impl ParetoDocument {
    /// The document.
    #[must_use]
    pub fn new(points: &[(f64, f64)], standing: &[Standing]) -> Self {
        let of = |wanted: Standing| standing.iter().enumerate().filter(move |(_, found)| **found == wanted);
        let frontier_indices: Vec<usize> = of(Standing::Frontier).map(|(index, _)| index).collect();
        let dominated = standing
            .iter()
            .enumerate()
            .filter_map(|(index, standing)| match standing {
                Standing::Dominated { by } => Some(Dominated { index, by: *by }),
                Standing::Frontier | Standing::Invalid => None,
            })
            .collect();
        let invalid = of(Standing::Invalid).count();
        let valid = u64::try_from(points.len() - invalid.min(points.len())).unwrap_or(0);
        let on_it = u64::try_from(frontier_indices.len()).unwrap_or(0);
        Self {
            points: points.len(),
            invalid,
            frontier: frontier_indices.len(),
            coverage: (valid > 0).then(|| crate::law::float(on_it) / crate::law::float(valid)),
            frontier_indices,
            dominated,
            rows: points.iter().zip(standing).enumerate().map(|(index, row)| Row::new(index, row)).collect(),
        }
    }
}

impl Row {
    fn new(index: usize, ((x, y), standing): (&(f64, f64), &Standing)) -> Self {
        let number = |value: &f64| Some(*value).filter(|value| value.is_finite());
        let (standing, by) = match standing {
            Standing::Frontier => ("frontier", None),
            Standing::Dominated { by } => ("dominated", Some(*by)),
            Standing::Invalid => ("invalid", None),
        };
        Self { index, x: number(x), y: number(y), standing, by }
    }
}
