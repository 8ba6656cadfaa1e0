//! A folder of snapshots: `thinking_on/k5/before.prom` and `after.prom`, a folder for each mode and draft length, and
//! `matrix.yaml` beside the modes.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::evidence::{Input, Limits, Snapshot, SnapshotError, read_snapshot};
use crate::golden::Thinking;

use super::about::{About, AboutError};
use super::measure::{Measured, Refusal, measure};

/// The file that says what was measured.
pub const ABOUT_FILE: &str = "matrix.yaml";

/// Bytes that it may have.
const MOST_ABOUT: u64 = 1 << 20;

/// Cells that a folder may hold.
const MOST_CELLS: usize = 4096;

/// What the folder came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// What was measured.
    pub about: About,
    /// The cells in order of mode and draft length.
    pub cells: Vec<MatrixCell>,
}

/// One mode and draft length.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixCell {
    /// The mode.
    pub thinking: Thinking,
    /// Tokens drafted a step.
    pub draft_length: u32,
    /// What its snapshots say.
    pub measured: Measured,
}

/// Why a folder gives no curve.
#[derive(Debug, thiserror::Error)]
pub enum MatrixError {
    /// The system says no.
    #[error("cannot read {}: {error}", .path.display())]
    Io {
        /// What could not be read.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// `matrix.yaml` is not as it must be.
    #[error("{}: {error}", .path.display())]
    About {
        /// The file.
        path: PathBuf,
        /// Why.
        error: AboutError,
    },
    /// No folder of a mode.
    #[error("{}: expected folders thinking_on or thinking_off with folders k1, k2, .. in them", .0.display())]
    NoModes(PathBuf),
    /// A folder beside those of the modes.
    #[error("{}: expected a folder named thinking_on or thinking_off", .0.display())]
    NoMode(PathBuf),
    /// A cell of another served model than the first one.
    #[error(
        "{thinking}, draft length {draft_length}: the served model is {model}, and {first} in the cells before; a curve is of \
         one model"
    )]
    OtherModel {
        /// The mode.
        thinking: Thinking,
        /// The draft length.
        draft_length: u32,
        /// The served model.
        model: String,
        /// That of the first cell.
        first: String,
    },
    /// Something lies where cells lie and is none.
    #[error("{}: expected a folder named k and a draft length, such as k5", .0.display())]
    NoCell(PathBuf),
    /// Two folders of one cell, `k5` and `k05`.
    #[error("{}: a second folder for the draft length {draft_length}", .path.display())]
    CellTwice {
        /// The second folder.
        path: PathBuf,
        /// The draft length.
        draft_length: u32,
    },
    /// A cell is missing.
    #[error(
        "{thinking} has no snapshots for the draft length {draft_length}; cells are never left out or guessed"
    )]
    MissingCell {
        /// The mode.
        thinking: Thinking,
        /// The draft length.
        draft_length: u32,
    },
    /// A cell that should not be there.
    #[error(
        "{thinking} has snapshots for the draft length {draft_length}, which `cells` of matrix.yaml does not name"
    )]
    UnnamedCell {
        /// The mode.
        thinking: Thinking,
        /// The draft length.
        draft_length: u32,
    },
    /// A snapshot is missing, or there are two.
    #[error("{}: expected one file or folder named {name} (before.prom and after.prom), found {found}", .folder.display())]
    Snapshots {
        /// The folder of the cell.
        folder: PathBuf,
        /// `before` or `after`.
        name: &'static str,
        /// How many there are.
        found: usize,
    },
    /// A snapshot cannot be read.
    #[error("{thinking}, draft length {draft_length}: {error}")]
    Snapshot {
        /// The mode.
        thinking: Thinking,
        /// The draft length.
        draft_length: u32,
        /// Why.
        error: SnapshotError,
    },
    /// The counters of a cell give no accept length.
    #[error("{thinking}, draft length {draft_length}: {error}")]
    Refused {
        /// The mode.
        thinking: Thinking,
        /// The draft length.
        draft_length: u32,
        /// Why.
        error: Refusal,
    },
    /// One scrape stands for two cells.
    #[error(
        "{thinking}, draft length {draft_length}: its snapshot after the run is the same as that of {other}: one measurement \
         stands for two cells, or was copied; measure each mode by itself"
    )]
    SameSnapshots {
        /// The mode.
        thinking: Thinking,
        /// The draft length.
        draft_length: u32,
        /// The mode of the cell before that has it too.
        other: Thinking,
    },
    /// The cells are too many.
    #[error("{}: more than {MOST_CELLS} cells", .0.display())]
    TooMany(PathBuf),
}

/// Reads a folder of snapshots, all of it or nothing. `model` picks a served model, else `matrix.yaml` does.
pub fn read_matrix(folder: &Path, model: Option<&str>, limits: &Limits) -> Result<Matrix, MatrixError> {
    let about = about(folder)?;
    let mut folders: BTreeMap<(Thinking, u32), PathBuf> = BTreeMap::new();
    let mut present = BTreeSet::new();
    let is_mode = |name: &str| [Thinking::On, Thinking::Off].iter().any(|mode| mode.key() == name);
    for path in children(folder)? {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        if path.is_dir() && !name.starts_with('.') && !is_mode(name) {
            return Err(MatrixError::NoMode(path));
        }
    }
    for thinking in [Thinking::On, Thinking::Off] {
        let path = folder.join(thinking.key());
        if path.is_dir() {
            present.insert(thinking);
            cells(&path, thinking, &mut folders)?;
        }
    }
    if folders.is_empty() {
        return Err(MatrixError::NoModes(folder.to_owned()));
    }
    complete(&about, &present, &folders)?;
    let model = model.or(about.served_model.as_deref());
    let mut cells = Vec::new();
    // Of other draft lengths a copy is refused by its drafted tokens.
    let mut scraped: BTreeMap<u32, Vec<(Thinking, Snapshot)>> = BTreeMap::new();
    for ((thinking, draft_length), folder) in folders {
        let read = |name| {
            let input = Input::from(snapshot_path(&folder, name)?.as_path());
            read_snapshot(&input, limits).map_err(|error| MatrixError::Snapshot {
                thinking,
                draft_length,
                error,
            })
        };
        let (before, after) = (read("before")?, read("after")?);
        let measured = measure(&before, &after, model).and_then(|measured| {
            measured.check_draft_length(draft_length)?;
            measured.check_golden()?;
            Ok(measured)
        });
        let measured = measured.map_err(|error| MatrixError::Refused { thinking, draft_length, error })?;
        let shown = measured.difference.model.clone();
        let first = cells.first().map(|cell: &MatrixCell| cell.measured.difference.model.clone());
        if let Some(first) = first.filter(|first| *first != shown) {
            let named = |model: Option<String>| model.unwrap_or_else(|| "no name".to_owned());
            return Err(MatrixError::OtherModel {
                thinking,
                draft_length,
                model: named(shown),
                first: named(first),
            });
        }
        let known = scraped.entry(draft_length).or_default();
        if let Some((other, _)) = known.iter().find(|(_, other)| *other == after) {
            return Err(MatrixError::SameSnapshots { thinking, draft_length, other: *other });
        }
        known.push((thinking, after));
        cells.push(MatrixCell { thinking, draft_length, measured });
    }
    Ok(Matrix { about, cells })
}

fn about(folder: &Path) -> Result<About, MatrixError> {
    let path = folder.join(ABOUT_FILE);
    let failed = |error| MatrixError::Io { path: path.clone(), error };
    let length = fs::metadata(&path).map_err(failed)?.len();
    if length > MOST_ABOUT {
        return Err(failed(io::Error::other("larger than 1 MiB")));
    }
    let bytes = fs::read(&path).map_err(failed)?;
    About::read(&bytes).map_err(|error| MatrixError::About { path, error })
}

/// The folders of a mode's cells.
fn cells(
    folder: &Path,
    thinking: Thinking,
    found: &mut BTreeMap<(Thinking, u32), PathBuf>,
) -> Result<(), MatrixError> {
    for path in children(folder)? {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        if name.starts_with('.') {
            continue;
        }
        let digits = name.strip_prefix('k').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let draft_length = digits.and_then(|digits| digits.parse().ok()).filter(|length| *length > 0);
        let Some(draft_length) = draft_length.filter(|_| path.is_dir()) else {
            return Err(MatrixError::NoCell(path));
        };
        if found.len() >= MOST_CELLS {
            return Err(MatrixError::TooMany(folder.to_owned()));
        }
        if found.insert((thinking, draft_length), path.clone()).is_some() {
            return Err(MatrixError::CellTwice { path, draft_length });
        }
    }
    Ok(())
}

/// Whether all cells are there that must be, and no others.
fn complete(
    about: &About,
    modes: &BTreeSet<Thinking>,
    found: &BTreeMap<(Thinking, u32), PathBuf>,
) -> Result<(), MatrixError> {
    let wanted: BTreeSet<(Thinking, u32)> = if let Some(cells) = &about.cells {
        cells.iter().flat_map(|(mode, lengths)| lengths.iter().map(|length| (*mode, *length))).collect()
    } else {
        let lengths: BTreeSet<u32> = found.keys().map(|(_, length)| *length).collect();
        modes.iter().flat_map(|mode| lengths.iter().map(|length| (*mode, *length))).collect()
    };
    if let Some((thinking, draft_length)) = wanted.iter().find(|cell| !found.contains_key(cell)) {
        return Err(MatrixError::MissingCell { thinking: *thinking, draft_length: *draft_length });
    }
    if let Some((thinking, draft_length)) = found.keys().find(|cell| !wanted.contains(cell)) {
        return Err(MatrixError::UnnamedCell { thinking: *thinking, draft_length: *draft_length });
    }
    Ok(())
}

/// The one entry whose name is `name`, whatever its extension.
fn snapshot_path(folder: &Path, name: &'static str) -> Result<PathBuf, MatrixError> {
    let is_named = |path: &PathBuf| {
        let file = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        file.split('.').next() == Some(name)
    };
    let mut found: Vec<PathBuf> = children(folder)?.into_iter().filter(is_named).collect();
    match (found.len(), found.pop()) {
        (1, Some(path)) => Ok(path),
        (found, _) => Err(MatrixError::Snapshots { folder: folder.to_owned(), name, found }),
    }
}

/// What a folder holds, in order of name.
fn children(folder: &Path) -> Result<Vec<PathBuf>, MatrixError> {
    let failed = |error| MatrixError::Io { path: folder.to_owned(), error };
    let mut children = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)?.take(4 * MOST_CELLS) {
        children.push(entry.map_err(failed)?.path());
    }
    children.sort();
    Ok(children)
}
