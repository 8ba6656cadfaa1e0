//! Files beside a point's logs that may say what the run was told. Runs often share a folder: it is listed once, and each
//! file is read once, however many logs lie in it.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use super::settings::FileSettings;
use crate::audit::Observed;
use crate::cli::found::FoundFile;
use crate::evidence::LogFile;

/// Files beside a log that are looked at, at most, and their largest size. Traces, dumps and recipes are small.
const MOST_FILES: usize = 64;
const MOST_BYTES: u64 = 4 << 20;

/// Their extensions; a launcher's script is none, since nobody can tell which of its branches ran.
const EXTENSIONS: [&str; 9] = ["env", "txt", "trace", "json", "yaml", "yml", "log", "out", "err"];

/// Folders that are remembered at a time.
const MOST_FOLDERS: usize = 64;

/// One file, and what it says once somebody asked.
#[derive(Debug)]
struct Beside {
    path: PathBuf,
    settings: OnceLock<Option<FileSettings>>,
}

/// The files of one folder, listed when they are first asked for.
type Folder = Arc<OnceLock<Vec<Beside>>>;

/// The folders that logs lie in. Clones share what is known.
#[derive(Clone, Debug, Default)]
pub(in crate::cli) struct Folders(Arc<Mutex<HashMap<PathBuf, Folder>>>);

impl Folders {
    /// Settings in the folders of a point's logs: what is no log itself, small, and says something.
    pub(super) fn beside(
        &self,
        seen: &Observed,
        logs: &[LogFile],
        read: &HashSet<PathBuf>,
    ) -> Vec<FileSettings> {
        let own = seen.files().iter().filter_map(|file| logs.get(usize::try_from(*file).ok()?));
        let mut found = Vec::new();
        for folder in folders_of(own.map(|log| Path::new(log.name.as_str()))) {
            let files = self.folder(&folder);
            for file in files.get_or_init(|| list(&folder)) {
                if !read.contains(&file.path) {
                    found.extend(file.settings.get_or_init(|| settings_of(&file.path)).clone());
                }
            }
        }
        found
    }

    /// Files in the folders of these logs that say something; the logs themselves are not asked.
    pub(super) fn saying_beside(&self, logs: &[PathBuf]) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for folder in folders_of(logs.iter().map(PathBuf::as_path)) {
            let files = self.folder(&folder);
            let files = files.get_or_init(|| list(&folder)).iter().filter(|file| !logs.contains(&file.path));
            let saying = files.filter(|file| file.settings.get_or_init(|| settings_of(&file.path)).is_some());
            found.extend(saying.map(|file| file.path.clone()));
        }
        found
    }

    /// Files may have come since: all are looked at anew.
    pub(super) fn forget(&self) {
        if let Ok(mut known) = self.0.lock() {
            known.clear();
        }
    }

    fn folder(&self, path: &Path) -> Folder {
        let Ok(mut known) = self.0.lock() else { return Folder::default() };
        if let Some(folder) = known.get(path) {
            return Arc::clone(folder);
        }
        if known.len() >= MOST_FOLDERS {
            known.clear();
        }
        Arc::clone(known.entry(path.to_owned()).or_default())
    }
}

/// The folders of logs, but not of what lies in an archive.
fn folders_of<'a>(logs: impl Iterator<Item = &'a Path>) -> BTreeSet<PathBuf> {
    logs.filter(|path| path.is_file())
        .filter_map(Path::parent)
        .map(|folder| if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_owned() })
        .collect()
}

fn list(folder: &Path) -> Vec<Beside> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .filter(|entry| {
            let name = PathBuf::from(entry.file_name());
            let extension = name.extension().and_then(|extension| extension.to_str());
            extension.is_some_and(|extension| EXTENSIONS.contains(&extension.to_ascii_lowercase().as_str()))
        })
        .map(|entry| entry.path())
        .collect();
    files.sort();
    let is_small = |path: &PathBuf| {
        fs::symlink_metadata(path).is_ok_and(|file| file.is_file() && file.len() <= MOST_BYTES)
    };
    // Of thousands only the first ones are asked for their size.
    let files = files.into_iter().filter(is_small).take(MOST_FILES);
    files
        .map(|path| Beside {
            path: path.strip_prefix(".").map(Path::to_owned).unwrap_or(path),
            settings: OnceLock::new(),
        })
        .collect()
}

/// What the logs of servers hold.
const LOG_MARKS: [&[u8]; 4] =
    [b"Decode batch", b"SpecDecoding metrics", b"[MTP Stats", b"num_scheduled_requests"];

/// A file that nobody named: what cannot be read as settings is none.
fn settings_of(path: &Path) -> Option<FileSettings> {
    // The log of another run says nothing about this one.
    let text = fs::read(path).ok()?;
    let is_log = |mark: &[u8]| memchr::memmem::find(&text, mark).is_some();
    if LOG_MARKS.into_iter().any(is_log) {
        return None;
    }
    let is_yaml = path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
    let recipe = is_yaml.then(|| FileSettings::read(&FoundFile::Recipe(path.into()), true).ok()).flatten();
    recipe
        .filter(|found| !found.settings.is_empty())
        .or_else(|| FileSettings::read(&FoundFile::Env(path.into()), true).ok())
        .filter(|found| !found.settings.is_empty())
}
