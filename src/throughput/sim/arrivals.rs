//! Where requests come from while a simulation runs.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rand::Rng as _;
use rustc_hash::FxHashMap;

use crate::law::Stream;
use crate::throughput::lengths::Lengths;

use super::error::SimError;
use super::server::{Prefilling, Server};
use super::traffic::{Arrivals, Request, Requests, Traffic, too_many};

/// Streams of one replicate beside those of the ranks' draws.
const LENGTHS: u32 = 1 << 16;
const TIMES: u32 = (1 << 16) + 1;

/// Most requests that are drawn in one run.
const MOST: u64 = 20_000_000;

/// A moment, ordered.
#[derive(Clone, Copy, Debug, PartialEq)]
struct At(f64);

impl Eq for At {}

impl PartialOrd for At {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for At {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// A request, and how many were sent before it.
type Numbered = (u64, Request);

/// A request on its way into the decoding server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Arrived {
    pub(super) request: Request,
    pub(super) arrival_s: f64,
    /// When its first token came from a prefill server.
    pub(super) first_s: Option<f64>,
    /// How many were sent before it.
    pub(super) number: u64,
}

/// The requests of one run, in the order of their coming.
#[derive(Debug)]
pub(super) struct Source<'a> {
    traffic: &'a Traffic,
    lengths: Stream,
    times: Stream,
    sent: u64,
    /// Clients that send for a given time begin the list anew when it ends.
    repeats: bool,
    /// Next arrival of an open loop.
    next: Option<(f64, Numbered)>,
    /// Sent by a client and not yet taken.
    waiting: VecDeque<(f64, Numbered)>,
    elsewhere: Option<Elsewhere>,
}

/// Prefill servers: when each is free, and what they are done with.
#[derive(Debug)]
struct Elsewhere {
    server: PrefillCost,
    free: BinaryHeap<Reverse<At>>,
    ready: BinaryHeap<Reverse<(At, u64)>>,
    prefilled: FxHashMap<u64, Arrived>,
}

#[derive(Clone, Copy, Debug)]
struct PrefillCost {
    law: crate::throughput::step::PrefillLaw,
    cached: f64,
}

/// Prompt tokens that must be computed.
pub(super) fn uncached(request: &Request, share: f64) -> u32 {
    let cached = request.cached.unwrap_or_else(|| crate::law::whole32(f64::from(request.input) * share));
    // The last token is always computed: its output is the first token.
    request.input.saturating_sub(cached).max(1)
}

impl<'a> Source<'a> {
    pub(super) fn new(
        traffic: &'a Traffic,
        server: &Server,
        seed: u64,
        replicate: u32,
    ) -> Result<Self, SimError> {
        let elsewhere = match server.prefilling {
            Prefilling::Elsewhere { workers } => Some(Elsewhere {
                server: PrefillCost { law: server.prefill, cached: server.cached },
                free: (0..workers).map(|_| Reverse(At(0.0))).collect(),
                ready: BinaryHeap::new(),
                prefilled: FxHashMap::default(),
            }),
            _ => None,
        };
        let mut source = Self {
            traffic,
            lengths: Stream::new(seed, replicate, LENGTHS),
            times: Stream::new(seed, replicate, TIMES),
            sent: 0,
            repeats: matches!(traffic.arrivals, Arrivals::Closed { .. }) && traffic.duration_s.is_finite(),
            next: None,
            waiting: VecDeque::new(),
            elsewhere,
        };
        match traffic.arrivals {
            Arrivals::Closed { concurrency } => {
                for _ in 0..concurrency {
                    source.send(0.0)?;
                }
            }
            Arrivals::Poisson { .. } | Arrivals::Trace => source.schedule(0.0)?,
        }
        Ok(source)
    }

    /// The next request's lengths; none when the trace is over.
    fn draw(&mut self) -> Result<Option<Numbered>, SimError> {
        let number = self.sent;
        let request = match &self.traffic.requests {
            Requests::Drawn { input, output } => Some(Request {
                arrival_s: 0.0,
                input: between(&mut self.lengths, *input),
                output: between(&mut self.lengths, *output),
                cached: None,
            }),
            Requests::Listed(list) => {
                let at = usize::try_from(self.sent).unwrap_or(usize::MAX);
                let again = self.repeats.then(|| at.checked_rem(list.len())).flatten();
                list.get(again.unwrap_or(at)).copied()
            }
        };
        self.sent += 1;
        if self.sent > MOST { Err(too_many()) } else { Ok(request.map(|request| (number, request))) }
    }

    /// A client sends its next request.
    fn send(&mut self, now: f64) -> Result<(), SimError> {
        if now < self.traffic.duration_s
            && let Some(request) = self.draw()?
        {
            self.arrive(now, request);
        }
        Ok(())
    }

    /// Sets the next arrival of an open loop.
    fn schedule(&mut self, last: f64) -> Result<(), SimError> {
        let time = match self.traffic.arrivals {
            Arrivals::Poisson { rate } => last + exponential(&mut self.times) / rate,
            _ => last,
        };
        self.next = self.draw()?.map(|request| match self.traffic.arrivals {
            Arrivals::Trace => (request.1.arrival_s.max(last), request),
            _ => (time, request),
        });
        self.next = self.next.filter(|(time, _)| *time < self.traffic.duration_s);
        Ok(())
    }

    fn arrive(&mut self, now: f64, request: Numbered) {
        match &mut self.elsewhere {
            None => self.waiting.push_back((now, request)),
            Some(elsewhere) => elsewhere.take(now, request),
        }
    }

    /// A request is done: in a closed loop its client sends the next one.
    pub(super) fn finished(&mut self, now: f64) -> Result<(), SimError> {
        match self.traffic.arrivals {
            Arrivals::Closed { .. } => self.send(now),
            _ => Ok(()),
        }
    }

    /// When the next request comes to the decoding server; infinite when none is on its way.
    pub(super) fn next_s(&self) -> f64 {
        let next = self.next.map_or(f64::INFINITY, |(time, _)| time);
        let waiting = self.waiting.front().map_or(f64::INFINITY, |(time, _)| *time);
        let ready = self.elsewhere.as_ref().and_then(|elsewhere| elsewhere.ready.peek());
        next.min(waiting).min(ready.map_or(f64::INFINITY, |Reverse((at, _))| at.0))
    }

    /// The next request that has come by `now`.
    pub(super) fn take(&mut self, now: f64) -> Result<Option<Arrived>, SimError> {
        while let Some((time, request)) = self.next.filter(|(time, _)| *time <= now) {
            self.arrive(time, request);
            self.schedule(time)?;
        }
        if let Some(elsewhere) = &mut self.elsewhere {
            return Ok(elsewhere.give(now));
        }
        if self.waiting.front().is_none_or(|(time, _)| *time > now) {
            return Ok(None);
        }
        Ok(self.waiting.pop_front().map(|(arrival_s, (number, request))| Arrived {
            request,
            arrival_s,
            first_s: None,
            number,
        }))
    }
}

impl Elsewhere {
    fn take(&mut self, now: f64, (number, request): Numbered) {
        let free = self.free.pop().map_or(0.0, |Reverse(At(time))| time);
        let tokens = uncached(&request, self.server.cached);
        let done = free.max(now) + self.server.law.seconds(f64::from(tokens));
        self.free.push(Reverse(At(done)));
        self.prefilled.insert(number, Arrived { request, arrival_s: now, first_s: Some(done), number });
        self.ready.push(Reverse((At(done), number)));
    }

    fn give(&mut self, now: f64) -> Option<Arrived> {
        let Reverse((at, number)) = *self.ready.peek()?;
        if at.0 > now {
            return None;
        }
        self.ready.pop();
        self.prefilled.remove(&number)
    }
}

/// A whole number of a range; the high half of a product is uniform to 2^-32 of the span.
fn between(random: &mut Stream, lengths: Lengths) -> u32 {
    let span = u64::from(lengths.high() - lengths.low()) + 1;
    let above = (u64::from(random.next_u32()) * span) >> 32;
    lengths.low() + u32::try_from(above).unwrap_or(0)
}

/// An exponential variate of mean 1, in plain arithmetic: the same on every machine.
fn exponential(random: &mut Stream) -> f64 {
    let uniform = (crate::law::float(random.next_u64() >> 11) + 1.0) * 2_f64.powi(-53);
    -libm::log(uniform)
}
