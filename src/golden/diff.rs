//! Two curves cell by cell.

use std::collections::BTreeSet;

use super::{AcceptLength, Curve, Thinking};

/// A cell that two curves do not agree on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellDifference {
    /// The cell's mode.
    pub thinking: Thinking,
    /// The cell's draft length.
    pub draft_length: u32,
    /// The first curve's value, where it has a usable one.
    pub left: Option<AcceptLength>,
    /// The second curve's value, where it has a usable one.
    pub right: Option<AcceptLength>,
}

impl CellDifference {
    /// Second minus first, in tokens per verify step, where both have a value.
    #[must_use]
    pub fn difference(&self) -> Option<f64> {
        Some(self.right?.get() - self.left?.get())
    }
}

/// The cells on which two curves differ, by mode and draft length.
///
/// ```
/// use accsim::golden::{differences, parse_curve};
///
/// let left = parse_curve("a_mtp", b"m: {thinking_on: {1: 1.80, 2: 2.50}}").curve.unwrap();
/// let right = parse_curve("b_mtp", b"m: {thinking_on: {1: 1.8, 2: 2.45}}").curve.unwrap();
/// let found = differences(&left, &right);
/// assert_eq!(found.len(), 1);
/// assert_eq!((found[0].draft_length, found[0].right.unwrap().get()), (2, 2.45));
/// ```
#[must_use]
pub fn differences(left: &Curve, right: &Curve) -> Vec<CellDifference> {
    let keys = |curve: &Curve| -> Vec<(Thinking, u32)> {
        let modes = curve.modes.iter();
        modes.flat_map(|(mode, cells)| cells.keys().map(|draft_length| (*mode, *draft_length))).collect()
    };
    let all: BTreeSet<(Thinking, u32)> = keys(left).into_iter().chain(keys(right)).collect();
    let value = |curve: &Curve, (mode, draft_length): (Thinking, u32)| {
        curve.modes.get(&mode)?.get(&draft_length)?.accept_length()
    };
    all.into_iter()
        .map(|key| CellDifference {
            thinking: key.0,
            draft_length: key.1,
            left: value(left, key),
            right: value(right, key),
        })
        .filter(|cell| cell.left != cell.right)
        .collect()
}
