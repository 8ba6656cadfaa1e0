//! One file, line by line or as a whole, by its kind.

use super::asked::Asked;
use super::json::Document;
use super::{line, tree};
use crate::evidence::Place;
use crate::recipe;
use crate::signoff::facts::{Argument, Facts, Origin};
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
                if origin == Origin::Launcher
                    && self.text.len().saturating_add(text.len()) < recipe::MOST_BYTES
                {
                    self.text.extend_from_slice(text);
                    self.text.push(b'\n');
                }
            }
            FileKind::JsonLines => {
                let text = String::from_utf8_lossy(text);
                let document = Document::new(self.asked, &text, self.file, place.line);
                document.read(&mut self.facts);
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
        if self.is_too_large {
            self.facts.unread.push(format!("{name}: larger than 64 MiB"));
            return TextRead { facts: self.facts, started: None, table: None };
        }
        let bytes = std::mem::take(&mut self.text);
        let text = String::from_utf8_lossy(&bytes);
        match self.kind {
            FileKind::Json => {
                let document = Document::new(self.asked, &text, self.file, 1);
                // What is no JSON may still be lines of it, or a log under a wrong name.
                if !document.read(&mut self.facts) {
                    self.by_line(&text, Origin::Log);
                }
            }
            FileKind::Yaml(origin) => {
                let read = tree::read(self.asked, &text, self.file, origin, &mut self.facts);
                if read.is_ok() {
                    self.document(name, &text);
                }
                if let Err(error) = read {
                    self.facts.unread.push(format!("{name}: {error}"));
                }
            }
            FileKind::Table => {
                return TextRead { facts: self.facts, started: None, table: Some(bytes) };
            }
            FileKind::Text(Origin::Launcher) => {
                self.document(name, &text);
                if !self.facts.environments.contains(&self.file) {
                    self.facts.environments.push(self.file);
                }
            }
            FileKind::Text(_) | FileKind::JsonLines | FileKind::Other => {}
        }
        TextRead { facts: self.facts, started: self.started, table: None }
    }

    /// The servers that a recipe or a launcher starts.
    fn document(&mut self, name: &str, text: &str) {
        match recipe::read(name, text) {
            Ok(Some(document)) => self.facts.documents.push((self.file, document)),
            Ok(None) => {}
            Err(error) => self.facts.unread.push(format!("{name}: {error}")),
        }
    }

    fn by_line(&mut self, text: &str, origin: Origin) {
        for (number, line) in (1..).zip(text.lines()) {
            let document = Document::new(self.asked, line, self.file, number);
            if !document.read(&mut self.facts) {
                let place = Place { file: self.file, line: number };
                line::read(self.asked, line.as_bytes(), place, origin, &mut self.facts);
            }
        }
    }
}
