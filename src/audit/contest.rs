//! Which of several laws is identified, which are rejected: odds and absolute fit, so that the least bad is never
//! called identified.

use super::mechanism::{Mechanism, Other};
use super::options::RivalCell;

/// Odds at which a law is rejected, or a rival believed.
pub(super) const DECISIVE: f64 = 1000.0;

/// Odds below which the first two laws are not told apart.
const TELLING: f64 = 20.0;

/// Log-likelihoods closer than this are the same probability, computed in two ways.
const SAME: f64 = 1e-9;

/// One law in the running.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) mechanism: Mechanism,
    /// Log-likelihood of the lines; minus infinity when one of them is impossible.
    pub(super) ln: f64,
    /// Price of free parameters, or of the choice from a list.
    pub(super) charge: f64,
    /// The lines scatter as the law says.
    pub(super) fits: bool,
    /// What an `other-cell` stands for.
    pub(super) other: Option<Other>,
}

impl Candidate {
    /// A law that no line speaks for.
    pub(super) fn impossible(mechanism: Mechanism) -> Self {
        Self { mechanism, ln: f64::NEG_INFINITY, charge: 0.0, fits: false, other: None }
    }

    pub(super) fn score(&self) -> f64 {
        self.ln - self.charge
    }

    /// Whether it is a thousand times more likely than what has that score.
    pub(super) fn is_decisively_above(&self, score: f64) -> bool {
        self.score() - score > DECISIVE.ln()
    }

    /// Whether the other one says the same about these lines.
    fn coincides(&self, other: &Self) -> bool {
        (self.ln - other.ln).abs() < SAME
    }

    /// Whether the odds against the other one are decisive, or it is impossible.
    fn beats(&self, other: &Self) -> bool {
        !other.ln.is_finite() || self.score() - other.score() > DECISIVE.ln()
    }

    /// Whether a simulation of another value explains the lines so much better that it is believed.
    fn is_believable(&self, own: &Self) -> bool {
        self.fits && self.ln - own.ln > DECISIVE.ln()
    }

    /// The golden cell, where it fits and is not told apart from what is believed, which is not named again.
    fn alike(&self, believed: &Self) -> Option<RivalCell> {
        let Some(Other::Cell(cell)) = &self.other else { return None };
        let is_alike = self.fits && (self.ln - believed.ln).abs() < DECISIVE.ln();
        (is_alike && self.other != believed.other).then(|| cell.clone())
    }
}

/// The most likely one of a list; one that fits goes before any that does not.
pub(super) fn most_likely(candidates: &[Candidate]) -> Option<&Candidate> {
    // The first of equals.
    candidates
        .iter()
        .rev()
        .max_by(|left, right| left.fits.cmp(&right.fits).then(left.ln.total_cmp(&right.ln)))
}

/// Whether a law is too far behind the leader of its kind to be looked at closely.
pub(super) fn is_out_of_the_running(leader: f64, ln: f64) -> bool {
    leader - ln >= DECISIVE.ln()
}

/// All laws, the one at the target first.
pub(super) struct Contest<'a> {
    own: &'a Candidate,
    rivals: &'a [Candidate],
    /// Those that can win, the most likely first.
    ranking: Vec<&'a Candidate>,
}

impl<'a> Contest<'a> {
    /// Of laws that coincide on these lines the first named stands for all: the target's own, then in the order of
    /// the rivals.
    pub(super) fn new(own: &'a Candidate, rivals: &'a [Candidate]) -> Self {
        let mut ranking = vec![own];
        for rival in rivals {
            let can_win = rival.mechanism != Mechanism::OtherCell || rival.is_believable(own);
            if can_win && !ranking.iter().any(|held| held.coincides(rival)) {
                ranking.push(rival);
            }
        }
        ranking.sort_by(|left, right| right.score().total_cmp(&left.score()));
        Self { own, rivals, ranking }
    }

    /// The most likely law, identified or not.
    pub(super) fn first(&self) -> &'a Candidate {
        self.ranking.first().copied().unwrap_or(self.own)
    }

    /// The target's own law is rejected in favour of one that fits.
    pub(super) fn is_target_beaten(&self) -> bool {
        let first = self.first();
        first.mechanism != self.own.mechanism && first.fits && first.beats(self.own)
    }

    /// The law that wrote the lines. The target's own is what most servers run: another one is identified only when
    /// that one is rejected.
    pub(super) fn identified(&self) -> Option<Mechanism> {
        let first = self.first();
        let second = self.ranking.get(1).map_or(f64::NEG_INFINITY, |second| second.score());
        let is_ahead = first.score() - second >= TELLING.ln();
        let is_own = first.mechanism == self.own.mechanism;
        (first.fits && is_ahead && (is_own || self.is_target_beaten())).then_some(first.mechanism)
    }

    /// Whether a simulation of a value that nobody named explains the lines about as well as the first law, which is of
    /// another kind: that one must not be called identified then.
    pub(super) fn is_rivalled_by(&self, free: &Candidate) -> bool {
        let first = self.first();
        let is_kind =
            matches!(first.mechanism, Mechanism::Real | Mechanism::Multinomial | Mechanism::PerRequest);
        is_kind && free.fits && free.score() > first.score() - TELLING.ln()
    }

    /// Laws that are impossible or decisively less likely than the first. One that coincides with the target's shares
    /// its fate.
    pub(super) fn rejected(&self) -> Vec<Mechanism> {
        let first = self.first();
        let is_rejected =
            |rival: &&Candidate| first.beats(if rival.coincides(self.own) { self.own } else { rival });
        self.all().filter(is_rejected).map(|candidate| candidate.mechanism).collect()
    }

    /// Every law's log-likelihood.
    pub(super) fn log_likelihoods(&self) -> Vec<(Mechanism, f64)> {
        self.all().map(|candidate| (candidate.mechanism, candidate.ln)).collect()
    }

    /// Golden cells that are not told apart from the simulation that is believed: the target's, unless another one is
    /// identified.
    pub(super) fn alike(&self, simulated: &[Candidate]) -> Vec<RivalCell> {
        let is_other = self.identified() == Some(Mechanism::OtherCell);
        let believed = if is_other { self.first() } else { self.own };
        simulated.iter().filter_map(|candidate| candidate.alike(believed)).collect()
    }

    fn all(&self) -> impl Iterator<Item = &'a Candidate> {
        std::iter::once(self.own).chain(self.rivals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(mechanism: Mechanism, ln: f64) -> Candidate {
        Candidate { mechanism, ln, charge: 0.0, fits: true, other: None }
    }

    fn outcome(own: f64, rivals: &[Candidate]) -> (Option<Mechanism>, Vec<Mechanism>) {
        let own = candidate(Mechanism::MatchExpected, own);
        let contest = Contest::new(&own, rivals);
        (contest.identified(), contest.rejected())
    }

    #[test]
    fn twenty_to_one_identifies_the_target_and_a_thousand_to_one_another_law() {
        use Mechanism::{MatchExpected, Multinomial, Real};
        assert_eq!(outcome(-10.0, &[candidate(Real, -12.0)]), (None, vec![]));
        assert_eq!(outcome(-10.0, &[candidate(Real, -14.0)]), (Some(MatchExpected), vec![]));
        assert_eq!(outcome(-10.0, &[candidate(Real, -18.0)]), (Some(MatchExpected), vec![Real]));
        // Better than the target's law by less than a thousand.
        assert_eq!(outcome(-10.0, &[candidate(Multinomial, -4.0)]), (None, vec![]));
        let rivals = [candidate(Multinomial, -2.0), candidate(Real, -20.0)];
        assert_eq!(outcome(-10.0, &rivals), (Some(Multinomial), vec![MatchExpected, Real]));
    }

    #[test]
    fn the_least_bad_is_not_identified() {
        let rivals = [Candidate { fits: false, ..candidate(Mechanism::Multinomial, -2.0) }];
        assert_eq!(outcome(-100.0, &rivals), (None, vec![Mechanism::MatchExpected]));
    }

    #[test]
    fn laws_that_coincide_go_by_the_target_and_share_its_fate() {
        let rivals = [candidate(Mechanism::PerRequest, -10.0), candidate(Mechanism::Real, -30.0)];
        assert_eq!(outcome(-10.0, &rivals), (Some(Mechanism::MatchExpected), vec![Mechanism::Real]));
        let rounded = candidate(Mechanism::Rounded, 0.0);
        let whole_cell = Candidate { charge: 3.0, ..candidate(Mechanism::OtherCell, 0.0) };
        assert_eq!(outcome(-100.0, &[rounded, whole_cell]).0, Some(Mechanism::Rounded));
    }

    #[test]
    fn a_simulation_at_an_unnamed_value_rivals_other_kinds_of_law_only() {
        let own = candidate(Mechanism::MatchExpected, f64::NEG_INFINITY);
        let free = candidate(Mechanism::MatchExpected, -20.0);
        for (mechanism, expected) in [(Mechanism::Real, true), (Mechanism::Rounded, false)] {
            let rivals = [candidate(mechanism, -22.0)];
            assert_eq!(Contest::new(&own, &rivals).is_rivalled_by(&free), expected);
        }
    }
}
