//! One server, as far as a file describes it.

use super::knobs::knob;
use crate::engine::{Drafter, Engine, EngineVersion, Injected, Models, Server, SettingKind, sglang::MaxRule};

/// A server with the settings that reach it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Role {
    /// `agg`, `prefill` or `decode` in a recipe; none elsewhere.
    pub name: Option<String>,
    /// The engine, where the file tells.
    pub engine: Option<Engine>,
    /// Its version, where the file tells.
    pub version: Option<EngineVersion>,
    /// The drafting algorithm, where the file tells.
    pub drafter: Option<Drafter>,
    /// SGLang: `speculative_num_steps`.
    pub num_steps: Option<u32>,
    /// SGLang: `speculative_num_draft_tokens`.
    pub draft_tokens: Option<u32>,
    /// SGLang: block size of DSPARK or DFLASH.
    pub block_size: Option<u32>,
    /// Drafts a step, in the words of vLLM, TensorRT-LLM and ATOM.
    pub drafts: Option<u32>,
    /// The most tokens that a step emits, where the file says it itself.
    pub max: Option<u32>,
    /// SGLang: `speculative_eagle_topk`.
    pub eagle_topk: Option<u32>,
    /// TensorRT-LLM: whether the draft is a model of its own.
    pub models: Option<Models>,
    /// Settings of simulated acceptance, in the order of the file; a later one of the same name has replaced the earlier.
    pub settings: Vec<FoundSetting>,
    /// Settings that the file takes away: `unset NAME`, a JSON key of `null`.
    pub cleared: Vec<&'static str>,
    /// A name that looks like a setting and is none, with its line.
    pub near_miss: Option<NearMiss>,
}

/// A name that is no setting and looks like one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearMiss {
    /// The name.
    pub found: String,
    /// The setting that was probably meant.
    pub meant: &'static str,
    /// Line of the file, from 1.
    pub line: usize,
}

/// A setting and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSetting {
    /// Where the engine reads it from.
    pub kind: SettingKind,
    /// Its name.
    pub name: &'static str,
    /// Its value, as the engine gets it.
    pub value: String,
    /// Line of the file, from 1.
    pub line: usize,
}

impl Role {
    /// Sets one; an earlier value of the same name is replaced.
    pub(super) fn set(&mut self, setting: FoundSetting) {
        self.unset(setting.kind, setting.name);
        self.settings.push(setting);
    }

    fn unset(&mut self, kind: SettingKind, name: &str) {
        self.settings.retain(|held| held.kind != kind || held.name != name);
    }

    /// Takes one away, as the file says.
    pub(super) fn clear(&mut self, kind: SettingKind, name: &str) {
        if let Some((name, _)) = knob(kind, name) {
            self.unset(kind, name);
            self.cleared.push(name);
        }
    }

    /// Whether the file says anything of a server, or of its simulated acceptance.
    #[must_use]
    pub(super) fn is_recognised(&self) -> bool {
        let is_described = self.engine.is_some() || self.is_speculative();
        is_described || !self.settings.is_empty() || !self.cleared.is_empty()
    }

    /// Whether the server drafts at all, as far as the file tells.
    #[must_use]
    pub fn is_speculative(&self) -> bool {
        let numbers = [self.num_steps, self.draft_tokens, self.block_size, self.drafts, self.max];
        self.drafter.is_some() || numbers.into_iter().flatten().any(|number| number > 0)
    }

    /// The settings as they reach the server.
    #[must_use]
    pub fn injected(&self) -> Injected {
        let mut injected = Injected::default();
        for setting in &self.settings {
            injected.set(setting.kind, setting.name, setting.value.clone());
        }
        injected
    }

    /// The most tokens that a verify step emits, where the file tells.
    #[must_use]
    pub fn max_accept_length(&self) -> Option<u32> {
        if self.max.is_some() {
            return self.max;
        }
        if self.engine != Some(Engine::Sglang) {
            return self.drafts.map(|drafts| drafts.saturating_add(1));
        }
        let rule = MaxRule::of(self.drafter.unwrap_or(Drafter::Eagle).family());
        let number = match rule {
            MaxRule::NumStepsPlusOne => self.num_steps,
            MaxRule::DraftTokens => self.draft_tokens,
            MaxRule::BlockSizePlusOne | MaxRule::BlockSize => self.block_size,
        };
        number.map(|number| rule.max(number))
    }

    /// The server, of this engine.
    #[must_use]
    pub fn server(&self, engine: Engine) -> Server {
        Server {
            engine,
            version: self.version.clone(),
            drafter: self.drafter,
            eagle_topk: self.eagle_topk,
            overlap: None,
            models: self.models,
        }
    }
}
