//! What is known of the server that will run.

use super::{Drafter, Engine, EngineVersion};

/// A server, as far as its settings depend on it. What is not known stays `None`: the newest release known, and an
/// engine's own default, hold then.
///
/// ```
/// use accsim::engine::{Drafter, Engine, Server};
///
/// let server = Server::new(Engine::Sglang).version("0.5.16".parse()?).drafter(Drafter::DSpark);
/// assert_eq!(server.engine, Engine::Sglang);
/// # Ok::<(), accsim::engine::EngineVersionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// The engine.
    pub engine: Engine,
    /// Its version.
    pub version: Option<EngineVersion>,
    /// The drafting algorithm it runs.
    pub drafter: Option<Drafter>,
    /// SGLang: `speculative_eagle_topk`. Above 1 the drafts form a tree.
    pub eagle_topk: Option<u32>,
    /// SGLang: whether speculation runs with overlap scheduling.
    pub overlap: Option<bool>,
    /// TensorRT-LLM: whether the draft is a model of its own, or part of the target's.
    pub models: Option<Models>,
}

/// How TensorRT-LLM runs the draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Models {
    /// In the target model's own forward pass.
    One,
    /// As a second model.
    Two,
}

impl Server {
    /// A server of which only the engine is known.
    #[must_use]
    pub fn new(engine: Engine) -> Self {
        Self { engine, version: None, drafter: None, eagle_topk: None, overlap: None, models: None }
    }

    /// The same with its version.
    #[must_use]
    pub fn version(self, version: EngineVersion) -> Self {
        Self { version: Some(version), ..self }
    }

    /// The same with its drafting algorithm.
    #[must_use]
    pub fn drafter(self, drafter: Drafter) -> Self {
        Self { drafter: Some(drafter), ..self }
    }
}
