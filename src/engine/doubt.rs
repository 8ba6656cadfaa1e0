//! What cannot be said of a stated version: one answer for those who ask for settings and for those who ask what settings
//! do.

use super::{Engine, Server, Warning, atom, sglang, trtllm, vllm};

/// Why a server of this version may not do with an accept length, in tokens a step, what the facts of its row say: it is
/// a pre-release, or a change lies near it of which no release number is known.
pub(super) fn doubts(server: &Server, accept_length: f64) -> Vec<Warning> {
    let doubt = match server.engine {
        Engine::Sglang => sglang::doubt(server),
        Engine::Vllm => vllm::doubt(server),
        Engine::Trtllm => trtllm::doubt(server, accept_length),
        Engine::Atom => atom::doubt(server),
        // No version of it is known.
        Engine::Tilert => None,
    };
    doubt.into_iter().collect()
}
