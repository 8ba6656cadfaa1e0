//! One log: its name, and what the reading of it came to.

use std::sync::Arc;

use crate::evidence::counters::{LOOK, recognise};
use crate::evidence::{Batch, Place, Record};

use super::budget::{Budget, count};
use super::document::{document_of, read_document};
use super::failure::{Failure, ReadError};
use super::passed::{PassedOver, Why};
use super::stream::{Content, scan};
use super::window::Window;

/// A log that was read: a file on disk, standard input, or an entry of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFile {
    /// The log as it is named to the user: `logs/node_decode_w0.out`, or `run.tar.gz!/logs/node_decode_w0.out` in an
    /// archive. Control characters are escaped.
    pub name: String,
    /// The input that led to it, as it is named to the user.
    pub input: Arc<str>,
    /// Whether a record was found in it, be it one that was passed over.
    pub has_records: bool,
}

/// What the reading of one log came to.
pub(super) struct LogRead {
    pub(super) has_records: bool,
    pub(super) error: Option<ReadError>,
    pub(super) passed_over: Option<PassedOver>,
}

/// Part of what a log says.
pub(super) enum Piece<'a> {
    /// The records of some lines.
    Batch(&'a Batch<'a>),
    /// A record of a document.
    Record(Place, &'a Record<'a>),
}

/// Takes what one log says.
pub(super) trait Taker {
    /// Whether it is this log's turn. Until then it may be read, but not handed on.
    fn is_turn(&self) -> bool;

    /// Waits for the log's turn and says its index. Called once, before the first piece.
    fn begin(&mut self) -> u32;

    /// Takes the next piece.
    fn take(&mut self, piece: Piece<'_>);
}

/// Reads one log, or one document of figures, to its end.
pub(super) fn read_log(
    name: &str,
    content: Content<'_>,
    budget: &Budget<'_>,
    taker: &mut dyn Taker,
) -> LogRead {
    let mut window;
    let (document, content) = match content {
        Content::Plain(mut file) => (document_of(&mut file), Content::Plain(file)),
        Content::Stream(stream) => {
            window = Window::new(stream);
            (window.peek(LOOK).map(recognise), Content::Stream(&mut window))
        }
    };
    match document {
        Ok(None) => read_lines(name, content, budget, taker),
        Ok(Some(document)) => {
            let index = taker.begin();
            read_document(document, name, content, budget, index, &mut |piece| taker.take(piece))
        }
        Err(error) => {
            taker.begin();
            let failure = Failure::of_system(&error);
            let error = ReadError { name: name.to_owned(), failure, bytes: 0 };
            LogRead { has_records: false, error: Some(error), passed_over: None }
        }
    }
}

fn read_lines(name: &str, content: Content<'_>, budget: &Budget<'_>, taker: &mut dyn Taker) -> LogRead {
    let reached = scan(content, budget, taker);
    let long_lines = Why::LongLines { lines: reached.long_lines, limit: count(budget.limits.line_bytes()) };
    LogRead {
        has_records: reached.has_records,
        error: reached.error.map(|error| ReadError {
            name: name.to_owned(),
            failure: Failure::of_system(&error),
            bytes: reached.bytes,
        }),
        passed_over: (reached.long_lines > 0).then(|| PassedOver { name: name.to_owned(), why: long_lines }),
    }
}
