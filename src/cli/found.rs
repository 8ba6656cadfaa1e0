//! Files of settings that the user names, or that lie beside a log.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};

use crate::simulate::found::{Role, parse_env, parse_recipe};

/// Largest file that is read: a trace among the output of a long run.
const MOST_BYTES: u64 = 64 << 20;

/// A file to read settings from.
#[derive(Clone, Debug)]
pub(crate) enum FoundFile {
    /// An environment, a trace, a document.
    Env(PathBuf),
    /// A recipe.
    Recipe(PathBuf),
}

/// The servers that a file describes, its name, and variants that were not read.
pub(crate) struct Found {
    pub(crate) file: String,
    pub(crate) roles: Vec<Role>,
    pub(crate) unread: Vec<String>,
}

pub(crate) fn read(found: &FoundFile) -> anyhow::Result<Found> {
    let (FoundFile::Env(path) | FoundFile::Recipe(path)) = found;
    let (file, text) = text(path)?;
    let (roles, unread) = match found {
        FoundFile::Env(_) => (vec![parse_env(&text).with_context(|| file.clone())?], Vec::new()),
        FoundFile::Recipe(_) => {
            let recipe = parse_recipe(&text).with_context(|| file.clone())?;
            (recipe.roles, recipe.unread)
        }
    };
    Ok(Found { file, roles, unread })
}

/// The name of a file, and what it holds.
pub(crate) fn text(path: &Path) -> anyhow::Result<(String, String)> {
    let is_stdin = path == Path::new("-");
    let file = if is_stdin { "(standard input)".to_owned() } else { path.display().to_string() };
    let bytes = if is_stdin { limited(io::stdin().lock()) } else { File::open(path).and_then(limited) }
        .with_context(|| format!("cannot read {file}"))?;
    ensure!(
        u64::try_from(bytes.len()).is_ok_and(|bytes| bytes <= MOST_BYTES),
        "{file} is larger than {MOST_BYTES} bytes"
    );
    Ok((file, String::from_utf8_lossy(&bytes).into_owned()))
}

fn limited(source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
