//! `accsim.toml` and the folder that its paths are relative to.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};

use crate::recipe::{Config, Scenario};

use super::place;

/// Its name.
const NAME: &str = "accsim.toml";
/// Largest configuration.
const MOST_BYTES: u64 = 1 << 20;

/// A configuration and where it stands.
#[derive(Debug, Default)]
pub(super) struct Settings {
    pub(super) config: Config,
    /// Its folder; none without a configuration.
    folder: Option<PathBuf>,
    /// Itself, as the file system knows it.
    file: Option<PathBuf>,
}

/// What a configuration says of one file.
#[derive(Debug, Default)]
pub(super) struct Rule {
    pub(super) model: Option<String>,
    pub(super) thinking: Option<crate::golden::Thinking>,
    pub(super) scenario: Option<Scenario>,
    pub(super) is_excluded: bool,
    /// The path relative to the configuration, or as given.
    pub(super) path: String,
}

impl Settings {
    /// Reads the configuration named, or the one found here or above.
    pub(super) fn open(named: Option<&Path>, is_off: bool) -> anyhow::Result<Self> {
        if is_off {
            return Ok(Self::default());
        }
        let file = match named {
            Some(file) => file.to_owned(),
            None => match found() {
                Some(file) => file,
                None => return Ok(Self::default()),
            },
        };
        let shown = file.display();
        let size = fs::metadata(&file).with_context(|| format!("cannot read {shown}"))?.len();
        if size > MOST_BYTES {
            return Err(anyhow!("{shown} is larger than {MOST_BYTES} bytes"));
        }
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {shown}"))?;
        let config = Config::parse(&text).map_err(|error| anyhow!("{shown}: {error}"))?;
        let file = fs::canonicalize(&file).ok();
        let folder = file.as_deref().and_then(Path::parent).map(Path::to_owned);
        Ok(Self { config, folder, file })
    }

    /// Paths of the configuration, from here.
    pub(super) fn here(&self, paths: &[String]) -> Vec<PathBuf> {
        paths.iter().map(|path| self.of_folder(path)).collect()
    }

    fn of_folder(&self, path: &str) -> PathBuf {
        let Some(folder) = &self.folder else { return PathBuf::from(path) };
        let here = std::env::current_dir().and_then(fs::canonicalize).ok();
        // Short names where the configuration stands in this folder.
        if here.as_ref() == Some(folder) { PathBuf::from(path) } else { folder.join(path) }
    }

    /// The configuration's own file.
    pub(super) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Whether there is a configuration.
    pub(super) fn is_present(&self) -> bool {
        self.folder.is_some()
    }

    /// What holds for a file.
    pub(super) fn rule(&self, file: &Path) -> Rule {
        let shown = file.to_string_lossy().replace('\\', "/");
        let Some(folder) = &self.folder else { return Rule { path: shown, ..Rule::default() } };
        let whole = place::whole(file);
        let path = whole.strip_prefix(folder).map_or(shown, |path| path.to_string_lossy().replace('\\', "/"));
        let rule = self.config.rule(&path);
        Rule {
            model: rule.model,
            thinking: rule.thinking,
            scenario: rule.scenario,
            is_excluded: self.config.excludes(&path),
            path,
        }
    }
}

/// The configuration here or in a folder above.
fn found() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let own = Path::new(NAME);
    if own.is_file() {
        return Some(own.to_owned());
    }
    here.ancestors().skip(1).map(|folder| folder.join(NAME)).find(|file| file.is_file())
}
