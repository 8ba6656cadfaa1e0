//! Small dense least squares, by normal equations: a handful of columns, scaled to length 1, whose condition is checked
//! before anyone believes the result.

/// A symmetric matrix and a right-hand side, summed over weighted rows.
#[derive(Clone, Debug)]
pub(super) struct Normal {
    size: usize,
    gram: Vec<f64>,
    moment: Vec<f64>,
}

/// A square matrix by rows.
#[derive(Clone, Debug)]
struct Square {
    size: usize,
    cells: Vec<f64>,
}

impl Square {
    fn zero(size: usize) -> Self {
        Self { size, cells: vec![0.0; size * size] }
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.cells.get(row * self.size + column).copied().unwrap_or(0.0)
    }

    fn set(&mut self, row: usize, column: usize, value: f64) {
        if let Some(cell) = self.cells.get_mut(row * self.size + column) {
            *cell = value;
        }
    }
}

impl Normal {
    pub(super) fn new(size: usize) -> Self {
        Self { size, gram: vec![0.0; size * size], moment: vec![0.0; size] }
    }

    /// Adds one row of the design with its observation, both times `weight` in the sums.
    pub(super) fn add(&mut self, row: &[f64], observed: f64, weight: f64) {
        for (sums, left) in self.gram.chunks_mut(self.size.max(1)).zip(row) {
            for (sum, right) in sums.iter_mut().zip(row) {
                *sum += weight * left * right;
            }
        }
        for (sum, left) in self.moment.iter_mut().zip(row) {
            *sum += weight * left * observed;
        }
    }

    /// Adds the sums of other rows.
    pub(super) fn merge(&mut self, other: &Self) {
        self.gram.iter_mut().zip(&other.gram).for_each(|(sum, more)| *sum += more);
        self.moment.iter_mut().zip(&other.moment).for_each(|(sum, more)| *sum += more);
    }

    fn gram_at(&self, row: usize, column: usize) -> f64 {
        self.gram.get(row * self.size + column).copied().unwrap_or(0.0)
    }

    /// Lengths of the columns.
    fn lengths(&self) -> Vec<f64> {
        (0..self.size).map(|at| self.gram_at(at, at).max(0.0).sqrt()).collect()
    }

    /// The condition number of the design with its columns scaled to length 1; infinite where a column is empty or depends on
    /// the others.
    pub(super) fn condition(&self) -> f64 {
        let lengths = self.lengths();
        if lengths.iter().any(|length| *length <= 0.0) {
            return f64::INFINITY;
        }
        let mut scaled = Square::zero(self.size);
        for (row, left) in lengths.iter().enumerate() {
            for (column, right) in lengths.iter().enumerate() {
                scaled.set(row, column, self.gram_at(row, column) / left / right);
            }
        }
        let values = eigenvalues(scaled);
        let (low, high) = values
            .iter()
            .fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(*value), high.max(*value)));
        // What rounding leaves of a zero.
        if low <= high * 1e-13 { f64::INFINITY } else { (high / low).sqrt() }
    }

    /// The least-squares solution with no negative entry (Lawson and Hanson 1974, on the normal equations).
    pub(super) fn nonnegative(&self) -> Option<Vec<f64>> {
        let mut active = vec![false; self.size];
        let mut solution = vec![0.0; self.size];
        let lengths = self.lengths();
        for _ in 0..self.size * 8 + 8 {
            let gradient = self.gradient(&solution);
            let scale = |at: usize| lengths.get(at).copied().filter(|length| *length > 0.0);
            let best = (0..self.size)
                .filter(|at| active.get(*at) == Some(&false))
                .filter_map(|at| Some((at, gradient.get(at)? / scale(at)?)))
                .max_by(|left, right| left.1.total_cmp(&right.1));
            let tolerance = 1e-10 * self.moment_scale(&lengths);
            let Some((entering, _)) = best.filter(|(_, slope)| *slope > tolerance) else {
                return solution.iter().all(|value| value.is_finite()).then_some(solution);
            };
            if let Some(flag) = active.get_mut(entering) {
                *flag = true;
            }
            loop {
                let Some(trial) = self.solve(&active) else {
                    // It depends on those that are in: leave it out for good.
                    if let Some(flag) = active.get_mut(entering) {
                        *flag = false;
                    }
                    return Some(solution);
                };
                let negative = trial.iter().zip(&active).any(|(value, on)| *on && *value <= 0.0);
                if !negative {
                    solution = trial;
                    break;
                }
                let step = trial
                    .iter()
                    .zip(&solution)
                    .zip(&active)
                    .filter(|((trial, _), on)| **on && **trial <= 0.0)
                    .map(|((trial, now), _)| now / (now - trial))
                    .fold(1.0_f64, f64::min)
                    .max(0.0);
                for ((now, trial), on) in solution.iter_mut().zip(&trial).zip(active.iter_mut()) {
                    *now += step * (trial - *now);
                    if *on && *now <= 1e-300 {
                        *now = 0.0;
                        *on = false;
                    }
                }
                if !active.iter().any(|on| *on) {
                    break;
                }
            }
        }
        Some(solution)
    }

    fn moment_scale(&self, lengths: &[f64]) -> f64 {
        self.moment
            .iter()
            .zip(lengths)
            .filter(|(_, length)| **length > 0.0)
            .map(|(moment, length)| (moment / length).abs())
            .fold(f64::MIN_POSITIVE, f64::max)
    }

    fn gradient(&self, solution: &[f64]) -> Vec<f64> {
        let product = |row: usize| -> f64 {
            solution.iter().enumerate().map(|(column, value)| self.gram_at(row, column) * value).sum()
        };
        self.moment.iter().enumerate().map(|(row, moment)| moment - product(row)).collect()
    }

    /// Solves for the columns that are on, the others being 0, by Cholesky's method; `None` where they depend on each other.
    fn solve(&self, active: &[bool]) -> Option<Vec<f64>> {
        let on: Vec<usize> = (0..self.size).filter(|at| active.get(*at) == Some(&true)).collect();
        let lengths: Vec<f64> = on.iter().map(|at| self.gram_at(*at, *at).max(0.0).sqrt()).collect();
        let size = on.len();
        let mut factor = Square::zero(size);
        for (row, (from, left)) in on.iter().zip(&lengths).enumerate() {
            for (column, (to, right)) in on.iter().zip(&lengths).enumerate().take(row + 1) {
                let done: f64 = (0..column).map(|at| factor.at(row, at) * factor.at(column, at)).sum();
                let rest = self.gram_at(*from, *to) / left / right - done;
                if row == column {
                    if rest.is_nan() || rest <= 1e-13 {
                        return None;
                    }
                    factor.set(row, row, rest.sqrt());
                } else {
                    factor.set(row, column, rest / factor.at(column, column));
                }
            }
        }
        let mut forward: Vec<f64> = Vec::with_capacity(size);
        for (row, (from, length)) in on.iter().zip(&lengths).enumerate() {
            let moment = self.moment.get(*from).copied().unwrap_or(0.0) / length;
            let done: f64 = forward.iter().enumerate().map(|(at, value)| factor.at(row, at) * value).sum();
            forward.push((moment - done) / factor.at(row, row));
        }
        let mut solved = vec![0.0; size];
        for row in (0..size).rev() {
            let done: f64 =
                solved.iter().enumerate().skip(row + 1).map(|(at, value)| factor.at(at, row) * value).sum();
            let value = (forward.get(row).copied().unwrap_or(0.0) - done) / factor.at(row, row);
            if let Some(slot) = solved.get_mut(row) {
                *slot = value;
            }
        }
        let mut full = vec![0.0; self.size];
        for ((at, value), length) in on.iter().zip(&solved).zip(&lengths) {
            if let Some(slot) = full.get_mut(*at) {
                *slot = value / length;
            }
        }
        Some(full)
    }
}

/// Eigenvalues of a symmetric matrix by Jacobi's rotations.
fn eigenvalues(mut matrix: Square) -> Vec<f64> {
    let size = matrix.size;
    for _ in 0..60 {
        let mut off = 0.0;
        for row in 0..size {
            for column in row + 1..size {
                let value = matrix.at(row, column);
                off += value * value;
                rotate(&mut matrix, row, column, value);
            }
        }
        if off < 1e-30 {
            break;
        }
    }
    (0..size).map(|at| matrix.at(at, at)).collect()
}

/// One rotation that makes an entry off the diagonal 0.
fn rotate(matrix: &mut Square, row: usize, column: usize, value: f64) {
    if value.abs() < 1e-300 {
        return;
    }
    let theta = (matrix.at(column, column) - matrix.at(row, row)) / (2.0 * value);
    let tangent = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let tangent = if theta.abs() <= 0.0 { 1.0 } else { tangent };
    let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
    let sine = tangent * cosine;
    for at in 0..matrix.size {
        let (left, right) = (matrix.at(at, row), matrix.at(at, column));
        matrix.set(at, row, cosine * left - sine * right);
        matrix.set(at, column, sine * left + cosine * right);
    }
    for at in 0..matrix.size {
        let (left, right) = (matrix.at(row, at), matrix.at(column, at));
        matrix.set(row, at, cosine * left - sine * right);
        matrix.set(column, at, sine * left + cosine * right);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(rows: &[(&[f64], f64)]) -> Normal {
        let mut normal = Normal::new(rows[0].0.len());
        for (row, observed) in rows {
            normal.add(row, *observed, 1.0);
        }
        normal
    }

    #[test]
    fn an_exact_line_is_found() {
        let found =
            normal(&[(&[1.0, 1.0], 5.0), (&[1.0, 2.0], 7.0), (&[1.0, 4.0], 11.0)]).nonnegative().unwrap();
        assert!((found[0] - 3.0).abs() < 1e-12 && (found[1] - 2.0).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn a_negative_coefficient_becomes_zero_and_the_rest_adjusts() {
        let found =
            normal(&[(&[1.0, 1.0], 3.0), (&[1.0, 2.0], 2.0), (&[1.0, 3.0], 1.0)]).nonnegative().unwrap();
        assert!(found[1].abs() < 1e-12 && (found[0] - 2.0).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn dependent_columns_have_no_condition() {
        let dependent = normal(&[(&[1.0, 2.0, 4.0], 1.0), (&[1.0, 3.0, 6.0], 2.0), (&[1.0, 9.0, 18.0], 1.0)]);
        assert!(dependent.condition().is_infinite());
        let orthogonal = normal(&[(&[1.0, 0.0], 1.0), (&[0.0, 5.0], 1.0)]);
        assert!((orthogonal.condition() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn merged_sums_are_those_of_all_rows() {
        let mut left = normal(&[(&[1.0, 1.0], 5.0)]);
        left.merge(&normal(&[(&[1.0, 3.0], 9.0)]));
        assert_eq!(
            left.nonnegative().map(|found| found.iter().map(|v| v.round()).collect::<Vec<_>>()),
            Some(vec![3.0, 2.0])
        );
    }

    /// The first column is the likeliest alone, and none of the best three: it goes when the third one comes, whatever the unit.
    #[test]
    fn a_column_that_came_first_may_go_again() {
        for unit in [1e-6, 1.0, 1e6] {
            let rows: [(&[f64], f64); 3] =
                [(&[1.0, 1.0, 0.0], unit), (&[1.0, 0.0, 1.0], unit), (&[0.5, 0.0, 0.0], -0.5 * unit)];
            let found = normal(&rows).nonnegative().unwrap();
            for (value, expected) in found.iter().zip([0.0, 1.0, 1.0]) {
                assert!((value / unit - expected).abs() < 1e-9, "{found:?}");
            }
        }
    }

    #[test]
    fn a_column_of_large_numbers_has_its_small_coefficient() {
        let found = normal(&[(&[1e11], 0.5)]).nonnegative().unwrap();
        assert!((found[0] / 5e-12 - 1.0).abs() < 1e-9, "{found:?}");
    }

    /// A chain of three: 2, and the root of 2 to both sides.
    #[test]
    fn eigenvalues_are_those_of_a_chain() {
        let chain = Square { size: 3, cells: vec![2.0, -1.0, 0.0, -1.0, 2.0, -1.0, 0.0, -1.0, 2.0] };
        let mut found = eigenvalues(chain);
        found.sort_by(f64::total_cmp);
        let root = 2.0_f64.sqrt();
        for (value, expected) in found.iter().zip([2.0 - root, 2.0, 2.0 + root]) {
            assert!((value - expected).abs() < 1e-12, "{found:?}");
        }
    }
}
