//! Which engine a `SpecDecoding metrics` line belongs to: it names none, but follows its engine's line.

use crate::evidence::EngineLine;

/// Follows the lines of one log.
///
/// A line of speculative decoding belongs to the engine whose own line stands just before it, with the same process and
/// second; else its engine is unknown.
#[derive(Clone, Debug, Default)]
pub struct Adjacent {
    last: Option<Engine>,
}

#[derive(Clone, Debug)]
struct Engine {
    pid: Option<u64>,
    timestamp: Option<String>,
    index: Option<u32>,
    running: Option<u32>,
}

impl Adjacent {
    /// Takes the next line of the log; says the engine's number and its running requests, where the line is one of
    /// speculative decoding and its engine is known.
    pub fn follow(&mut self, line: &EngineLine) -> (Option<u32>, Option<u32>) {
        match line {
            EngineLine::VllmEngine(engine) => {
                self.last = Some(Engine {
                    pid: engine.pid,
                    timestamp: engine.timestamp.clone(),
                    index: engine.engine_index,
                    running: engine.running_req,
                });
                (None, None)
            }
            EngineLine::VllmSpec(spec) => {
                let last = self.last.take();
                let last = last.filter(|last| last.pid == spec.pid && last.timestamp == spec.timestamp);
                last.map_or((None, None), |last| (last.index, last.running))
            }
            _ => (None, None),
        }
    }

    /// Another log begins.
    pub fn begin_file(&mut self) {
        self.last = None;
    }
}
