//! How much one document may cost.

/// Bounds on one document; the defaults leave room for every curve and recipe seen so far by a factor of ten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of text.
    pub input_bytes: usize,
    /// Nesting of sequences and mappings, aliases expanded.
    pub depth: usize,
    /// Scalars, sequences and mappings, aliases expanded: what stops ten lines of aliases that mean a billion nodes.
    pub nodes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { input_bytes: 1 << 20, depth: 64, nodes: 100_000 }
    }
}
