//! What reading one file has cost so far.

use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use super::failure::{Failure, Limit};
use super::limits::{Limits, RATIO_GRACE};
use super::progress::Progress;
use super::threads::Threads;

/// The costs of one file on disk, with everything packed in it, against their limits.
pub(super) struct Budget<'a> {
    pub(super) limits: &'a Limits,
    pub(super) progress: &'a Progress,
    /// Threads that may work on it.
    pub(super) threads: &'a Threads,
    /// Bytes as they lie on disk.
    raw: AtomicU64,
    /// Bytes that came out of decompressors, of every layer.
    decompressed: AtomicU64,
    entries: AtomicU64,
    spent: AtomicBool,
}

impl<'a> Budget<'a> {
    pub(super) fn new(limits: &'a Limits, progress: &'a Progress, threads: &'a Threads) -> Self {
        Self {
            limits,
            progress,
            threads,
            raw: AtomicU64::new(0),
            decompressed: AtomicU64::new(0),
            entries: AtomicU64::new(0),
            spent: AtomicBool::new(false),
        }
    }

    /// Whether nothing more of this file is to be read: a limit of the whole file was reached, or somebody asked to
    /// stop.
    pub(super) fn is_over(&self) -> bool {
        self.spent.load(Relaxed) || self.progress.is_stopped()
    }

    /// Counts an entry of an archive.
    pub(super) fn add_entry(&self) -> Result<(), Failure> {
        let limit = self.limits.entries;
        if self.entries.fetch_add(1, Relaxed) < limit {
            Ok(())
        } else {
            Err(self.spend(Limit::Entries(limit)))
        }
    }

    /// Whether more may be decompressed.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let (raw, decompressed) = (self.raw.load(Relaxed), self.decompressed.load(Relaxed));
        let Limits { decompressed: most, ratio, .. } = *self.limits;
        if decompressed > most {
            return Err(self.spend(Limit::Decompressed(most)));
        }
        if decompressed > RATIO_GRACE && decompressed > raw.saturating_mul(ratio) {
            return Err(self.spend(Limit::Ratio(ratio)));
        }
        Ok(())
    }

    /// Counts bytes as they lie on disk.
    pub(super) fn count_raw(&self, bytes: usize) {
        self.raw.fetch_add(count(bytes), Relaxed);
        self.progress.add_read(count(bytes));
    }

    pub(super) fn add_decompressed(&self, bytes: usize) {
        self.decompressed.fetch_add(count(bytes), Relaxed);
    }

    fn spend(&self, limit: Limit) -> Failure {
        self.spent.store(true, Relaxed);
        Failure::OverLimit(limit)
    }
}

/// A file as it lies on disk: counts its bytes, and marks its errors as the system's own.
pub(super) struct Raw<'a, R> {
    source: R,
    budget: &'a Budget<'a>,
}

impl<'a, R: Read> Raw<'a, R> {
    pub(super) fn new(source: R, budget: &'a Budget<'a>) -> Self {
        Self { source, budget }
    }
}

impl<R: Read> Read for Raw<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.source.read(out) {
                Ok(read) => {
                    self.budget.count_raw(read);
                    return Ok(read);
                }
                // Readers above that hold a buffer would take it for the end.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure::of_system(&error).into()),
            }
        }
    }
}

/// A length as the counters count it.
pub(super) fn count(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
