//! One data-parallel rank: a closed loop of clients, a batch, a clock, and the windows that become decode lines.
//!
//! The load is a model, light and exact in what counts: every window's A and C are sums over its steps. Times follow
//! from a step time that grows with the batch; they are plausible, no prediction.

use crate::engine::sglang::facts::AcceptRate;
use crate::law::Draws;
use crate::simulate::log::draws::{DrawStream, Mixer};
use crate::simulate::log::load::step_us;
use crate::simulate::log::text::quotient;

use super::batch::Batch;
use super::line::{Access, Decode, Kind, Line, Path, Prefill};
use super::plan::Role;
use super::run::{Pause, Run, Speculation};

/// Microseconds of a prefill: of any, and more with each token.
const PREFILL_US: u64 = 12_000;
const PREFILL_PER_TOKEN_US: u64 = 20;

/// Tokens after which a prefill takes no more requests (`chunked_prefill_size`).
const CHUNK_TOKENS: u64 = 8192;

/// No admission is due.
const NEVER: u64 = u64::MAX;

/// What every rank of a server has in common.
#[derive(Clone, Debug)]
pub(super) struct Common {
    pub(super) server: u32,
    pub(super) run: Run,
    pub(super) role: Role,
    pub(super) rate: Rate,
    pub(super) draws: Draws,
    /// The longest draw.
    pub(super) longest: u64,
    /// Whether no rank takes the draws of another.
    pub(super) draws_alone: bool,
    /// Whether a last step counts with what is left of it once the request is cut to its length.
    pub(super) counts_after_cut: bool,
    /// Whether finished requests leave an access-log line.
    pub(super) access_log: bool,
}

/// The steps of a server: drafted and verified, or one token each.
#[derive(Debug)]
pub(super) enum Steps<S> {
    One,
    Drawn(S),
}

impl<S: DrawStream> DrawStream for Steps<S> {
    fn draw(&mut self) -> u32 {
        match self {
            Self::One => 1,
            Self::Drawn(stream) => stream.draw(),
        }
    }

    #[inline]
    fn sum(&mut self, count: u64) -> u64 {
        match self {
            Self::One => count,
            Self::Drawn(stream) => stream.sum(count),
        }
    }

    #[inline]
    fn window(&mut self, count: u64) -> u64 {
        match self {
            Self::One => count,
            Self::Drawn(stream) => stream.window(count),
        }
    }
}

/// One rank at work.
#[derive(Debug)]
pub(super) struct Rank<S> {
    number: u32,
    steps: Steps<S>,
    chance: Mixer,
    batch: Batch,
    /// Microseconds since the log began.
    now: u64,
    last_line: u64,
    /// Decode steps and forward passes since the start.
    step: u64,
    forwards: u64,
    /// The window at hand.
    phase: u64,
    accepted: u64,
    request_steps: u64,
    /// The step before which waiting requests join.
    admit_at: u64,
    printed: u64,
    /// Hundredths of the last line.
    accept_len: u64,
    pauses_done: usize,
    closing: Closing,
}

/// Whether the clients stop sending before the run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closing {
    NotYet,
    Now,
    Done,
}

impl<S: DrawStream> Rank<S> {
    pub(super) fn new(number: u32, common: &Common, steps: Steps<S>, chance: Mixer, now: u64) -> Self {
        Self {
            number,
            steps,
            chance,
            batch: Batch::new(common.draws),
            now,
            last_line: now,
            step: 0,
            forwards: 0,
            phase: 0,
            accepted: 0,
            request_steps: 0,
            admit_at: 0,
            printed: 0,
            accept_len: 100,
            pauses_done: 0,
            closing: Closing::NotYet,
        }
    }

    /// Microseconds since the log began.
    pub(super) fn now(&self) -> u64 {
        self.now
    }

    /// Whether the run has all its decode lines.
    pub(super) fn is_done(&self, common: &Common) -> bool {
        self.printed >= common.run.lines
    }

    /// Runs until the next decode line and appends what was logged up to it.
    pub(super) fn window(&mut self, common: &Common, printed: &mut Printed, out: &mut Vec<Line>) {
        let interval = u64::from(common.run.decode_log_interval);
        let allowed = self.begin_window(common);
        let pace = self.chance.between(970, 1030);
        loop {
            if self.batch.len() == 0 {
                self.wait(common, out);
            } else if self.step >= self.admit_at {
                self.admit(common, allowed, out);
            }
            let running = self.batch.len();
            let most = (interval - self.phase).min((self.admit_at - self.step).max(1));
            let steps = self.batch.calm_steps(common.longest, most);
            let accepted = if steps == interval && common.draws_alone {
                self.batch.whole_window(steps, &mut self.steps)
            } else {
                self.batch.step(steps, &mut self.steps)
            };
            self.accepted = self.accepted.saturating_add(accepted);
            self.request_steps += steps * running;
            self.phase += steps;
            self.step += steps;
            self.forwards += steps;
            self.pass(steps * step_us(running) * pace / 1000);
            let is_full = self.phase == interval;
            let tokens = if is_full { self.batch.tokens() } else { 0 };
            let left = self.batch.leave();
            if common.counts_after_cut {
                self.accepted = self.accepted.saturating_sub(left.cut);
            }
            if is_full {
                let (accepted, request_steps) = (self.accepted, self.request_steps);
                let values = printed.of(common.rate, accepted, request_steps);
                self.print(common, values, (running, tokens, allowed), out);
            }
            if left.requests > 0 {
                self.finish(common, left.requests, out);
            }
            if is_full {
                return;
            }
        }
    }

    /// How many requests may run in the window that begins.
    fn begin_window(&mut self, common: &Common) -> u64 {
        if self.closing == Closing::NotYet && self.should_close(&common.run) {
            self.closing = Closing::Now;
        }
        let allowed = self.allowed(common);
        if self.admit_at == NEVER && self.batch.len() < allowed {
            self.admit_at = self.step;
        }
        allowed
    }

    fn allowed(&self, common: &Common) -> u64 {
        let is_pausing = self.pause(&common.run).is_some_and(|pause| self.printed >= pause.after_lines);
        if is_pausing || self.closing == Closing::Now {
            return 0;
        }
        let load = &common.run.load;
        load.clients(self.printed).min(load.max_running.map_or(u64::MAX, u64::from))
    }

    fn pause<'a>(&self, run: &'a Run) -> Option<&'a Pause> {
        run.pauses.get(self.pauses_done)
    }

    /// The clients stop when the requests at hand last about as long as the lines that are left.
    fn should_close(&self, run: &Run) -> bool {
        // A step gives at least one token; most lines are further from the end than any request.
        let longest = u64::from(*run.load.output.end());
        let left = run.lines.saturating_sub(self.printed);
        if left.saturating_mul(u64::from(run.decode_log_interval)) > longest {
            return false;
        }
        let gained = self.accept_len.max(100) * u64::from(run.decode_log_interval);
        let lines = longest * 100 / gained;
        self.printed > 2 * lines && left <= lines
    }

    /// Nobody runs: the time until a request comes.
    fn wait(&mut self, common: &Common, out: &mut Vec<Line>) {
        let pause = self.pause(&common.run).copied().filter(|pause| self.printed >= pause.after_lines);
        if let Some(pause) = pause {
            self.pass(u64::from(pause.seconds) * 1_000_000);
            self.pauses_done += 1;
            if pause.flush_cache {
                self.flush(common, out);
            }
        } else if self.closing == Closing::Now {
            self.closing = Closing::Done;
        } else {
            let think = self.chance.between(1_000, 4_000);
            self.pass(think);
        }
        let allowed = self.allowed(common).max(1);
        self.admit(common, allowed, out);
    }

    /// The counters and the phase start anew; the window at hand is never printed.
    fn flush(&mut self, common: &Common, out: &mut Vec<Line>) {
        self.phase = 0;
        self.accepted = 0;
        self.request_steps = 0;
        self.push(common, Kind::Flushed, out);
        if self.number == 0 {
            let port = self.port();
            self.push(common, Kind::Access(Access { path: Path::FlushCache, port }), out);
        }
    }

    /// Waiting requests join, as many at a time as one prefill takes.
    fn admit(&mut self, common: &Common, allowed: u64, out: &mut Vec<Line>) {
        self.admit_at = NEVER;
        let mut left = allowed.saturating_sub(self.batch.len());
        let load = &common.run.load;
        while left > 0 {
            let (running, tokens) = (self.batch.len(), self.batch.tokens());
            let (mut joined, mut new_tokens) = (0, 0);
            while left > 0 && (joined == 0 || new_tokens < CHUNK_TOKENS) {
                let input = self.chance.between(u64::from(*load.input.start()), u64::from(*load.input.end()));
                let output =
                    self.chance.between(u64::from(*load.output.start()), u64::from(*load.output.end()));
                self.batch.join(input, output);
                new_tokens += input;
                joined += 1;
                left -= 1;
            }
            if common.role == Role::Decode {
                continue;
            }
            let takes = PREFILL_US + PREFILL_PER_TOKEN_US * new_tokens;
            let mean_input = new_tokens / joined;
            let prefill = Prefill {
                new_seq: joined,
                new_tokens,
                tokens,
                running,
                queue: left,
                pending: left * mean_input,
                takes,
            };
            self.push(common, Kind::Prefill(prefill), out);
            self.forwards += 1;
            self.pass(takes);
        }
    }

    /// Requests are done; their clients send the next ones.
    fn finish(&mut self, common: &Common, done: u64, out: &mut Vec<Line>) {
        if common.access_log {
            for _ in 0..done {
                let port = self.port();
                self.push(common, Kind::Access(Access { path: Path::Generate, port }), out);
            }
        }
        if self.admit_at == NEVER && self.allowed(common) > 0 {
            self.admit_at = self.step + self.chance.between(0, 2);
        }
    }

    /// The line of a full window, finished requests included in its `running` and `tokens`.
    fn print(
        &mut self,
        common: &Common,
        values: Values,
        (running, tokens, allowed): (u64, u64, u64),
        out: &mut Vec<Line>,
    ) {
        let Values { accepted, request_steps, accept_len, accept_rate } = values;
        let clients = if allowed == 0 { 0 } else { common.run.load.clients(self.printed) };
        let decode = Decode {
            running,
            queue: clients.saturating_sub(allowed.max(running)),
            arriving: if common.role == Role::Decode { allowed.saturating_sub(running) } else { 0 },
            tokens,
            accepted,
            request_steps,
            accept_len,
            accept_rate,
            elapsed: self.now - self.last_line,
            forwards: self.forwards,
            is_first: self.printed == 0,
        };
        self.push(common, Kind::Decode(decode), out);
        self.last_line = self.now;
        self.accept_len = decode.accept_len;
        self.printed += 1;
        self.phase = 0;
        self.accepted = 0;
        self.request_steps = 0;
    }

    /// Time goes on.
    fn pass(&mut self, micros: u64) {
        self.now = self.now.saturating_add(micros);
    }

    fn push(&self, common: &Common, kind: Kind, out: &mut Vec<Line>) {
        out.push(Line { at: self.now, rank: self.number, server: common.server, kind });
    }

    /// Connections of a client's pool.
    fn port(&mut self) -> u64 {
        self.chance.between(32_768, 60_999)
    }
}

/// Windows of which the values were worked out: a power of two.
const REMEMBERED: usize = 256;

/// What a window's line prints.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Values {
    accepted: u64,
    request_steps: u64,
    /// Hundredths.
    accept_len: u64,
    accept_rate: u64,
}

/// The values of windows that came up before: a steady batch has a few dozen, again and again, and exact quotients are
/// dear.
#[derive(Debug)]
pub(super) struct Printed(Box<[Values; REMEMBERED]>);

impl Default for Printed {
    /// Nothing accepted in no steps prints zeros.
    fn default() -> Self {
        Self(Box::new([Values::default(); REMEMBERED]))
    }
}

impl Printed {
    /// The values of a window, always of the same server.
    #[inline]
    fn of(&mut self, rate: Rate, accepted: u64, request_steps: u64) -> Values {
        // The highest bits of a product by an odd constant tell neighbours apart.
        let place = (accepted ^ request_steps << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
        let worked_out = || Values {
            accepted,
            request_steps,
            accept_len: quotient(accepted, request_steps),
            accept_rate: rate.of(accepted, request_steps),
        };
        let Some(known) = usize::try_from(place).ok().and_then(|place| self.0.get_mut(place)) else {
            return worked_out();
        };
        if known.accepted != accepted || known.request_steps != request_steps {
            *known = worked_out();
        }
        *known
    }
}

/// The accept rate as a release defines it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    /// Whether the token of the target model counts.
    counts_target: bool,
    /// What a request-step counts for; 0 where no rate is printed.
    scale: u64,
}

impl Rate {
    pub(super) fn new(definition: AcceptRate, drafter: Option<Speculation>) -> Self {
        let Some(drafter) = drafter else { return Self { counts_target: true, scale: 0 } };
        let draft_tokens = u64::from(drafter.num_draft_tokens);
        let (counts_target, scale) = match definition {
            AcceptRate::NotPrinted => (true, 0),
            AcceptRate::OverNumStepsPlusOne => (true, u64::from(drafter.num_steps) + 1),
            AcceptRate::OverDraftTokens => (true, draft_tokens),
            AcceptRate::DraftsOverDrafts => (false, draft_tokens - 1),
        };
        Self { counts_target, scale }
    }

    /// In hundredths, from the whole counts.
    #[inline]
    fn of(self, accepted: u64, request_steps: u64) -> u64 {
        let counted = if self.counts_target { accepted } else { accepted.saturating_sub(request_steps) };
        quotient(counted, request_steps * self.scale)
    }
}
