//! Documents of parts: points one a line, and behind them what stands for all bytes before.

use std::borrow::Cow;
use std::io::{self, Write};

use anyhow::{Context as _, bail, ensure};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::identity;
use super::part::PartPoint;

/// Version of the form.
const VERSION: u64 = 2;

/// What stands between the points and the sum of the document.
const BEFORE_SUM: &str = "\n],\"sum\":\"";
const BEHIND_SUM: &str = "\"}\n";

/// Writes a document point by point.
pub(in crate::cli) struct PartWriter<'a> {
    out: Summed<'a>,
    between: &'static str,
}

/// Writes on, and adds up what it writes.
struct Summed<'a> {
    out: &'a mut dyn Write,
    sum: Sha256,
}

impl Write for Summed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.sum.update(bytes.get(..written).unwrap_or(bytes));
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<'a> PartWriter<'a> {
    pub(in crate::cli) fn new(out: &'a mut dyn Write) -> io::Result<Self> {
        let mut out = Summed { out, sum: Sha256::new() };
        write!(out, "{{\"accsim_part\":{VERSION},\"points\":[")?;
        Ok(Self { out, between: "\n" })
    }

    pub(in crate::cli) fn point(&mut self, point: &PartPoint) -> io::Result<()> {
        write!(self.out, "{}", self.between)?;
        self.between = ",\n";
        serde_json::to_writer(&mut self.out, point)?;
        Ok(())
    }

    pub(in crate::cli) fn finish(self) -> io::Result<()> {
        let Summed { out, sum } = self.out;
        write!(out, "{BEFORE_SUM}{}{BEHIND_SUM}", identity::hex(&sum.finalize()))
    }
}

/// Reads a document, all of it or nothing. What a transfer as text adds to it, line ends of another system and a mark of
/// its encoding, is not of it.
pub(super) fn read(bytes: &[u8]) -> anyhow::Result<Vec<PartPoint>> {
    #[derive(Deserialize)]
    struct Head {
        accsim_part: u64,
    }
    #[derive(Deserialize)]
    struct Document {
        points: Vec<PartPoint>,
    }
    let bytes = &*as_written(bytes);
    let head: Head = match serde_json::from_slice(bytes) {
        Ok(head) => head,
        Err(error) if error.is_eof() => bail!("the part ends early"),
        Err(_) => bail!("not a part that audit --partial wrote"),
    };
    ensure!(
        head.accsim_part == VERSION,
        "it has version {}, and this program reads parts of version {VERSION}",
        head.accsim_part
    );
    let (content, sum) = split(bytes).context("the part is damaged: its end is not as it was written")?;
    ensure!(identity::hash(content) == sum, "the part is damaged: it is not as it was written");
    let document: Document = serde_json::from_slice(bytes).context("the part is damaged")?;
    Ok(document.points)
}

/// A document without what a transfer added: no text in it has a carriage return that is not escaped.
fn as_written(bytes: &[u8]) -> Cow<'_, [u8]> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.contains(&b'\r') {
        Cow::Owned(bytes.iter().copied().filter(|byte| *byte != b'\r').collect())
    } else {
        Cow::Borrowed(bytes)
    }
}

/// What the sum of a document stands for, and the sum.
fn split(bytes: &[u8]) -> Option<(&[u8], &str)> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (content, sum) = text.strip_suffix(BEHIND_SUM)?.rsplit_once(BEFORE_SUM)?;
    Some((content.as_bytes(), sum))
}
