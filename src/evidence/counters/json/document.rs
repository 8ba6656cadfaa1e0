//! A file of JSON: values behind each other, and the objects in lists.

use std::fmt;
use std::io::{self, BufRead};

use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};
use serde_json::error::Category;

use super::guard::{Guard, Lines};
use super::object::Object;
use super::parts::Parts;
use crate::evidence::counters::{CounterRecord, Snapshot};

/// How the reading of a file ended.
#[derive(Debug)]
pub struct JsonEnd {
    /// Series of metrics, of all its objects together.
    pub snapshot: Snapshot,
    /// Lines that were read.
    pub lines: u64,
    /// Why it ended before its end, and on which line: `true` where the file ends inside a value, `false` where something
    /// is no JSON.
    pub stopped: Option<(u64, bool)>,
}

/// Reads a file to its end, or up to what is no JSON; hands every record to `see` with its line.
///
/// Memory is bounded by the series and by `longest`, the most bytes that a text in it may have.
///
/// # Errors
/// What the source says, and a text or a nesting beyond its bound.
pub fn read_json(
    source: &mut dyn BufRead,
    longest: u64,
    see: &mut dyn FnMut(u64, CounterRecord),
) -> io::Result<JsonEnd> {
    let guard = Guard::new(source, longest);
    let lines = guard.lines();
    let mut json = serde_json::Deserializer::from_reader(guard);
    let mut snapshot = Snapshot::default();
    let mut stopped = None;
    // The end of the file is the one thing that is both no value and no fault.
    while let Err(ended) = json.end() {
        let result = if ended.is_io() {
            Err(ended)
        } else {
            let line = lines.number();
            Values { lines: &lines, line, depth: 0, snapshot: &mut snapshot, see }.deserialize(&mut json)
        };
        if let Err(error) = result {
            match error.classify() {
                Category::Io => return Err(error.into()),
                Category::Eof => stopped = Some((lines.number(), true)),
                Category::Syntax | Category::Data => stopped = Some((lines.number(), false)),
            }
            break;
        }
    }
    Ok(JsonEnd { snapshot, lines: lines.number(), stopped })
}

/// A value of the file, or of a list in it.
struct Values<'a> {
    lines: &'a Lines,
    line: u64,
    depth: u32,
    snapshot: &'a mut Snapshot,
    see: &'a mut dyn FnMut(u64, CounterRecord),
}

impl<'de> DeserializeSeed<'de> for Values<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Values<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        let mut parts = Parts::default();
        Object { parts: &mut parts, layer: 0 }.visit_map(map)?;
        let Self { line, snapshot, see, .. } = self;
        parts.finish(snapshot, &mut |record| see(line, record));
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self { lines, depth, snapshot, see, .. } = self;
        loop {
            let line = lines.number();
            let value = Values { lines, line, depth: depth + 1, snapshot, see };
            if list.next_element_seed(value)?.is_none() {
                return Ok(());
            }
        }
    }

    pass_over_scalars!();
}
