//! The part of one log: what is written down, and what comes of it again.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::audit::PointBuilder;

use super::head;
use super::rest::Rest;
use super::wire::{pack, unpack};

/// One log's share in a point: under 64 KiB as text, however long the log.
///
/// Of a log of some thousand lines it holds every record as far as an audit needs it: a point that is made of such parts is
/// judged as one pass over the logs would judge it, replay and copies between logs included. Of a longer log it holds the
/// first records so, and of the others the sums: counts by printed value and batch sizes (coarser where they are too
/// many), sums of all lines and of neighbouring ones, servers, settings, and where the first line of each kind stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct LogPart {
    name: String,
    id: String,
    head: Vec<u8>,
    rest: Option<Vec<u8>>,
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
}

/// Why a text is no part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartError {
    /// Its bytes are not those that were written.
    #[error("the part of {0} is damaged")]
    Damaged(String),
}

impl LogPart {
    pub(super) fn new(name: String, head: Vec<u8>, rest: Option<Rest>) -> Self {
        let rest = rest.map(|rest| rest.bytes());
        let id = identity(&name, &head, rest.as_deref());
        Self { name, id, head, rest }
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
        self.rest.is_none()
    }
}

impl PointBuilder {
    /// Adds a log by its part, as the log with this number.
    ///
    /// # Errors
    ///
    /// A part whose bytes cannot be what was written; none that was read from a document, which is checked then.
    pub fn add_part(&mut self, file: u32, part: &LogPart) -> Result<(), PartError> {
        let damaged = || PartError::Damaged(part.name.clone());
        head::replay(&part.head, file, &mut |place, record| self.add(place, record)).ok_or_else(damaged)?;
        if let Some(rest) = &part.rest {
            self.add_rest(file, Rest::read(rest).ok_or_else(damaged)?);
        }
        Ok(())
    }
}

fn identity(name: &str, head: &[u8], rest: Option<&[u8]>) -> String {
    let mut hash = Sha256::new();
    for part in [name.as_bytes(), head, rest.unwrap_or(&[])] {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        hash.update(part);
    }
    hash.update([u8::from(rest.is_some())]);
    let first = hash.finalize().first_chunk().map_or(0, |first| u128::from_be_bytes(*first));
    format!("{first:032x}")
}

impl From<LogPart> for Written {
    fn from(part: LogPart) -> Self {
        Self {
            name: part.name,
            id: part.id,
            head: BASE64.encode(pack(&part.head)),
            rest: part.rest.map(|rest| BASE64.encode(pack(&rest))),
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
        if identity(&written.name, &head, rest.as_deref()) != written.id {
            return Err(damaged());
        }
        let part = Self { name: written.name.clone(), id: written.id.clone(), head, rest };
        // What was written by a program that lies is found here and not when the point is judged.
        PointBuilder::new("").add_part(0, &part)?;
        Ok(part)
    }
}
