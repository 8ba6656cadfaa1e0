//! `accsim curves check`.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::cli::Exit;
use crate::cli::format::FormatFlags;
use crate::cli::global::Global;
use crate::golden::{Checked, Severity};
use crate::report::json::curves::CheckDocument;
use crate::report::{json, text};
use crate::yaml::Limits;

pub(super) fn run(
    paths: &[PathBuf],
    format: FormatFlags,
    global: &Global,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let mut exit = Exit::Ok;
    let mut checked = Checked::default();
    match (paths, &global.golden_dir) {
        ([], None) => checked = Checked::builtin(),
        ([], Some(directory)) => checked.path(directory)?,
        _ => {
            for path in paths {
                if let Err(error) = check(path, &mut checked) {
                    writeln!(err, "error: {error:#}")?;
                    exit = Exit::Failed;
                }
            }
        }
    }
    for (path, error) in &checked.unreadable {
        writeln!(err, "error: cannot read {}: {error}", path.display())?;
        exit = Exit::Failed;
    }
    if checked.count(Severity::Error) > 0 {
        exit = exit.worst(Exit::Wrong);
    }
    if format.is_json() {
        json::write(out, &CheckDocument::new(&checked))?;
    } else {
        text::curves::check(out, &checked)?;
    }
    Ok(exit)
}

fn check(path: &Path, checked: &mut Checked) -> anyhow::Result<()> {
    if path.as_os_str() == "-" {
        // One byte more than the YAML reader takes, so that it can say that there is too much.
        let bound = u64::try_from(Limits::default().input_bytes).unwrap_or(u64::MAX).saturating_add(1);
        let mut bytes = Vec::new();
        io::stdin().lock().take(bound).read_to_end(&mut bytes).context("cannot read stdin")?;
        checked.text("-", "stdin", &bytes);
        return Ok(());
    }
    let before = checked.files + checked.unreadable.len();
    checked.path(path)?;
    if checked.files + checked.unreadable.len() == before {
        anyhow::bail!("{}: found no YAML file; expected curve files", path.display());
    }
    Ok(())
}
