//! The part of one log: what is written down, and what comes of it again.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::audit::{Observed, PointBuilder, Scope};
use crate::evidence::Record;

use super::reading;
use super::rest::Rest;
use super::wire::{pack, unpack};

/// Bytes of columns that are kept of a log which has more records than a part holds.
pub(super) const FEW: usize = 28 << 10;

/// Packed bytes of a log whose records are all kept.
pub(super) const MOST_PACKED: usize = 43 << 10;

/// Bytes of a part in a document beside its name and what is packed.
const FRAME: usize = 180;

/// One log's share in a point: under 64 KiB as text, however long the log.
///
/// Of a log of some thousand lines it holds every record as far as an audit needs it: a point that is made of such parts is
/// judged as one pass over the logs would judge it, replay and copies between logs included. Of a longer log it holds the
/// first records so, and of the others the sums: counts by printed value and batch sizes (coarser where they are too
/// many), sums of all lines and of neighbouring ones, servers, settings, and where the first line of each kind stands.
///
/// Lines of engines that print sums, and counters, are kept whole. Where they are too many, or the ranks are, nothing of them
/// is: such a part only says which log it was.
///
/// A part comes in levels, each made of the one before and of nothing else: about half as large, with fewer first records and
/// coarser sums. So the part of a log at some level is always the same one, by whatever ways it got there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct LogPart {
    name: String,
    id: String,
    head: Vec<u8>,
    rest: Option<Vec<u8>>,
    /// Nothing of the log is here, not even its sums.
    is_closed: bool,
    /// Of what is here: another one than `id` once the part was made smaller.
    own: String,
    /// How often it was made smaller.
    level: u32,
    /// Characters of what is packed.
    packed: usize,
}

/// As it stands in a document.
#[derive(Clone, Serialize, Deserialize)]
struct Written {
    name: String,
    id: String,
    /// Records, packed.
    head: String,
    /// Sums, packed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rest: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    closed: bool,
    #[serde(default, skip_serializing_if = "is_zero")]
    level: u32,
    /// Where it is smaller than the first part of this log was: the identity of what is here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    own: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde hands it over")]
fn is_zero(level: &u32) -> bool {
    *level == 0
}

/// Why a text is no part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartError {
    /// Its bytes are not those that were written.
    #[error("the part of {0} is damaged")]
    Damaged(String),
    /// Only a verdict of one pass is known of it, and that does not hold here.
    #[error(
        "{0} holds more windows, counters, requests or ranks than a part keeps: audit all logs of its point in one command, whole or \
         with --partial"
    )]
    Closed(String),
}

impl LogPart {
    /// How often a part can be made smaller.
    pub const MOST_LEVELS: u32 = 10;

    pub(super) fn new(name: String, head: Vec<u8>, rest: Option<Rest>) -> Self {
        Self::first(name, head, rest.map(|rest| rest.bytes()), false)
    }

    /// A log by its first records and what the others add up to; of more ranks than sums are kept of, nothing is.
    pub(super) fn summed(name: String, head: Vec<u8>, others: &Observed) -> Self {
        match Rest::of(others, 0, None) {
            Some(rest) => Self::new(name, head, Some(rest)),
            None => Self::closed(name, &Sha256::digest([head, Rest::all(others)].concat())),
        }
    }

    /// A log of which nothing can be kept.
    pub(super) fn closed(name: String, content: &[u8]) -> Self {
        Self::first(name, content.to_vec(), None, true)
    }

    fn first(name: String, head: Vec<u8>, rest: Option<Vec<u8>>, is_closed: bool) -> Self {
        let id = identity(&name, &head, rest.as_deref(), is_closed);
        let packed =
            [Some(&head), rest.as_ref()].into_iter().flatten().map(|bytes| written(bytes).len()).sum();
        Self { name, own: id.clone(), id, head, rest, is_closed, level: 0, packed }
    }

    /// The log's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Stands for the log's name and what was read of it: equal ones are the same part.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether it holds every record.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.rest.is_none() && !self.is_closed
    }

    /// Whether it only says which log it was.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Stands for what is here of the log: a smaller part of it has another one.
    #[must_use]
    pub fn own(&self) -> &str {
        &self.own
    }

    /// Bytes of it that are here, before they are packed.
    #[must_use]
    pub fn len(&self) -> usize {
        self.head.len() + self.rest.as_ref().map_or(0, Vec::len)
    }

    /// Whether nothing is here.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes that it takes in a document, at most.
    #[must_use]
    pub fn written_len(&self) -> usize {
        FRAME + 2 * self.name.len() + self.packed
    }

    /// How often it was made smaller.
    #[must_use]
    pub fn level(&self) -> u32 {
        self.level
    }

    /// The part at a level, of one at a level before it. The scope is that of the point.
    ///
    /// # Errors
    ///
    /// See [`PointBuilder::add_part`].
    pub fn at_level(self, level: u32, scope: &Scope) -> Result<Self, PartError> {
        (self.level..level.min(Self::MOST_LEVELS)).try_fold(self, |part, _| part.smaller(scope))
    }

    /// The part at the next level. One whose records are few enough stays as it is.
    fn smaller(self, scope: &Scope) -> Result<Self, PartError> {
        let level = self.level + 1;
        let is_small = self.is_whole() && self.packed <= in_text(MOST_PACKED >> level);
        if self.is_closed || is_small {
            return Ok(Self { level, ..self });
        }
        let damaged = || PartError::Damaged(self.name.clone());
        let mut builder = PointBuilder::new(self.name.as_str()).with_scope(scope.clone());
        let (head, kept) = reading::cut(&self.head, FEW >> level).ok_or_else(damaged)?;
        // What the next records have to know of the kept ones is not forgotten.
        let (mut has_sums, mut number) = (false, 0);
        // That of a log of which only the first records are here is among its sums.
        builder.begin_course();
        let read = reading::replay(&self.head, 0, &mut |place, record| {
            has_sums |= matches!(record, Record::Engine(_) | Record::Counters(_));
            builder.add(place, record);
            number += 1;
            if number == kept {
                builder.forget_sums();
            }
        });
        read.ok_or_else(damaged)?;
        let part = if has_sums {
            Self::closed(self.name.clone(), self.id.as_bytes())
        } else {
            let rest = self.rest.as_ref().map(|rest| Rest::read(rest).ok_or_else(damaged)).transpose()?;
            if let Some(rest) = &rest {
                builder.add_rest(0, rest.clone());
            }
            builder.end_course(0);
            match Rest::of(&builder.finish(), level, rest.as_ref()) {
                Some(rest) => Self::new(self.name.clone(), head, Some(rest)),
                None => Self::closed(self.name.clone(), self.id.as_bytes()),
            }
        };
        let own = identity(&part.name, &part.head, part.rest.as_deref(), part.is_closed);
        Ok(Self { id: self.id, own, level, ..part })
    }
}

impl PointBuilder {
    /// Adds a log by its part, as the log with this number.
    ///
    /// # Errors
    ///
    /// A part whose bytes cannot be what was written; none that was read from a document, which is checked then.
    pub fn add_part(&mut self, file: u32, part: &LogPart) -> Result<(), PartError> {
        if part.is_closed {
            return Err(PartError::Closed(part.name.clone()));
        }
        let damaged = || PartError::Damaged(part.name.clone());
        if part.is_whole() {
            self.begin_course();
        }
        let read = reading::replay(&part.head, file, &mut |place, record| self.add(place, record));
        self.end_course(file);
        read.ok_or_else(damaged)?;
        if let Some(rest) = &part.rest {
            self.add_rest(file, Rest::read(rest).ok_or_else(damaged)?);
        }
        Ok(())
    }
}

/// Bytes as they stand in a document.
fn written(bytes: &[u8]) -> String {
    BASE64.encode(pack(bytes))
}

/// Characters of so many packed bytes in a document.
fn in_text(bytes: usize) -> usize {
    (4 * bytes).div_ceil(3)
}

fn identity(name: &str, head: &[u8], rest: Option<&[u8]>, is_closed: bool) -> String {
    let mut hash = Sha256::new();
    for part in [name.as_bytes(), head, rest.unwrap_or(&[])] {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        hash.update(part);
    }
    hash.update([u8::from(rest.is_some()) + 2 * u8::from(is_closed)]);
    let first = hash.finalize().first_chunk().map_or(0, |first| u128::from_be_bytes(*first));
    format!("{first:032x}")
}

impl From<LogPart> for Written {
    fn from(part: LogPart) -> Self {
        Self {
            own: (part.own != part.id).then_some(part.own),
            closed: part.is_closed,
            level: part.level,
            name: part.name,
            id: part.id,
            head: written(&part.head),
            rest: part.rest.as_deref().map(written),
        }
    }
}

impl TryFrom<Written> for LogPart {
    type Error = PartError;

    fn try_from(written: Written) -> Result<Self, PartError> {
        let damaged = || PartError::Damaged(written.name.clone());
        let read =
            |text: &str| BASE64.decode(text).ok().and_then(|packed| unpack(&packed)).ok_or_else(damaged);
        let head = read(&written.head)?;
        let rest = written.rest.as_deref().map(read).transpose()?;
        let own = written.own.as_ref().unwrap_or(&written.id);
        let found = identity(&written.name, &head, rest.as_deref(), written.closed);
        if found != *own || written.level > Self::MOST_LEVELS {
            return Err(damaged());
        }
        let part = Self {
            name: written.name.clone(),
            id: written.id.clone(),
            own: own.clone(),
            packed: written.head.len() + written.rest.as_ref().map_or(0, String::len),
            head,
            rest,
            is_closed: written.closed,
            level: written.level,
        };
        // What was written by a program that lies is found here and not when the point is judged.
        match PointBuilder::new("").add_part(0, &part) {
            Ok(()) | Err(PartError::Closed(_)) => Ok(part),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::LogRecorder;
    use crate::evidence::Scanner;

    /// A log of so many lines of as many batch sizes.
    fn part(lines: u32, batches: u32) -> LogPart {
        let mut recorder = LogRecorder::new("a.log", Scope::default(), false);
        for number in 0..lines {
            let (batch, length) = (1 + number * 7919 % batches, 330 + number * 31 % 41);
            let (hour, minute, second) = (number / 3600, number / 60 % 60, number % 60);
            let line = format!(
                "[2026-10-12 {hour:02}:{minute:02}:{second:02} TP0] Decode batch, #running-req: {batch}, #token: {number}, \
                 token usage: 0.05, accept len: {}.{:02}, accept rate: 0.50, cuda graph: True, \
                 gen throughput (token/s): {}.25, #queue-req: 0\n",
                length / 100,
                length % 100,
                400 + number * 13 % 500,
            );
            Scanner::new(0).lines(line.as_bytes(), &mut |place, record| recorder.add(place, record));
        }
        recorder.finish()
    }

    #[test]
    fn parts_that_differ_in_anything_have_identities_of_their_own() {
        let parts = [
            ("a", "b", None, false),
            ("a", "b", None, true),
            ("a", "b", Some(""), false),
            ("a", "b", Some("c"), false),
            ("a", "bc", None, false),
            ("ab", "", None, false),
        ];
        let identities: std::collections::BTreeSet<String> = parts
            .iter()
            .map(|(name, head, rest, is_closed)| {
                identity(name, head.as_bytes(), rest.map(str::as_bytes), *is_closed)
            })
            .collect();
        assert_eq!(identities.len(), parts.len());
    }

    #[test]
    fn a_level_is_the_same_by_whatever_way_it_is_come_to() {
        let scope = Scope::default();
        for (lines, batches) in [(40, 3), (3000, 300)] {
            let first = part(lines, batches);
            let mut steps = first.clone();
            for level in 0..=LogPart::MOST_LEVELS {
                steps = steps.at_level(level, &scope).unwrap();
                assert_eq!(steps, first.clone().at_level(level, &scope).unwrap(), "{lines} {level}");
                // Through a document, and back.
                let text = serde_json::to_string(&steps).unwrap();
                assert!(text.len() <= steps.written_len(), "{} {}", text.len(), steps.written_len());
                let read: LogPart = serde_json::from_str(&text).unwrap();
                assert_eq!((read.level(), &read), (level, &steps));
            }
            assert!(steps.written_len() < 2200, "{}", steps.written_len());
            // None comes back.
            assert_eq!(steps.clone().at_level(0, &scope).unwrap(), steps);
        }
    }

    #[test]
    fn no_line_is_lost_at_any_level() {
        let scope = Scope::default();
        let mut part = part(3000, 300);
        for level in 0..=LogPart::MOST_LEVELS {
            part = part.at_level(level, &scope).unwrap();
            let mut builder = PointBuilder::new("p");
            builder.add_part(0, &part).unwrap();
            assert_eq!(builder.finish().spec_lines(), 3000, "{level}");
        }
    }

    #[test]
    fn a_small_part_stays_whole_for_a_level() {
        let scope = Scope::default();
        let small = part(40, 3);
        assert!(small.is_whole() && small.clone().at_level(1, &scope).unwrap().is_whole());
        assert!(!small.at_level(LogPart::MOST_LEVELS, &scope).unwrap().is_whole());
        let closed = LogPart::closed("a.log".to_owned(), b"x");
        assert!(closed.is_closed() && !closed.is_whole());
        assert!(closed.at_level(3, &scope).unwrap().is_closed());
    }
}
