//! The rows of a manifest: CSV with a heading, or JSON lines.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use serde_json::{Map, Value};

use super::row::{self, Row};
use crate::cli::patient::Patient;

/// Rows, and the labels that any of them has.
#[derive(Debug, Default)]
pub(super) struct Manifest {
    pub(super) rows: Vec<Row>,
    pub(super) labels: Vec<String>,
    /// The folder that relative paths start from.
    pub(super) base: PathBuf,
}

/// Longest line: far beyond any row.
const MOST_LINE: u64 = 1 << 20;

impl Manifest {
    /// Reads a manifest. What is wrong with the form of the whole is an error; what is wrong with one row is that row's.
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let name = path.display().to_string();
        let source: Box<dyn Read> = if path == Path::new("-") {
            Box::new(Patient(io::stdin()))
        } else {
            Box::new(Patient(File::open(path).with_context(|| format!("cannot read {name}"))?))
        };
        let base = path.parent().map(Path::to_owned).unwrap_or_default();
        let mut source = BufReader::new(source);
        let mut manifest = Self { base, ..Self::default() };
        skip_blanks(&mut source).with_context(|| format!("cannot read {name}"))?;
        let first = source.fill_buf().with_context(|| format!("cannot read {name}"))?.first().copied();
        match first {
            None => {
                bail!("{name}: the manifest is empty; expected a heading with a column 'path', or JSON lines")
            }
            Some(b'{') => manifest.json_lines(source, &name)?,
            Some(_) => manifest.csv(source, &name)?,
        }
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        for label in manifest.rows.iter().flat_map(|row| row.labels.keys()) {
            if seen.insert(label) {
                manifest.labels.push(label.clone());
            }
        }
        Ok(manifest)
    }

    fn csv(&mut self, source: impl Read, name: &str) -> anyhow::Result<()> {
        let mut reader =
            csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::Headers).from_reader(source);
        let heading = reader.headers().with_context(|| format!("{name}: line 1"))?.clone();
        let heading: Vec<&str> = heading.iter().map(|column| column.trim_start_matches('\u{feff}')).collect();
        for (at, column) in heading.iter().enumerate() {
            row::check_column(column).map_err(|error| anyhow::anyhow!("{name}: line 1: {error}"))?;
            ensure!(
                !heading.iter().take(at).any(|other| other == column),
                "{name}: line 1: column '{column}' stands here twice"
            );
        }
        ensure!(heading.contains(&"path"), "{name}: line 1: no column 'path'");
        for record in reader.records() {
            let number = self.number();
            let row = match record {
                Err(error) if error.is_io_error() => {
                    return Err(error).with_context(|| format!("cannot read {name}"));
                }
                Err(error) => Row::failed(number, error.to_string()),
                Ok(record) if record.len() != heading.len() => Row::failed(
                    number,
                    format!("{} fields where the heading has {} columns", record.len(), heading.len()),
                ),
                Ok(record) => {
                    let fields = heading.iter().zip(record.iter()).filter(|(_, value)| !value.is_empty());
                    Row::new(number, fields.map(|(column, value)| (*column, Value::from(value))))
                }
            };
            self.rows.push(row);
        }
        Ok(())
    }

    fn json_lines(&mut self, mut source: impl BufRead, name: &str) -> anyhow::Result<()> {
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = source.by_ref().take(MOST_LINE).read_until(b'\n', &mut line);
            if read.with_context(|| format!("cannot read {name}"))? == 0 {
                return Ok(());
            }
            let number = self.number();
            ensure!(
                u64::try_from(line.len()).unwrap_or(u64::MAX) < MOST_LINE,
                "{name}: row {number} is longer than {MOST_LINE} bytes"
            );
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            self.rows.push(match serde_json::from_slice::<Map<String, Value>>(&line) {
                Err(error) => Row::failed(number, format!("no JSON object: {error}")),
                Ok(fields) => match fields.keys().find_map(|key| row::check_key(key).err()) {
                    Some(error) => Row::failed(number, error),
                    None => Row::new(number, fields.iter().map(|(key, value)| (key.as_str(), value.clone()))),
                },
            });
        }
    }

    fn number(&self) -> u64 {
        u64::try_from(self.rows.len()).unwrap_or(u64::MAX).saturating_add(1)
    }
}

fn skip_blanks(source: &mut impl BufRead) -> io::Result<()> {
    loop {
        let held = source.fill_buf()?;
        let blanks = held.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let ends = blanks == 0;
        source.consume(blanks);
        if ends {
            return Ok(());
        }
    }
}
