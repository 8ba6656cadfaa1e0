//! The laws that could have written the lines, each with its likelihood.

use crate::golden::Target;
use crate::law::{AcceptanceLaw, Multinomial, Setting, float};

use super::contest::{Candidate, Contest, is_out_of_the_running, most_likely};
use super::dispersion::{Dispersion, LatticeCheck};
use super::likelihood::{log_likelihood, log_likelihood_of_real};
use super::mechanism::{Mechanism, Mechanisms, Other};
use super::options::RivalCell;
use super::sample::Sample;
use super::stretches::{Mixture, Stated, Stretches};

/// The lines that all laws are judged on.
pub(super) struct Hypotheses<'a> {
    sample: &'a Sample<'a>,
    interval: u32,
    lattice: LatticeCheck,
}

impl<'a> Hypotheses<'a> {
    /// Laws for lines of `interval` verify steps.
    pub(super) fn new(sample: &'a Sample<'a>, interval: u32, lattice: LatticeCheck) -> Self {
        Self { sample, interval, lattice }
    }

    /// Every law against the target.
    pub(super) fn against(&self, target: &Target, cells: &[RivalCell]) -> Option<Mechanisms> {
        let length = target.accept_length().get();
        let max = target.max_accept_length();
        let setting = Setting::new(length, max).ok()?;
        let at_target = AcceptanceLaw::match_expected(setting);
        let own = self.candidate(Mechanism::MatchExpected, &at_target, false);
        let constant = self.sample.constant();
        // A simulated 1 looks like drafts of which none was accepted; it goes by the target's name.
        let nothing_accepted = constant == Some(1);
        let real = if nothing_accepted && own.ln.is_finite() { None } else { Some(self.real(max)) };

        let rounded = AcceptanceLaw::rounded(setting);
        let mut rivals = vec![
            self.candidate(Mechanism::Multinomial, &AcceptanceLaw::multinomial(setting), false),
            self.candidate(Mechanism::Rounded, &rounded, false),
            self.constant(&rounded, constant, max),
            self.candidate(Mechanism::PerRequest, &AcceptanceLaw::per_request(setting), false),
        ];
        rivals.extend(real);
        let simulated = self.simulated_at_others(target, own.ln, cells);
        rivals.extend(most_likely(&simulated).cloned());
        let mixture = self.mixture(target, cells, &own, &rivals);
        rivals.extend(mixture.as_ref().map(|(candidate, _)| candidate.clone()));

        let contest = Contest::new(&own, &rivals);
        let is_rivalled = self.at_the_mean().is_some_and(|(_, free)| contest.is_rivalled_by(&free));
        let identified = if nothing_accepted && contest.is_target_beaten() {
            Some(Mechanism::Real)
        } else {
            contest.identified().filter(|_| !is_rivalled)
        };
        let other = contest.first().other.clone().filter(|_| identified == Some(Mechanism::OtherCell));
        Some(Mechanisms {
            best: identified,
            rejected: contest.rejected(),
            log_likelihood: contest.log_likelihoods(),
            other,
            constant,
            change: mixture
                .filter(|_| identified == Some(Mechanism::Mixed))
                .map(|(_, mixture)| mixture.change),
            cells_alike: contest.alike(&simulated),
            unknown_target: is_rivalled.then(|| self.sample.mean()),
            dispersion: Dispersion::about(&at_target, self.interval, self.sample, false),
            is_target_beaten: contest.is_target_beaten(),
        })
    }

    /// Which kind of law fits when no target is known: each with its parameters free. `max` is the most that a step
    /// can emit, if that is known.
    pub(super) fn without_target(&self, max: Option<u32>) -> Option<Mechanisms> {
        let (_, high) = self.sample.range()?;
        let max = max.unwrap_or(0).max(high.div_ceil(100)).max(2);
        let constant = self.sample.constant();
        let (law, free) = self.at_the_mean()?;
        let real = self.real(max);
        let (own, mut rivals) = match constant {
            Some(length) => {
                let law = AcceptanceLaw::Constant(length);
                (self.candidate(Mechanism::Constant, &law, false), Vec::new())
            }
            None => (free, self.kinds_at_the_mean(&law, max)),
        };
        rivals.push(real);
        let contest = Contest::new(&own, &rivals);
        // Every line 1.00: simulated, or nothing was accepted.
        let is_open = constant == Some(1);
        Some(Mechanisms {
            best: contest.identified().filter(|_| !is_open),
            rejected: contest.rejected(),
            log_likelihood: contest.log_likelihoods(),
            other: None,
            constant,
            change: None,
            cells_alike: Vec::new(),
            unknown_target: None,
            dispersion: Dispersion::about(&law, self.interval, self.sample, true),
            is_target_beaten: contest.is_target_beaten(),
        })
    }

    fn candidate(&self, mechanism: Mechanism, law: &AcceptanceLaw, free: bool) -> Candidate {
        let ln = self.ln(law);
        let charge = if free { 0.5 * self.ln_lines() } else { 0.0 };
        Candidate { mechanism, ln, charge, fits: self.fits(law, ln, free), other: None }
    }

    fn ln(&self, law: &AcceptanceLaw) -> f64 {
        // Draws of single requests have no lattice to miss.
        let tolerates_misses = !self.lattice.rejects() || matches!(law, AcceptanceLaw::PerRequest(_));
        log_likelihood(law, self.interval, self.sample, tolerates_misses)
    }

    /// Whether every line is possible and the lines scatter as the law says.
    fn fits(&self, law: &AcceptanceLaw, ln: f64, free: bool) -> bool {
        ln.is_finite()
            && !Dispersion::about(law, self.interval, self.sample, free)
                .is_some_and(|dispersion| dispersion.rejects())
    }

    /// What a fitted parameter is charged by. Few lines are charged as ten: a law that was fitted to one of them
    /// would otherwise be the best for nothing.
    fn ln_lines(&self) -> f64 {
        float(self.sample.lines()).max(10.0).ln()
    }

    fn real(&self, max: u32) -> Candidate {
        let ln = log_likelihood_of_real(self.sample, self.interval, max);
        let fits = ln.is_finite();
        Candidate { mechanism: Mechanism::Real, ln, charge: self.ln_lines(), fits, other: None }
    }

    /// The one length of all lines, where it is not the rounded target.
    fn constant(&self, rounded: &AcceptanceLaw, constant: Option<u32>, max: u32) -> Candidate {
        match constant.filter(|length| *length <= max && !rounded.support().contains(length)) {
            Some(length) => self.candidate(Mechanism::Constant, &AcceptanceLaw::Constant(length), false),
            None => Candidate::impossible(Mechanism::Constant),
        }
    }

    /// Two neighbouring lengths whose mean is that of the lines: a simulation of some value.
    fn at_the_mean(&self) -> Option<(AcceptanceLaw, Candidate)> {
        let law = AcceptanceLaw::match_expected(Setting::new(self.sample.mean(), u32::MAX).ok()?);
        let mut candidate = self.candidate(Mechanism::MatchExpected, &law, true);
        candidate.fits &= !self.lattice.rejects();
        Some((law, candidate))
    }

    /// The other kinds of simulation with the mean of the lines.
    fn kinds_at_the_mean(&self, law: &AcceptanceLaw, max: u32) -> Vec<Candidate> {
        let multinomial = multinomial_with_mean(self.sample.mean(), max).map(|setting| {
            self.candidate(Mechanism::Multinomial, &AcceptanceLaw::multinomial(setting), true)
        });
        let per_request = match law {
            AcceptanceLaw::MatchExpected(two) => {
                Some(self.candidate(Mechanism::PerRequest, &AcceptanceLaw::PerRequest(*two), true))
            }
            _ => None,
        };
        multinomial.into_iter().chain(per_request).collect()
    }

    /// The two-point law at every value that may have been simulated in place of the target.
    fn simulated_at_others(&self, target: &Target, own: f64, cells: &[RivalCell]) -> Vec<Candidate> {
        let max = target.max_accept_length();
        // Those with the floor of the target or of the lines.
        let floor_of_lines = self.sample.range().map_or(0.0, |(low, _)| f64::from(low / 100));
        let floors = [target.accept_length().get().floor(), floor_of_lines];
        let values = Self::other_values(target, cells, |floor| {
            floors.iter().any(|wanted| (wanted - floor).abs() < 0.5)
        });
        // The best of a list is charged for the choice.
        let charge = float(u64::try_from(values.len()).unwrap_or(u64::MAX)).max(1.0).ln();
        let laws: Vec<(AcceptanceLaw, Other)> = values
            .into_iter()
            .filter_map(|(value, other)| {
                Some((AcceptanceLaw::match_expected(Setting::new(value, max).ok()?), other))
            })
            .collect();
        let lns: Vec<f64> = laws.iter().map(|(law, _)| self.ln(law)).collect();
        let leader = lns.iter().copied().fold(own, f64::max);
        laws.into_iter()
            .zip(lns)
            .map(|((law, other), ln)| {
                let fits = !is_out_of_the_running(leader, ln) && self.fits(&law, ln, false);
                Candidate { mechanism: Mechanism::OtherCell, ln, charge, fits, other: Some(other) }
            })
            .collect()
    }

    /// Two laws one after the other, where that is a thousand times more likely than any single one.
    fn mixture(
        &self,
        target: &Target,
        cells: &[RivalCell],
        own: &Candidate,
        rivals: &[Candidate],
    ) -> Option<(Candidate, Mixture)> {
        let max = target.max_accept_length();
        let setting = Setting::new(target.accept_length().get(), max).ok()?;
        let stated = |mechanism, law| Stated { mechanism, law, charge: 0.0 };
        let mut laws = vec![
            stated(Mechanism::MatchExpected, AcceptanceLaw::match_expected(setting)),
            stated(Mechanism::Multinomial, AcceptanceLaw::multinomial(setting)),
            stated(Mechanism::Rounded, AcceptanceLaw::rounded(setting)),
            stated(Mechanism::PerRequest, AcceptanceLaw::per_request(setting)),
        ];
        let (low, high) = self.sample.range()?;
        let floors = f64::from(low / 100)..=f64::from(high / 100);
        let values = Self::other_values(target, cells, |floor| floors.contains(&floor));
        let values = values.into_iter().map(|(value, _)| value).collect();
        let constants = low.div_ceil(100)..=(high / 100).min(max);
        laws.extend(Stated::simulations(constants, values, Mechanism::OtherCell, max));
        // The target's law needs no choice; each other one is one of a list.
        let charge = float(u64::try_from(laws.len()).unwrap_or(u64::MAX)).ln();
        laws.iter_mut().skip(1).for_each(|stated| stated.charge = charge);

        let mixture = Stretches::new(self.sample, self.interval, max).best(&laws)?;
        let best = rivals.iter().map(Candidate::score).fold(own.score(), f64::max);
        // Lines beyond those looked at are as likely as the best single law has them.
        let gain = mixture.ln - mixture.charge - mixture.single;
        let score = if best.is_finite() { best + gain } else { mixture.ln - mixture.charge };
        let charge = mixture.charge;
        let candidate =
            Candidate { mechanism: Mechanism::Mixed, ln: score + charge, charge, fits: true, other: None };
        (candidate.is_decisively_above(best)).then_some((candidate, mixture))
    }

    /// Golden values whose floor is wanted, and the target plus and minus one.
    fn other_values(
        target: &Target,
        cells: &[RivalCell],
        has_floor: impl Fn(f64) -> bool,
    ) -> Vec<(f64, Other)> {
        let (length, max) = (target.accept_length().get(), f64::from(target.max_accept_length()));
        let golden = cells
            .iter()
            .map(|cell| (cell.accept_length.get(), Other::Cell(cell.clone())))
            .filter(|(value, _)| has_floor(value.floor()));
        // One off an integer is a constant, which has its own name.
        let is_whole = length - length.floor() <= 0.0;
        let one_off = [length - 1.0, length + 1.0].into_iter().filter(|_| !is_whole);
        golden
            .chain(one_off.map(|value| (value, Other::OneOff(value))))
            // The target's value in another cell is the target's law.
            .filter(|(value, _)| (1.0..=max).contains(value) && (value - length).abs() > 1e-9)
            .collect()
    }
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

#[cfg(test)]
mod tests {
    use super::super::{Options, PointBuilder, judge};
    use super::*;
    use crate::evidence::Scanner;

    fn best_of(length: &str) -> Option<Mechanism> {
        let mut builder = PointBuilder::new("p");
        for second in 10..40 {
            let line = format!(
                "[2026-10-12 01:02:{second} TP0] Decode batch, #running-req: 1, #token: 9, token usage: 0.05, accept len: {length}, \
                 accept rate: 0.50, cuda graph: True, gen throughput (token/s): 400.25, #queue-req: 0\n"
            );
            Scanner::new(0).lines(line.as_bytes(), &mut |place, record| builder.add(place, record));
        }
        judge(&builder.finish(), None, &Options::default()).mechanisms.unwrap().best
    }

    #[test]
    fn a_constant_length_is_simulated_unless_nothing_was_accepted() {
        assert_eq!((best_of("4.00"), best_of("1.00")), (Some(Mechanism::Constant), None));
    }
}
