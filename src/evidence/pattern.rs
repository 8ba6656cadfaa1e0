//! Text of a fixed form.

/// Whether `text` begins like `pattern`, where `0` stands for any digit.
pub(in crate::evidence) fn begins_like(text: &[u8], pattern: &[u8]) -> Option<()> {
    let fits = |(byte, expected): (&u8, &u8)| match expected {
        b'0' => byte.is_ascii_digit(),
        _ => byte == expected,
    };
    (text.len() >= pattern.len() && text.iter().zip(pattern).all(fits)).then_some(())
}
