//! How much may be spent on lines that do not fit: a log may be anybody's, and a search for their places must end.
//!
//! The unit is one line laid at one place, a nanosecond or two. What a line costs where it fits is not counted.

/// What a rank may spend along one law before any line fits, beside what the length of a line costs.
const FREE: u64 = 1 << 19;
const FREE_LINES: u64 = 64;

/// What an exact line earns, and what can be saved up.
const EARNED: u64 = 1 << 11;
const MOST_SAVED: u64 = 1 << 24;

/// What all ranks and laws of a point may spend together before they are decided about without a search.
const POOL: u64 = 1 << 29;

/// Draws that searches for lost starts may look at, of all ranks and laws.
const START_DRAWS: u64 = 1 << 27;

/// What is left to one rank along one law.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    left: u64,
    spent: u64,
    is_used_up: bool,
}

impl Effort {
    /// For lines of so many draws.
    pub(super) fn new(interval: u64) -> Self {
        let left = FREE.saturating_add(interval.saturating_mul(FREE_LINES));
        Self { left, spent: 0, is_used_up: false }
    }

    /// Nothing until it is earned.
    pub(super) fn none() -> Self {
        Self { left: 0, spent: 0, is_used_up: false }
    }

    pub(super) fn spend(&mut self, units: u64) {
        self.is_used_up |= units > self.left;
        self.left = self.left.saturating_sub(units);
        self.spent = self.spent.saturating_add(units);
    }

    /// An exact line of so many draws.
    pub(super) fn earn(&mut self, interval: u64) {
        let earned = EARNED.saturating_add(interval);
        self.left = self.left.saturating_add(earned).min(MOST_SAVED.max(self.left));
    }

    /// Whether more was asked for than there was. It stays so.
    pub(super) fn is_used_up(&self) -> bool {
        self.is_used_up
    }

    pub(super) fn spent(&self) -> u64 {
        self.spent
    }
}

/// What is left to all ranks and laws of a point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pool {
    left: u64,
    start_draws: u64,
}

impl Default for Pool {
    fn default() -> Self {
        Self { left: POOL, start_draws: START_DRAWS }
    }
}

impl Pool {
    /// What the next rank may spend along a law. The stated one is never left without.
    pub(super) fn effort(&self, is_stated: bool, interval: u64) -> Effort {
        if is_stated || self.left > 0 { Effort::new(interval) } else { Effort::none() }
    }

    pub(super) fn spend(&mut self, units: u64) {
        self.left = self.left.saturating_sub(units);
    }

    /// Whether so many draws may still be searched for a start.
    pub(super) fn take_start(&mut self, draws: u64) -> bool {
        let is_left = self.start_draws >= draws;
        if is_left {
            self.start_draws -= draws;
        }
        is_left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_up_stays_so() {
        let mut effort = Effort::new(40);
        effort.spend(FREE);
        assert!(!effort.is_used_up());
        effort.spend(40 * FREE_LINES + 1);
        assert!(effort.is_used_up());
        effort.earn(40);
        assert!(effort.is_used_up());
        assert_eq!(effort.spent(), FREE + 40 * FREE_LINES + 1);
    }

    #[test]
    fn little_can_be_saved_up() {
        let mut effort = Effort::none();
        (0..1_000_000).for_each(|_| effort.earn(40));
        effort.spend(MOST_SAVED);
        assert!(!effort.is_used_up());
        effort.spend(1);
        assert!(effort.is_used_up());
    }

    #[test]
    fn an_empty_pool_leaves_the_stated_law_its_share() {
        let mut pool = Pool::default();
        pool.spend(POOL);
        let (mut stated, mut other) = (pool.effort(true, 40), pool.effort(false, 40));
        stated.spend(1000);
        other.spend(1);
        assert_eq!((stated.is_used_up(), other.is_used_up()), (false, true));
        let searches = (0..1000).filter(|_| pool.take_start(1 << 20)).count();
        assert_eq!(searches, 128);
    }
}
