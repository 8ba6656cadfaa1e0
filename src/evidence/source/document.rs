//! One document of figures, from its bytes to its records.

use std::io::{self, BufRead, BufReader, Read, Seek};
use std::sync::Arc;

use crate::evidence::counters::{
    CounterRecord, DebugStats, Document, Export, Form, LOOK, ModelCounts, Scrape, Snapshot, Span, read_json,
    read_parquet, read_text, recognise,
};
use crate::evidence::{Place, Record, SkipReason, Skipped};

use super::budget::{Budget, Raw, count};
use super::failure::{Failure, ReadError};
use super::log::{LogRead, Piece};
use super::passed::{PassedOver, Why};
use super::stream::Content;

/// Bytes of a Parquet file that may be held, where it comes out of an archive or a pipe. Its table of contents stands at
/// its end, so it cannot be read as a stream.
const MOST_HELD: u64 = 256 << 20;

/// What is said of a document of figures that ends in the middle.
pub(crate) const JSON_CUT: &str = "the JSON ends inside a value";
pub(crate) const TEXT_CUT: &str = "the text ends inside a line";

/// What is said of one that is damaged in the middle.
pub(crate) const JSON_BROKEN: &str = "no JSON from here on";

/// Which document of figures a file is; it is left at its beginning.
pub(super) fn document_of(file: &mut std::fs::File) -> io::Result<Option<Document>> {
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    let mut head = Vec::new();
    file.by_ref().take(count(LOOK)).read_to_end(&mut head)?;
    file.rewind()?;
    Ok(recognise(&head))
}

/// Reads one document to its end.
pub(super) fn read_document(
    document: Document,
    name: &str,
    content: Content<'_>,
    budget: &Budget<'_>,
    index: u32,
    sink: &mut dyn FnMut(Piece<'_>),
) -> LogRead {
    let mut reading = Reading { name, index, has_records: false, sink };
    let read = match (document, content) {
        (Document::Parquet, content) => held(content, budget).and_then(|export| reading.parquet(export)),
        (Document::Text, Content::Plain(file)) => reading.text(&mut buffered(Raw::new(file, budget)), budget),
        (Document::Text, Content::Stream(stream)) => reading.text(&mut buffered(stream), budget),
        (Document::Json, Content::Plain(file)) => reading.json(&mut buffered(Raw::new(file, budget)), budget),
        (Document::Json, Content::Stream(stream)) => reading.json(&mut buffered(stream), budget),
    };
    let has_records = reading.has_records;
    let error =
        |error: io::Error| ReadError { name: name.to_owned(), failure: Failure::of_system(&error), bytes: 0 };
    match read {
        Ok(why) => {
            let passed_over = why.map(|why| PassedOver { name: name.to_owned(), why });
            LogRead { has_records, error: None, passed_over }
        }
        Err(failed) => LogRead { has_records, error: Some(error(failed)), passed_over: None },
    }
}

fn buffered<R: Read>(source: R) -> BufReader<R> {
    BufReader::with_capacity(1 << 16, source)
}

fn held(content: Content<'_>, budget: &Budget<'_>) -> io::Result<Export> {
    match content {
        Content::Plain(file) => {
            budget.count_raw(usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX));
            Ok(Export::File(file))
        }
        Content::Stream(stream) => {
            let mut bytes = Vec::new();
            stream.take(MOST_HELD + 1).read_to_end(&mut bytes)?;
            if count(bytes.len()) > MOST_HELD {
                return Err(io::Error::other(
                    "a Parquet file of more than 256 MiB is read from disk, not out of an archive or a pipe",
                ));
            }
            Ok(Export::Held(bytes))
        }
    }
}

/// Hands on the records of one document.
struct Reading<'a> {
    name: &'a str,
    index: u32,
    has_records: bool,
    sink: &'a mut dyn FnMut(Piece<'_>),
}

impl Reading<'_> {
    fn text(&mut self, source: &mut dyn BufRead, budget: &Budget<'_>) -> io::Result<Option<Why>> {
        let read = read_text(source, count(budget.limits.line_bytes()))?;
        if let Some((line, fault)) = read.fault {
            let text = format!("{fault} ({} such lines)", read.faults);
            self.skip(line, SkipReason::Lookalike, &text);
        }
        if read.is_cut {
            self.skip(read.lines, SkipReason::Truncated, TEXT_CUT);
        } else {
            self.snapshot(Form::Text, read.snapshot);
        }
        Ok(None)
    }

    fn json(&mut self, source: &mut dyn BufRead, budget: &Budget<'_>) -> io::Result<Option<Why>> {
        let mut bare = None;
        let end = read_json(source, count(budget.limits.line_bytes()), &mut |line, record| {
            match record {
                // Of a server that drafts, an idle iteration says nothing.
                CounterRecord::Iteration(stats) if stats.counts.is_empty() => {
                    bare = bare.take().or(Some((line, stats)));
                }
                record => self.record(line, self.scraped(record)),
            }
        })?;
        if let Some((line, stats)) = bare.filter(|_| !self.has_records) {
            self.record(line, CounterRecord::Iteration(stats));
        }
        match end.stopped {
            Some((line, true)) => self.skip(line, SkipReason::Truncated, JSON_CUT),
            Some((line, false)) => self.skip(line, SkipReason::Lookalike, JSON_BROKEN),
            None => {}
        }
        // Scrapes that were read whole count, even where a later one is cut.
        let is_summary = end.snapshot.series().values().any(|track| track.is_difference);
        self.snapshot(if is_summary { Form::Json } else { Form::JsonLines }, end.snapshot);
        Ok(None)
    }

    fn parquet(&mut self, export: Export) -> io::Result<Option<Why>> {
        let Some(snapshot) = read_parquet(export)? else { return Ok(Some(Why::NotText("Parquet"))) };
        self.snapshot(Form::Parquet, snapshot);
        Ok(None)
    }

    fn snapshot(&mut self, form: Form, snapshot: Snapshot) {
        if let Some(key) = snapshot.twice() {
            let text = format!("{} stands twice in one scrape, with two values", key.shown());
            return self.skip(1, SkipReason::Lookalike, &text);
        }
        let all = snapshot.model_counts();
        let scrape = Arc::new(Scrape::of(self.name, snapshot));
        for counts in all {
            let scrape = (counts.span == Span::Lifetime).then(|| Arc::clone(&scrape));
            self.record(1, CounterRecord::Counters(ModelCounts { form, scrape, ..counts }));
        }
    }

    /// Adds to ATOM's own statistics when they were asked for.
    fn scraped(&self, record: CounterRecord) -> CounterRecord {
        match record {
            CounterRecord::Debug(stats) => {
                let mut snapshot = Snapshot::default();
                snapshot.add_debug("", &stats);
                let scrape = Some(Arc::new(Scrape::of(self.name, snapshot)));
                CounterRecord::Debug(DebugStats { scrape, ..stats })
            }
            other => other,
        }
    }

    fn record(&mut self, line: u64, record: CounterRecord) {
        self.hand_on(line, &Record::Counters(Box::new(record)));
    }

    fn skip(&mut self, line: u64, reason: SkipReason, text: &str) {
        self.hand_on(line, &Record::Skipped(Skipped { reason, text: text.as_bytes() }));
    }

    fn hand_on(&mut self, line: u64, record: &Record<'_>) {
        self.has_records = true;
        (self.sink)(Piece::Record(Place { file: self.index, line }, record));
    }
}
