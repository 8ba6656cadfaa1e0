//! From inputs to files. Every run reads the same ones in the same order: by name, a directory's files before what is
//! in the directories below it.

use std::ffi::OsString;
use std::fs::{self, FileType};
use std::io;
use std::path::Path;

use super::failure::{Failure, Limit, ReadError};
use super::input::Input;
use super::limits::Limits;
use super::name;
use super::passed::{PassedOver, Why};
use super::remote;
use super::unpack::Asked;

/// A file on disk, or standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) source: Input,
    pub(super) asked: Asked,
    /// Length in bytes; `None` for pipes and the like.
    pub(super) length: Option<u64>,
}

/// What a walk came upon.
#[derive(Debug, Default)]
pub(super) struct Walked {
    pub(super) found: Vec<Found>,
    pub(super) failed: Vec<ReadError>,
    pub(super) passed_over: Vec<PassedOver>,
}

/// The files at and below an input.
///
/// Links to files are followed, unless the walk comes upon the file itself. Links to directories are not, so no circle
/// can hold the walk. What is no regular file is read only when it is named itself.
pub(super) fn walk(input: &Input, limits: &Limits) -> Walked {
    let mut walked = Walked::default();
    let path = match input {
        Input::Path(path) => path,
        Input::Url(url) => {
            match remote::walk(url, limits) {
                Ok(found) => walked.found.extend(found),
                Err(failure) => walked.failed.push(ReadError { name: input.name(), failure, bytes: 0 }),
            }
            return walked;
        }
        Input::Stdin => {
            walked.found.push(Found { source: Input::Stdin, asked: Asked::ByName, length: None });
            return walked;
        }
    };
    match fs::metadata(path) {
        Ok(meta) if meta.is_dir() => walked.directory(path, limits),
        Ok(meta) => {
            let length = meta.is_file().then_some(meta.len());
            walked.found.push(Found { source: input.clone(), asked: Asked::ByName, length });
        }
        Err(error) => walked.fail(path, Failure::of_system(&error)),
    }
    walked
}

impl Walked {
    fn directory(&mut self, root: &Path, limits: &Limits) {
        let inside = fs::canonicalize(root).ok();
        let mut entries = 0;
        let mut waiting = vec![(root.to_owned(), 0)];
        while let Some((directory, depth)) = waiting.pop() {
            if depth > limits.depth {
                self.fail(&directory, Failure::OverLimit(Limit::Depth(limits.depth)));
                continue;
            }
            let (children, failure) = children(&directory, limits.entries.saturating_sub(entries));
            entries += super::budget::count(children.len());
            let mut below = Vec::new();
            for (name, kind) in children {
                let path = directory.join(name);
                if kind.is_dir() {
                    below.push((path, depth + 1));
                } else if let Err(why) = self.file(&path, kind, inside.as_deref()) {
                    self.passed_over.push(PassedOver { name: name::of_path(&path), why });
                }
            }
            // The last one is taken first.
            waiting.extend(below.into_iter().rev());
            match failure {
                None => {}
                Some(Stop::TooMany) => {
                    self.fail(root, Failure::OverLimit(Limit::Entries(limits.entries)));
                    return;
                }
                Some(Stop::Failed(error)) => self.fail(&directory, Failure::of_system(&error)),
            }
        }
    }

    /// A file, link or special file in a directory.
    fn file(&mut self, path: &Path, kind: FileType, inside: Option<&Path>) -> Result<(), Why> {
        if kind.is_symlink() {
            let target = fs::metadata(path).map_err(|_| Why::LinkToNothing)?;
            if target.is_dir() {
                return Err(Why::LinkToDirectory);
            }
            if !target.is_file() {
                return Err(Why::Special);
            }
            let target = fs::canonicalize(path).ok();
            if target.zip(inside).is_some_and(|(target, inside)| target.starts_with(inside)) {
                return Err(Why::LinkInside);
            }
        } else if !kind.is_file() {
            return Err(Why::Special);
        }
        match fs::metadata(path) {
            Ok(meta) => {
                let source = Input::Path(path.to_owned());
                self.found.push(Found { source, asked: Asked::Found, length: Some(meta.len()) });
            }
            Err(error) => self.fail(path, Failure::of_system(&error)),
        }
        Ok(())
    }

    fn fail(&mut self, path: &Path, failure: Failure) {
        self.failed.push(ReadError { name: name::of_path(path), failure, bytes: 0 });
    }
}

/// What kept a directory from being listed whole.
enum Stop {
    TooMany,
    Failed(io::Error),
}

/// The entries of a directory, in the order of the bytes of their names; at most `limit`.
fn children(directory: &Path, limit: u64) -> (Vec<(OsString, FileType)>, Option<Stop>) {
    let mut children = Vec::new();
    let mut stop = None;
    match fs::read_dir(directory) {
        Ok(listing) => {
            for entry in listing {
                if super::budget::count(children.len()) >= limit {
                    stop = Some(Stop::TooMany);
                    break;
                }
                match entry.and_then(|entry| Ok((entry.file_name(), entry.file_type()?))) {
                    Ok(child) => children.push(child),
                    Err(error) => stop = Some(Stop::Failed(error)),
                }
            }
        }
        Err(error) => stop = Some(Stop::Failed(error)),
    }
    children.sort_by(|(one, _), (other, _)| one.cmp(other));
    (children, stop)
}
