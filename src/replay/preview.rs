//! What decode lines will read.

use crate::evidence::Hundredths;

use super::law::DrawLaw;
use super::sequence::Sequence;

/// What the first `count` decode lines of a server with this seed print, `interval` verify steps each, as long as the
/// batch does not change within a line.
///
/// ```
/// use accsim::law::Setting;
/// use accsim::replay::{DrawLaw, DrawMethod, decode_lines};
///
/// let law = DrawLaw::new(DrawMethod::MatchExpected, Setting::new(3.51, 6)?).ok_or("too long")?;
/// let lines = decode_lines(320_846_001, &law, 40, 8);
/// let read: Vec<String> = lines.iter().map(ToString::to_string).collect();
/// assert_eq!(read.join(" "), "3.62 3.52 3.55 3.60 3.42 3.58 3.45 3.48");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn decode_lines(seed: u64, law: &DrawLaw, interval: u32, count: u64) -> Vec<Hundredths> {
    const CHUNK: u64 = 1 << 12;
    let mut sequence = Sequence::new(seed, law);
    let interval = u64::from(interval.max(1));
    (0..count)
        .map(|line| {
            let (mut first, mut left, mut sum) = (line * interval, interval, 0);
            while left > 0 {
                let some = left.min(CHUNK);
                let window = sequence.window(first, usize::try_from(some).unwrap_or(0));
                sum += window.iter().map(|draw| u64::from(*draw)).sum::<u64>();
                first += some;
                left -= some;
            }
            Hundredths::new(crate::law::printed(sum, interval).unwrap_or(0))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::Setting;
    use crate::replay::DrawMethod;

    /// A line of more steps than are drawn at once averages the draws that lines of one step print.
    #[test]
    fn a_long_line_averages_all_its_draws() {
        let law = DrawLaw::new(DrawMethod::MatchExpected, Setting::new(3.51, 6).unwrap()).unwrap();
        let draws = decode_lines(7, &law, 1, 18_000);
        let sums =
            draws.chunks(9000).map(|line| line.iter().map(|draw| u64::from(draw.count() / 100)).sum::<u64>());
        let expected: Vec<_> =
            sums.map(|sum| Hundredths::new(crate::law::printed(sum, 9000).unwrap())).collect();
        assert_eq!(decode_lines(7, &law, 9000, 2), expected);
    }
}
