//! Settings as a server receives them: text that nobody has read yet.

use super::{Engine, General, Server, Setting, SettingKind, Settings, atom, sglang, tilert, trtllm, vllm};

/// The settings that reach a server, by name, as text.
///
/// ```
/// use accsim::engine::{Injected, SettingKind};
///
/// let mut injected = Injected::default();
/// injected.set(SettingKind::Env, "SGLANG_SIMULATE_ACC_LEN", "2.99");
/// injected.set(SettingKind::Env, "SGLANG_SIMULATE_ACC_LEN", "3.51"); // the last one wins
/// assert_eq!(injected.get(SettingKind::Env, "SGLANG_SIMULATE_ACC_LEN"), Some("3.51"));
/// assert_eq!(injected.get(SettingKind::Arg, "SGLANG_SIMULATE_ACC_LEN"), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Injected {
    settings: Vec<(SettingKind, String, String)>,
}

impl Injected {
    /// Sets one; an earlier value of the same name is replaced.
    ///
    /// An argument's name has its dashes. The value of a JSON key is the string itself, or the text of any other value.
    pub fn set(&mut self, kind: SettingKind, name: impl Into<String>, value: impl Into<String>) {
        let name = name.into();
        self.unset(kind, &name);
        self.settings.push((kind, name, value.into()));
    }

    /// Takes one away.
    pub fn unset(&mut self, kind: SettingKind, name: &str) {
        self.settings.retain(|(held, other, _)| *held != kind || other != name);
    }

    /// The value of one.
    #[must_use]
    pub fn get(&self, kind: SettingKind, name: &str) -> Option<&str> {
        let found = self.settings.iter().find(|(held, other, _)| *held == kind && other == name);
        found.map(|(_, _, value)| value.as_str())
    }

    /// All of them, in the order in which they were set.
    pub fn iter(&self) -> impl Iterator<Item = (SettingKind, &str, &str)> + '_ {
        self.settings.iter().map(|(kind, name, value)| (*kind, name.as_str(), value.as_str()))
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.settings.is_empty()
    }

    /// What someone sets who wants this accept length, in tokens a step, and asks no version whether it obeys; the
    /// method is the engine's own word. See [`settings`](super::settings) for what should be set.
    #[must_use]
    pub fn intended(server: &Server, accept_length: f64, method: Option<&str>) -> Self {
        let mut injected = Self::default();
        let length = General(accept_length).to_string();
        match server.engine {
            Engine::Sglang => {
                let names = sglang::names_read(server.version.as_ref());
                injected.set(SettingKind::Env, names.length, length);
                injected.set(SettingKind::Env, names.method, method.unwrap_or("match-expected"));
            }
            Engine::Vllm => {
                injected.set(SettingKind::Json, vllm::METHOD, method.unwrap_or("synthetic"));
                injected.set(SettingKind::Json, vllm::LENGTH, length);
            }
            Engine::Trtllm => {
                let drafts = General(accept_length - 1.0).to_string();
                injected.set(SettingKind::Env, trtllm::VARIABLE, drafts);
            }
            Engine::Atom => injected.set(SettingKind::Arg, atom::LENGTH, length),
            Engine::Tilert => {
                injected.set(SettingKind::Env, tilert::LENGTH, length);
                injected.set(SettingKind::Env, tilert::METHOD, method.unwrap_or("match-expected"));
            }
        }
        injected
    }
}

/// The settings that `accsim env` prints.
impl From<&Settings> for Injected {
    fn from(settings: &Settings) -> Self {
        let mut injected = Self::default();
        for Setting { kind, name, value } in &settings.settings {
            injected.set(*kind, *name, value.text());
        }
        injected
    }
}
