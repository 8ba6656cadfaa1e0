//! Accept lengths as SGLang itself draws them.

use super::draws::{DrawSource, DrawStream};
use crate::law::Draws;
use crate::replay::{DrawLaw, Sequence};

/// Draws fetched at a time: a window is short.
const CHUNK: u64 = 1 << 12;

/// The draws of SGLang servers with known random seeds: one seed for each server of a log, the last one for all that
/// follow. All ranks of a server draw the same sequence.
///
/// ```
/// use accsim::law::Setting;
/// use accsim::replay::{DrawLaw, DrawMethod};
/// use accsim::simulate::log::{DrawSource, DrawStream, SeededSource};
///
/// let law = DrawLaw::new(DrawMethod::MatchExpected, Setting::new(3.51, 6)?).ok_or("too long")?;
/// let source = SeededSource::new(law, 320_846_001);
/// // The first decode line of 40 steps reads 3.62.
/// assert_eq!(source.stream(0, 0).sum(40), 145);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SeededSource {
    law: DrawLaw,
    first: u64,
    others: Vec<u64>,
}

impl SeededSource {
    /// One seed for every server.
    #[must_use]
    pub fn new(law: DrawLaw, seed: u64) -> Self {
        Self { law, first: seed, others: Vec::new() }
    }

    /// The same, and another seed for the next server.
    #[must_use]
    pub fn then(mut self, seed: u64) -> Self {
        self.others.push(seed);
        self
    }

    fn seed(&self, server: u32) -> u64 {
        let next = usize::try_from(server).ok().and_then(|server| server.checked_sub(1));
        next.and_then(|next| self.others.get(next).or(self.others.last())).copied().unwrap_or(self.first)
    }
}

impl DrawSource for SeededSource {
    type Stream = SeededStream;

    fn stream(&self, server: u32, _rank: u32) -> SeededStream {
        SeededStream { sequence: Sequence::new(self.seed(server), &self.law), next: 0 }
    }

    fn draws(&self, _server: u32) -> Draws {
        Draws::Shared
    }

    fn longest(&self, _server: u32) -> u32 {
        (*self.law.acceptance().support().end()).max(1)
    }
}

/// The draws of one process.
#[derive(Debug)]
pub struct SeededStream {
    sequence: Sequence,
    next: u64,
}

impl DrawStream for SeededStream {
    fn draw(&mut self) -> u32 {
        u32::try_from(self.sum(1)).unwrap_or(1)
    }

    fn sum(&mut self, count: u64) -> u64 {
        let (mut left, mut sum) = (count, 0_u64);
        while left > 0 {
            let some = left.min(CHUNK);
            let window = self.sequence.window(self.next, usize::try_from(some).unwrap_or(0));
            sum += window.iter().map(|draw| u64::from(*draw)).sum::<u64>();
            self.next += some;
            left -= some;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::Setting;
    use crate::replay::DrawMethod;

    #[test]
    fn ranks_draw_alike_and_servers_by_their_seeds() {
        let law = DrawLaw::new(DrawMethod::MatchExpected, Setting::new(3.51, 6).unwrap()).unwrap();
        let source = SeededSource::new(law, 7).then(8);
        let sums = |server, rank| {
            let mut stream = source.stream(server, rank);
            [stream.sum(40), stream.sum(1), u64::from(stream.draw()), stream.sum(10_000)]
        };
        assert_eq!(sums(0, 0), sums(0, 5));
        assert_ne!(sums(0, 0), sums(1, 0));
        assert_eq!(sums(1, 0), sums(2, 0));
        assert_eq!(sums(0, 0).iter().sum::<u64>(), source.stream(0, 0).sum(10_042));
    }
}
