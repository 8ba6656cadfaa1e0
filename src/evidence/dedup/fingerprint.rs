//! 64 bits that stand for a text: equal texts agree, others almost never do.

/// Odd constants with well-spread bits (the fractional parts of pi and e).
const FIRST: u64 = 0x243f_6a88_85a3_08d3;
const SECOND: u64 = 0xb7e1_5162_8aed_2a6b;

/// Multiplies to 128 bits and folds: every bit of both factors reaches every bit of the result.
fn mix(left: u64, right: u64) -> u64 {
    let product = u128::from(left ^ FIRST) * u128::from(right ^ SECOND);
    let low = u64::try_from(product & u128::from(u64::MAX)).unwrap_or(0);
    let high = u64::try_from(product >> 64).unwrap_or(0);
    low ^ high
}

/// The fingerprint of `text`, begun from `seed`: 16 bytes a multiplication. It is no defence against someone who
/// writes texts to collide; a log's author can forge the lines themselves.
pub(super) fn fingerprint(seed: u64, text: &[u8]) -> u64 {
    let word = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
    let mut hash = mix(seed, u64::try_from(text.len()).unwrap_or(u64::MAX));
    let mut blocks = text.chunks_exact(16);
    for block in &mut blocks {
        let (left, right) = block.split_at(8);
        hash = mix(word(left) ^ hash, word(right));
    }
    let mut last = [0; 16];
    last.iter_mut().zip(blocks.remainder()).for_each(|(to, from)| *to = *from);
    let (left, right) = last.split_at(8);
    mix(word(left) ^ hash, word(right))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::fingerprint;

    #[test]
    fn every_byte_and_the_length_count() {
        let text: Vec<u8> = (0..100).collect();
        let mut seen = HashSet::from([fingerprint(0, &text), fingerprint(1, &text)]);
        for at in 0..text.len() {
            let mut other = text.clone();
            other[at] ^= 1;
            assert!(seen.insert(fingerprint(0, &other)), "byte {at}");
            assert!(seen.insert(fingerprint(0, &text[..at])), "length {at}");
        }
        assert!(seen.insert(fingerprint(0, &[text, vec![0]].concat())));
    }
}
