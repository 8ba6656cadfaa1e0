//! From one file to the logs in it, through every layer of archives and compressions.

use std::fs::File;
use std::io::{self, Read, Seek};

use super::budget::{Budget, Raw, count};
use super::decode::Decoded;
use super::failure::{Failure, Format, Limit, ReadError};
use super::format::{self, Kind};
use super::inflate::Inflate;
use super::name;
use super::passed::{PassedOver, Why};
use super::stream::Content;
use super::tar::{EntryKind, Tar};
use super::window::Window;
use super::xz::Xz;
use super::zip::Zip;
use super::zstd::Zstd;

/// What is done with the logs that are found.
pub(super) trait Visitor {
    /// Reads a log. What stops it is reported, and returned for the archives around it.
    fn log(&mut self, name: String, content: Content<'_>, budget: &Budget<'_>) -> Option<Failure>;
    /// Something could not be read to its end.
    fn failed(&mut self, error: ReadError);
    /// Something was not read, for a reason.
    fn passed_over(&mut self, passed: PassedOver);
    /// An archive was found: there may be any number of logs in it.
    fn archive(&mut self) {}
}

/// Unpacks one file on disk, or one stream.
pub(super) struct Unpacker<'a> {
    budget: Budget<'a>,
    visitor: &'a mut dyn Visitor,
}

/// Whether something was asked for by its own name, or found on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    ByName,
    Found,
}

impl<'a> Unpacker<'a> {
    pub(super) fn new(budget: Budget<'a>, visitor: &'a mut dyn Visitor) -> Self {
        Self { budget, visitor }
    }
}

impl Unpacker<'_> {
    /// Reads a file on disk.
    pub(super) fn file(self, name: &str, file: io::Result<File>, asked: Asked) {
        let Self { budget, visitor } = self;
        match file.and_then(|file| plain(file, asked)) {
            Ok((file, true)) => {
                visitor.log(name.to_owned(), Content::Plain(file), &budget);
            }
            Ok((file, false)) => {
                Layers::new(&budget, visitor).open(name, &mut Raw::new(file, &budget), 0, asked);
            }
            Err(error) => Layers::new(&budget, visitor).fail(name, Failure::of_system(&error)),
        }
    }

    /// Reads a stream.
    pub(super) fn stream(self, name: &str, source: &mut (dyn Read + Send), asked: Asked) {
        let Self { budget, visitor } = self;
        Layers::new(&budget, visitor).open(name, &mut Raw::new(source, &budget), 0, asked);
    }
}

/// Whether a file is a regular one that is neither packed nor passed over. It is left at its beginning.
fn plain(mut file: File, asked: Asked) -> io::Result<(File, bool)> {
    if !file.metadata()?.is_file() {
        return Ok((file, false));
    }
    let mut head = Vec::with_capacity(format::HEAD);
    file.by_ref().take(count(format::HEAD)).read_to_end(&mut head)?;
    file.rewind()?;
    let is_plain = match format::recognise(&head) {
        Kind::Text => true,
        Kind::NotText(_) => asked == Asked::ByName,
        Kind::Packed(_) | Kind::Unsupported(_) => false,
    };
    Ok((file, is_plain))
}

struct Layers<'a, 'b> {
    budget: &'a Budget<'b>,
    visitor: &'a mut dyn Visitor,
    /// The failure that was reported last.
    reported: Option<Failure>,
}

impl<'a, 'b> Layers<'a, 'b> {
    fn new(budget: &'a Budget<'b>, visitor: &'a mut dyn Visitor) -> Self {
        Self { budget, visitor, reported: None }
    }

    /// Reads what `source` holds, which is packed in `layers` layers so far. Each call adds one, so that the depth of
    /// the recursion is limited with them.
    fn open(&mut self, name: &str, source: &mut (dyn Read + Send), layers: u32, asked: Asked) {
        let mut window = Window::new(source);
        let kind = match window.peek(format::HEAD) {
            Ok(head) => format::recognise(head),
            Err(error) => return self.fail(name, Failure::of_system(&error)),
        };
        match kind {
            Kind::NotText(kind) if asked == Asked::Found => self.pass_over(name, Why::NotText(kind)),
            Kind::Unsupported(kind) if asked == Asked::Found => self.pass_over(name, Why::Unsupported(kind)),
            Kind::Unsupported(kind) => self.fail(name, Failure::Unsupported(kind.to_owned())),
            Kind::Text | Kind::NotText(_) => {
                let content = Content::Stream(&mut window);
                self.reported = self.visitor.log(name.to_owned(), content, self.budget);
            }
            Kind::Packed(_) if layers >= self.budget.limits.most_layers() => {
                self.fail(name, Failure::OverLimit(Limit::Layers(self.budget.limits.most_layers())));
            }
            Kind::Packed(format) => self.unpack(name, format, window, layers + 1, asked),
        }
    }

    fn unpack<R: Read + Send>(
        &mut self,
        name: &str,
        format: Format,
        mut window: Window<R>,
        layers: u32,
        asked: Asked,
    ) {
        let history = self.budget.limits.window;
        if matches!(format, Format::Tar | Format::Zip) {
            self.visitor.archive();
        }
        let decoder: Box<dyn Read + Send + '_> = match format {
            Format::Gzip => Box::new(Inflate::gzip(window)),
            Format::Zstd => Box::new(Zstd::new(window, history)),
            Format::Xz => Box::new(Xz::new(window, history)),
            Format::Tar => return self.tar(name, Tar::new(&mut window), layers),
            Format::Zip => return self.zip(name, Zip::new(&mut window), layers),
        };
        self.open(name, &mut Decoded::new(decoder, format, self.budget), layers, asked);
    }

    fn tar<R: Read + Send>(&mut self, archive: &str, mut tar: Tar<'_, R>, layers: u32) {
        while !self.budget.is_over() {
            let entry = match tar.next_entry() {
                Ok(Some(entry)) => entry,
                Ok(None) => return,
                Err(error) => return self.fail(archive, Failure::of_system(&error)),
            };
            if let Err(over) = self.budget.add_entry() {
                return self.fail(archive, over);
            }
            let name = name::of_entry(archive, &entry.name);
            match entry.kind {
                EntryKind::File => self.open(&name, &mut tar, layers, Asked::Found),
                EntryKind::Directory => {}
                EntryKind::Link => self.pass_over(&name, Why::ArchivedLink),
                EntryKind::Special => self.pass_over(&name, Why::ArchivedSpecial),
                EntryKind::Sparse => self.pass_over(&name, Why::Sparse),
            }
            if let Some(broken) = tar.broken() {
                return self.fail_once(archive, broken);
            }
        }
    }

    fn zip<R: Read + Send>(&mut self, archive: &str, mut zip: Zip<'_, R>, layers: u32) {
        while !self.budget.is_over() {
            let entry = match zip.next_entry() {
                Ok(Some(entry)) => entry,
                Ok(None) => return,
                Err(error) => return self.fail(archive, Failure::of_system(&error)),
            };
            if let Err(over) = self.budget.add_entry() {
                return self.fail(archive, over);
            }
            if entry.is_directory() && !entry.ends_itself() {
                continue;
            }
            let name = name::of_entry(archive, &entry.name);
            match zip.content(&entry, self.budget.limits.window) {
                Err(failure) => self.fail(&name, failure),
                Ok(content) => {
                    let mut content = Decoded::new(content, Format::Zip, self.budget);
                    if !entry.is_directory() {
                        self.open(&name, &mut content, layers, Asked::Found);
                    }
                    // What nobody read is read now: only then is it known where the next entry begins.
                    if let Err(error) = io::copy(&mut content, &mut io::sink()) {
                        self.fail_once(&name, Failure::of_system(&error));
                    }
                }
            }
            if let Some(broken) = zip.broken() {
                return self.fail_once(archive, broken);
            }
        }
    }

    /// Reports what ended an entry or an archive, unless the last report was about just that, seen from inside.
    fn fail_once(&mut self, name: &str, failure: Failure) {
        if self.reported.as_ref() != Some(&failure) {
            self.fail(name, failure);
        }
    }

    fn fail(&mut self, name: &str, failure: Failure) {
        self.reported = Some(failure.clone());
        self.visitor.failed(ReadError { name: name.to_owned(), failure, bytes: 0 });
    }

    fn pass_over(&mut self, name: &str, why: Why) {
        self.visitor.passed_over(PassedOver { name: name.to_owned(), why });
    }
}
