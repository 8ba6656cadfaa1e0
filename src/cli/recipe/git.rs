//! What a change touches, by the git program.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, anyhow, bail, ensure};

use super::place;

/// The files that differ from where `base` and HEAD part, with those that are new and not yet committed; whole paths.
pub(super) fn touched(base: &str) -> anyhow::Result<BTreeSet<PathBuf>> {
    ensure!(!base.is_empty() && !base.starts_with('-'), "'{base}' is not a revision");
    let root = text(&["rev-parse", "--show-toplevel"]).context("--base needs a git checkout")?;
    let root = PathBuf::from(root);
    let commit =
        text(&["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{base}^{{commit}}")])
            .map_err(|_| {
                anyhow!("git knows no revision '{base}'; a shallow checkout may lack it (fetch-depth: 0)")
            })?;
    // Where there is nothing in common, the revision itself is compared with.
    let fork = text(&["merge-base", &commit, "HEAD"]).unwrap_or_else(|_| commit.clone());
    let root_text = root.as_os_str().to_owned();
    let mut files = BTreeSet::new();
    for arguments in [
        &["diff", "--name-only", "-z", "--no-ext-diff", "--no-textconv", "--diff-filter=ACMRT", &fork, "--"]
            [..],
        &["ls-files", "--others", "--exclude-standard", "-z", "--full-name"][..],
    ] {
        let mut all: Vec<OsString> = vec!["-C".into(), root_text.clone()];
        all.extend(arguments.iter().map(OsString::from));
        files.extend(paths(&output(&all)?).into_iter().map(|path| place::whole(&root.join(path))));
    }
    Ok(files)
}

fn paths(bytes: &[u8]) -> Vec<PathBuf> {
    let names = bytes.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.map(|name| PathBuf::from(String::from_utf8_lossy(name).into_owned())).collect()
}

fn text(arguments: &[&str]) -> anyhow::Result<String> {
    let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
    let bytes = output(&arguments)?;
    Ok(String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']).to_owned())
}

fn output(arguments: &[OsString]) -> anyhow::Result<Vec<u8>> {
    let output = Command::new("git").args(arguments).output().context("cannot run git")?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        bail!("git: {}", crate::report::excerpt::excerpt(message.trim().as_bytes()));
    }
    Ok(output.stdout)
}
