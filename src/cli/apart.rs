//! Results are kept apart from what they are made of: `-o` and its like never replace an input.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};

use super::Global;
use super::output::is_stdout;
use crate::evidence::{Input, Limits, Reader, Record};

/// Refuses results that would replace an input or each other, before anything is read or written. What is no regular file (a
/// device, a pipe) loses nothing.
pub(crate) fn apart<'a>(
    inputs: impl IntoIterator<Item = &'a Path>,
    outputs: impl IntoIterator<Item = Option<&'a Path>>,
) -> anyhow::Result<()> {
    let outputs: Vec<Option<&Path>> = outputs.into_iter().collect();
    let printed = outputs.iter().flatten().filter(|output| is_stdout(output)).count();
    ensure!(printed < 2, "cannot write two results to standard output: name a file");
    let outputs: Vec<(&Path, PathBuf)> = results(outputs).collect();
    if outputs.is_empty() {
        return Ok(());
    }
    for input in inputs.into_iter().filter_map(|input| fs::canonicalize(input).ok()) {
        if let Some((output, _)) = outputs.iter().find(|(_, place)| *place == input) {
            bail!(is_input(output));
        }
    }
    for (number, (output, place)) in outputs.iter().enumerate() {
        let is_taken = outputs.iter().take(number).any(|(_, other)| other == place);
        ensure!(!is_taken, "cannot write two results to {}: name another file", output.display());
    }
    Ok(())
}

/// The same where inputs are logs or folders of logs: no result replaces a log that a walk finds. What else lies in such a
/// folder is no log: it may well be the result of an earlier run.
pub(crate) fn apart_from_logs<'a>(
    inputs: &'a [PathBuf],
    outputs: impl IntoIterator<Item = Option<&'a Path>> + Clone,
) -> anyhow::Result<()> {
    apart(inputs.iter().map(PathBuf::as_path), outputs.clone())?;
    for (output, place) in results(outputs).filter(|(_, place)| place.is_file()) {
        let is_below = |input: &PathBuf| {
            fs::canonicalize(input).is_ok_and(|folder| folder.is_dir() && place.starts_with(folder))
        };
        if inputs.iter().any(is_below) {
            ensure!(!holds_evidence(&place), is_input(output));
        }
    }
    Ok(())
}

/// Whether two paths lead to one file.
pub(crate) fn is_same(left: &Path, right: &Path) -> bool {
    fs::canonicalize(left).is_ok_and(|left| fs::canonicalize(right).is_ok_and(|right| left == right))
}

/// What is said of a result that would replace an input.
fn is_input(output: &Path) -> String {
    format!("cannot write {}: it is an input; name another file", output.display())
}

/// Results with the places that they go to.
fn results<'a>(
    outputs: impl IntoIterator<Item = Option<&'a Path>>,
) -> impl Iterator<Item = (&'a Path, PathBuf)> {
    let outputs = outputs.into_iter().flatten();
    let is_file =
        |output: &&Path| !is_stdout(output) && !fs::metadata(output).is_ok_and(|kind| !kind.is_file());
    let files = outputs.filter(is_file);
    files.map(|output| (output, place(output)))
}

/// Where a file is or will be.
pub(crate) fn place(file: &Path) -> PathBuf {
    if let Ok(known) = fs::canonicalize(file) {
        return known;
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (fs::canonicalize(folder), file.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => file.to_owned(),
    }
}

/// Whether a file shows what a server did.
fn holds_evidence(file: &Path) -> bool {
    let mut found = false;
    let _ = Reader::new(Limits::default()).read(&Input::from(file), &mut |_, record| {
        found |= !matches!(record, Record::Skipped(_) | Record::Setting(_));
    });
    found
}

impl Global {
    /// The files of `--golden-dir`: inputs of every command that looks a cell up.
    pub(crate) fn golden_files(&self) -> Vec<PathBuf> {
        let files = self.golden_dir.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
        files.flatten().map(|file| file.path()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_result_replaces_an_input_or_another_result() {
        let folder = tempfile::tempdir().unwrap();
        let (log, new) = (folder.path().join("a.log"), folder.path().join("b.txt"));
        fs::write(&log, "log").unwrap();
        let same = folder.path().join(".").join("a.log");
        assert!(apart([log.as_path()], [Some(new.as_path()), None]).is_ok());
        let refused = apart([log.as_path()], [Some(same.as_path())]).unwrap_err();
        assert!(refused.to_string().ends_with("it is an input; name another file"), "{refused}");
        let refused = apart([log.as_path()], [Some(new.as_path()), Some(new.as_path())]).unwrap_err();
        assert!(refused.to_string().starts_with("cannot write two results to"), "{refused}");
    }

    #[test]
    fn no_result_replaces_a_log_in_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let (log, report) = (folder.path().join("a.log"), folder.path().join("report.txt"));
        let line = "[2026-10-12 01:02:03 TP0] Decode batch, #running-req: 16, #token: 793, token usage: 0.05, \
                    accept len: 3.52, accept rate: 0.50, cuda graph: True, gen throughput (token/s): 585.98, #queue-req: 0\n";
        fs::write(&log, line).unwrap();
        fs::write(&report, "a.log: consistent\n").unwrap();
        let inputs = [folder.path().to_owned()];
        let refused = apart_from_logs(&inputs, [Some(log.as_path())]).unwrap_err();
        assert!(refused.to_string().ends_with("it is an input; name another file"), "{refused}");
        for other in [report, folder.path().join("new.txt")] {
            assert!(apart_from_logs(&inputs, [Some(other.as_path())]).is_ok(), "{}", other.display());
        }
    }
}
