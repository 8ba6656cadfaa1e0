//! The arguments of a server that say how it drafts, by engine. Command lines and recipes name them alike.

use crate::engine::{Engine, SettingKind};

use super::error::{FoundError, FoundErrorKind};
use super::knobs::{knob, owner, similar};
use super::role::{FoundSetting, NearMiss, Role};

/// One argument: a name with neither dashes in front nor underscores, its value as text, its line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Argument<'a> {
    pub(super) name: &'a str,
    pub(super) value: &'a str,
    pub(super) line: usize,
}

impl Role {
    /// Takes an argument in, if it is one that says how the server drafts or what it accepts.
    pub(super) fn argument(&mut self, argument: Argument<'_>) -> Result<(), FoundError> {
        let Argument { name, value, line } = argument;
        let number = || -> Result<Option<u32>, FoundError> {
            refuse_unresolved(name, value, line)?;
            let read = value.trim().parse().map(Some);
            read.map_err(|_| wrong(name, value, "a whole number").at(line))
        };
        match name {
            "speculative-algorithm" | "speculative-algo" => {
                self.drafter =
                    Some(value.parse().map_err(|_| wrong(name, value, "a drafting algorithm").at(line))?);
            }
            "speculative-num-steps" => self.num_steps = number()?,
            "speculative-eagle-topk" => self.eagle_topk = number()?,
            "speculative-num-draft-tokens" => self.draft_tokens = number()?,
            "speculative-dspark-block-size" | "speculative-dflash-block-size" => self.block_size = number()?,
            "speculative-config" if value.trim_start().starts_with('{') => self.vllm_config(value, line)?,
            "num-speculative-tokens" => self.drafts = number()?,
            // ATOM names the algorithm so; other programs mean other things by a method.
            "method" if self.engine == Some(Engine::Atom) => self.drafter = value.parse().ok(),
            "spec-decode-acceptance-length" | "spec-decode-acceptance-rate" => {
                if let Some((name, _)) = knob(SettingKind::Arg, &format!("--{name}")) {
                    refuse_unresolved(name, value, line)?;
                    let value = value.to_owned();
                    self.set(FoundSetting { kind: SettingKind::Arg, name, value, line });
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The JSON of vLLM's `--speculative-config`.
    pub(super) fn vllm_config(&mut self, text: &str, line: usize) -> Result<(), FoundError> {
        let config: serde_json::Value =
            serde_json::from_str(text).map_err(|error| FoundErrorKind::NoJson(error.to_string()).at(line))?;
        let Some(object) = config.as_object() else {
            return Err(wrong("speculative-config", text, "a JSON object").at(line));
        };
        if self.engine.is_none() {
            self.engine = Some(Engine::Vllm);
        }
        for (key, value) in object {
            let text = match value {
                serde_json::Value::Null => {
                    self.clear(SettingKind::Json, key);
                    continue;
                }
                serde_json::Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            match key.as_str() {
                "num_speculative_tokens" => {
                    let drafts = value.as_u64().and_then(|drafts| u32::try_from(drafts).ok());
                    self.drafts = Some(drafts.ok_or_else(|| wrong(key, &text, "a whole number").at(line))?);
                }
                "method" => self.drafter = text.parse().ok(),
                key => {
                    if let Some((name, _)) = knob(SettingKind::Json, key) {
                        refuse_unresolved(name, &text, line)?;
                        self.set(FoundSetting { kind: SettingKind::Json, name, value: text, line });
                    }
                }
            }
        }
        Ok(())
    }

    /// A variable of the server's environment, if it is one of simulated acceptance.
    pub(super) fn variable(&mut self, name: &str, value: &str, line: usize) -> Result<(), FoundError> {
        let Some((name, _)) = knob(SettingKind::Env, name) else {
            if self.near_miss.is_none() {
                self.near_miss = similar(name).map(|meant| NearMiss { found: name.to_owned(), meant, line });
            }
            return Ok(());
        };
        refuse_unresolved(name, value, line)?;
        self.set(FoundSetting { kind: SettingKind::Env, name, value: value.to_owned(), line });
        Ok(())
    }

    /// The engine whose settings these are, where nothing else told it and they are of one engine.
    pub(super) fn guess_engine(&mut self) {
        let set = self.settings.iter().map(|setting| setting.name);
        let mut engines = set.chain(self.cleared.iter().copied()).filter_map(owner);
        if self.engine.is_none()
            && let Some(first) = engines.next()
            && engines.all(|engine| engine == first)
        {
            self.engine = Some(first);
        }
    }
}

/// `$X` and its like: a launcher's text, and nobody ran it.
fn refuse_unresolved(name: &str, value: &str, line: usize) -> Result<(), FoundError> {
    if value.contains(['$', '`']) {
        let kind = FoundErrorKind::Unresolved { name: name.to_owned(), value: value.to_owned() };
        return Err(kind.at(line));
    }
    Ok(())
}

pub(super) fn wrong(name: &str, found: &str, expected: &'static str) -> FoundErrorKind {
    FoundErrorKind::Type { name: name.to_owned(), found: crate::yaml::quoted(found), expected }
}
