//! The loop: requests come, prompts are prefilled, all ranks step together.

use crate::law::{Draws, Steps, Stream};

use super::arrivals::Source;
use super::error::SimError;
use super::jobs::Jobs;
use super::log::{DecodeEvent, LogEvent, PrefillEvent};
use super::outcome::Outcome;
use super::rank::{Rank, Taken};
use super::server::{Prefilling, Server, WhenFull};
use super::traffic::Traffic;

/// Most steps of one run: minutes of work.
pub(super) const MOST_STEPS: u64 = 1 << 32;

/// Most steps times requests of one run in which every request draws for itself.
pub(super) const MOST_REQUEST_STEPS: u64 = 1 << 36;

/// Takes what a log would show.
type Sink<'a> = dyn FnMut(&LogEvent) + 'a;

/// Runs one replicate. The same server, traffic, seed and replicate give the same outcome on any machine; the draws and the
/// lengths of requests do not depend on the accept length, the draft length or the concurrency, so that runs that differ in
/// these can be compared pair by pair (common random numbers).
///
/// ```
/// use accsim::law::{AcceptanceLaw, Setting};
/// use accsim::throughput::{Lengths, PrefillLaw, StepLaw};
/// use accsim::throughput::sim::{Server, Traffic, simulate};
///
/// let step = StepLaw { a_s: 0.012, b_s: 6e-6, c_s: 2e-8, ..StepLaw::default() };
/// let law = AcceptanceLaw::match_expected(Setting::new(3.51, 5)?);
/// let server = Server::new(step, PrefillLaw { p0_s: 0.0, p1_s: 2e-5 }, 4, law);
/// let traffic = Traffic::closed(64, Lengths::fixed(1000), Lengths::fixed(1000), 120.0);
/// let outcome = simulate(&server, &traffic, 1, 0)?;
/// assert!((outcome.steady_tps() / 11_045.66 - 1.0).abs() < 0.02);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn simulate(server: &Server, traffic: &Traffic, seed: u64, replicate: u32) -> Result<Outcome, SimError> {
    Loop::new(server, traffic, seed, replicate)?.run(None)
}

/// As [`simulate`], and hands over what a server would log: a decode line every `interval` steps of a rank, a prefill line
/// every prefill batch.
pub fn simulate_logged(
    server: &Server,
    traffic: &Traffic,
    seed: u64,
    replicate: u32,
    interval: u32,
    sink: &mut dyn FnMut(&LogEvent),
) -> Result<Outcome, SimError> {
    Loop::new(server, traffic, seed, replicate)?.run(Some((u64::from(interval.max(1)), sink)))
}

struct Loop<'a> {
    server: &'a Server,
    traffic: &'a Traffic,
    source: Source<'a>,
    ranks: Vec<Rank>,
    jobs: Jobs,
    now: f64,
    outcome: Outcome,
    /// Whether every request draws for itself, so that a step costs more work the more run.
    draws_each: bool,
}

impl<'a> Loop<'a> {
    fn new(server: &'a Server, traffic: &'a Traffic, seed: u64, replicate: u32) -> Result<Self, SimError> {
        server.check()?;
        traffic.check(server)?;
        let rank = |number: u32| {
            let stream = if server.ranks_share_draws { 0 } else { number };
            Rank::new(number, server, Steps::new(&server.law, Stream::new(seed, replicate, stream)))
        };
        Ok(Self {
            server,
            traffic,
            source: Source::new(traffic, server, seed, replicate)?,
            ranks: (0..server.ranks).map(rank).collect(),
            jobs: Jobs::default(),
            now: 0.0,
            outcome: Outcome::default(),
            draws_each: server.law.draws() == Draws::PerRequest,
        })
    }

    fn run(mut self, mut log: Option<(u64, &mut Sink<'_>)>) -> Result<Outcome, SimError> {
        loop {
            if self.source.next_s() <= self.now {
                self.arrivals()?;
            }
            if self.ranks.iter().any(|rank| rank.waiting() > 0) && self.prefill(&mut log)? {
                continue;
            }
            if self.ranks.iter().all(|rank| rank.active() == 0 && !rank.has_chunks()) {
                let next = self.source.next_s();
                if !next.is_finite() {
                    break;
                }
                self.now = self.now.max(next);
                continue;
            }
            self.step(&mut log)?;
        }
        self.outcome.end_s = self.now;
        let stop = self.traffic.duration_s.min(self.now);
        self.outcome.steady.1 = (stop - self.traffic.warmup_s).max(0.0);
        Ok(self.outcome)
    }

    /// Sends what has come to the rank with the fewest requests.
    fn arrivals(&mut self) -> Result<(), SimError> {
        while let Some(arrived) = self.source.take(self.now)? {
            let least = self.ranks.iter_mut().min_by_key(|rank| rank.load());
            if let Some(rank) = least {
                rank.enqueue(arrived, &mut self.jobs);
            }
        }
        Ok(())
    }

    /// Admits requests; whether time passed or requests finished, so that all is to be looked at again.
    fn prefill(&mut self, log: &mut Option<(u64, &mut Sink<'_>)>) -> Result<bool, SimError> {
        let mut cost = 0.0_f64;
        let mut took = false;
        let taken: Vec<(u32, Taken)> = self
            .ranks
            .iter_mut()
            .filter(|rank| rank.waiting() > 0)
            .map(|rank| (rank.number, rank.admit(self.server, &mut self.jobs)))
            .filter(|(_, taken)| taken.requests > 0)
            .collect();
        for (_, taken) in &taken {
            cost = cost.max(self.server.prefill.seconds(crate::law::float(taken.tokens)));
            took = true;
        }
        if took {
            self.now += cost;
            self.outcome.prefill_s += cost;
            if let Some((_, sink)) = log {
                for (rank, taken) in &taken {
                    sink(&self.prefill_event(*rank, *taken));
                }
            }
            for rank in &mut self.ranks {
                rank.prefilled(self.server, &mut self.jobs, self.now);
            }
            let requests: u64 = taken.iter().map(|(_, taken)| u64::from(taken.requests)).sum();
            self.count_steady(requests);
        }
        Ok(self.finish()? || took)
    }

    fn prefill_event(&self, rank: u32, taken: Taken) -> LogEvent {
        let state = self.ranks.iter().find(|found| found.number == rank);
        LogEvent::Prefill(PrefillEvent {
            at_s: self.now,
            rank,
            new_seq: taken.requests,
            new_tokens: taken.tokens,
            cached_tokens: taken.cached,
            running: state.map_or(0, |rank| rank.batch.len()),
            kv_tokens: state.map_or(0, |rank| rank.batch.kv_tokens()),
            waiting: u64::try_from(state.map_or(0, Rank::waiting)).unwrap_or(u64::MAX),
        })
    }

    /// Hands finished requests to their clients; whether there were any.
    fn finish(&mut self) -> Result<bool, SimError> {
        let mut any = false;
        for rank in self.ranks.iter_mut().filter(|rank| rank.has_finished()) {
            let count = rank.take_finished(self.server, &mut self.jobs, self.now, &mut self.outcome);
            any |= count > 0;
            for _ in 0..count {
                self.source.finished(self.now)?;
            }
        }
        Ok(any)
    }

    /// Tokens that came now, if that is in the steady stretch.
    fn count_steady(&mut self, tokens: u64) {
        if self.now >= self.traffic.warmup_s && self.now <= self.traffic.duration_s {
            self.outcome.steady.0 += tokens;
        }
    }

    /// Steps till something happens, for one rank whose batch just runs: the same steps as one by one, without asking each time
    /// what cannot have changed. Whether that could be done.
    fn glide(&mut self) -> Result<bool, SimError> {
        let [rank] = self.ranks.as_mut_slice() else { return Ok(false) };
        let retracts = self.server.pool.is_some_and(|pool| pool.when_full == WhenFull::Retract);
        if retracts || rank.has_chunks() || rank.active() != rank.batch.len() {
            return Ok(false);
        }
        let next = self.source.next_s();
        let fixed_s = self.server.step.fixed_s(rank.batch.len(), self.server.drafts, self.server.verified);
        let (from, until) = (self.traffic.warmup_s, self.traffic.duration_s);
        loop {
            let load = rank.next_load(self.server, &self.jobs);
            let cost = fixed_s + self.server.step.kv_s(load.kv_tokens, load.longest);
            self.now += cost;
            self.outcome.decode_s += cost;
            self.outcome.steps += 1;
            let tokens = rank.step(self.server, &self.jobs, self.now, &mut self.outcome).tokens;
            if self.now >= from && self.now <= until {
                self.outcome.steady.0 += tokens;
            }
            let changed = rank.has_finished() || rank.active() != rank.batch.len() || next <= self.now;
            let is_long = self.outcome.steps > MOST_STEPS
                || (self.draws_each && self.outcome.request_steps > MOST_REQUEST_STEPS);
            if changed || is_long {
                break;
            }
        }
        self.finish()?;
        Ok(true)
    }

    /// One step of all ranks, at the pace of the slowest.
    fn step(&mut self, log: &mut Option<(u64, &mut Sink<'_>)>) -> Result<(), SimError> {
        let is_long = self.outcome.steps > MOST_STEPS
            || (self.draws_each && self.outcome.request_steps > MOST_REQUEST_STEPS);
        if log.is_none() && !is_long && self.glide()? {
            return Ok(());
        }
        let mut cost = 0.0_f64;
        let mut chunk_s = 0.0_f64;
        for rank in &mut self.ranks {
            self.outcome.retracted += rank.retract(self.server, &mut self.jobs);
            if rank.active() > 0 {
                cost = cost.max(self.server.step.step_s(&rank.next_load(self.server, &self.jobs)));
            }
            let chunk = rank.chunk(self.server);
            if chunk > 0 {
                chunk_s = chunk_s.max(self.server.prefill.seconds(f64::from(chunk)));
            }
        }
        self.now += cost + chunk_s;
        self.outcome.prefill_s += chunk_s;
        self.outcome.decode_s += cost;
        self.outcome.steps += 1;
        if self.outcome.steps > MOST_STEPS {
            return Err(SimError::TooLong { what: "steps", limit: MOST_STEPS });
        }
        if self.outcome.request_steps > MOST_REQUEST_STEPS && self.draws_each {
            return Err(SimError::TooLong { what: "steps of requests", limit: MOST_REQUEST_STEPS });
        }
        let mut tokens = 0;
        for rank in &mut self.ranks {
            let running = rank.batch.len();
            if rank.active() > 0 {
                tokens += rank.step(self.server, &self.jobs, self.now, &mut self.outcome).tokens;
                if let Some((interval, sink)) = log
                    && rank.window.steps >= *interval
                {
                    sink(&decode_event(rank, running, self.now));
                    rank.window = super::rank::Window { since_s: self.now, ..Default::default() };
                }
            }
        }
        if chunk_s > 0.0 {
            tokens += self.chunks(log);
        }
        self.count_steady(tokens);
        self.finish()?;
        Ok(())
    }

    /// The prompts of the chunk that a step took along; first tokens among them.
    fn chunks(&mut self, log: &mut Option<(u64, &mut Sink<'_>)>) -> u64 {
        let mut first = 0;
        let mut logged = Vec::new();
        for rank in &mut self.ranks {
            let tokens = rank.chunk(self.server);
            if tokens > 0 {
                let taken = rank.advance_chunks(tokens, self.server, &mut self.jobs, self.now);
                first += u64::from(taken.requests);
                logged.push((rank.number, Taken { requests: taken.requests.max(1), ..taken }));
            }
        }
        if let Some((_, sink)) = log {
            for (rank, taken) in logged {
                sink(&self.prefill_event(rank, taken));
            }
        }
        first
    }
}

fn decode_event(rank: &Rank, running: u32, now: f64) -> LogEvent {
    LogEvent::Decode(DecodeEvent {
        at_s: now,
        rank: rank.number,
        running,
        kv_tokens: rank.batch.kv_tokens(),
        accepted: rank.window.accepted,
        request_steps: rank.window.request_steps,
        since_s: rank.window.since_s,
        waiting: u64::try_from(rank.waiting()).unwrap_or(u64::MAX),
    })
}

/// Whether prefill shares the decoding server.
impl Prefilling {
    /// Whether prompts are prefilled on the server that decodes.
    #[must_use]
    pub fn is_colocated(self) -> bool {
        !matches!(self, Self::Elsewhere { .. })
    }
}
