//! One prefill line. What is cut in it is absent.

use crate::evidence::PrefillLine;

use super::fields;
use super::number::{integer, integer32};

impl<'a> PrefillLine<'a> {
    /// `#new-seq`: requests that join the batch.
    #[must_use]
    pub fn new_seq(&self) -> Option<u32> {
        integer32(self.field("#new-seq")?)
    }

    /// `#new-token`: tokens computed.
    #[must_use]
    pub fn new_tokens(&self) -> Option<u64> {
        integer(self.field("#new-token")?)
    }

    /// `#cached-token`: tokens found in the prefix cache.
    #[must_use]
    pub fn cached_tokens(&self) -> Option<u64> {
        integer(self.field("#cached-token")?)
    }

    /// `#running-req`: requests that decoded before these joined.
    #[must_use]
    pub fn running_req(&self) -> Option<u32> {
        integer32(self.field("#running-req")?)
    }

    /// The value of the field called `name`, as printed.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&'a [u8]> {
        fields::value(self.message, name)
    }
}

/// Whether a message is a prefill line's: it counts sequences or tokens.
pub(super) fn is_prefill(message: &[u8]) -> bool {
    ["#new-seq", "#new-token"].iter().any(|name| fields::value(message, name).and_then(integer).is_some())
}
