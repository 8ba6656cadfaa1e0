//! From lines laid against draws to a conclusion.

use super::builder::ReplayEvidence;
use super::clues::UnknownSeed;
use super::follow::GivenUp;
use super::law::{DrawLaw, DrawMethod};
use super::odds::log10_tried;
use super::outcome::{Replay, ReplayReason, ReplayStatus};
use super::run::{RunOutcome, TrialOutcome};

/// Decimal logarithm of the chance of an accident below which lines are a proof.
const PROOF: f64 = -9.0;

/// How far every other law must stay behind, in decimal orders.
const ALONE: f64 = 3.0;

/// The target that the lines are compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Claim {
    /// As the engine is told it, by `match-expected`; `None` where it cannot be drawn.
    pub law: Option<DrawLaw>,
    /// Whether the statistics speak for it, or at least not against it.
    pub fits: bool,
}

/// One law over all servers of the log.
struct Candidate {
    outcome: TrialOutcome,
    /// Price of the choice.
    charge: f64,
    is_stated: bool,
}

impl Candidate {
    fn is_good(&self) -> bool {
        self.outcome.failed == 0 && self.outcome.given_up.is_none() && self.outcome.tally.checked > 0
    }

    fn log10_chance(&self) -> f64 {
        self.outcome.chance + self.charge
    }

    fn log10_tail(&self) -> f64 {
        self.outcome.tail + self.charge
    }
}

impl ReplayEvidence {
    /// The first server whose seed nobody names, with what a search for it can use.
    #[must_use]
    pub fn unknown_seed(&self) -> Option<&UnknownSeed> {
        self.runs.iter().filter(|run| run.lines > 0).find_map(|run| run.unknown.as_ref())
    }

    /// What the lines say about a target; without one, whether any law draws them. `lines` is how many of the point have
    /// an accept length: what could not be laid against draws at all is proved by nobody.
    #[must_use]
    pub fn conclude(&self, claim: Option<&Claim>, lines: u64) -> Replay {
        if self.is_summed {
            return self.unavailable(ReplayReason::Summed);
        }
        let runs: Vec<&RunOutcome> = self.runs.iter().filter(|run| run.lines > 0).collect();
        let Some(first) = runs.first() else { return self.unavailable(ReplayReason::NoLines) };
        if runs.iter().any(|run| run.seed.is_none()) {
            return self.unavailable(ReplayReason::NoSeed);
        }
        if runs.iter().any(|run| run.is_interval_too_long) {
            return self.unavailable(ReplayReason::IntervalTooLong);
        }
        if runs.iter().all(|run| run.is_constant) {
            return self.unavailable(ReplayReason::ConstantLog);
        }
        let runs: Vec<&RunOutcome> = runs.iter().copied().filter(|run| !run.is_constant).collect();
        let candidates = joint(&runs, first, claim, self.options.seed_charge);
        let together = self.decide(&candidates, claim, lines);
        if together.status == ReplayStatus::Proved || runs.len() < 2 {
            return together;
        }
        // Servers with different targets: the first one that shows another is named.
        let alone = runs
            .iter()
            .map(|run| self.decide(&joint(&[run], run, claim, self.options.seed_charge), claim, run.lines));
        alone.into_iter().find(|found| found.status == ReplayStatus::OtherTarget).unwrap_or(together)
    }

    fn decide(&self, candidates: &[Candidate], claim: Option<&Claim>, lines: u64) -> Replay {
        let best_of = |list: &[&Candidate], of: fn(&Candidate) -> f64| -> Option<usize> {
            let best = list.iter().enumerate().min_by(|left, right| of(left.1).total_cmp(&of(right.1)));
            best.map(|(index, _)| index)
        };
        let good: Vec<&Candidate> = candidates.iter().filter(|candidate| candidate.is_good()).collect();
        let best = best_of(&good, Candidate::log10_chance).and_then(|index| good.get(index));
        if let Some(best) = best.filter(|best| best.log10_chance() <= PROOF) {
            // Without the price of the choice: what another law explains, it explains whoever named it.
            let rivals: Vec<DrawLaw> = good
                .iter()
                .filter(|other| !other.outcome.law.is_same_as(&best.outcome.law))
                .filter(|other| other.outcome.chance <= best.outcome.chance + ALONE)
                .map(|other| other.outcome.law)
                .collect();
            if rivals.is_empty() {
                let checked = best.outcome.tally.checked;
                if checked < lines {
                    let reason = ReplayReason::Partial { checked, lines };
                    return self.report(ReplayStatus::Unavailable, best, best.log10_chance(), Some(reason));
                }
                let is_other = claim.is_some() && !best.is_stated;
                let status = if is_other { ReplayStatus::OtherTarget } else { ReplayStatus::Proved };
                return self.report(status, best, best.log10_chance(), None);
            }
            let all = std::iter::once(best.outcome.law).chain(rivals).collect();
            let reason = ReplayReason::NotAlone(all);
            return self.without_law(best, Some(best.log10_chance()), reason);
        }
        let broken: Vec<&Candidate> = candidates
            .iter()
            .filter(|candidate| candidate.outcome.given_up.is_none() && candidate.outcome.failed > 0)
            .collect();
        let nearest = best_of(&broken, Candidate::log10_tail).and_then(|index| broken.get(index));
        // A law that is borne out better, and fails nowhere, leaves nothing to contradict.
        let rival = candidates
            .iter()
            .filter(|other| {
                use GivenUp::{Adrift, Effort, Slips};
                other.is_good() || matches!(other.outcome.given_up, Some(Slips | Adrift | Effort))
            })
            .map(Candidate::log10_tail)
            .fold(0.0, f64::min);
        if let Some(nearest) =
            nearest.filter(|nearest| nearest.log10_tail() <= PROOF && nearest.log10_tail() < rival)
        {
            return self.report(ReplayStatus::Contradicted, nearest, nearest.log10_tail(), None);
        }
        let stated = candidates.iter().find(|candidate| candidate.is_stated);
        if let Some(best) = best {
            let log10_chance = best.log10_chance();
            let reason = ReplayReason::TooFewLines { log10_chance };
            return self.without_law(best, Some(log10_chance), reason);
        }
        let possible = candidates.iter().map(|candidate| candidate.outcome.possible).fold(0.0, f64::min);
        let slipped = candidates.iter().find(|candidate| candidate.outcome.given_up == Some(GivenUp::Slips));
        match (stated, claim) {
            _ if possible > PROOF => self.unavailable(ReplayReason::TooFewLines { log10_chance: possible }),
            _ if slipped.is_some() => self.unavailable(ReplayReason::TooManySlips),
            (Some(stated), Some(_)) if stated.outcome.given_up == Some(GivenUp::Effort) => {
                self.unavailable(ReplayReason::TooEntangled)
            }
            (Some(stated), Some(_))
                if stated.outcome.given_up == Some(GivenUp::Adrift)
                    || (stated.outcome.failed == 0 && stated.outcome.tally.adrift > 0) =>
            {
                self.unavailable(ReplayReason::Unplaced)
            }
            (Some(_), Some(claim)) if claim.fits && self.is_seed_given() => {
                self.unavailable(ReplayReason::GivenSeed)
            }
            (Some(stated), Some(claim)) if claim.fits => {
                self.report(ReplayStatus::Contradicted, stated, stated.log10_tail(), None)
            }
            (None, Some(_)) => self.unavailable(ReplayReason::ConstantLaw),
            (_, Some(_)) => self.unavailable(ReplayReason::NoLawFits),
            (_, None) => self.unavailable(ReplayReason::NoTarget),
        }
    }

    fn report(
        &self,
        status: ReplayStatus,
        candidate: &Candidate,
        log10_chance: f64,
        reason: Option<ReplayReason>,
    ) -> Replay {
        let tally = &candidate.outcome.tally;
        Replay {
            status,
            seed: self.seed(),
            seeds: self.seeds(),
            law: Some(candidate.outcome.law),
            max_known: self.runs.iter().all(|run| run.max_known),
            lines_checked: tally.checked,
            lines_exact: tally.exact,
            lines_bounded: tally.bounded,
            steady_lines: tally.steady,
            steady_exact: tally.steady_exact,
            first_mismatch: tally.first_mismatch.map(|(_, line)| line),
            draws: tally.draws,
            slips: tally.slips.iter().map(|(_, slip)| *slip).collect(),
            log10_chance: Some(log10_chance),
            reason,
            first_lines: tally.first_lines.clone(),
        }
    }

    /// A law was followed and decides nothing: it is not named as found.
    fn without_law(&self, candidate: &Candidate, log10_chance: Option<f64>, reason: ReplayReason) -> Replay {
        let followed = self.report(ReplayStatus::Unavailable, candidate, 0.0, Some(reason));
        Replay { law: None, log10_chance, ..followed }
    }

    /// No proof, for this reason.
    pub(crate) fn unavailable(&self, reason: ReplayReason) -> Replay {
        Replay {
            status: ReplayStatus::Unavailable,
            seed: self.seed(),
            seeds: self.seeds(),
            law: None,
            max_known: false,
            lines_checked: 0,
            lines_exact: 0,
            lines_bounded: 0,
            steady_lines: 0,
            steady_exact: 0,
            first_mismatch: None,
            draws: 0,
            slips: Vec::new(),
            log10_chance: None,
            reason: Some(reason),
            first_lines: Vec::new(),
        }
    }

    /// Whether no log names its seed, so that the lines need not be those of the one that was given.
    fn is_seed_given(&self) -> bool {
        self.runs.iter().filter(|run| run.lines > 0).all(|run| run.named_seed.is_none())
    }

    /// The seeds that the logs name themselves, where one was given by hand as well.
    #[must_use]
    pub fn named_seeds(&self) -> Vec<u64> {
        let mut named: Vec<u64> =
            self.runs.iter().filter(|run| run.lines > 0).filter_map(|run| run.named_seed).collect();
        named.dedup();
        named
    }

    /// The seeds of all servers with lines, each once.
    fn seeds(&self) -> Vec<u64> {
        let mut seeds: Vec<u64> = Vec::new();
        for seed in self.runs.iter().filter(|run| run.lines > 0).filter_map(|run| run.seed) {
            if !seeds.contains(&seed) {
                seeds.push(seed);
            }
        }
        seeds
    }

    fn seed(&self) -> Option<u64> {
        let of_lines = self.runs.iter().find(|run| run.lines > 0).and_then(|run| run.seed);
        of_lines.or_else(|| self.runs.first().and_then(|run| run.seed)).or(self.options.seed)
    }
}

/// The laws that every run tried, each over all of them. Chances of different seeds multiply; runs of one seed are one
/// sample, and the best of them counts.
fn joint(
    runs: &[&RunOutcome],
    first: &RunOutcome,
    claim: Option<&Claim>,
    seed_charge: f64,
) -> Vec<Candidate> {
    let tried = runs.iter().map(|run| run.candidates).max().unwrap_or(1);
    let leading = runs.first().copied().unwrap_or(first);
    let over_all = |trial: &TrialOutcome| -> Option<TrialOutcome> {
        let mut by_seed = vec![(leading.seed, [trial.chance, trial.tail, trial.possible])];
        let mut all = runs.iter().skip(1).try_fold(trial.clone(), |mut all, run| {
            let other = run.trials.iter().find(|other| other.law.is_same_as(&trial.law))?;
            all.given_up = all.given_up.or(other.given_up);
            all.failed += other.failed;
            all.tally.join(&other.tally);
            let found = [other.chance, other.tail, other.possible];
            match by_seed.iter_mut().find(|(seed, _)| *seed == run.seed) {
                Some((_, best)) => {
                    best.iter_mut().zip(found).for_each(|(best, found)| *best = best.min(found));
                }
                None => by_seed.push((run.seed, found)),
            }
            Some(all)
        })?;
        let sum = |of: fn(&[f64; 3]) -> f64| by_seed.iter().map(|(_, chances)| of(chances)).sum();
        (all.chance, all.tail, all.possible) = (sum(|all| all[0]), sum(|all| all[1]), sum(|all| all[2]));
        Some(all)
    };
    leading
        .trials
        .iter()
        .filter_map(|trial| {
            let is_stated = claim
                .and_then(|claim| claim.law)
                .is_some_and(|law| law.method() == DrawMethod::MatchExpected && law.is_same_as(&trial.law));
            let choice = if is_stated { 0.0 } else { log10_tried(tried) };
            let charge = choice + seed_charge;
            over_all(trial).map(|outcome| Candidate { outcome, charge, is_stated })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::builder::{ReplayBuilder, ReplayLine};
    use super::super::options::ReplayOptions;
    use super::super::run::ServerDraws;
    use super::super::tally::Tally;
    use super::*;
    use crate::evidence::Place;
    use crate::law::Setting;

    /// A law by the decimal logarithm of its chance, the lines that were laid against it, and those of them that fail.
    fn trial(length: f64, log10_chance: f64, checked: u64, failed: u64) -> TrialOutcome {
        TrialOutcome {
            law: DrawLaw::new(DrawMethod::MatchExpected, Setting::new(length, 6).unwrap()).unwrap(),
            given_up: None,
            failed,
            tally: Tally { checked, exact: checked - failed, ..Tally::default() },
            chance: log10_chance,
            tail: log10_chance,
            possible: -30.0,
        }
    }

    fn concluded(trials: Vec<TrialOutcome>, lines: u64) -> Replay {
        let run = RunOutcome {
            seed: Some(5),
            named_seed: Some(5),
            lines,
            is_constant: false,
            is_interval_too_long: false,
            max_known: true,
            candidates: 1,
            unknown: None,
            trials,
        };
        let evidence =
            ReplayEvidence { runs: vec![run], options: ReplayOptions::default(), is_summed: false };
        evidence.conclude(None, lines)
    }

    #[test]
    fn a_proof_of_some_lines_is_none_of_all() {
        let of_all = concluded(vec![trial(3.51, -20.0, 10, 0)], 10);
        assert_eq!((of_all.status, of_all.reason), (ReplayStatus::Proved, None));
        let of_some = concluded(vec![trial(3.51, -20.0, 8, 0)], 10);
        let reason = Some(ReplayReason::Partial { checked: 8, lines: 10 });
        assert_eq!((of_some.status, of_some.reason), (ReplayStatus::Unavailable, reason));
    }

    #[test]
    fn a_line_that_fails_contradicts_a_law_that_no_other_one_outdoes() {
        let broken = trial(3.51, -20.0, 10, 1);
        let slipped = |log10_chance: f64| TrialOutcome {
            given_up: Some(GivenUp::Slips),
            ..trial(2.49, log10_chance, 10, 0)
        };
        for (others, is_contradicted) in
            [(None, true), (Some(-19.0), true), (Some(-20.0), false), (Some(-21.0), false)]
        {
            let trials = others.map(slipped).into_iter().chain([broken.clone()]).collect();
            let found = concluded(trials, 10);
            assert_eq!(found.status == ReplayStatus::Contradicted, is_contradicted, "{others:?} {found:?}");
        }
    }

    /// Without a target all laws are tried that the lines allow.
    #[test]
    fn a_law_that_nobody_named_is_proved() {
        let start = ServerDraws { seed: Some(320_846_001), interval: Some(40), ..ServerDraws::default() };
        let mut replay = ReplayBuilder::new(ReplayOptions::default());
        replay.start(start);
        let printed = [362, 352, 355, 360, 342, 358, 345, 348, 345, 340, 375, 350, 358, 367, 352, 362];
        for (line, hundredths) in (1..).zip(printed) {
            replay.line(
                0,
                ReplayLine {
                    place: Place { file: 0, line },
                    hundredths: Some(hundredths),
                    batch: 16,
                    tokens: None,
                    millis: None,
                    throughput_hundredths: None,
                },
            );
        }
        let found = replay.finish().conclude(None, 16);
        assert_eq!(
            (found.status, found.law.map(|law| law.accept_length())),
            (ReplayStatus::Proved, Some(3.51))
        );
    }
}
