//! What makes a row of a manifest the same row, and its inputs the same inputs.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use sha2::{Digest as _, Sha256};

use super::row::Row;
use super::spelling::{spelled, spelled_in};
use crate::cli::Global;
use crate::cli::apart::place;
use crate::cli::audit::{AuditArgs, Folders};

/// Files and folders of one row that are looked at; of what is beyond only the number counts.
const MOST_ENTRIES: usize = 100_000;

/// The row: its paths, labels and all flags that bear on the result, the golden curves, and the program that audits it.
pub(super) fn of_row(row: &Row, args: &AuditArgs, curves: &str, is_partial: bool) -> String {
    let mut hash = Sha256::new();
    hash.update(env!("CARGO_PKG_VERSION"));
    let args = args.with_paths(spelled);
    hash.update(format!("{:?} {:?} {:?} {}", args, curves, row.labels, is_partial));
    hex(&hash.finalize())
}

/// The golden curves: those that are built in belong to the program, those of a folder are its files.
pub(super) fn of_curves(global: &Global) -> String {
    global
        .golden_dir
        .as_ref()
        .map_or_else(String::new, |folder| of_files(vec![folder.clone()], &Own::default()))
}

/// All inputs as they are now: those that the row names, and what lies beside its logs and says what the run was told. What
/// the audit writes itself is none.
pub(super) fn of_inputs(args: &AuditArgs, folders: &Folders, own: &Own) -> String {
    let mut files = args.inputs();
    files.extend(args.beside(folders).into_iter().filter(|file| !own.holds(file)));
    of_files(files, own)
}

/// What an audit writes, by real folders and names: it may lie in a folder that it audits.
#[derive(Debug, Default)]
pub(super) struct Own(Vec<(PathBuf, OsString)>);

impl Own {
    pub(super) fn new<'a>(files: impl IntoIterator<Item = &'a Path>) -> Self {
        // A link, and the file that it leads to.
        let places = files.into_iter().flat_map(|file| [file.to_owned(), place(file)]);
        Self(places.filter_map(|file| Some((folder_of(&file)?, file.file_name()?.to_owned()))).collect())
    }

    /// Whether a file is one of these, or what is written beside one before it is renamed.
    fn holds(&self, file: &Path) -> bool {
        let Some(name) = file.file_name() else { return false };
        let bytes = name.as_encoded_bytes();
        let is_named = |own: &OsString| {
            let rest = bytes.strip_prefix(own.as_encoded_bytes());
            rest.is_some_and(|rest| rest.is_empty() || (rest.starts_with(b".") && rest.ends_with(b".tmp")))
        };
        let mut named = self.0.iter().filter(|(_, own)| is_named(own)).peekable();
        if named.peek().is_none() {
            return false;
        }
        let folder = folder_of(file);
        named.any(|(own, _)| folder.as_ref() == Some(own))
    }
}

/// The folder that a file lies in, without links.
fn folder_of(file: &Path) -> Option<PathBuf> {
    let folder = file.parent()?;
    fs::canonicalize(if folder.as_os_str().is_empty() { Path::new(".") } else { folder }).ok()
}

/// Files and folders: names, sizes and times of change, as build tools compare them. Bytes are not read for it.
fn of_files(mut waiting: Vec<PathBuf>, own: &Own) -> String {
    let mut hash = Sha256::new();
    let (mut seen, mut named) = (0_usize, waiting.len());
    while let Some(path) = waiting.pop() {
        seen += 1;
        if seen > MOST_ENTRIES {
            hash.update(waiting.len().to_le_bytes());
            break;
        }
        // What is named is walked even if it is a link.
        let is_named = waiting.len() < named;
        named = named.min(waiting.len());
        entry(&path, is_named, own, &mut hash, &mut waiting);
    }
    hex(&hash.finalize())
}

fn entry(path: &Path, is_named: bool, own: &Own, hash: &mut Sha256, waiting: &mut Vec<PathBuf>) {
    let name = path.as_os_str().as_encoded_bytes();
    hash.update(name.len().to_le_bytes());
    hash.update(name);
    let Ok(meta) = fs::metadata(path) else { return hash.update([0]) };
    if meta.is_dir() {
        // A link to a folder is not walked by the reader either.
        if !is_named && fs::symlink_metadata(path).is_ok_and(|own| own.is_symlink()) {
            return hash.update([1]);
        }
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        let mut below: Vec<PathBuf> =
            entries.map(|entry| entry.path()).filter(|path| !own.holds(path)).collect();
        below.sort_unstable();
        hash.update([2]);
        hash.update(below.len().to_le_bytes());
        waiting.extend(below);
    } else {
        let changed = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        hash.update([3]);
        hash.update(meta.len().to_le_bytes());
        hash.update(changed.unwrap_or_default().as_nanos().to_le_bytes());
    }
}

/// What a row of a manifest in this folder says, wherever it is audited. Rows that nobody can read are no repetitions of each other.
pub(super) fn of_words(row: &Row, folder: &Path, is_unreadable: bool) -> String {
    let number = is_unreadable.then_some(row.number);
    let paths: Vec<String> = row.paths.iter().map(|path| spelled_in(folder, path)).collect();
    hash(format!("{paths:?} {:?} {:?} {number:?}", row.flags, row.labels).as_bytes())
}

/// Stands for bytes.
pub(in crate::cli) fn hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The first 128 bits in hexadecimal digits.
pub(super) fn hex(hash: &[u8]) -> String {
    let first = hash.first_chunk().map_or(0, |first| u128::from_be_bytes(*first));
    format!("{first:032x}")
}
