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
    /// Tokens that it asked for, and those that it has.
    wants: u64,
    gained: u64,
    /// Tokens in the pool before the first step.
    held: u64,
}

impl Request {
    /// Tokens in the pool.
    fn holds(&self) -> u64 {
        self.held.saturating_add(self.gained)
    }
}

/// Requests that left a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Left {
    pub(super) requests: u64,
    /// Tokens beyond those that they asked for: their last step is cut.
    pub(super) cut: u64,
}

impl Left {
    fn add(&mut self, cut: u64) {
        self.requests += 1;
        self.cut = self.cut.saturating_add(cut);
    }
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
            Self::PerRequest(requests) => requests.iter().map(Request::holds).fold(0, u64::saturating_add),
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
            Self::PerRequest(requests) => requests.push(Request { wants, gained: 0, held: holds }),
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
            Self::PerRequest(requests) => {
                requests.iter().map(|request| request.wants.saturating_sub(request.gained)).min()
            }
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
                    request.gained = request.gained.saturating_add(sum);
                    sum
                })
                .fold(0, u64::saturating_add),
        }
    }

    /// Takes out the requests that are done.
    #[inline]
    pub(super) fn leave(&mut self) -> Left {
        match self {
            Self::Shared(lockstep) if lockstep.next() > lockstep.gained => Left::default(),
            Self::Shared(lockstep) => lockstep.leave(),
            Self::PerRequest(requests) => {
                let mut left = Left::default();
                requests.retain(|request| {
                    let is_done = request.gained >= request.wants;
                    if is_done {
                        left.add(request.gained - request.wants);
                    }
                    !is_done
                });
                left
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

    fn leave(&mut self) -> Left {
        let mut left = Left::default();
        while let Some(Reverse((at, held))) = self.requests.peek().copied() {
            if at > self.gained {
                break;
            }
            self.requests.pop();
            self.held = self.held.wrapping_sub(held);
            left.add(self.gained - at);
        }
        left
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
            assert_eq!((batch.leave(), batch.tokens()), (Left::default(), 111));
            batch.join(7, 1);
            assert_eq!((batch.len(), batch.tokens()), (2, 119));
            let gained = batch.step(1, &mut stream);
            assert_eq!(gained, if draws == Draws::Shared { 2 } else { 3 });
            // One token was left for the first and one for the second request.
            let cut = u64::from(draws != Draws::Shared);
            let left = Left { requests: 2, cut };
            assert_eq!((batch.leave(), batch.len(), batch.tokens()), (left, 0, 0));
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
        assert_eq!((batch.leave(), batch.tokens()), (Left { requests: 1, cut: 0 }, 31));
    }
}
