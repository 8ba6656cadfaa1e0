//! One decode line: fields by name, and the reasons why a line is none.

use crate::evidence::{DecodeLine, Graph, GraphLabel, Hundredths, SkipReason};

use super::fields::{self, Field, Fields};
use super::guard::{Foreign, Once, is_ellipsis, is_mixed, is_pools, unknown};
use super::number::{self, Number};
use super::prefix::Prefix;

/// The field that every release prints first.
const FIRST: &[u8] = b"#running-req";

/// What one message holds, before it is known to be complete.
#[derive(Default)]
struct Draft<'a> {
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
    foreign: Foreign<'a>,
}

/// Reads the message behind a head.
pub(super) fn parse<'a>(
    prefix: Prefix<'a>,
    iteration: Option<u64>,
    message: &'a [u8],
) -> Result<DecodeLine<'a>, SkipReason> {
    let mut draft = Draft::default();
    let mut fields = Fields::new(message);
    while let Some(field) = fields.next() {
        let whole = fields.is_done() || !is_mixed(field.value());
        let outcome = match field {
            Field::Named { name, value } if whole => draft.read(name, value),
            Field::Continued(_) if whole => draft.foreign.go_on(),
            _ => Err(SkipReason::Truncated),
        };
        if let Err(reason) = outcome {
            return Err(match reason {
                _ if is_ellipsis(field.value()) => SkipReason::Lookalike,
                _ if draft.known == 0 => unknown(message, FIRST),
                reason => reason,
            });
        }
    }
    let (Some(running_req), Some(queue_req)) = (draft.running_req.get(), draft.queue_req.get()) else {
        return Err(if draft.known == 0 { unknown(message, FIRST) } else { SkipReason::Truncated });
    };
    if draft.not_finite {
        return Err(SkipReason::NotFinite);
    }
    Ok(DecodeLine {
        timestamp: prefix.timestamp,
        tags: prefix.tags,
        iteration,
        running_req,
        accept_len: draft.accept_len.get(),
        accept_rate: draft.accept_rate.get(),
        graph: draft.graph.get(),
        gen_throughput_tps: draft.throughput.get().flatten(),
        queue_req,
        capped: draft.capped,
        message,
    })
}

impl<'a> Draft<'a> {
    fn read(&mut self, name: &'a [u8], value: &[u8]) -> Result<(), SkipReason> {
        const DAMAGED: SkipReason = SkipReason::Truncated;
        match name {
            b"#running-req" => self.running_req.set(number::integer32(value).ok_or(DAMAGED)?)?,
            b"#queue-req" => self.queue_req.set(number::integer32(value).ok_or(DAMAGED)?)?,
            b"#token" => {
                let whole = is_pools(value) || number::count(value).present().is_some();
                self.tokens.set(whole.then_some(()).ok_or(DAMAGED)?)?;
            }
            b"token usage" => {
                let whole = is_pools(value) || number::hundredths(value).present().is_some();
                self.token_usage.set(whole.then_some(()).ok_or(DAMAGED)?)?;
            }
            b"accept len" => {
                let value = self.acceptance(value)?;
                self.accept_len.set(value)?;
            }
            b"accept rate" => {
                let value = self.acceptance(value)?;
                self.accept_rate.set(value)?;
            }
            b"gen throughput (token/s)" => {
                self.throughput.set(number::double(value).present().ok_or(DAMAGED)?)?;
            }
            _ => {
                if let Some(label) = graph_label(name) {
                    let on = number::boolean(value).ok_or(DAMAGED)?;
                    self.graph.set(Graph { label, on })?;
                } else {
                    self.capped |= matches!(name, b"cap len" | b"block accept len");
                    return self.foreign.add(name, value);
                }
            }
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
            Number::Negative | Number::Damaged => Err(SkipReason::Truncated),
        }
    }
}

/// `#token` of the message of a decode line that begins with `#running-req` and it, as those of SGLang do with a single
/// plain pool: cheaper than [`DecodeLine::tokens`].
pub(crate) fn leading_tokens(message: &[u8]) -> Option<u64> {
    let behind = message.trim_ascii_start().strip_prefix(b"#running-req: ")?;
    let digits = behind.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let count = behind.get(digits..)?.strip_prefix(b", #token: ")?;
    let digits = count.iter().take(MOST_DIGITS).take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, behind) = count.split_at_checked(digits)?;
    if digits.is_empty() || !behind.starts_with(b",") {
        return None;
    }
    Some(digits.iter().fold(0, |number: u64, digit| number * 10 + u64::from(digit - b'0')))
}

/// Digits of a number of tokens that fits into 64 bits whatever they are.
const MOST_DIGITS: usize = 18;

impl<'a> DecodeLine<'a> {
    /// `#token` of a single plain pool.
    #[must_use]
    pub fn tokens(&self) -> Option<u64> {
        number::count(self.field("#token")?).present().flatten()
    }

    /// `token usage` of a single plain pool, as a share.
    #[must_use]
    pub fn token_usage(&self) -> Option<Hundredths> {
        number::hundredths(self.field("token usage")?).present().flatten()
    }

    /// The value of the field called `name`, as printed.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&'a [u8]> {
        fields::value(self.message, name)
    }
}

/// The device in `cuda graph`, `npu graph`, ...
pub(super) fn graph_label(name: &[u8]) -> Option<GraphLabel> {
    match name.strip_suffix(b" graph")? {
        b"cuda" => Some(GraphLabel::Cuda),
        b"cpu" => Some(GraphLabel::Cpu),
        b"npu" => Some(GraphLabel::Npu),
        b"musa" => Some(GraphLabel::Musa),
        _ => None,
    }
}
