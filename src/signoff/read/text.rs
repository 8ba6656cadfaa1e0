//! One file, line by line or as a whole, by its kind.

use super::asked::Asked;
use super::json::Document;
use super::{assign, line, tree};
use crate::evidence::Place;
use crate::recipe::{self, ReachedKind};
use crate::signoff::facts::{Argument, Facts, Origin, Seen, Sighting, Unread};
use crate::signoff::launch::open_quote;
use crate::signoff::layout::FileKind;

/// Largest document that is read as a whole, in bytes.
const MOST_BYTES: usize = 64 << 20;

/// Reads the lines of one file into facts.
#[derive(Debug)]
pub struct TextReader<'a> {
    asked: &'a Asked,
    kind: FileKind,
    file: u32,
    facts: Facts,
    /// The whole text, where the kind needs it.
    text: Vec<u8>,
    is_too_large: bool,
    /// Documents of a file of JSON lines: those that were read, and the first that was not, with why.
    documents: (u64, Option<String>),
    started: Option<(Vec<Argument>, Place, bool)>,
}

/// What one file came to.
#[derive(Debug, Default)]
pub struct TextRead {
    /// What it says.
    pub facts: Facts,
    /// The arguments of the first server in it, their line, and whether that is whole.
    pub started: Option<(Vec<Argument>, Place, bool)>,
    /// The text of a table.
    pub table: Option<Vec<u8>>,
}

impl<'a> TextReader<'a> {
    /// A reader for the file with this number.
    #[must_use]
    pub fn new(asked: &'a Asked, kind: FileKind, file: u32) -> Self {
        Self {
            asked,
            kind,
            file,
            facts: Facts::default(),
            text: Vec::new(),
            is_too_large: false,
            documents: (0, None),
            started: None,
        }
    }

    /// Takes the next line.
    pub fn line(&mut self, place: Place, text: &[u8]) {
        match self.kind {
            FileKind::Text(origin) => {
                let started = line::read(self.asked, text, place, origin, &mut self.facts);
                if let (None, Some(started)) = (&self.started, started) {
                    self.started = Some((started.arguments, place, started.is_whole));
                }
                if origin == Origin::Launcher {
                    // One byte more than a script may have says that it has too many.
                    if self.text.len().saturating_add(text.len()) <= recipe::MOST_BYTES {
                        self.text.extend_from_slice(text);
                        self.text.push(b'\n');
                    } else {
                        self.is_too_large = true;
                    }
                }
            }
            FileKind::JsonLines => {
                let text = String::from_utf8_lossy(text);
                let document = Document::new(self.asked, &text, self.file, place.line);
                match document.read(&mut self.facts) {
                    Ok(()) => self.documents.0 += 1,
                    Err(_) if text.trim().is_empty() => {}
                    Err(_) if self.documents.1.is_some() => {}
                    Err(error) => self.documents.1 = Some(format!("line {}: {error}", place.line)),
                }
            }
            FileKind::Json | FileKind::Yaml(_) | FileKind::Table => {
                if self.text.len().saturating_add(text.len()) > MOST_BYTES {
                    self.is_too_large = true;
                } else {
                    self.text.extend_from_slice(text);
                    self.text.push(b'\n');
                }
            }
            FileKind::Other => {}
        }
    }

    /// Ends the file.
    #[must_use]
    pub fn finish(mut self, name: &str) -> TextRead {
        let kind = self.kind;
        let unread = |why: String| Unread { file: name.to_owned(), why, kind };
        if self.is_too_large {
            let most = if matches!(kind, FileKind::Text(_)) { "1 MiB" } else { "64 MiB" };
            self.facts.unread.push(unread(format!("larger than {most}")));
            return TextRead { facts: self.facts, started: None, table: None };
        }
        let bytes = std::mem::take(&mut self.text);
        let text = String::from_utf8_lossy(&bytes);
        match self.kind {
            FileKind::Json => {
                let document = Document::new(self.asked, &text, self.file, 1);
                // What is no JSON may still be lines of it, or a log under a wrong name.
                if let Err(error) = document.read(&mut self.facts) {
                    let (documents, others) = self.by_line(&text, Origin::Log);
                    if documents == 0 || others > 0 {
                        self.facts.unread.push(unread(format!("no JSON: {error}")));
                    }
                }
                let file = name.rsplit('/').next().unwrap_or(name);
                let is_export = ["profile_export_aiperf.json", "profile_export.json"].contains(&file);
                let says = !self.facts.clients.is_empty() || !self.facts.unread.is_empty();
                if is_export && !says {
                    self.facts.unread.push(unread("no export of a client is recognised in it".to_owned()));
                }
            }
            FileKind::JsonLines => {
                if let (_, Some(error)) = &self.documents {
                    self.facts.unread.push(unread(format!("no JSON: {error}")));
                }
            }
            FileKind::Yaml(origin) => {
                let read = tree::read(self.asked, &text, self.file, origin, &mut self.facts);
                match read {
                    Ok(()) => self.document(name, &text),
                    Err(error) => self.facts.unread.push(unread(error)),
                }
            }
            FileKind::Table => {
                return TextRead { facts: self.facts, started: None, table: Some(bytes) };
            }
            FileKind::Text(Origin::Launcher) => {
                self.document(name, &text);
                self.launcher(name, &text);
            }
            FileKind::Text(_) | FileKind::Other => {}
        }
        TextRead { facts: self.facts, started: self.started, table: None }
    }

    /// What a script really hands to its servers.
    fn launcher(&mut self, name: &str, text: &str) {
        self.facts.launchers.push(self.file);
        // What stands behind a quote that nobody closes is no script.
        let open = open_quote(text).filter(|_| !recipe::is_sound_shell(text));
        let found = if open.is_some() { None } else { recipe::reaching(text) };
        let Some(found) = found else {
            let why = open.map_or_else(
                || "this script cannot be read".to_owned(),
                |line| format!("line {line}: a quote is opened and never closed"),
            );
            let is_known = self.facts.unread.iter().any(|unread| unread.file == name);
            if !is_known {
                self.facts.unread.push(Unread { file: name.to_owned(), why, kind: self.kind });
            }
            return;
        };
        for reached in found {
            let Some((seen, asked)) = self.asked.key(&reached.name) else { continue };
            let is_meant = match (seen, reached.kind) {
                // The script's own variable may hold the image.
                (Seen::Image, _) | (_, ReachedKind::Argument) => true,
                (Seen::Variable, kind) => kind == ReachedKind::Variable,
                (Seen::Argument | Seen::Version, _) => false,
            };
            if !is_meant {
                continue;
            }
            let line = u64::try_from(reached.line).unwrap_or(0);
            let value = reached.value.unwrap_or_else(|| assign::UNRESOLVED.to_owned());
            let value = match reached.name.split_once('.') {
                Some((_, part)) if seen == Seen::Argument => format!("{part}={value}"),
                _ => value,
            };
            let place = Place { file: self.file, line };
            let sighting = Sighting::new(seen, asked, value, Origin::Launcher, place);
            line::see(
                &mut self.facts,
                Sighting {
                    is_prefill: reached.is_prefill,
                    way: reached.way,
                    condition: reached.condition,
                    ..sighting
                },
            );
        }
    }

    /// The servers that a recipe or a launcher starts.
    fn document(&mut self, name: &str, text: &str) {
        match recipe::read(name, text) {
            Ok(Some(document)) => self.facts.documents.push((self.file, document)),
            Ok(None) => {}
            Err(error) => {
                let why = match &error {
                    recipe::ReadError::Yaml(error) => tree::shown(self.asked, error),
                    other => other.to_string(),
                };
                let file = name.to_owned();
                self.facts.unread.push(Unread { file, why, kind: self.kind });
            }
        }
    }

    /// Line by line; how many lines are JSON, and how many are something else.
    fn by_line(&mut self, text: &str, origin: Origin) -> (u64, u64) {
        let (mut documents, mut others) = (0, 0);
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
            let document = Document::new(self.asked, line, self.file, number);
            if document.read(&mut self.facts).is_ok() {
                documents += 1;
            } else {
                others += 1;
                let place = Place { file: self.file, line: number };
                line::read(self.asked, line.as_bytes(), place, origin, &mut self.facts);
            }
        }
        (documents, others)
    }
}
