//! What is asked of a server.

use std::sync::Arc;

use crate::throughput::lengths::{LONGEST, Lengths};

use super::error::SimError;
use super::lock_step::MOST_STEPS;
use super::server::{Server, WhenFull};

/// Most requests of one run.
const MOST_REQUESTS: u64 = 20_000_000;

/// Most requests that clients keep in flight.
const MOST_CLIENTS: u32 = 1 << 20;

/// One request of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Request {
    /// When it arrives, in seconds since the start; ignored in a closed loop.
    pub arrival_s: f64,
    /// Input tokens, at least 1.
    pub input: u32,
    /// Output tokens, at least 1.
    pub output: u32,
    /// Input tokens found in the prefix cache; none: the server's share.
    pub cached: Option<u32>,
}

/// Requests, and when they come.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// When they come.
    pub arrivals: Arrivals,
    /// How long they are.
    pub requests: Requests,
    /// Seconds in which requests are sent; what runs then is finished (drain), as benchmark clients do. May be infinite for a
    /// trace.
    pub duration_s: f64,
    /// Seconds at the start that the steady figures leave out.
    pub warmup_s: f64,
}

/// When requests come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrivals {
    /// So many clients, each of which sends its next request when the last one is done.
    Closed {
        /// Clients.
        concurrency: u32,
    },
    /// A Poisson process of so many requests a second.
    Poisson {
        /// Mean requests a second.
        rate: f64,
    },
    /// As the trace says.
    Trace,
}

/// How long requests are.
#[derive(Clone, Debug, PartialEq)]
pub enum Requests {
    /// Drawn, each length by itself.
    Drawn {
        /// Input tokens.
        input: Lengths,
        /// Output tokens.
        output: Lengths,
    },
    /// One after the other from a trace. The run ends with it; but clients that send for a given time begin it anew.
    Listed(Arc<[Request]>),
}

impl Requests {
    /// Mean input and output tokens.
    #[must_use]
    pub fn means(&self) -> (f64, f64) {
        match self {
            Self::Drawn { input, output } => (input.mean(), output.mean()),
            Self::Listed(list) => {
                let count = crate::law::float(u64::try_from(list.len()).unwrap_or(1).max(1));
                let sum = |tokens: fn(&Request) -> u32| {
                    list.iter().map(|request| f64::from(tokens(request))).sum::<f64>()
                };
                (sum(|request| request.input) / count, sum(|request| request.output) / count)
            }
        }
    }
}

impl Requests {
    /// Mean context of a running request, over time: longer outputs run longer.
    #[must_use]
    pub fn mean_context(&self) -> f64 {
        match self {
            Self::Drawn { input, output } => crate::throughput::lengths::context_of(*input, *output),
            Self::Listed(list) => {
                let of = |request: &Request| (f64::from(request.input), f64::from(request.output));
                let (tokens, time) =
                    list.iter().map(of).fold((0.0, 0.0), |(tokens, time), (input, output)| {
                        (tokens + output * (input + output / 2.0), time + output)
                    });
                if time > 0.0 { tokens / time } else { 0.0 }
            }
        }
    }
}

impl Traffic {
    /// A closed loop of drawn requests; the first fifth of the duration is warm-up.
    #[must_use]
    pub fn closed(concurrency: u32, input: Lengths, output: Lengths, duration_s: f64) -> Self {
        Self {
            arrivals: Arrivals::Closed { concurrency },
            requests: Requests::Drawn { input, output },
            duration_s,
            warmup_s: duration_s / 5.0,
        }
    }

    /// Checks everything that a run relies on.
    pub(super) fn check(&self, server: &Server) -> Result<(), SimError> {
        let number = SimError::number;
        let listed = matches!(self.requests, Requests::Listed(_));
        let is_time = |value: f64| value > 0.0 && (value.is_finite() || listed);
        if !is_time(self.duration_s) {
            return Err(number("the duration", self.duration_s, "seconds above 0"));
        }
        if !(self.warmup_s >= 0.0 && (self.warmup_s < self.duration_s)) {
            return Err(number("the warm-up", self.warmup_s, "seconds from 0 to less than the duration"));
        }
        self.check_work(server)?;
        match self.arrivals {
            Arrivals::Closed { concurrency } if concurrency == 0 || concurrency > MOST_CLIENTS => {
                return Err(number("the concurrency", f64::from(concurrency), "from 1 to 1048576"));
            }
            Arrivals::Poisson { rate } if !(rate > 0.0 && rate.is_finite()) => {
                return Err(number("the arrival rate", rate, "requests a second above 0"));
            }
            Arrivals::Poisson { rate } if rate * self.duration_s > crate::law::float(MOST_REQUESTS) => {
                return Err(too_many());
            }
            Arrivals::Trace if !listed => return Err(SimError::NoRequests),
            _ => {}
        }
        match &self.requests {
            Requests::Drawn { input, output } => fits(server, input.high(), output.high()),
            Requests::Listed(list) => {
                if list.is_empty() {
                    return Err(SimError::NoRequests);
                }
                if u64::try_from(list.len()).unwrap_or(u64::MAX) > MOST_REQUESTS {
                    return Err(too_many());
                }
                list.iter().try_for_each(|request| {
                    let span = 1..=LONGEST;
                    for (what, tokens) in [("an input", request.input), ("an output", request.output)] {
                        if !span.contains(&tokens) {
                            return Err(number(what, f64::from(tokens), "from 1 to 16777216 tokens"));
                        }
                    }
                    if !(request.arrival_s >= 0.0 && request.arrival_s.is_finite()) {
                        return Err(number("an arrival", request.arrival_s, "finite seconds from 0 on"));
                    }
                    fits(server, request.input, request.output)
                })
            }
        }
    }
}

impl Traffic {
    /// Refuses clients that would keep a server busy for more steps than a run has, before the first of them.
    fn check_work(&self, server: &Server) -> Result<(), SimError> {
        let Arrivals::Closed { concurrency } = self.arrivals else { return Ok(()) };
        if !self.duration_s.is_finite() {
            return Ok(());
        }
        let running = concurrency.div_ceil(server.ranks.max(1)).clamp(1, server.most_running.max(1));
        let (input, output) = self.requests.means();
        let step_s = server.step.fixed_s(running, server.drafts, server.verified);
        let prefill_s = if server.prefilling.is_colocated() {
            server.prefill.seconds(input * (1.0 - server.cached))
        } else {
            0.0
        };
        // As many steps as a request takes at most for each prefill: prefill may be most of the time.
        let per_step_s = step_s + prefill_s * f64::from(running) / output.max(1.0);
        if self.duration_s / per_step_s > crate::law::float(MOST_STEPS) {
            return Err(SimError::TooLong { what: "steps", limit: MOST_STEPS });
        }
        Ok(())
    }
}

pub(super) fn too_many() -> SimError {
    SimError::TooLong { what: "requests", limit: MOST_REQUESTS }
}

/// Whether a request fits into an empty pool.
fn fits(server: &Server, input: u32, output: u32) -> Result<(), SimError> {
    let Some(pool) = server.pool else { return Ok(()) };
    let whole = u64::from(input) + u64::from(output);
    let needed = match pool.when_full {
        WhenFull::Queue => whole,
        WhenFull::Retract => whole + u64::from(server.longest_draw()),
    };
    if pool.tokens < needed {
        return Err(SimError::NeverFits { input, output, pool: pool.tokens, needed });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::AcceptanceLaw;
    use crate::throughput::step::{PrefillLaw, StepLaw};

    /// 300 steps at 350 tokens on average, and 100 at 250.
    #[test]
    fn longer_outputs_count_for_longer() {
        let request = |input: u32, output: u32| Request { arrival_s: 0.0, input, output, cached: None };
        let listed = Requests::Listed(vec![request(200, 300), request(200, 100)].into());
        assert!((listed.mean_context() - 325.0).abs() < 1e-12);
        assert!(Requests::Listed(Vec::new().into()).mean_context().abs() < 1e-12);
    }

    /// Four requests of 10 tokens: a step takes 1 ms, and with each go four tenths of a prefill of 1 ms.
    #[test]
    fn clients_that_keep_a_server_busy_for_too_many_steps_are_refused() {
        let step = StepLaw { a_s: 1e-3, ..StepLaw::default() };
        let prefill = PrefillLaw { p0_s: 1e-3, p1_s: 0.0 };
        let server = Server::new(step, prefill, 0, AcceptanceLaw::Constant(1));
        let check = |share: f64| {
            let duration_s = crate::law::float(MOST_STEPS) * 1.4e-3 * share;
            Traffic::closed(4, Lengths::fixed(100), Lengths::fixed(10), duration_s).check_work(&server)
        };
        assert_eq!(check(0.99), Ok(()));
        assert_eq!(check(1.01), Err(SimError::TooLong { what: "steps", limit: MOST_STEPS }));
    }
}
