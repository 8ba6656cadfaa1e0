//! Which keys are the same key.

use std::sync::Arc;

/// Identity of a mapping key: `3`, `"3"`, `+3` and `03` are one key, since readers differ on which of them they take
/// as the number three.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum KeyIdentity {
    /// Sign and digits without leading zeros; of any size.
    Integer { negative: bool, digits: Arc<str> },
    /// Any other text, as it is.
    Text(Arc<str>),
}

impl KeyIdentity {
    pub(super) fn of(text: &Arc<str>) -> Self {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Self::Text(Arc::clone(text));
        }
        let digits = digits.trim_start_matches('0');
        Self::Integer { negative: negative && !digits.is_empty(), digits: Arc::from(digits) }
    }
}
