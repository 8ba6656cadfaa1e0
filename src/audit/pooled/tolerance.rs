//! How far an honest engine may be from its target, beyond chance.

use crate::engine::Engine;

use super::super::decision::SLACK;

/// TensorRT-LLM draws from one pool of 65,536 numbers: an offset of up to about 0.004 never averages out.
const POOL_OFFSET: f64 = 0.004;

/// ATOM's generator repeats: 200,000 steps at 3.78 gave 3.7699, which chance does not explain.
const ATOM_OFFSET: f64 = 0.02;

/// The slack of an engine's mean, in tokens.
pub(super) fn slack(engine: Engine) -> f64 {
    match engine {
        Engine::Trtllm => SLACK + POOL_OFFSET,
        Engine::Atom => ATOM_OFFSET,
        Engine::Sglang | Engine::Vllm | Engine::Tilert => SLACK,
    }
}

/// The smallest margin that does not fail an honest run of an engine, in tokens.
pub(super) fn least_margin(engine: Engine) -> f64 {
    match engine {
        Engine::Trtllm => 0.01,
        Engine::Atom => ATOM_OFFSET,
        Engine::Sglang | Engine::Vllm | Engine::Tilert => 0.0,
    }
}

/// Requests that can draw alike at most, where the log does not say how many ran: ATOM draws for each request, and no log of
/// it has shown more than a few in step.
pub(super) fn lockstep(engine: Engine) -> Option<u32> {
    (engine == Engine::Atom).then_some(64)
}

/// Whether replicas of an engine draw alike, so that they are one sample.
pub(super) fn replicas_share(engine: Engine) -> bool {
    matches!(engine, Engine::Trtllm | Engine::Atom)
}
