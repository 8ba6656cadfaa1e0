//! Which law wrote the lines? Exact likelihoods under every law that could apply, and absolute fit, so that the least
//! bad is never called identified (AUDIT_STATISTICS section 9).

use std::fmt;

use crate::golden::Target;
use crate::law::{AcceptanceLaw, Multinomial, Setting, float};

use super::dispersion::{Dispersion, LatticeCheck};
use super::likelihood::{log_likelihood, log_likelihood_of_real};
use super::options::RivalCell;
use super::sample::Sample;

/// Odds at which a law is rejected, or a rival believed.
const DECISIVE: f64 = 1000.0;

/// Odds below which the first two laws are not told apart.
const TELLING: f64 = 20.0;

/// Log-likelihoods closer than this are the same probability, computed on two ways.
const SAME: f64 = 1e-9;

/// A way in which a server comes to its accept lengths. The printed names are a contract with other programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mechanism {
    /// Two neighbouring lengths around the target, one draw a step.
    MatchExpected,
    /// A rounded, clamped normal variable, one draw a step.
    Multinomial,
    /// The target rounded once.
    Rounded,
    /// Two neighbouring lengths, one draw a request.
    PerRequest,
    /// One length in every step, not the rounded target.
    Constant,
    /// The drafts were really judged.
    Real,
    /// Two neighbouring lengths around another value than the target.
    OtherCell,
}

impl Mechanism {
    /// The name that programs read.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::MatchExpected => "match-expected",
            Self::Multinomial => "multinomial",
            Self::Rounded => "rounded",
            Self::PerRequest => "per-request",
            Self::Constant => "constant",
            Self::Real => "real",
            Self::OtherCell => "other-cell",
        }
    }
}

impl fmt::Display for Mechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What the likelihoods say.
#[derive(Clone, Debug, PartialEq)]
pub struct Mechanisms {
    /// The law that wrote the lines; `None` when two are as likely, or none fits.
    pub best: Option<Mechanism>,
    /// Laws with an impossible line, or 1000 times less likely than the most likely one.
    pub rejected: Vec<Mechanism>,
    /// Natural log-likelihood by law, before charges for free parameters; minus infinity for an impossible line.
    pub log_likelihood: Vec<(Mechanism, f64)>,
    /// What the winning `other-cell` stands for.
    pub other: Option<Other>,
    /// The one length that every step shows, if it is one.
    pub constant: Option<u32>,
    /// Golden cells that the lines fit as well as they fit the target, or the other cell that was identified.
    pub cells_alike: Vec<RivalCell>,
    /// Mean of a two-point law at no known value, where it explains the lines as well as the best of the others.
    pub unknown_target: Option<f64>,
    /// Scatter of the steady lines about the law at the target; about the law at the mean where no target is known.
    pub dispersion: Option<Dispersion>,
    /// The target's own law is rejected in favour of one that fits.
    pub is_target_beaten: bool,
}

/// A value that was simulated in place of the target.
#[derive(Clone, Debug, PartialEq)]
pub enum Other {
    /// A golden cell.
    Cell(RivalCell),
    /// The target plus or minus one.
    OneOff(f64),
}

/// What all laws are judged on.
pub(super) struct Evidence<'a> {
    pub(super) sample: &'a Sample<'a>,
    pub(super) interval: u32,
    /// Whether misses of the lattice are few enough to be finishing requests.
    pub(super) tolerates_misses: bool,
}

/// One law in the running.
#[derive(Clone, Debug)]
struct Candidate {
    mechanism: Mechanism,
    ln: f64,
    /// Price of its free parameters.
    charge: f64,
    /// Its lines scatter as it says.
    fits: bool,
    other: Option<Other>,
}

impl Candidate {
    fn score(&self) -> f64 {
        self.ln - self.charge
    }

    /// The golden cell, where it fits and is not told apart from what is believed, which is not named again.
    fn alike(&self, believed: f64, other: Option<&Other>) -> Option<RivalCell> {
        let Some(Other::Cell(cell)) = &self.other else { return None };
        let is_alike = self.fits && (self.ln - believed).abs() < DECISIVE.ln();
        (is_alike && self.other.as_ref() != other).then(|| cell.clone())
    }
}

impl Evidence<'_> {
    fn candidate(&self, mechanism: Mechanism, law: &AcceptanceLaw, free: bool) -> Candidate {
        let tolerates = self.tolerates_misses || mechanism == Mechanism::PerRequest;
        let ln = log_likelihood(law, self.interval, self.sample, tolerates);
        let charge = if free { 0.5 * self.ln_lines() } else { 0.0 };
        let dispersion = Dispersion::about(law, self.interval, self.sample, free);
        let fits = ln.is_finite() && !dispersion.is_some_and(|dispersion| dispersion.rejects());
        Candidate { mechanism, ln, charge, fits, other: None }
    }

    /// What a fitted parameter is charged by. Few lines are charged as ten: a law that was fitted to one of them
    /// would otherwise be the best for nothing.
    fn ln_lines(&self) -> f64 {
        float(self.sample.lines()).max(10.0).ln()
    }

    fn real(&self, max: u32) -> Candidate {
        let ln = log_likelihood_of_real(self.sample, self.interval, max);
        Candidate { mechanism: Mechanism::Real, ln, charge: self.ln_lines(), fits: true, other: None }
    }

    /// Two neighbouring lengths whose mean is that of the lines: a simulation of some value.
    fn at_the_mean(&self) -> Option<(AcceptanceLaw, Candidate)> {
        let (low, high) = self.sample.range()?;
        let mean = self.sample.mean();
        let law = AcceptanceLaw::match_expected(Setting::new(mean, u32::MAX).ok()?);
        let fits_range = low >= law.support().start() * 100 && high <= law.support().end() * 100;
        let lo = low / 100;
        let lattice = LatticeCheck::new(lo, self.interval, self.sample);
        let mut candidate = self.candidate(Mechanism::MatchExpected, &law, true);
        candidate.fits &= fits_range && !lattice.rejects();
        Some((law, candidate))
    }

    /// Every law against the target.
    pub(super) fn against(&self, target: &Target, cells: &[RivalCell]) -> Option<Mechanisms> {
        let length = target.accept_length().get();
        let max = target.max_accept_length();
        let setting = Setting::new(length, max).ok()?;
        let at_target = AcceptanceLaw::match_expected(setting);
        let own = self.candidate(Mechanism::MatchExpected, &at_target, false);
        let constant = self.sample.constant();

        let mut rivals = vec![
            self.candidate(Mechanism::Multinomial, &AcceptanceLaw::multinomial(setting), false),
            self.candidate(Mechanism::Rounded, &AcceptanceLaw::rounded(setting), false),
            self.constant(&AcceptanceLaw::rounded(setting), constant, max),
            self.candidate(Mechanism::PerRequest, &AcceptanceLaw::per_request(setting), false),
            self.real(max),
        ];
        let simulated = self.simulated_at_others(target, cells);
        rivals.extend(most_likely(&simulated));

        // Laws that say the same about these lines go by the target's name.
        let coincides = |rival: &Candidate| own.ln.is_finite() && (rival.ln - own.ln).abs() < SAME;
        let is_nothing_accepted = constant == Some(1);
        let is_contender = |rival: &&Candidate| {
            let is_real = rival.mechanism == Mechanism::Real;
            // A simulated 1 looks like drafts of which none was accepted.
            !(coincides(rival) || (is_nothing_accepted && is_real && own.ln.is_finite()))
                && (rival.mechanism != Mechanism::OtherCell || self.is_believable(rival, &own))
        };
        let mut contenders: Vec<&Candidate> = Vec::new();
        for candidate in std::iter::once(&own).chain(rivals.iter().filter(is_contender)) {
            // Of laws that coincide the first named stands for all: an integer cell and the rounded target, say.
            if !contenders.iter().any(|held| (held.ln - candidate.ln).abs() < SAME) {
                contenders.push(candidate);
            }
        }
        contenders.sort_by(|left, right| right.score().total_cmp(&left.score()));
        let first = contenders.first().copied()?;
        let runner_up = contenders.get(1).map_or(f64::NEG_INFINITY, |second| second.score());
        let free = self.at_the_mean().map(|(_, candidate)| candidate);

        let mut best = (first.fits && first.score() - runner_up >= TELLING.ln()).then_some(first.mechanism);
        // A simulation of a value that nobody named must not pass for another kind of law.
        let is_kind =
            matches!(first.mechanism, Mechanism::Real | Mechanism::Multinomial | Mechanism::PerRequest);
        let unknown_target = free
            .filter(|free| is_kind && free.fits && free.score() > first.score() - TELLING.ln())
            .map(|_| self.sample.mean());
        if unknown_target.is_some() {
            best = None;
        }
        if is_nothing_accepted && length > 1.0 {
            best = Some(Mechanism::Real);
        }
        let is_rejected = |candidate: &Candidate| {
            !candidate.ln.is_finite() || first.score() - candidate.score() > DECISIVE.ln()
        };
        let rejected = std::iter::once(&own)
            .chain(&rivals)
            .filter(|candidate| if coincides(candidate) { is_rejected(&own) } else { is_rejected(candidate) })
            .map(|candidate| candidate.mechanism)
            .collect();
        let is_target_beaten = first.fits && first.mechanism != Mechanism::MatchExpected && is_rejected(&own);
        let other = first.other.clone().filter(|_| best == Some(Mechanism::OtherCell));
        // Cells are compared with the simulation that is believed: the target's, unless another one was identified.
        let believed = if other.is_some() { first.ln } else { own.ln };
        let cells_alike =
            simulated.iter().filter_map(|candidate| candidate.alike(believed, other.as_ref())).collect();
        let log_likelihood = std::iter::once(&own)
            .chain(&rivals)
            .map(|candidate| (candidate.mechanism, candidate.ln))
            .collect();
        Some(Mechanisms {
            best,
            rejected,
            log_likelihood,
            other,
            constant,
            cells_alike,
            unknown_target,
            dispersion: Dispersion::about(&at_target, self.interval, self.sample, false),
            is_target_beaten,
        })
    }

    /// Which kind of law fits when no target is known: each with its parameters free.
    pub(super) fn without_target(&self, max: Option<u32>) -> Option<Mechanisms> {
        let (_, high) = self.sample.range()?;
        let max = max.unwrap_or(0).max(high.div_ceil(100)).max(2);
        let constant = self.sample.constant();
        let (law, own) = self.at_the_mean()?;
        let mut candidates = vec![self.real(max)];
        if let Some(length) = constant {
            candidates.push(self.candidate(Mechanism::Constant, &AcceptanceLaw::Constant(length), false));
        } else {
            candidates.push(own);
            if let Some(setting) = multinomial_with_mean(self.sample.mean(), max) {
                let law = AcceptanceLaw::multinomial(setting);
                candidates.push(self.candidate(Mechanism::Multinomial, &law, true));
            }
            if let AcceptanceLaw::MatchExpected(two) = &law {
                candidates.push(self.candidate(
                    Mechanism::PerRequest,
                    &AcceptanceLaw::PerRequest(*two),
                    true,
                ));
            }
        }
        candidates.sort_by(|left, right| {
            right.score().total_cmp(&left.score()).then(left.mechanism.cmp(&right.mechanism))
        });
        let first = candidates.first()?;
        // Drawn per request or per step is the same for a single request.
        let second = candidates.iter().find(|candidate| (candidate.ln - first.ln).abs() > SAME);
        let runner_up = second.map_or(f64::NEG_INFINITY, Candidate::score);
        let is_told = constant != Some(1) && first.fits && first.score() - runner_up >= TELLING.ln();
        let is_rejected = |candidate: &&Candidate| {
            !candidate.ln.is_finite() || first.score() - candidate.score() > DECISIVE.ln()
        };
        Some(Mechanisms {
            best: is_told.then_some(first.mechanism),
            rejected: candidates.iter().filter(is_rejected).map(|candidate| candidate.mechanism).collect(),
            log_likelihood: candidates.iter().map(|candidate| (candidate.mechanism, candidate.ln)).collect(),
            other: None,
            constant,
            cells_alike: Vec::new(),
            unknown_target: None,
            dispersion: Dispersion::about(&law, self.interval, self.sample, true),
            is_target_beaten: false,
        })
    }

    /// The one length of all lines, where it is not the rounded target.
    fn constant(&self, rounded: &AcceptanceLaw, constant: Option<u32>, max: u32) -> Candidate {
        match constant.filter(|length| *length <= max && !rounded.support().contains(length)) {
            Some(length) => self.candidate(Mechanism::Constant, &AcceptanceLaw::Constant(length), false),
            None => Candidate {
                mechanism: Mechanism::Constant,
                ln: f64::NEG_INFINITY,
                charge: 0.0,
                fits: false,
                other: None,
            },
        }
    }

    /// The two-point law at every value that may have been simulated in place of the target.
    fn simulated_at_others(&self, target: &Target, cells: &[RivalCell]) -> Vec<Candidate> {
        let (length, max) = (target.accept_length().get(), target.max_accept_length());
        let floor_of_lines = self.sample.range().map_or(0.0, |(low, _)| f64::from(low / 100));
        let known = cells
            .iter()
            .map(|cell| (cell.accept_length.get(), Other::Cell(cell.clone())))
            // A cell explains the lines only with their floor; with the target's it may be confused with it.
            .filter(|(value, _)| {
                [length.floor(), floor_of_lines].iter().any(|lo| (lo - value.floor()).abs() < 0.5)
            });
        let one_off = [length - 1.0, length + 1.0].map(|value| (value, Other::OneOff(value)));
        let is_whole = length - length.floor() <= 0.0;
        let values: Vec<(f64, Other)> = known
            .chain(one_off.into_iter().filter(|_| !is_whole))
            .filter(|(value, _)| {
                // The same value is the same law, whatever cell it stands in.
                *value >= 1.0 && *value <= f64::from(max) && (value - length).abs() > SAME
            })
            .collect();
        // The best of a list is charged for the choice.
        let charge = float(u64::try_from(values.len()).unwrap_or(u64::MAX)).max(1.0).ln();
        values
            .into_iter()
            .filter_map(|(value, other)| {
                let law = AcceptanceLaw::match_expected(Setting::new(value, max).ok()?);
                let candidate = self.candidate(Mechanism::OtherCell, &law, false);
                Some(Candidate { other: Some(other), charge, ..candidate })
            })
            .collect()
    }

    fn is_believable(&self, rival: &Candidate, own: &Candidate) -> bool {
        rival.fits && rival.ln - own.ln > DECISIVE.ln()
    }
}

/// The most likely one; one that fits goes before any that does not.
fn most_likely(candidates: &[Candidate]) -> Option<Candidate> {
    let mut best: Option<&Candidate> = None;
    for candidate in candidates {
        let is_better = best
            .is_none_or(|best| candidate.fits.cmp(&best.fits).then(candidate.ln.total_cmp(&best.ln)).is_gt());
        if is_better {
            best = Some(candidate);
        }
    }
    best.cloned()
}

/// The target at which `multinomial` has the wanted mean.
fn multinomial_with_mean(mean: f64, max: u32) -> Option<Setting> {
    let at = |target: f64| Setting::new(target, max).ok();
    let (mut low, mut high) = (-5.0, f64::from(max) + 6.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if Multinomial::new(at(middle)?).mean() < mean {
            low = middle;
        } else {
            high = middle;
        }
    }
    at(f64::midpoint(low, high))
}
