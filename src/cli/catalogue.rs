//! The golden curves that the global options name.

use std::io::Write;

use anyhow::{anyhow, ensure};

use crate::golden::{Catalogue, Lookup, LookupError, Query, Severity};

use super::global::Global;

/// The compiled-in curves, or those of `--golden-dir`.
pub(crate) fn open(global: &Global) -> anyhow::Result<Catalogue> {
    let Some(directory) = &global.golden_dir else { return Ok(Catalogue::builtin()) };
    let catalogue = Catalogue::from_dir(directory)?;
    let is_empty = catalogue.entries().next().is_none() && catalogue.unnamed().is_empty();
    ensure!(!is_empty, "{}: no curve file is in this directory; expected NAME.yaml", directory.display());
    Ok(catalogue)
}

/// The golden cell for a question; a refusal names the flag that answers it.
pub(crate) fn find(global: &Global, query: &Query<'_>) -> anyhow::Result<Lookup> {
    open(global)?.lookup(query).map_err(|error| match error {
        LookupError::Sampler { .. } => anyhow!("{error}; state it with --draft-sample-method"),
        other => other.into(),
    })
}

/// Tells the user of a cell what there is to know about it.
pub(crate) fn warn(global: &Global, lookup: &Lookup, err: &mut dyn Write) -> anyhow::Result<()> {
    for warning in &lookup.warnings {
        tell(global, warning.severity(), warning, err)?;
    }
    Ok(())
}

/// One line on stderr, unless `-q`.
pub(crate) fn tell(
    global: &Global,
    severity: Severity,
    message: &dyn std::fmt::Display,
    err: &mut dyn Write,
) -> anyhow::Result<()> {
    if !global.quiet {
        writeln!(err, "{severity}: {message}")?;
    }
    Ok(())
}
