//! How much a hostile input may cost.

/// Bytes that a line may always have, whatever is asked for: more than a block that the reader works in.
pub(super) const LEAST_LINE: usize = 1 << 18;

/// Decompressed bytes below which no ratio is looked at: small files of one repeated line are common.
pub(super) const RATIO_GRACE: u64 = 64 << 20;

/// What reading one file may cost. What goes beyond is refused by name, and the error says which limit it was.
///
/// A file is one on disk, or standard input, with everything that is packed in it. The defaults read every log that
/// we have seen. Peak memory is `window` (of the deepest compression) plus `line` plus about 2 MiB.
///
/// ```
/// use accsim::evidence::Limits;
///
/// let limits = Limits::default().with_ratio(5_000);
/// assert_eq!(limits.ratio, 5_000);
/// assert_eq!(limits.window, 64 << 20);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a line that are read; the rest of a longer one is passed over, and the line is counted. At least
    /// 256 KiB. Default 4 MiB: the longest real line is a `server_args` of some 20 KiB.
    pub line: u64,
    /// Bytes that all compressed streams of a file may come to. Default 64 GiB.
    pub decompressed: u64,
    /// How many times its own size a file may decompress to, looked at from 64 MiB on. Default 1000: logs reach 10
    /// to 100, deflate ends at 1032, zstd and xz do not end.
    pub ratio: u64,
    /// Bytes of history that a zstd or xz stream may ask for. Default 64 MiB, which is `xz -9` and `zstd --long=26`.
    pub window: u64,
    /// Files of one directory tree, or entries of one archive and the archives in it. Default 100 000.
    pub entries: u64,
    /// Layers of archives and compressions inside each other; `.tar.gz` is two. Default 5: a `.tar.gz` of `.tar.gz`
    /// of `.gz`. More than [`MOST_LAYERS`](Self::MOST_LAYERS) count as that.
    pub layers: u32,
    /// Levels of a directory tree. Default 64.
    pub depth: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            line: 4 << 20,
            decompressed: 64 << 30,
            ratio: 1_000,
            window: 64 << 20,
            entries: 100_000,
            layers: 5,
            depth: 64,
        }
    }
}

impl Limits {
    /// Layers that the stack of any thread has room for.
    pub const MOST_LAYERS: u32 = 50;

    /// The same limits with another [`line`](Self::line).
    #[must_use]
    pub fn with_line(self, line: u64) -> Self {
        Self { line, ..self }
    }

    /// The same limits with another [`decompressed`](Self::decompressed).
    #[must_use]
    pub fn with_decompressed(self, decompressed: u64) -> Self {
        Self { decompressed, ..self }
    }

    /// The same limits with another [`ratio`](Self::ratio).
    #[must_use]
    pub fn with_ratio(self, ratio: u64) -> Self {
        Self { ratio, ..self }
    }

    /// The same limits with another [`window`](Self::window).
    #[must_use]
    pub fn with_window(self, window: u64) -> Self {
        Self { window, ..self }
    }

    /// The same limits with another [`entries`](Self::entries).
    #[must_use]
    pub fn with_entries(self, entries: u64) -> Self {
        Self { entries, ..self }
    }

    /// The same limits with another [`layers`](Self::layers).
    #[must_use]
    pub fn with_layers(self, layers: u32) -> Self {
        Self { layers, ..self }
    }

    /// The same limits with another [`depth`](Self::depth).
    #[must_use]
    pub fn with_depth(self, depth: u32) -> Self {
        Self { depth, ..self }
    }

    /// [`layers`](Self::layers) as the reader applies it.
    pub(super) fn most_layers(&self) -> u32 {
        self.layers.min(Self::MOST_LAYERS)
    }

    /// [`line`](Self::line) as the reader applies it.
    pub(in crate::evidence) fn line_bytes(&self) -> usize {
        usize::try_from(self.line).unwrap_or(usize::MAX).max(LEAST_LINE)
    }
}
