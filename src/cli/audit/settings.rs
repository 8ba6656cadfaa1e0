//! What the run was told to simulate: in files that the user names, or that lie beside the log.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};

use crate::audit::{InjectedSetting, Observed};
use crate::cli::found::{FoundFile, read, text};
use crate::engine::Engine;
use crate::evidence::{LogFile, Place};
use crate::golden::SettingSource;
use crate::recipe::{self, Selector, Told};
use crate::simulate::found::Role;

use super::beside::Folders;

/// Settings of one file.
#[derive(Clone, Debug)]
pub(super) struct FileSettings {
    file: String,
    source: SettingSource,
    is_beside: bool,
    /// The engine of the server that is told.
    engine: Option<Engine>,
    pub(super) settings: Vec<(String, String, u64)>,
    max: Option<u32>,
}

/// All files that settings were read from. Their numbers follow those of the logs.
#[derive(Debug)]
pub(super) struct SettingFiles {
    logs: u32,
    names: Vec<String>,
    /// Files that the user named: they hold for every point.
    named: Vec<FileSettings>,
    folders: Folders,
    /// Logs with records: their settings were read with them.
    read: HashSet<PathBuf>,
}

impl SettingFiles {
    /// Reads the files that the user named.
    pub(super) fn named(
        env: Option<&Path>,
        recipe: Option<&Path>,
        folders: &Folders,
    ) -> anyhow::Result<Self> {
        let files =
            [env.map(|path| FoundFile::Env(path.into())), recipe.map(|path| FoundFile::Recipe(path.into()))];
        let mut named = Vec::new();
        for file in files.into_iter().flatten() {
            let found = FileSettings::read(&file, false)?;
            ensure!(
                !found.settings.is_empty(),
                "{}: no server that drafts is told to simulate an accept length here",
                found.file
            );
            named.push(found);
        }
        Ok(Self { logs: 0, names: Vec::new(), named, folders: folders.clone(), read: HashSet::new() })
    }

    /// The logs are read: they have the first numbers.
    pub(super) fn after(&mut self, logs: &[LogFile]) {
        self.logs = u32::try_from(logs.len()).unwrap_or(u32::MAX);
        let read = logs.iter().filter(|log| log.has_records && self.named.is_empty());
        self.read = read.map(|log| PathBuf::from(&log.name)).filter(|path| !is_document(path)).collect();
    }

    /// The same while logs grow: files may have come beside them.
    pub(super) fn look_anew(&mut self, logs: &[LogFile]) {
        self.folders.forget();
        self.after(logs);
    }

    /// Names of the files, in the order of their numbers.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Adds to a point what it was told; says how many tokens a step can emit, where a file tells.
    pub(super) fn tell(&mut self, seen: &mut Observed, logs: &[LogFile]) -> Option<u32> {
        let mut found = self.named.clone();
        if found.is_empty() {
            found = self.folders.beside(seen, logs, &self.read);
            // A folder may hold another server's settings too.
            found.retain(|file| file.engine.is_none_or(|engine| seen.engine() == Some(engine)));
        }
        let mut max = None;
        for file in found {
            let number = self.number(&file.file);
            max = max.or(file.max);
            seen.add_settings(file.settings.into_iter().map(|(name, value, line)| InjectedSetting {
                name,
                value,
                place: Place { file: number, line },
                source: file.source,
                is_beside: file.is_beside,
            }));
        }
        max
    }

    fn number(&mut self, name: &str) -> u32 {
        let index = self.names.iter().position(|known| known == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        self.logs.saturating_add(u32::try_from(index).unwrap_or(u32::MAX))
    }
}

impl FileSettings {
    pub(super) fn read(file: &FoundFile, is_beside: bool) -> anyhow::Result<Self> {
        let source = match file {
            FoundFile::Env(_) => SettingSource::Env,
            FoundFile::Recipe(path) => {
                if let Some(found) = Self::recipe(path, is_beside)? {
                    return Ok(found);
                }
                SettingSource::Recipe
            }
        };
        let found = read(file)?;
        let mut own =
            Self { file: found.file, source, is_beside, engine: None, settings: Vec::new(), max: None };
        for role in found.roles.iter().filter(|role| role.name.as_deref() != Some("prefill")) {
            // In a recipe every role says whether it drafts; an environment may not.
            if role.name.is_some() && !role.is_speculative() {
                continue;
            }
            // Variables without a server around them were SGLang's before they were anyone's.
            let role = Role { engine: role.engine.or(Some(Engine::Sglang)), ..role.clone() };
            own.engine = own.engine.or(role.engine);
            own.max = own.max.or(role.max_accept_length());
            let first = role.settings.first().map_or(1, |setting| setting.line);
            let drafts =
                role.drafts.map(|drafts| ("num_speculative_tokens".to_owned(), drafts.to_string(), first));
            let settings = role.settings.into_iter().map(|setting| {
                (setting.name.trim_start_matches('-').replace('-', "_"), setting.value, setting.line)
            });
            let lined = |(name, value, line)| (name, value, u64::try_from(line).unwrap_or(u64::MAX));
            own.settings.extend(settings.chain(drafts).map(lined));
        }
        if !own.settings.iter().any(|(name, ..)| is_length(name)) {
            own.settings.clear();
        }
        Ok(own)
    }

    /// As the readers of recipes and launchers see a file; `None` where no server of it is told a length.
    fn recipe(path: &Path, is_beside: bool) -> anyhow::Result<Option<Self>> {
        let shown = path.to_string_lossy();
        let (name, selector) = Selector::split(&shown);
        // A path that is no text has no selector, and is taken as it is.
        let path = if path.to_str().is_some() { Path::new(name) } else { path };
        let (file, text) = text(path)?;
        // What they cannot read is said by the reader of settings, where nothing was selected.
        let document = match recipe::read(name, &text) {
            Ok(document) => document,
            Err(error) if selector.is_some() => return Err(error).context(file),
            Err(_) => None,
        };
        let told = document.map_or(Ok(Vec::new()), |document| document.told(selector.as_ref()));
        let told = told.with_context(|| file.clone())?;
        ensure!(
            selector.is_none() || !told.is_empty(),
            "{shown}: no server that drafts is told to simulate an accept length here"
        );
        let Some(Told { engine, max_accept_length, .. }) = told.first().cloned() else { return Ok(None) };
        let settings = told.into_iter().flat_map(|told| told.settings).map(|setting| {
            (setting.name.to_owned(), setting.value, u64::try_from(setting.line).unwrap_or(u64::MAX))
        });
        Ok(Some(Self {
            file,
            source: SettingSource::Recipe,
            is_beside,
            engine: Some(engine),
            settings: settings.collect(),
            max: max_accept_length,
        }))
    }
}

/// Whether a setting of this name makes the accept length.
fn is_length(name: &str) -> bool {
    name.ends_with("SIMULATE_ACC_LEN")
        || matches!(
            name,
            "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS"
                | "synthetic_acceptance_length"
                | "synthetic_acceptance_rates"
                | "spec_decode_acceptance_length"
                | "spec_decode_acceptance_rate"
        )
}

/// Whether a file is a document about a server by its name: evidence too, but settings in it are told only as those of a file
/// beside a log.
pub(super) fn is_document(path: &Path) -> bool {
    path.extension().is_some_and(|name| name.eq_ignore_ascii_case("json"))
}

/// Extensions of files whose settings nobody ran as they stand: scripts, and files that are read in another way.
const SCRIPTS: [&str; 8] = ["sh", "bash", "py", "md", "yaml", "yml", "sbatch", "slurm"];

/// Whether a file is no log by its name, so that settings in it were not echoed by the run.
pub(super) fn is_script(name: &str) -> bool {
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| SCRIPTS.contains(&extension.to_ascii_lowercase().as_str()))
}
