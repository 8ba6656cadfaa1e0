//! The requests of one rank's batch, and how verify steps bring them to their end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::law::Draws;
use crate::simulate::log::draws::DrawStream;

/// The running requests.
#[derive(Debug)]
pub(super) enum Batch {
    /// Every step brings every request the same number of tokens.
    Shared(Lockstep),
    /// Every request has its own draws.
    PerRequest(Vec<Request>),
}

/// Requests that gain the same in every step: what they wait for is one sum.
#[derive(Debug, Default)]
pub(super) struct Lockstep {
    /// Tokens that a request would have gained since the start.
    gained: u64,
    /// The sum at which a request is done, with what it held when the sum was 0 (modulo 2^64).
    requests: BinaryHeap<Reverse<(u64, u64)>>,
    /// Of all requests together.
    held: u64,
}

/// One request with draws of its own.
#[derive(Debug)]
pub(super) struct Request {
    /// Tokens still to come.
    wants: u64,
    /// Tokens in the pool.
    holds: u64,
}

impl Batch {
    pub(super) fn new(draws: Draws) -> Self {
        match draws {
            Draws::Shared => Self::Shared(Lockstep::default()),
            Draws::PerRequest => Self::PerRequest(Vec::new()),
        }
    }

    /// Requests in the batch.
    #[inline]
    pub(super) fn len(&self) -> u64 {
        let len = match self {
            Self::Shared(lockstep) => lockstep.requests.len(),
            Self::PerRequest(requests) => requests.len(),
        };
        u64::try_from(len).unwrap_or(u64::MAX)
    }

    /// Tokens in the pool.
    #[inline]
    pub(super) fn tokens(&self) -> u64 {
        match self {
            Self::Shared(lockstep) => lockstep.held.wrapping_add(lockstep.gained.wrapping_mul(self.len())),
            Self::PerRequest(requests) => {
                requests.iter().map(|request| request.holds).fold(0, u64::saturating_add)
            }
        }
    }

    /// A request joins. The prefill has given it its first token.
    pub(super) fn join(&mut self, input: u64, output: u64) {
        let (wants, holds) = (output.saturating_sub(1).max(1), input + 1);
        match self {
            Self::Shared(lockstep) => {
                let held = holds.wrapping_sub(lockstep.gained);
                lockstep.held = lockstep.held.wrapping_add(held);
                lockstep.requests.push(Reverse((lockstep.gained.saturating_add(wants), held)));
            }
            Self::PerRequest(requests) => requests.push(Request { wants, holds }),
        }
    }

    /// Steps, at most `most`, within which no request can be done before the last of them, if no step gives more than
    /// `longest` tokens; at least 1.
    #[inline]
    pub(super) fn calm_steps(&self, longest: u64, most: u64) -> u64 {
        let wants = match self {
            Self::Shared(lockstep) => {
                lockstep.requests.peek().map(|next| next.0.0.saturating_sub(lockstep.gained))
            }
            Self::PerRequest(requests) => requests.iter().map(|request| request.wants).min(),
        };
        match wants {
            Some(wants) if wants <= most.saturating_mul(longest) => {
                (wants.saturating_sub(1) / longest.max(1)).max(1)
            }
            _ => most,
        }
    }

    /// Takes steps, no more than [`Batch::calm_steps`]; returns the tokens accepted over all requests.
    #[inline]
    pub(super) fn step(&mut self, steps: u64, stream: &mut impl DrawStream) -> u64 {
        let sum = if let Self::Shared(_) = self { stream.sum(steps) } else { 0 };
        self.advance(steps, sum, stream)
    }

    /// [`Batch::step`] where nobody else takes the draws, and the steps are a whole window: it may be drawn as one.
    #[inline]
    pub(super) fn whole_window(&mut self, steps: u64, stream: &mut impl DrawStream) -> u64 {
        let sum = if let Self::Shared(_) = self { stream.window(steps) } else { 0 };
        self.advance(steps, sum, stream)
    }

    /// Adds `sum` to what every request has, or what each of them draws for itself.
    #[inline]
    fn advance(&mut self, steps: u64, sum: u64, stream: &mut impl DrawStream) -> u64 {
        match self {
            Self::Shared(lockstep) => {
                lockstep.gained = lockstep.gained.saturating_add(sum);
                sum.saturating_mul(u64::try_from(lockstep.requests.len()).unwrap_or(0))
            }
            Self::PerRequest(requests) => requests
                .iter_mut()
                .map(|request| {
                    let sum = stream.sum(steps);
                    request.wants = request.wants.saturating_sub(sum);
                    request.holds = request.holds.saturating_add(sum);
                    sum
                })
                .fold(0, u64::saturating_add),
        }
    }

    /// Takes out the requests that are done; returns how many.
    #[inline]
    pub(super) fn leave(&mut self) -> u64 {
        match self {
            Self::Shared(lockstep) if lockstep.next() > lockstep.gained => 0,
            Self::Shared(lockstep) => lockstep.leave(),
            Self::PerRequest(requests) => {
                let before = requests.len();
                requests.retain(|request| request.wants > 0);
                u64::try_from(before - requests.len()).unwrap_or(0)
            }
        }
    }
}

impl Lockstep {
    /// The sum at which the next request is done.
    #[inline]
    fn next(&self) -> u64 {
        self.requests.peek().map_or(u64::MAX, |next| next.0.0)
    }

    fn leave(&mut self) -> u64 {
        let mut done = 0;
        while let Some(Reverse((at, held))) = self.requests.peek().copied() {
            if at > self.gained {
                break;
            }
            self.requests.pop();
            self.held = self.held.wrapping_sub(held);
            done += 1;
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Cycle(u32);

    impl DrawStream for Cycle {
        fn draw(&mut self) -> u32 {
            self.0 = self.0 % 4 + 1;
            self.0
        }
    }

    /// Both kinds against counting by hand, one step at a time.
    #[test]
    fn requests_leave_when_they_are_done() {
        for draws in [Draws::Shared, Draws::PerRequest] {
            let mut batch = Batch::new(draws);
            let mut stream = Cycle(0);
            batch.join(100, 12);
            assert_eq!((batch.len(), batch.tokens()), (1, 101));
            // 11 tokens are wanted: 1 + 2 + 3 + 4, then one more step.
            assert_eq!(batch.calm_steps(4, 9), 2);
            assert_eq!(batch.step(2, &mut stream), 3);
            assert_eq!(batch.step(2, &mut stream), 7);
            assert_eq!((batch.leave(), batch.tokens()), (0, 111));
            batch.join(7, 1);
            assert_eq!((batch.len(), batch.tokens()), (2, 119));
            let gained = batch.step(1, &mut stream);
            assert_eq!(gained, if draws == Draws::Shared { 2 } else { 3 });
            assert_eq!((batch.leave(), batch.len(), batch.tokens()), (2, 0, 0));
            assert_eq!(batch.calm_steps(4, 9), 9);
        }
    }

    #[test]
    fn late_joiners_wait_their_own_time() {
        let mut batch = Batch::new(Draws::Shared);
        let mut stream = Cycle(0);
        batch.join(10, 100);
        batch.step(4, &mut stream);
        batch.join(20, 11);
        assert_eq!(batch.tokens(), 21 + 21);
        assert_eq!(batch.calm_steps(4, 9), 2);
        batch.step(4, &mut stream);
        assert_eq!((batch.leave(), batch.tokens()), (1, 31));
    }
}
