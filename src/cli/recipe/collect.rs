//! The files that paths mean.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::recipe::{MOST_BYTES, Selector, is_excluded};

use super::place;

/// Files that one command may check, and folders inside of folders.
const MOST_FILES: usize = 200_000;
const MOST_DEPTH: usize = 64;

/// A file to check.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) path: PathBuf,
    pub(super) selector: Option<Selector>,
    /// Whether the user named it, and a walk did not find it.
    pub(super) is_named: bool,
}

impl Target {
    /// The name that findings show.
    pub(super) fn name(&self) -> String {
        if self.path == Path::new("-") {
            return "stdin".to_owned();
        }
        let shown = self.path.to_string_lossy().replace('\\', "/");
        shown.strip_prefix("./").map(str::to_owned).unwrap_or(shown)
    }

    /// Its bytes, one more than are read at most.
    pub(super) fn bytes(&self) -> io::Result<Vec<u8>> {
        let bound = u64::try_from(MOST_BYTES).unwrap_or(u64::MAX).saturating_add(1);
        let mut bytes = Vec::new();
        if self.path == Path::new("-") {
            io::stdin().lock().take(bound).read_to_end(&mut bytes)?;
        } else {
            fs::File::open(&self.path)?.take(bound).read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    }
}

/// The files of paths: a file is itself, a folder what is in it. Links are followed where the user names them only.
///
/// A path that cannot be read is an error in words, and the others are read all the same.
pub(super) fn targets(paths: &[String]) -> (Vec<Target>, Vec<String>) {
    let mut found = Vec::new();
    let mut errors = Vec::new();
    for text in paths {
        let (path, selector) = match Selector::split(text) {
            // A file of that very name has no selector.
            (_, Some(_)) if Path::new(text).exists() => (text.as_str(), None),
            split => split,
        };
        let path = PathBuf::from(path);
        let kind =
            if path == Path::new("-") { Ok(false) } else { fs::metadata(&path).map(|kind| kind.is_dir()) };
        let is_folder = match kind {
            Ok(is_folder) => is_folder,
            Err(error) => {
                errors.push(format!("cannot read {}: {error}", path.display()));
                continue;
            }
        };
        if is_folder {
            if let Err(error) = walk(&path, 0, &mut found) {
                errors.push(format!("{error:#}"));
            }
        } else {
            found.push(Target { path, selector, is_named: true });
        }
    }
    (distinct(found), errors)
}

/// Each file once, though several paths lead to it: a selector makes it another.
fn distinct(found: Vec<Target>) -> Vec<Target> {
    let mut seen: HashMap<(PathBuf, Option<String>), usize> = HashMap::with_capacity(found.len());
    let mut kept: Vec<Target> = Vec::with_capacity(found.len());
    for target in found {
        let is_stdin = target.path == Path::new("-");
        let whole = if is_stdin { target.path.clone() } else { place::whole(&target.path) };
        let key = (whole, target.selector.as_ref().map(ToString::to_string));
        match seen.get(&key).and_then(|index| kept.get_mut(*index)) {
            // The name that the user gave is the one that is shown.
            Some(held) if target.is_named && !held.is_named => *held = target,
            Some(_) => {}
            None => {
                seen.insert(key, kept.len());
                kept.push(target);
            }
        }
    }
    kept
}

fn walk(folder: &Path, depth: usize, found: &mut Vec<Target>) -> anyhow::Result<()> {
    if depth > MOST_DEPTH {
        bail!("{}: folders are nested deeper than {MOST_DEPTH}", folder.display());
    }
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut entries: Vec<_> = entries.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type()?;
        if kind.is_dir() {
            if !is_excluded(&entry.file_name().to_string_lossy()) {
                walk(&entry.path(), depth + 1, found)?;
            }
        } else if kind.is_file() {
            if found.len() >= MOST_FILES {
                bail!("more than {MOST_FILES} files");
            }
            found.push(Target { path: entry.path(), selector: None, is_named: false });
        }
    }
    Ok(())
}
