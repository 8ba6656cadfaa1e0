//! `-o FILE`: a result that is there as a whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::Context as _;

/// Writes to `out`, or to the file that was named: beside it first, then renamed, so that nobody reads half a result.
pub(crate) fn write_to(
    file: Option<&Path>,
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> anyhow::Result<()> {
    let Some(file) = file else { return Ok(write(out)?) };
    let mut beside = file.as_os_str().to_owned();
    beside.push(format!(".{}.tmp", std::process::id()));
    let beside = Path::new(&beside);
    let written = File::create(beside)
        .and_then(|created| {
            let mut buffer = BufWriter::new(created);
            write(&mut buffer)?;
            buffer.flush()
        })
        .and_then(|()| fs::rename(beside, file));
    if written.is_err() {
        // Whatever is left of it is of no use; the error below says why.
        let _ = fs::remove_file(beside);
    }
    written.with_context(|| format!("cannot write {}", file.display()))
}
