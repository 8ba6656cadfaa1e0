//! The room's one edge to the file system: curve files of a directory, read whole and bounded.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::yaml::Limits;

use super::is_curve_name;

/// The directory beside curve files that holds their provenance.
pub const PROVENANCE_DIR: &str = "provenance";

/// Most files that one directory may bring in.
const MOST_FILES: usize = 10_000;

/// Deepest directory that a walk enters.
const MOST_DEPTH: usize = 16;

/// Why a directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// The system says no.
    #[error("cannot read the directory {}: {error}", .path.display())]
    Io {
        /// The directory.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// More files than a set of curves has.
    #[error("{}: more than {MOST_FILES} YAML files", .path.display())]
    TooManyFiles {
        /// The directory.
        path: PathBuf,
    },
}

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system says no.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A directory, a pipe, a device.
    #[error("not a regular file")]
    NotAFile,
    /// Larger than any curve.
    #[error("larger than {limit} bytes; no curve file is")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
}

/// What a directory holds.
pub(super) struct DirectoryFiles {
    pub(super) curves: Vec<CurveFile>,
    /// YAML files whose names no lookup can use.
    pub(super) unnamed: Vec<PathBuf>,
}

/// One curve file, read.
pub(super) struct CurveFile {
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) curve: Result<Vec<u8>, ReadError>,
    pub(super) provenance: Option<Result<Vec<u8>, ReadError>>,
}

/// Reads the curve files directly in `directory`.
pub(super) fn read_catalogue(directory: &Path) -> Result<DirectoryFiles, DirectoryError> {
    let mut files = DirectoryFiles { curves: Vec::new(), unnamed: Vec::new() };
    for path in children(directory)? {
        if !is_yaml(&path) || path.is_dir() {
            continue;
        }
        if files.curves.len() >= MOST_FILES {
            return Err(DirectoryError::TooManyFiles { path: directory.to_owned() });
        }
        match path.file_stem().and_then(|stem| stem.to_str()).filter(|stem| is_curve_name(stem)) {
            Some(_) if has_lookup_extension(&path) => files.curves.push(read_curve(&path)),
            _ => files.unnamed.push(path),
        }
    }
    Ok(files)
}

/// Reads a curve file and the provenance beside it.
pub(super) fn read_curve(path: &Path) -> CurveFile {
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let beside = path.with_file_name(PROVENANCE_DIR).join(format!("{name}.yaml"));
    let provenance = beside.exists().then(|| read_file(&beside));
    CurveFile { name, curve: read_file(path), provenance, path: path.to_owned() }
}

/// The YAML files in `directory` and below it, in the order of their paths. Hidden directories and links to
/// directories are not entered.
pub fn curve_files(directory: &Path) -> Result<Vec<PathBuf>, DirectoryError> {
    let mut found = Vec::new();
    let mut open = vec![(directory.to_owned(), 0)];
    while let Some((directory, depth)) = open.pop() {
        for path in children(&directory)? {
            let hidden =
                path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with('.'));
            let real_directory = path.is_dir() && !path.is_symlink();
            if real_directory && !hidden && depth < MOST_DEPTH {
                open.push((path, depth + 1));
            } else if is_yaml(&path) && !path.is_dir() {
                found.push(path);
            }
            if found.len() > MOST_FILES || open.len() > MOST_FILES {
                return Err(DirectoryError::TooManyFiles { path: directory });
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Reads a regular file of at most the size that the YAML reader takes.
pub fn read_file(path: &Path) -> Result<Vec<u8>, ReadError> {
    // Opening a pipe would wait for a writer.
    if !fs::metadata(path)?.is_file() {
        return Err(ReadError::NotAFile);
    }
    let limit = Limits::default().input_bytes;
    let mut bytes = Vec::new();
    let bound = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    File::open(path)?.take(bound).read_to_end(&mut bytes)?;
    if bytes.len() > limit { Err(ReadError::TooLarge { limit }) } else { Ok(bytes) }
}

fn children(directory: &Path) -> Result<Vec<PathBuf>, DirectoryError> {
    let failed = |error| DirectoryError::Io { path: directory.to_owned(), error };
    let mut paths = Vec::new();
    for child in fs::read_dir(directory).map_err(failed)? {
        paths.push(child.map_err(failed)?.path());
    }
    paths.sort();
    Ok(paths)
}

fn is_yaml(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    extension.eq_ignore_ascii_case("yaml") || extension.eq_ignore_ascii_case("yml")
}

/// A lookup appends `.yaml`, nothing else.
fn has_lookup_extension(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_found_down_to_the_deepest_level_and_no_deeper() {
        let folder = tempfile::tempdir().unwrap();
        let mut path = folder.path().to_owned();
        let mut expected = Vec::new();
        for depth in 0..=MOST_DEPTH + 1 {
            fs::create_dir_all(&path).unwrap();
            fs::write(path.join("curve.yaml"), "").unwrap();
            if depth <= MOST_DEPTH {
                expected.push(path.join("curve.yaml"));
            }
            path.push("deeper");
        }
        expected.sort();
        assert_eq!(curve_files(folder.path()).unwrap(), expected);
    }

    #[test]
    fn as_many_files_as_are_read_are_listed_and_one_more_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..MOST_FILES {
            fs::write(folder.path().join(format!("{number}.yaml")), "").unwrap();
        }
        assert_eq!(curve_files(folder.path()).unwrap().len(), MOST_FILES);
        fs::write(folder.path().join("more.yaml"), "").unwrap();
        assert!(matches!(curve_files(folder.path()), Err(DirectoryError::TooManyFiles { .. })));
    }
}
