//! Why a simulation cannot be carried out.

/// Why a simulation cannot be carried out.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SimError {
    /// A number that must lie in a range.
    #[error("{what} is {found}; expected {expected}")]
    Number {
        /// What the number is.
        what: &'static str,
        /// The number.
        found: f64,
        /// What it may be.
        expected: &'static str,
    },
    /// A law that can draw more than the server verifies.
    #[error(
        "a step can emit {longest} tokens, but {verified} are verified: the accept length must lie in [1, {verified}]"
    )]
    TooLongDraw {
        /// Longest draw.
        longest: u32,
        /// Tokens verified a request and step.
        verified: u32,
    },
    /// A request that no pool of this size can hold.
    #[error(
        "a request of {input} + {output} tokens does not fit into {pool} KV tokens; give at least {needed}"
    )]
    NeverFits {
        /// Input tokens.
        input: u32,
        /// Output tokens.
        output: u32,
        /// Tokens of the pool.
        pool: u64,
        /// Tokens that would do.
        needed: u64,
    },
    /// More work than a simulation does.
    #[error("more than {limit} {what}; shorten the duration or the trace")]
    TooLong {
        /// What there is too much of.
        what: &'static str,
        /// How much is allowed.
        limit: u64,
    },
    /// Nothing to simulate.
    #[error("the trace holds no requests")]
    NoRequests,
}

impl SimError {
    pub(super) fn number(what: &'static str, found: f64, expected: &'static str) -> Self {
        Self::Number { what, found, expected }
    }
}
