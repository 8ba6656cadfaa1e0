//! From settings to a law: what a server with these settings will do.

use super::doubt::doubts;
use super::{Engine, Injected, Prediction, Server, atom, sglang, tilert, trtllm, vllm};
use crate::law::{AcceptanceLaw, Setting};

/// What `server` will do with the settings that reach it. `max` is the most tokens that one of its verify steps can
/// emit (see [`sglang::MaxRule`]; K + 1 for K drafts elsewhere).
///
/// The settings are read as the engine reads them, faults included: a decimal comma, `nan`, a name without its prefix,
/// an unknown method.
///
/// ```
/// use accsim::engine::{Drafter, Engine, Injected, Outcome, Server, SettingKind, law_for};
///
/// let server = Server::new(Engine::Sglang).version("0.5.16".parse()?).drafter(Drafter::DSpark);
/// let injected = Injected::intended(&server, 3.51, None);
/// let law = law_for(&server, 6, &injected).outcome.law().cloned();
/// assert_eq!(law.map(|law| law.mean()), Some(4.0)); // this release rounds
///
/// let mut comma = Injected::default();
/// comma.set(SettingKind::Env, "SGLANG_SIMULATE_ACC_LEN", "3,51");
/// let outcome = law_for(&Server::new(Engine::Sglang), 6, &comma).outcome;
/// assert!(matches!(outcome, Outcome::RealAcceptance { .. }));
/// # Ok::<(), accsim::engine::EngineVersionError>(())
/// ```
#[must_use]
pub fn law_for(server: &Server, max: u32, injected: &Injected) -> Prediction {
    let max = max.max(1);
    let prediction = match server.engine {
        Engine::Sglang => sglang::predict(server, max, injected),
        Engine::Vllm => vllm::predict(server, max, injected),
        Engine::Trtllm => trtllm::predict(server, max, injected),
        Engine::Atom => atom::predict(server, max, injected),
        Engine::Tilert => tilert::predict(max, injected),
    };
    let doubts = prediction.asked.map_or_else(Vec::new, |length| doubts(server, length));
    Prediction { doubts, ..prediction }
}

/// The law of a length under a maximum. An infinite length is cut to one of its ends, as every finite one beyond them.
pub(super) fn force(length: f64, max: u32, law: impl Fn(Setting) -> AcceptanceLaw) -> AcceptanceLaw {
    let finite = if length.is_finite() { length } else { length.clamp(0.0, f64::from(max)) };
    Setting::new(finite, max).map_or(AcceptanceLaw::Constant(max), law)
}
