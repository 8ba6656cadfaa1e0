//! Several threads read the blocks of one log; one of them takes what they found, in order. The others come when no other
//! file needs them, and go when one does.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::evidence::batch::Batch;
use crate::evidence::sglang::LineScanner;

use super::block::Block;
use super::budget::{Budget, count};
use super::stitch::Stitcher;
use super::stream::Source;
use super::threads::Working;

/// Blocks a thread that are begun and not taken, at most.
const BEGUN_PER_THREAD: usize = 2;

/// The threads that read one log.
pub(super) struct Crew<'a, 's> {
    source: &'a Source<'s>,
    budget: &'a Budget<'a>,
    state: Mutex<State>,
    /// Something became of the state that somebody may wait for.
    changed: Condvar,
}

struct State {
    /// The next block to read, and the next to take.
    next: u64,
    taken: u64,
    /// Blocks that were read and not taken.
    done: BTreeMap<u64, Block>,
    /// Blocks whose memory is free.
    free: Vec<Block>,
    /// Threads that read, the one that takes among them.
    threads: usize,
    /// Blocks can be scanned in any order.
    reads_ahead: bool,
    /// No further block is to be begun.
    ended: bool,
    /// A thread died; its block will not come.
    broken: bool,
}

/// What the one who takes does next.
enum Step {
    Take(Block),
    Read(u64, Block),
    Broken,
}

impl<'a, 's> Crew<'a, 's> {
    /// A crew for the blocks from number `first` on.
    pub(super) fn new(source: &'a Source<'s>, first: u64, budget: &'a Budget<'a>) -> Self {
        let state = State {
            next: first,
            taken: first,
            done: BTreeMap::new(),
            free: Vec::new(),
            threads: 1,
            reads_ahead: true,
            ended: false,
            broken: false,
        };
        Self { source, budget, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Reads all blocks. The calling thread takes them and reads what it has time for.
    pub(super) fn read(
        self,
        stitcher: &mut Stitcher<'_>,
        mut lines: LineScanner,
        block: Block,
        sink: &mut dyn FnMut(&Batch<'_>),
    ) {
        self.state().free.push(block);
        thread::scope(|scope| {
            loop {
                while let Some(working) = self.budget.threads.try_enter() {
                    self.state().threads += 1;
                    scope.spawn(|| self.help(working));
                }
                match self.step() {
                    Step::Take(mut block) => {
                        let is_last = stitcher.add(&mut block, sink) || self.budget.progress.is_stopped();
                        let mut state = self.state();
                        state.reads_ahead = stitcher.reads_ahead();
                        state.keep(block);
                        state.ended |= is_last;
                        self.changed.notify_all();
                        if is_last {
                            break;
                        }
                    }
                    Step::Read(number, block) => self.work(number, block, &mut lines),
                    Step::Broken => break,
                }
            }
        });
    }

    /// What another thread does, until the log ends or another file needs the thread.
    fn help(&self, _working: Working<'_>) {
        let _leaving = Leaving(&self.state, &self.changed);
        let mut lines = LineScanner::new();
        loop {
            let mut state = self.state();
            let (number, block) = loop {
                if state.ended || self.budget.threads.is_wanted() {
                    return;
                }
                match state.begin() {
                    Some(begun) => break begun,
                    None => state = self.wait(state),
                }
            };
            drop(state);
            self.work(number, block, &mut lines);
        }
    }

    /// Waits until there is a block to take or one to read.
    fn step(&self) -> Step {
        let mut state = self.state();
        loop {
            let number = state.taken;
            if let Some(block) = state.done.remove(&number) {
                state.taken += 1;
                return Step::Take(block);
            }
            if state.broken {
                return Step::Broken;
            }
            if let Some((number, block)) = state.begin() {
                return Step::Read(number, block);
            }
            state = self.wait(state);
        }
    }

    /// Reads a block and puts it where it is taken from.
    fn work(&self, number: u64, mut block: Block, lines: &mut LineScanner) {
        let number = self.source.read(number, &mut block);
        if self.state().reads_ahead {
            block.scan(lines);
        }
        let mut state = self.state();
        state.ended |= block.is_last();
        state.done.insert(number, block);
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'g>(&self, state: MutexGuard<'g, State>) -> MutexGuard<'g, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn most_begun(&self) -> usize {
        self.threads.saturating_mul(BEGUN_PER_THREAD)
    }

    /// Keeps the memory of a block, if there are still threads for it.
    fn keep(&mut self, block: Block) {
        if self.free.len() < self.most_begun() {
            self.free.push(block);
        }
    }

    /// The number of the next block, and memory for it; `None` when there are enough for now.
    fn begin(&mut self) -> Option<(u64, Block)> {
        if self.ended || self.next - self.taken >= count(self.most_begun()) {
            return None;
        }
        let number = self.next;
        self.next += 1;
        Some((number, self.free.pop().unwrap_or_default()))
    }
}

/// Says so when a thread leaves, and when it dies: nobody must wait for its block.
struct Leaving<'a>(&'a Mutex<State>, &'a Condvar);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.threads -= 1;
        if thread::panicking() {
            state.broken = true;
            state.ended = true;
            self.1.notify_all();
        }
    }
}
