//! One rank: its queue, its batch, its pool, and the window that becomes a decode line.

use std::collections::VecDeque;

use crate::law::{Steps, Stream};
use crate::throughput::step::Load;

use super::arrivals::{Arrived, uncached};
use super::batch::{Batch, Emitted, Finished};
use super::jobs::Jobs;
use super::outcome::Outcome;
use super::server::{Pool, Prefilling, Server, WhenFull};

/// A prompt that is being prefilled in chunks.
#[derive(Clone, Copy, Debug)]
struct Chunking {
    slot: u32,
    left: u32,
}

/// Prompts taken at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) requests: u32,
    pub(super) tokens: u64,
    pub(super) cached: u64,
}

/// One rank.
#[derive(Debug)]
pub(super) struct Rank {
    pub(super) number: u32,
    queue: VecDeque<u32>,
    pub(super) batch: Batch,
    draws: Steps<Stream>,
    /// Prompts of a blocking batch that is being computed.
    admitted: Vec<u32>,
    chunking: VecDeque<Chunking>,
    /// KV tokens held for the whole length of what runs, or by prompts in chunks.
    reserved: u64,
    /// Since a retraction nothing has finished: nobody joins.
    is_choked: bool,
    /// Who joined last, where requests may be sent back: (slot, epoch), void ones among them.
    joined: Vec<(u32, u32)>,
    /// First tokens since the last step: when.
    fresh: Vec<f64>,
    last_step_s: f64,
    finished: Vec<Finished>,
    /// Who is done and stays for the step that was launched already, and the tokens that they hold.
    leaving: Vec<Finished>,
    leaving_tokens: u64,
    pub(super) window: Window,
}

/// What a decode line adds up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Window {
    pub(super) steps: u64,
    pub(super) accepted: u64,
    pub(super) request_steps: u64,
    pub(super) since_s: f64,
}

impl Rank {
    pub(super) fn new(number: u32, server: &Server, draws: Steps<Stream>) -> Self {
        Self {
            number,
            queue: VecDeque::new(),
            batch: Batch::new(&server.law, server.step.lanes > 1.0),
            draws,
            admitted: Vec::new(),
            chunking: VecDeque::new(),
            reserved: 0,
            is_choked: false,
            joined: Vec::new(),
            fresh: Vec::new(),
            last_step_s: 0.0,
            finished: Vec::new(),
            leaving: Vec::new(),
            leaving_tokens: 0,
            window: Window::default(),
        }
    }

    /// Requests in the rank, waiting ones too.
    pub(super) fn load(&self) -> usize {
        let running = usize::try_from(self.batch.len()).unwrap_or(usize::MAX);
        running.saturating_add(self.queue.len()).saturating_add(self.chunking.len())
    }

    /// Requests that the next step computes.
    pub(super) fn active(&self) -> u32 {
        self.batch.len().saturating_add(u32::try_from(self.leaving.len()).unwrap_or(u32::MAX))
    }

    pub(super) fn waiting(&self) -> usize {
        self.queue.len()
    }

    pub(super) fn has_chunks(&self) -> bool {
        !self.chunking.is_empty()
    }

    pub(super) fn enqueue(&mut self, arrived: Arrived, jobs: &mut Jobs) {
        self.queue.push_back(jobs.insert(arrived));
    }

    /// Whether the request at the head of the queue may join, and what it holds then.
    fn admissible(&self, server: &Server, jobs: &Jobs) -> Option<(u32, u64)> {
        let slot = *self.queue.front()?;
        let job = jobs.get(slot)?;
        let busy = u64::from(self.active())
            + u64::try_from(self.admitted.len() + self.chunking.len()).unwrap_or(u64::MAX);
        if busy >= u64::from(server.most_running) {
            return None;
        }
        let prompt = u64::from(job.request.input) + u64::from(job.generated);
        let Some(pool) = server.pool else { return Some((slot, 0)) };
        match pool.when_full {
            WhenFull::Queue => {
                let whole = u64::from(job.request.input) + u64::from(job.request.output);
                (self.reserved + whole <= pool.tokens).then_some((slot, whole))
            }
            WhenFull::Retract => {
                let used = self.reserved + self.batch.kv_tokens() + prompt;
                let step = u64::from(server.longest_draw()) * (busy + 1);
                (!self.is_choked && used + step <= pool.tokens).then_some((slot, prompt))
            }
        }
    }

    /// Takes prompts off the queue, up to what a batch or the limits allow; none are taken while a prefill waits for its end.
    pub(super) fn admit(&mut self, server: &Server, jobs: &mut Jobs) -> Taken {
        let mut taken = Taken::default();
        while let Some((slot, held)) = self.admissible(server, jobs) {
            let Some(job) = jobs.get(slot) else { break };
            let (input, generated) = (job.request.input, job.generated);
            match server.prefilling {
                // One that was sent back kept its KV tokens in the host's memory.
                Prefilling::Elsewhere { .. } => {
                    self.pop_held(held);
                    self.join(slot, server, jobs, None);
                }
                Prefilling::Blocking { batch_tokens } => {
                    let fresh = uncached(&job.request, server.cached);
                    let tokens = if generated > 0 { input + generated } else { fresh };
                    if taken.requests > 0 && taken.tokens + u64::from(tokens) > u64::from(batch_tokens) {
                        break;
                    }
                    self.pop_held(held);
                    self.admitted.push(slot);
                    taken.requests += 1;
                    taken.tokens += u64::from(tokens);
                    taken.cached += u64::from((input + generated).saturating_sub(tokens));
                }
                Prefilling::Chunked { .. } => {
                    let fresh = uncached(&job.request, server.cached);
                    let left = if generated > 0 { input + generated } else { fresh };
                    self.pop_held(held);
                    self.chunking.push_back(Chunking { slot, left });
                }
            }
        }
        taken
    }

    fn pop_held(&mut self, held: u64) {
        self.queue.pop_front();
        self.reserved += held;
    }

    /// The blocking batch is computed: its requests get their first tokens.
    pub(super) fn prefilled(&mut self, server: &Server, jobs: &mut Jobs, now: f64) {
        let admitted = std::mem::take(&mut self.admitted);
        for slot in &admitted {
            self.join(*slot, server, jobs, Some(now));
        }
        self.admitted = admitted;
        self.admitted.clear();
    }

    /// The prompt tokens that the next step takes along.
    pub(super) fn chunk(&self, server: &Server) -> u32 {
        let Prefilling::Chunked { tokens } = server.prefilling else { return 0 };
        let wanted = self.chunking.iter().map(|chunking| u64::from(chunking.left)).sum::<u64>();
        tokens.min(u32::try_from(wanted).unwrap_or(u32::MAX))
    }

    /// So many prompt tokens were computed.
    pub(super) fn advance_chunks(
        &mut self,
        mut tokens: u32,
        server: &Server,
        jobs: &mut Jobs,
        now: f64,
    ) -> Taken {
        let mut taken = Taken { tokens: u64::from(tokens), ..Taken::default() };
        while let Some(first) = self.chunking.front_mut() {
            let part = first.left.min(tokens);
            first.left -= part;
            tokens -= part;
            if first.left > 0 {
                break;
            }
            let slot = first.slot;
            self.chunking.pop_front();
            taken.requests += 1;
            self.join(slot, server, jobs, Some(now));
        }
        taken
    }

    /// A request joins the batch; `token_s` is when prefill gave it a token.
    fn join(&mut self, slot: u32, server: &Server, jobs: &mut Jobs, token_s: Option<f64>) {
        let Some(job) = jobs.get_mut(slot) else { return };
        let held = u64::from(job.request.input) + u64::from(job.generated);
        // A retracted prompt ends with a token that it already had: computing it again gives the next one.
        job.generated += u32::from(token_s.is_some());
        job.first_s = job.first_s.or(token_s);
        job.running = true;
        let context = job.request.input.saturating_add(job.generated.saturating_sub(1));
        let left = job.request.output.saturating_sub(job.generated);
        let epoch = job.epoch;
        if let Some(Pool { when_full: WhenFull::Retract, .. }) = server.pool {
            self.reserved = self.reserved.saturating_sub(held);
            self.joined.push((slot, epoch));
        }
        if left == 0 {
            self.finished.push(Finished { slot });
        } else {
            self.fresh.extend(job.first_s);
            self.batch.join(slot, epoch, left, context);
        }
    }

    /// Sends requests back until the next step fits; how many.
    pub(super) fn retract(&mut self, server: &Server, jobs: &mut Jobs) -> u64 {
        let Some(Pool { tokens, when_full: WhenFull::Retract }) = server.pool else { return 0 };
        let longest = u64::from(server.longest_draw());
        let mut sent_back = 0;
        while self.batch.len() > 1
            && self.reserved + self.batch.kv_tokens() + longest * u64::from(self.batch.len()) > tokens
        {
            let Some((slot, epoch)) = self.joined.pop() else { break };
            if !jobs.holds(slot, epoch) {
                continue;
            }
            let Some((left, _)) = self.batch.leave(slot, epoch) else { continue };
            if let Some(job) = jobs.get_mut(slot) {
                job.running = false;
                job.epoch = job.epoch.wrapping_add(1);
                job.generated = job.request.output.saturating_sub(left);
            }
            self.queue.push_front(slot);
            self.is_choked = true;
            sent_back += 1;
        }
        sent_back
    }

    /// The load of the next step.
    pub(super) fn next_load(&mut self, server: &Server, jobs: &Jobs) -> Load {
        Load {
            running: self.active(),
            drafts: server.drafts,
            verified: server.verified,
            kv_tokens: crate::law::float(self.batch.kv_tokens() + self.leaving_tokens),
            longest: crate::law::float(self.batch.longest(jobs)),
        }
    }

    /// One step that ends at `now`.
    pub(super) fn step(&mut self, server: &Server, jobs: &Jobs, now: f64, outcome: &mut Outcome) -> Emitted {
        if !server.overlap {
            return self.advance(jobs, now, outcome);
        }
        let left = std::mem::take(&mut self.leaving);
        let emitted =
            if self.batch.len() > 0 { self.advance(jobs, now, outcome) } else { Emitted::default() };
        self.leaving = std::mem::replace(&mut self.finished, left);
        let held =
            |done: &Finished| jobs.get(done.slot).map_or(0, |job| job.request.input + job.request.output);
        self.leaving_tokens = self.leaving.iter().map(|done| u64::from(held(done))).sum();
        emitted
    }

    fn advance(&mut self, jobs: &Jobs, now: f64, outcome: &mut Outcome) -> Emitted {
        let running = u64::from(self.batch.len());
        let emitted = self.batch.step(&mut self.draws, jobs, &mut self.finished);
        self.window.steps += 1;
        self.window.accepted += emitted.accepted;
        self.window.request_steps += running;
        let fresh = u64::try_from(self.fresh.len()).unwrap_or(0).min(running);
        outcome.gaps.add(now - self.last_step_s, running - fresh);
        for first in self.fresh.drain(..) {
            outcome.gaps.add(now - first, 1);
        }
        self.last_step_s = now;
        outcome.accepted += emitted.accepted;
        outcome.request_steps += running;
        emitted
    }

    /// Whether requests are done that nobody has taken yet.
    pub(super) fn has_finished(&self) -> bool {
        !self.finished.is_empty()
    }

    /// Takes those that are done: each with what it held.
    pub(super) fn take_finished(
        &mut self,
        server: &Server,
        jobs: &mut Jobs,
        now: f64,
        outcome: &mut Outcome,
    ) -> u32 {
        let mut count = 0;
        for Finished { slot } in self.finished.drain(..) {
            let Some(job) = jobs.remove(slot) else { continue };
            count += 1;
            self.is_choked = false;
            if let Some(Pool { when_full: WhenFull::Queue, .. }) = server.pool {
                let whole = u64::from(job.request.input) + u64::from(job.request.output);
                self.reserved = self.reserved.saturating_sub(whole);
            }
            let first_s = job.first_s.unwrap_or(now);
            outcome.requests += 1;
            outcome.output_tokens += u64::from(job.request.output);
            outcome.input_tokens += u64::from(job.request.input);
            outcome.e2e_s.push(now - job.arrival_s);
            outcome.ttft_s.push(first_s - job.arrival_s);
            outcome.finished_s.push(now);
            outcome.outputs.push(job.request.output);
            outcome.numbers.push(job.number);
            if job.request.output > 1 {
                outcome.tpot_s.push((now - first_s) / f64::from(job.request.output - 1));
            }
        }
        if self.batch.len() == 0 {
            self.joined.clear();
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use crate::law::AcceptanceLaw;
    use crate::throughput::step::{PrefillLaw, StepLaw};

    use super::super::traffic::Request;
    use super::*;

    /// A rank of a server with a pool of so many tokens, that emits two tokens a step, with requests of 100 and 50 tokens.
    fn full(tokens: u64, requests: u32) -> (Server, Rank, Jobs) {
        let step = StepLaw { a_s: 0.01, ..StepLaw::default() };
        let server = Server {
            pool: Some(Pool { tokens, when_full: WhenFull::Retract }),
            ..Server::new(step, PrefillLaw::default(), 1, AcceptanceLaw::Constant(2))
        };
        let mut rank = Rank::new(0, &server, Steps::new(&server.law, Stream::new(1, 0, 0)));
        let mut jobs = Jobs::default();
        for number in 0..requests {
            let request = Request { arrival_s: 0.0, input: 100, output: 50, cached: None };
            rank.enqueue(
                Arrived { request, arrival_s: 0.0, first_s: None, number: u64::from(number) },
                &mut jobs,
            );
        }
        assert_eq!(
            rank.admit(&server, &mut jobs),
            Taken { requests, tokens: 100 * u64::from(requests), cached: 0 }
        );
        rank.prefilled(&server, &mut jobs, 0.1);
        (server, rank, jobs)
    }

    fn steps(rank: &mut Rank, server: &Server, jobs: &Jobs, count: u32) {
        for step in 1..=count {
            rank.step(server, jobs, f64::from(step), &mut Outcome::default());
        }
    }

    /// One goes back with a token of prefill and ten of five steps: it is computed again with its prompt.
    #[test]
    fn what_was_sent_back_prefills_its_tokens_again() {
        let (server, mut rank, mut jobs) = full(220, 2);
        steps(&mut rank, &server, &jobs, 5);
        assert_eq!(rank.retract(&server, &mut jobs), 1);
        assert_eq!((rank.batch.len(), rank.waiting()), (1, 1));
        // Nobody joins before another one is done.
        assert_eq!(rank.admit(&server, &mut jobs), Taken::default());
        steps(&mut rank, &server, &jobs, 20);
        assert_eq!(rank.take_finished(&server, &mut jobs, 30.0, &mut Outcome::default()), 1);
        assert_eq!(rank.admit(&server, &mut jobs), Taken { requests: 1, tokens: 111, cached: 0 });
    }

    #[test]
    fn a_batch_of_prompts_may_be_full_to_the_token() {
        let (server, mut rank, mut jobs) = full(10_000, 3);
        let server = Server { prefilling: Prefilling::Blocking { batch_tokens: 200 }, ..server };
        for number in 3..6 {
            let request = Request { arrival_s: 0.0, input: 100, output: 50, cached: None };
            rank.enqueue(Arrived { request, arrival_s: 0.0, first_s: None, number }, &mut jobs);
        }
        assert_eq!(rank.admit(&server, &mut jobs), Taken { requests: 2, tokens: 200, cached: 0 });
        assert_eq!(rank.admit(&server, &mut jobs), Taken { requests: 1, tokens: 100, cached: 0 });
    }

    #[test]
    fn nobody_goes_back_while_the_next_step_fits_and_the_last_one_never_does() {
        let (server, mut rank, mut jobs) = full(1000, 2);
        steps(&mut rank, &server, &jobs, 5);
        assert_eq!((rank.retract(&server, &mut jobs), rank.batch.len()), (0, 2));
        let (server, mut rank, mut jobs) = full(110, 1);
        steps(&mut rank, &server, &jobs, 8);
        assert_eq!((rank.retract(&server, &mut jobs), rank.batch.len()), (0, 1));
    }

    /// First tokens at 0.1, the next ones at 1, and those behind them half a second later.
    #[test]
    fn a_gap_is_the_time_since_the_step_before() {
        let (server, mut rank, jobs) = full(10_000, 2);
        let mut outcome = Outcome::default();
        for now in [1.0, 1.5] {
            rank.step(&server, &jobs, now, &mut outcome);
        }
        for (share, expected) in [(0.25, 0.5), (1.0, 0.9)] {
            let found = outcome.gaps.quantile(share).unwrap();
            assert!((found / expected - 1.0).abs() < 0.05, "{share}: {found}");
        }
    }
}
