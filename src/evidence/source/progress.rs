//! How far the reading is, for whoever shows it; and the wish to stop.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Counters that a reader keeps while it reads, shared with a thread that shows them.
///
/// They move once per block, so they cost the scanner nothing.
#[derive(Debug, Default)]
pub struct Progress {
    read: AtomicU64,
    total: AtomicU64,
    unsized_inputs: AtomicBool,
    stopped: AtomicBool,
}

impl Progress {
    /// Bytes read so far, as they lie on disk: compressed where the file is.
    #[must_use]
    pub fn read(&self) -> u64 {
        self.read.load(Relaxed)
    }

    /// Bytes to read in all; `None` while it is not known, as for standard input.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        let total = self.total.load(Relaxed);
        (total > 0 && !self.unsized_inputs.load(Relaxed)).then_some(total)
    }

    /// Asks the reader to stop soon. What is left is not read, and that is no error.
    pub fn stop(&self) {
        self.stopped.store(true, Relaxed);
    }

    /// Whether somebody asked to stop.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Relaxed)
    }

    pub(super) fn add_read(&self, bytes: u64) {
        self.read.fetch_add(bytes, Relaxed);
    }

    /// A file will be read; `None` if nobody knows how long it is.
    pub(super) fn expect(&self, bytes: Option<u64>) {
        match bytes {
            Some(bytes) => {
                self.total.fetch_add(bytes, Relaxed);
            }
            None => self.unsized_inputs.store(true, Relaxed),
        }
    }
}
