use proptest::prelude::*;

use super::*;

/// Every path there is, one after the other.
fn all_paths(path: BatchPath, draws: &[u8]) -> ((u64, u64), (u64, u64)) {
    fn go(
        path: BatchPath,
        draws: &[u8],
        batch: u32,
        left: u32,
        sum: (u64, u64),
        found: &mut Vec<(u64, u64)>,
    ) {
        let Some((draw, rest)) = draws.split_first() else {
            if batch == path.batch {
                found.push(sum);
            }
            return;
        };
        for next in 1..=batch + left {
            let left = left - next.saturating_sub(batch);
            let next_sum = (sum.0 + u64::from(*draw) * u64::from(next), sum.1 + u64::from(next));
            go(path, rest, next, left, next_sum, found);
        }
    }
    let mut found = Vec::new();
    go(path, draws, path.before, path.arrivals, (0, 0), &mut found);
    let less = |left: &(u64, u64), right: &(u64, u64)| (left.0 * right.1).cmp(&(right.0 * left.1));
    (*found.iter().min_by(|l, r| less(l, r)).unwrap(), *found.iter().max_by(|l, r| less(l, r)).unwrap())
}

fn same((sum, steps): (u64, u64), (other_sum, other_steps): (u64, u64)) -> bool {
    sum * other_steps == other_sum * steps
}

proptest! {
    /// The bounds are those of a search through all paths.
    #[test]
    fn bounds_are_exact(
        draws in proptest::collection::vec(1_u8..=6, 1..6), before in 1_u32..5, batch in 1_u32..5, more in 0_u32..4,
    ) {
        let arrivals = (batch.saturating_sub(before) + more).min(4);
        prop_assume!(before + arrivals >= batch);
        let path = BatchPath { before, batch, arrivals };
        let (least, greatest) = all_paths(path, &draws);
        let found = path.extreme(&draws, End::Least);
        prop_assert!(same(found, least), "{:?} is not {:?}", found, least);
        let found = path.extreme(&draws, End::Greatest);
        prop_assert!(same(found, greatest), "{:?} is not {:?}", found, greatest);
    }

    /// Whatever the lines say, bounds stay within the draws and nothing overflows.
    #[test]
    fn bounds_stay_within_the_draws(
        draws in proptest::collection::vec(1_u8..=255, 1..200), before in any::<u32>(), batch in any::<u32>(),
        arrivals in any::<u32>(),
    ) {
        let path = BatchPath { before, batch, arrivals };
        let (low, high) = (*draws.iter().min().unwrap(), *draws.iter().max().unwrap());
        prop_assert!(!path.can_print(&draws, u32::from(low) * 100 - 1));
        prop_assert!(!path.can_print(&draws, u32::from(high) * 100 + 1));
    }
}

#[test]
fn a_constant_batch_prints_one_value() {
    let path = BatchPath { before: 1, batch: 1, arrivals: 0 };
    let draws = [3, 4, 3, 3];
    assert!(path.can_print(&draws, 325));
    assert!(!path.can_print(&draws, 324) && !path.can_print(&draws, 326));
    // A request left: the early steps count more.
    let path = BatchPath { before: 2, batch: 1, arrivals: 0 };
    assert_eq!(path.extreme(&draws, End::Greatest), (20, 6));
    assert!(path.can_print(&draws, 333) && !path.can_print(&draws, 334) && path.can_print(&draws, 320));
}

/// An empty window, which no server prints.
#[test]
fn no_draws_print_nothing() {
    assert!(!BatchPath { before: 2, batch: 1, arrivals: 0 }.can_print(&[], 300));
}
