//! The rows of a manifest: CSV with a heading, or JSON lines.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

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

/// What stands behind the last row of CSV, on a line of its own.
const END: &[u8] = b"\n\0end of the manifest\n";
const MARK: &str = "\0end of the manifest";

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
        let line = skip_blanks(&mut source).with_context(|| format!("cannot read {name}"))?;
        let first = source.fill_buf().with_context(|| format!("cannot read {name}"))?.first().copied();
        match first {
            None => {
                bail!("{name}: the manifest is empty; expected a heading with a column 'path', or JSON lines")
            }
            Some(b'{') => manifest.json_lines(source, &name, line)?,
            Some(b'[') => bail!("{name}: line {line}: {}", bracket(source.fill_buf().unwrap_or_default())),
            Some(_) => manifest.csv(source, &name, line)?,
        }
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        for label in manifest.rows.iter().flat_map(|row| row.labels.keys()) {
            if seen.insert(label) {
                manifest.labels.push(label.clone());
            }
        }
        Ok(manifest)
    }

    /// Reads CSV, the heading of which stands in this line.
    fn csv(&mut self, source: impl Read, name: &str, first: u64) -> anyhow::Result<()> {
        // A quote that nobody closes takes in all that follows it, this mark with it.
        let source = source.chain(END);
        // Lines end as on every system: what stands before the line feed is taken away below.
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .trim(csv::Trim::Headers)
            .terminator(csv::Terminator::Any(b'\n'))
            .from_reader(source);
        let heading = reader.byte_headers().with_context(|| format!("{name}: line {first}"))?.clone();
        let Ok(heading) = csv::StringRecord::from_byte_record(heading) else {
            bail!(
                "{name}: line {first}: the heading is no UTF-8 text; a manifest is CSV with a heading, or JSON lines"
            )
        };
        let heading: Vec<&str> = heading.iter().collect();
        ensure!(!heading.iter().any(|column| column.contains(MARK)), unclosed(name, first));
        check_heading(&heading).map_err(|error| anyhow::anyhow!("{name}: line {first}: {error}"))?;
        for (at, column) in heading.iter().enumerate() {
            ensure!(!column.is_empty(), "{name}: line {first}: column {} has no name", at + 1);
            row::check_column(column).map_err(|error| anyhow::anyhow!("{name}: line {first}: {error}"))?;
            ensure!(
                !heading.iter().take(at).any(|other| other == column),
                "{name}: line {first}: column '{column}' stands here twice"
            );
        }
        let (mut last, mut bytes) = (first, csv::ByteRecord::new());
        loop {
            let number = self.number();
            let read = reader.read_byte_record(&mut bytes);
            let (record, foreign) = as_text(&bytes);
            // Where the next one begins, lines and all that a field in quotes has of them counted.
            let breaks = u64::try_from(record.iter().map(breaks).sum::<usize>()).unwrap_or(0);
            let line = reader.position().line().saturating_sub(1 + breaks).saturating_add(first - 1);
            let row = match read {
                // The row before took in the end of the file.
                Ok(false) => bail!(unclosed(name, last.saturating_add(1))),
                Err(error) if error.is_io_error() => {
                    return Err(error).with_context(|| format!("cannot read {name}"));
                }
                Err(error) => Row::failed(number, line, error.to_string()),
                Ok(true) if record.len() == 1 && record.get(0) == Some(MARK) => return Ok(()),
                Ok(true) if record.len() == 1 && matches!(record.get(0), Some("" | "\r")) => continue,
                Ok(true) => {
                    let row = csv_row(number, line, &heading, &record);
                    match foreign.map(|at| heading.get(at).copied().unwrap_or("path")) {
                        Some(column) => row.failing(no_text(&format!("column '{column}'"))),
                        None => row,
                    }
                }
            };
            last = line;
            self.rows.push(row);
        }
    }

    /// Reads JSON lines, the first of which is this one.
    fn json_lines(&mut self, mut source: impl BufRead, name: &str, first: u64) -> anyhow::Result<()> {
        let mut line = Vec::new();
        for at in first.. {
            line.clear();
            let read = source.by_ref().take(MOST_LINE).read_until(b'\n', &mut line);
            if read.with_context(|| format!("cannot read {name}"))? == 0 {
                break;
            }
            ensure!(
                u64::try_from(line.len()).unwrap_or(u64::MAX) < MOST_LINE,
                "{name}: line {at} is longer than {MOST_LINE} bytes"
            );
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let number = self.number();
            let text = String::from_utf8_lossy(&line);
            let is_text = matches!(text, Cow::Borrowed(_));
            self.rows.push(match serde_json::from_str::<Fields>(&text) {
                Err(_) if !is_text => Row::failed(number, at, no_text("the line")),
                Err(error) => Row::failed(number, at, format!("no JSON object: {error}")),
                Ok(Fields { fields, twice }) => {
                    let row =
                        Row::new(number, at, fields.iter().map(|(key, value)| (key.as_str(), value.clone())));
                    match twice {
                        _ if !is_text => row.failing(no_text("the line")),
                        Some(key) => row.failing(format!("key '{key}' stands here twice")),
                        None => row,
                    }
                }
            });
        }
        Ok(())
    }

    fn number(&self) -> u64 {
        u64::try_from(self.rows.len()).unwrap_or(u64::MAX).saturating_add(1)
    }
}

/// A row of CSV.
fn csv_row(number: u64, line: u64, heading: &[&str], record: &csv::StringRecord) -> Row {
    let last = record.len().saturating_sub(1);
    let values = record
        .iter()
        .enumerate()
        .map(|(at, value)| value.strip_suffix('\r').filter(|_| at == last).unwrap_or(value));
    let fields = heading.iter().copied().zip(values).filter(|(_, value)| !value.is_empty());
    let is_whole = record.len() == heading.len();
    // Which column a value is of is not known for sure where some are missing: enough to find the row again.
    let fields = fields.filter(|(column, _)| is_whole || *column == "path" || row::is_label(column));
    let row = Row::new(number, line, fields.map(|(column, value)| (column, Value::from(value))));
    let breaks = record.iter().map(breaks).sum::<usize>();
    if breaks > 0 {
        let end = line.saturating_add(u64::try_from(breaks).unwrap_or(0));
        return row.failing(format!(
            "a field in quotes goes on to line {end}: a quote is missing, or too many; what has line breaks is written as JSON \
             lines"
        ));
    }
    if is_whole {
        return row;
    }
    row.failing(format!("{} fields where the heading has {} columns", record.len(), heading.len()))
}

/// Why a file that begins with a bracket is no manifest.
fn bracket(held: &[u8]) -> &'static str {
    let next = held.iter().skip(1).find(|byte| !byte.is_ascii_whitespace());
    match next {
        None | Some(b'{' | b'[' | b']' | b'"') => {
            "a JSON array; a manifest is JSON lines, one object a line, without brackets and commas around them"
        }
        Some(_) => LOG,
    }
}

const LOG: &str = "this is a log and no manifest, as it looks; audit it by its path, without --manifest";

/// Words of the lines that servers write.
const OF_LOGS: [&str; 5] = ["Decode batch", "server_args", "SpecDecoding metrics", "INFO", "WARNING"];

/// Refuses headings that are none, by what they look like.
fn check_heading(heading: &[&str]) -> Result<(), String> {
    if heading.contains(&"path") {
        return Ok(());
    }
    let line = heading.join(",");
    if OF_LOGS.iter().any(|words| line.contains(words)) || line.contains('\0') {
        return Err(LOG.to_owned());
    }
    for (separator, shown) in [(';', "';'"), ('\t', "tabs")] {
        if line.split([separator, ',']).any(|column| column.trim().trim_matches('"') == "path") {
            return Err(format!("the columns are separated by {shown}; a manifest is CSV, with commas"));
        }
    }
    let known: Vec<String> = heading.iter().take(8).map(|column| format!("'{}'", cut(column))).collect();
    let more = if heading.len() > known.len() { ", ..." } else { "" };
    Err(format!(
        "no column 'path'; the first line is the heading, and has {}{more}",
        if line.is_empty() { "no names".to_owned() } else { known.join(", ") }
    ))
}

/// The beginning of a text that may be long.
fn cut(text: &str) -> String {
    let cut: String = text.chars().take(40).collect();
    let more = if cut.len() < text.len() { "..." } else { "" };
    format!("{}{more}", cut.escape_debug())
}

/// The fields as text, and the first one that is none: what it is like goes on, so that somebody finds the row again.
fn as_text(bytes: &csv::ByteRecord) -> (csv::StringRecord, Option<usize>) {
    let foreign = bytes.iter().position(|field| std::str::from_utf8(field).is_err());
    (bytes.iter().map(String::from_utf8_lossy).collect::<Vec<_>>().into(), foreign)
}

fn no_text(what: &str) -> String {
    format!("{what} is no UTF-8 text; write the file anew as UTF-8")
}

fn breaks(field: &str) -> usize {
    field.matches('\n').count()
}

fn unclosed(name: &str, line: u64) -> String {
    format!("{name}: line {line}: a quote is opened here, or in a row behind it, and never closed")
}

/// The fields of a JSON line in their order, and the first key that stands there twice.
struct Fields {
    fields: Vec<(String, Value)>,
    twice: Option<String>,
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit;
        impl<'de> Visitor<'de> for Visit {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let (mut fields, mut twice) = (Vec::<(String, Value)>::new(), None);
                while let Some(key) = map.next_key::<String>()? {
                    let raw: Box<RawValue> = map.next_value()?;
                    let value = if key == "labels" && raw.get().starts_with('{') {
                        let labels: Fields = serde_json::from_str(raw.get()).map_err(de::Error::custom)?;
                        twice = twice.or(labels.twice);
                        Value::Object(labels.fields.into_iter().collect())
                    } else {
                        as_written(&raw).map_err(de::Error::custom)?
                    };
                    if fields.iter().any(|(known, _)| *known == key) {
                        twice.get_or_insert(key);
                    } else {
                        fields.push((key, value));
                    }
                }
                Ok(Fields { fields, twice })
            }
        }
        deserializer.deserialize_map(Visit)
    }
}

/// A value in which numbers are texts, as they are written: what a number comes to in a machine is not always what somebody
/// called a run.
fn as_written(raw: &RawValue) -> serde_json::Result<Value> {
    match raw.get().bytes().next() {
        Some(b'-' | b'0'..=b'9') => Ok(Value::from(raw.get())),
        Some(b'[') => {
            let all: Vec<Box<RawValue>> = serde_json::from_str(raw.get())?;
            all.iter().map(|raw| as_written(raw)).collect()
        }
        _ => serde_json::from_str(raw.get()),
    }
}

/// Passes over blank lines and the mark of an encoding; says the number of the line that follows.
fn skip_blanks(source: &mut impl BufRead) -> io::Result<u64> {
    let mut line = 1;
    if source.fill_buf()?.starts_with("\u{feff}".as_bytes()) {
        source.consume("\u{feff}".len());
    }
    loop {
        let held = source.fill_buf()?;
        let blanks = held.iter().take_while(|byte| byte.is_ascii_whitespace());
        let (mut count, mut breaks) = (0, 0);
        for byte in blanks {
            count += 1;
            breaks += u64::from(*byte == b'\n');
        }
        line += breaks;
        source.consume(count);
        if count == 0 {
            return Ok(line);
        }
    }
}
