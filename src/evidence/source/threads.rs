//! How many threads may work at a time, whatever they work on.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Leave to work for so many threads. Files that are read at the same time share it: one that has no use for it, or
/// waits, leaves it to the others.
#[derive(Debug)]
pub(super) struct Threads {
    count: NonZeroUsize,
    free: Mutex<usize>,
    freed: Condvar,
    /// Threads that wait for leave, and leave that nobody has: looked at between blocks, without a lock.
    waiting: AtomicUsize,
    idle: AtomicUsize,
}

/// Leave to work, until it is dropped.
#[derive(Debug)]
pub(super) struct Working<'a>(&'a Threads);

impl Threads {
    pub(super) fn new(count: NonZeroUsize) -> Self {
        Self {
            count,
            free: Mutex::new(count.get()),
            freed: Condvar::new(),
            waiting: AtomicUsize::new(0),
            idle: AtomicUsize::new(count.get()),
        }
    }

    /// How many may work at a time.
    pub(super) fn count(&self) -> usize {
        self.count.get()
    }

    /// Waits for leave to work.
    pub(super) fn enter(&self) -> Working<'_> {
        self.take();
        Working(self)
    }

    /// Leave to work, where there is some that nobody waits for.
    pub(super) fn try_enter(&self) -> Option<Working<'_>> {
        if self.idle.load(Relaxed) == 0 || self.is_wanted() {
            return None;
        }
        let mut free = self.free();
        *free = free.checked_sub(1)?;
        self.idle.store(*free, Relaxed);
        Some(Working(self))
    }

    /// Whether somebody waits for leave.
    pub(super) fn is_wanted(&self) -> bool {
        self.waiting.load(Relaxed) > 0
    }

    fn take(&self) {
        let mut free = self.free();
        self.waiting.fetch_add(1, Relaxed);
        while *free == 0 {
            free = self.freed.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        self.waiting.fetch_sub(1, Relaxed);
        *free -= 1;
        self.idle.store(*free, Relaxed);
    }

    fn give(&self) {
        let mut free = self.free();
        *free += 1;
        self.idle.store(*free, Relaxed);
        self.freed.notify_one();
    }

    fn free(&self) -> MutexGuard<'_, usize> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Working<'_> {
    /// Leaves the work to others while `wait` waits.
    pub(super) fn pause<T>(&self, wait: impl FnOnce() -> T) -> T {
        self.0.give();
        let waited = wait();
        self.0.take();
        waited
    }
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.0.give();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_so_many_work() {
        let threads = Threads::new(NonZeroUsize::new(2).unwrap());
        let first = threads.enter();
        let second = threads.try_enter().unwrap();
        assert!(threads.try_enter().is_none());
        // Who pauses leaves room for one more.
        first.pause(|| assert!(threads.try_enter().is_some()));
        drop(second);
        assert!(!threads.is_wanted());
        assert!(threads.try_enter().is_some());
    }
}
