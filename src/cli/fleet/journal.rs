//! What is done of a manifest: a file that only grows, one JSON line a row, on the disk before the next ones are begun to
//! be written.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Mutex;

use anyhow::{Context as _, bail, ensure};
use serde::{Deserialize, Serialize};

use super::identity;
use super::part::PartPoint;
use crate::report::fleet::FleetPoint;

/// Version of the lines' form.
const VERSION: u32 = 2;

/// The first line.
#[derive(Serialize, Deserialize)]
struct Head {
    accsim_journal: u32,
}

/// What came of one row.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    /// The row's identity.
    pub(super) row: String,
    /// That of its inputs when they were read.
    pub(super) inputs: String,
    pub(super) points: Vec<FleetPoint>,
    /// In place of points, where parts are written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) parts: Vec<PartPoint>,
    pub(super) failures: Vec<String>,
    pub(super) notes: Vec<String>,
    /// Nobody can tell what run the row is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_unreadable: bool,
}

impl Entry {
    /// What the manifest has no run for: of no identity, so that it is looked at anew each time.
    pub(super) fn of_failure(failure: String, is_unreadable: bool) -> Self {
        Self {
            is_unreadable,
            row: String::new(),
            inputs: String::new(),
            points: Vec::new(),
            parts: Vec::new(),
            failures: vec![failure],
            notes: Vec::new(),
        }
    }
}

/// An entry as a line: what stands for its bytes, and itself.
const BEFORE: &str = "{\"sum\":\"";
const BETWEEN: &str = "\",\"entry\":";
const BEHIND: &str = "}";

fn line_of(entry: &Entry) -> serde_json::Result<Vec<u8>> {
    let entry = serde_json::to_string(entry)?;
    Ok(format!("{BEFORE}{}{BETWEEN}{entry}{BEHIND}\n", identity::hash(entry.as_bytes())).into_bytes())
}

/// The entry of a line; `None` where the line is not as it was written.
fn entry_of(line: &[u8]) -> Option<Entry> {
    // An editor may have ended it in its own way.
    let line = std::str::from_utf8(line).ok()?.trim_end();
    let (sum, entry) = line.strip_prefix(BEFORE)?.strip_suffix(BEHIND)?.split_once(BETWEEN)?;
    if identity::hash(entry.as_bytes()) != sum {
        return None;
    }
    serde_json::from_str(entry).ok()
}

/// Where an entry stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    at: u64,
    length: usize,
}

/// A journal, or a file without a name where none was asked for.
#[derive(Debug)]
pub(super) struct Journal {
    file: Mutex<File>,
    end: u64,
    is_kept: bool,
    /// Lines that are not as they were written.
    damaged: Vec<Spot>,
}

/// What an earlier audit left: by the row's identity the inputs' one and the entry's place. A later entry of a row takes
/// the place of an earlier one.
pub(super) type Done = HashMap<String, (String, Spot)>;

impl Journal {
    fn new(file: File, is_kept: bool) -> Self {
        Self { file: Mutex::new(file), end: 0, is_kept, damaged: Vec::new() }
    }

    /// Opens a journal and reads what is done; says what is wrong with it and could be mended.
    pub(super) fn open(path: Option<&Path>) -> anyhow::Result<(Self, Done, Vec<String>)> {
        let Some(path) = path else {
            let file = tempfile::tempfile().with_context(|| {
                let folder = std::env::temp_dir();
                format!("cannot hold results in the folder for temporary files, {}", folder.display())
            })?;
            return Ok((Self::new(file, false), Done::new(), Vec::new()));
        };
        let name = path.display();
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let file = file.with_context(|| format!("cannot open the journal {name}"))?;
        ensure!(file.metadata()?.is_file(), "{name} is not a regular file, so it cannot be a journal");
        if file.try_lock().is_err() {
            bail!("another audit is writing the journal {name}");
        }
        let mut journal = Self::new(file, true);
        let (done, notes) = journal.read_done().with_context(|| format!("cannot read the journal {name}"))?;
        Ok((journal, done, notes.into_iter().map(|note| format!("note: {name}: {note}")).collect()))
    }

    fn read_done(&mut self) -> anyhow::Result<(Done, Vec<String>)> {
        let file = self.file.get_mut().map_err(|_| io::Error::other("poisoned"))?;
        let (mut done, mut notes) = (Done::new(), Vec::new());
        let damaged = &mut self.damaged;
        let mut reader = BufReader::new(&mut *file);
        let mut line = Vec::new();
        let (mut at, mut number, mut whole) = (0_u64, 0_u64, 0_u64);
        loop {
            line.clear();
            let length = reader.read_until(b'\n', &mut line)?;
            if length == 0 {
                break;
            }
            number += 1;
            let is_whole = line.last() == Some(&b'\n');
            if number == 1 {
                match serde_json::from_slice::<Head>(&line) {
                    Ok(head) if head.accsim_journal == VERSION => {}
                    Ok(head) => {
                        bail!("it has version {}; this program writes version {VERSION}", head.accsim_journal)
                    }
                    // Cut while the first line was written.
                    Err(_)
                        if !is_whole
                            && b"{\"accsim_journal\":".starts_with(line.get(..18).unwrap_or(&line)) => {}
                    Err(_) => bail!("not a journal that accsim wrote"),
                }
            } else if is_whole && !line.iter().all(u8::is_ascii_whitespace) {
                if let Some(entry) = entry_of(&line) {
                    done.insert(entry.row, (entry.inputs, Spot { at, length }));
                } else {
                    damaged.push(Spot { at, length });
                    notes.push(format!("line {number} is damaged; its row is audited again"));
                }
            }
            at += u64::try_from(length).unwrap_or(u64::MAX);
            if is_whole {
                whole = at;
            }
        }
        drop(reader);
        if whole < at {
            notes.push(format!("line {number} was cut short; its row is audited again"));
            file.set_len(whole)?;
        }
        file.seek(SeekFrom::Start(whole))?;
        self.end = whole;
        if whole == 0 {
            let mut head = serde_json::to_vec(&Head { accsim_journal: VERSION })?;
            head.push(b'\n');
            file.write_all(&head)?;
            self.end = u64::try_from(head.len()).unwrap_or(0);
        }
        Ok((done, notes))
    }

    /// Adds entries; when this returns, they are on the disk.
    pub(super) fn add(&mut self, entries: &[Entry]) -> io::Result<Vec<Spot>> {
        let mut bytes = Vec::new();
        let mut spots = Vec::new();
        for entry in entries {
            let before = bytes.len();
            bytes.extend(line_of(entry)?);
            let at = self.end + u64::try_from(before).unwrap_or(u64::MAX);
            spots.push(Spot { at, length: bytes.len() - before });
        }
        let file = self.file.get_mut().map_err(|_| io::Error::other("poisoned"))?;
        file.seek(SeekFrom::Start(self.end))?;
        file.write_all(&bytes)?;
        if self.is_kept {
            file.sync_data()?;
        }
        self.end += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        Ok(spots)
    }

    /// Blanks damaged lines, once their rows are done: each is said once.
    pub(super) fn drop_damaged(&mut self) -> io::Result<()> {
        let damaged = std::mem::take(&mut self.damaged);
        let file = self.file.get_mut().map_err(|_| io::Error::other("poisoned"))?;
        for line in &damaged {
            file.seek(SeekFrom::Start(line.at))?;
            // Its end stays.
            file.write_all(&vec![b' '; line.length.saturating_sub(1)])?;
        }
        if damaged.is_empty() { Ok(()) } else { file.sync_data() }
    }

    /// Reads an entry.
    pub(super) fn get(&self, spot: Spot) -> io::Result<Entry> {
        let mut file = self.file.lock().map_err(|_| io::Error::other("poisoned"))?;
        file.seek(SeekFrom::Start(spot.at))?;
        let mut line = vec![0; spot.length];
        file.read_exact(&mut line)?;
        entry_of(&line).ok_or_else(|| io::Error::other("the journal was changed meanwhile"))
    }
}
