//! One decode line: fields by name, and the reasons why a line is none.

use crate::evidence::{DecodeLine, Graph, GraphLabel, Hundredths, SkipReason};

use super::fields::{self, Field, Fields};
use super::number::{self, Number};
use super::prefix::Prefix;

/// Names whose value is read. A foreign name that ends in one of them without a gap (`token usaccept rate`) is the
/// trace of a line that was overwritten.
const KNOWN: [&[u8]; 14] = [
    b"#running-req",
    b"#token",
    b"token usage",
    b"accept len",
    b"accept rate",
    b"cap len",
    b"block accept len",
    b"cuda graph",
    b"cpu graph",
    b"npu graph",
    b"musa graph",
    b"gen throughput (token/s)",
    b"#queue-req",
    b"#retracted-req",
];

/// A field set at most once.
struct Once<T>(Option<T>);

impl<T> Default for Once<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Once<T> {
    fn set(&mut self, value: T) -> Result<(), SkipReason> {
        // Two values of one name: two records were mixed.
        if self.0.replace(value).is_some() { Err(SkipReason::Truncated) } else { Ok(()) }
    }
}

/// What one message holds, before it is known to be complete.
#[derive(Default)]
struct Draft {
    running_req: Once<u32>,
    tokens: Once<()>,
    token_usage: Once<()>,
    accept_len: Once<Hundredths>,
    accept_rate: Once<Hundredths>,
    graph: Once<Graph>,
    throughput: Once<Option<f64>>,
    queue_req: Once<u32>,
    capped: bool,
    not_finite: bool,
    known: u32,
}

/// Reads the message behind a head.
pub(super) fn parse<'a>(
    prefix: Prefix<'a>,
    iteration: Option<u64>,
    message: &'a [u8],
) -> Result<DecodeLine<'a>, SkipReason> {
    let mut draft = Draft::default();
    for field in Fields::new(message) {
        match field {
            Field::Named { name, value } => {
                draft
                    .read(name, value)
                    .map_err(|reason| if draft.known == 0 { unknown(message) } else { reason })?;
            }
            Field::Continued(_) => {}
            Field::Junk(piece) if is_ellipsis(piece) => return Err(SkipReason::Lookalike),
            Field::Junk(_) if draft.known == 0 => return Err(unknown(message)),
            Field::Junk(_) => return Err(SkipReason::Truncated),
        }
    }
    let (Some(running_req), Some(queue_req)) = (draft.running_req.0, draft.queue_req.0) else {
        return Err(if draft.known == 0 { unknown(message) } else { SkipReason::Truncated });
    };
    if draft.not_finite {
        return Err(SkipReason::NotFinite);
    }
    Ok(DecodeLine {
        timestamp: prefix.timestamp,
        tags: prefix.tags,
        iteration,
        running_req,
        accept_len: draft.accept_len.0,
        accept_rate: draft.accept_rate.0,
        graph: draft.graph.0,
        gen_throughput_tps: draft.throughput.0.flatten(),
        queue_req,
        capped: draft.capped,
        message,
    })
}

/// A message without one known field: a record cut right behind its head, or prose.
fn unknown(message: &[u8]) -> SkipReason {
    let text = message.trim_ascii();
    let first: &[u8] = b"#running-req";
    let is_cut = text.starts_with(first) || first.starts_with(text);
    if is_cut { SkipReason::Truncated } else { SkipReason::Lookalike }
}

fn is_ellipsis(piece: &[u8]) -> bool {
    piece.starts_with(b"...") || piece.ends_with(b"...") || piece.starts_with("…".as_bytes())
}

impl Draft {
    fn read(&mut self, name: &[u8], value: &[u8]) -> Result<(), SkipReason> {
        const DAMAGED: SkipReason = SkipReason::Truncated;
        match name {
            b"#running-req" => self.running_req.set(number::integer32(value).ok_or(DAMAGED)?)?,
            b"#queue-req" => self.queue_req.set(number::integer32(value).ok_or(DAMAGED)?)?,
            b"#token" => {
                if !is_pools(value) {
                    number::integer(value).ok_or(DAMAGED)?;
                }
                self.tokens.set(())?;
            }
            b"token usage" => {
                if !is_pools(value) && number::hundredths(value) == Number::Damaged {
                    return Err(DAMAGED);
                }
                self.token_usage.set(())?;
            }
            b"accept len" => {
                let value = self.acceptance(value)?;
                self.accept_len.set(value)?;
            }
            b"accept rate" => {
                let value = self.acceptance(value)?;
                self.accept_rate.set(value)?;
            }
            b"cap len" | b"block accept len" => self.capped = true,
            b"cuda graph" => self.graph(GraphLabel::Cuda, value)?,
            b"cpu graph" => self.graph(GraphLabel::Cpu, value)?,
            b"npu graph" => self.graph(GraphLabel::Npu, value)?,
            b"musa graph" => self.graph(GraphLabel::Musa, value)?,
            b"gen throughput (token/s)" => match number::double(value) {
                Number::Damaged => return Err(DAMAGED),
                speed => self.throughput.set(speed.finite())?,
            },
            _ => return check_foreign(name, value),
        }
        self.known += 1;
        Ok(())
    }

    /// `nan` there rejects the record, but only once it proved to be complete.
    fn acceptance(&mut self, value: &[u8]) -> Result<Hundredths, SkipReason> {
        match number::hundredths(value) {
            Number::Finite(value) => Ok(value),
            Number::NotFinite => {
                self.not_finite = true;
                Ok(Hundredths::default())
            }
            Number::Damaged => Err(SkipReason::Truncated),
        }
    }

    fn graph(&mut self, label: GraphLabel, value: &[u8]) -> Result<(), SkipReason> {
        let on = number::boolean(value).ok_or(SkipReason::Truncated)?;
        self.graph.set(Graph { label, on })
    }
}

impl<'a> DecodeLine<'a> {
    /// `#token` of a single plain pool.
    #[must_use]
    pub fn tokens(&self) -> Option<u64> {
        number::integer(self.field("#token")?)
    }

    /// `token usage` of a single plain pool, as a share.
    #[must_use]
    pub fn token_usage(&self) -> Option<Hundredths> {
        number::hundredths(self.field("token usage")?).finite()
    }

    /// The value of the field called `name`, as printed.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&'a [u8]> {
        fields::value(self.message, name)
    }
}

/// `full=5120`: the first of several pools, so no plain pool's figure.
fn is_pools(value: &[u8]) -> bool {
    memchr::memchr(b'=', value)
        .and_then(|equals| value.get(..equals))
        .is_some_and(|pool| !pool.is_empty() && pool.iter().all(u8::is_ascii_lowercase))
}

/// A field that is not read: fine when it looks like a field, damage when it looks like two lines run together.
fn check_foreign(name: &[u8], value: &[u8]) -> Result<(), SkipReason> {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"#_-+./() %".contains(byte);
    let spliced = KNOWN.iter().any(|known| {
        name.strip_suffix(*known).and_then(<[u8]>::last).is_some_and(|before| !before.is_ascii_whitespace())
    });
    if is_ellipsis(value) {
        Err(SkipReason::Lookalike)
    } else if name.len() > 64 || spliced || !name.iter().all(plain) {
        Err(SkipReason::Truncated)
    } else {
        Ok(())
    }
}
