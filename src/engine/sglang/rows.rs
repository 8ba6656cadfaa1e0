//! Rows of the tables of SGLang releases, by who reads them: settings and log lines.

use super::super::{Fact, First, Release};

/// Where a row was read, unless it says otherwise.
const READ: &str = "SGLang releases 0.3.6 to 0.5.23, source";

/// A release by its three numbers.
pub(crate) const fn release(major: u64, minor: u64, patch: u64) -> Release {
    Release::new(major, minor, patch)
}

/// The oldest row of a history.
pub(crate) const fn until<B: Copy>(last: Release, behaviour: B) -> Fact<B> {
    Fact { first: First::Ever, last: Some(last), behaviour, source: READ }
}

/// A row with both ends.
pub(crate) const fn from_to<B: Copy>(first: Release, last: Release, behaviour: B) -> Fact<B> {
    Fact { first: First::Release(first), last: Some(last), behaviour, source: READ }
}

/// The newest row.
pub(crate) const fn since<B: Copy>(first: Release, behaviour: B) -> Fact<B> {
    Fact { first: First::Release(first), last: None, behaviour, source: READ }
}

/// Another source than the released code.
pub(crate) const fn stated<B: Copy>(fact: Fact<B>, source: &'static str) -> Fact<B> {
    Fact { source, ..fact }
}
