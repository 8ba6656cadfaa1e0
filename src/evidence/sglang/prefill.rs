//! One prefill line: fields by name up to the first damage, and the reasons why a line is none.

use crate::evidence::{Graph, Hundredths, PrefillFigures, PrefillLine, SkipReason};

use super::decode::graph_label;
use super::fields::{self, Field, Fields};
use super::guard::{Foreign, Once, is_ellipsis, is_mixed, is_pools, unknown};
use super::number;
use super::prefix::Prefix;

/// The field that every release prints first.
const FIRST: &[u8] = b"#new-seq";

/// What one message holds, before it is known to be complete.
#[derive(Default)]
struct Draft<'a> {
    new_seq: Once<u32>,
    new_tokens: Once<u64>,
    cached_tokens: Once<u64>,
    token_usage: Once<Option<Hundredths>>,
    running_req: Once<u32>,
    queue_req: Once<u32>,
    graph: Once<Graph>,
    throughput: Once<Option<f64>>,
    known: u32,
    foreign: Foreign<'a>,
}

/// Reads the message behind a head. Its figures are read when they are asked for.
pub(super) fn parse<'a>(
    prefix: Prefix<'a>,
    iteration: Option<u64>,
    message: &'a [u8],
) -> Result<PrefillLine<'a>, SkipReason> {
    if !is_obvious(message) {
        figures(message)?;
    }
    Ok(PrefillLine { timestamp: prefix.timestamp, tags: prefix.tags, iteration, message })
}

/// Whether a message begins with a complete count of sequences and leaves nothing out: then nothing behind it can make
/// the line another kind of line.
pub(super) fn is_obvious(message: &[u8]) -> bool {
    let count = message.trim_ascii_start().strip_prefix(b"#new-seq: ").unwrap_or(&[]);
    let digits = count.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let left_out =
        [&b"..."[..], "…".as_bytes()].iter().any(|dots| memchr::memmem::find(message, dots).is_some());
    (1..=9).contains(&digits) && count.get(digits) == Some(&b',') && !left_out
}

impl<'a> PrefillLine<'a> {
    /// The figures of the line.
    #[must_use]
    pub fn figures(&self) -> PrefillFigures {
        figures(self.message).unwrap_or_default()
    }

    /// The message up to the first damage: its fields are whole and of one record.
    #[must_use]
    pub fn intact(&self) -> &'a [u8] {
        read(self.message).map_or(&[], |(_, intact)| intact)
    }

    /// The value of the field called `name`, as printed.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&'a [u8]> {
        fields::value(self.message, name)
    }
}

/// Reads the figures of a message.
///
/// A cut or mixed prefill line is still the sign of a prefill: what stands before the damage is kept, what stands behind
/// it is absent.
fn figures(message: &[u8]) -> Result<PrefillFigures, SkipReason> {
    read(message).map(|(figures, _)| figures)
}

/// As [`figures`], with the part of the message that they come from.
fn read(message: &[u8]) -> Result<(PrefillFigures, &[u8]), SkipReason> {
    let mut intact = message;
    let mut draft = Draft::default();
    let mut fields = Fields::new(message);
    let is_closed = message.trim_ascii_end().ends_with(b",");
    loop {
        let left = fields.rest().len();
        let Some(field) = fields.next() else { break };
        let is_last = fields.is_done();
        let whole = is_last || !is_mixed(field.value());
        let outcome = match field {
            Field::Named { name, value } if whole => draft.read(name, value, is_last && !is_closed),
            Field::Continued(_) if whole => draft.foreign.go_on(),
            _ => Err(SkipReason::Truncated),
        };
        if outcome.is_err() && is_ellipsis(field.value()) {
            return Err(SkipReason::Lookalike);
        }
        if outcome.is_err() {
            intact = message.len().checked_sub(left).and_then(|end| message.get(..end)).unwrap_or(&[]);
            break;
        }
    }
    if draft.known == 0 {
        return Err(unknown(message, FIRST));
    }
    if !(draft.new_seq.is_set() || draft.new_tokens.is_set()) {
        return Err(SkipReason::Truncated);
    }
    let figures = PrefillFigures {
        new_seq: draft.new_seq.get(),
        new_tokens: draft.new_tokens.get(),
        cached_tokens: draft.cached_tokens.get(),
        token_usage: draft.token_usage.get().flatten(),
        running_req: draft.running_req.get(),
        queue_req: draft.queue_req.get(),
        graph: draft.graph.get(),
        input_throughput_tps: draft.throughput.get().flatten(),
    };
    Ok((figures, intact))
}

impl<'a> Draft<'a> {
    /// Reads one field; at an `open_end` the record may be cut.
    fn read(&mut self, name: &'a [u8], value: &[u8], open_end: bool) -> Result<(), SkipReason> {
        const DAMAGED: SkipReason = SkipReason::Truncated;
        // Decimals show where they end, counts do not; `#queue-req` is the last field of the older releases.
        let is_cut = open_end && !self.queue_req.is_set();
        let count = |value: &[u8]| if is_cut { None } else { number::integer(value) }.ok_or(DAMAGED);
        let small = |value: &[u8]| count(value).and_then(|count| u32::try_from(count).map_err(|_| DAMAGED));
        match name {
            b"#new-seq" => self.new_seq.set(small(value)?)?,
            b"#new-token" => self.new_tokens.set(count(value)?)?,
            b"#cached-token" => self.cached_tokens.set(count(value)?)?,
            b"#running-req" => self.running_req.set(small(value)?)?,
            b"#queue-req" => self.queue_req.set(number::integer32(value).ok_or(DAMAGED)?)?,
            b"token usage" if is_pools(value) => self.token_usage.set(None)?,
            b"token usage" => self.token_usage.set(number::hundredths(value).present().ok_or(DAMAGED)?)?,
            b"input throughput (token/s)" => {
                self.throughput.set(number::double(value).present().ok_or(DAMAGED)?)?;
            }
            _ => {
                if let Some(label) = graph_label(name) {
                    let on = number::boolean(value).ok_or(DAMAGED)?;
                    self.graph.set(Graph { label, on })?;
                } else {
                    return self.foreign.add(name, value);
                }
            }
        }
        self.known += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: &str = " #new-seq: 1, #new-token: 158, #cached-token: 7, token usage: 0.08, #running-req: 31, #queue-req: 2, \
        #pending-token: 0, cuda graph: True, input throughput (token/s): 559.53";

    fn read(message: &str) -> Result<PrefillLine<'_>, SkipReason> {
        parse(Prefix::default(), None, message.as_bytes())
    }

    /// The counts of a line, in the order of print.
    fn counts(message: &str) -> [Option<u64>; 5] {
        let line = read(message).unwrap().figures();
        let wide = |count: Option<u32>| count.map(u64::from);
        [
            wide(line.new_seq),
            line.new_tokens,
            line.cached_tokens,
            wide(line.running_req),
            wide(line.queue_req),
        ]
    }

    #[test]
    fn every_field_is_read() {
        assert_eq!(counts(FULL), [Some(1), Some(158), Some(7), Some(31), Some(2)]);
        let line = read(FULL).unwrap().figures();
        assert_eq!(line.token_usage, Some(Hundredths::new(8)));
        assert_eq!(line.graph.map(|graph| graph.on), Some(true));
        assert_eq!(line.input_throughput_tps, Some(559.53));
        let old = " #new-seq: 4, #new-token: 8192, #cached-token: 291, cache hit rate: 2.76%, token usage: 0.04, \
            #running-req: 1, #queue-req: 38";
        assert_eq!(counts(old), [Some(4), Some(8192), Some(291), Some(1), Some(38)]);
    }

    #[test]
    fn what_stands_behind_damage_is_absent() {
        for (message, expected) in [
            (" #new-seq: 1, #new-token: 15", [Some(1), None, None, None, None]),
            (" #new-seq: 1, #new-token: 15,", [Some(1), Some(15), None, None, None]),
            (" #new-seq: 1, #new-token: 158, #cac", [Some(1), Some(158), None, None, None]),
            (" #new-seq: 1, #new-token: 158en: 11179, #queue-req: 5", [Some(1), None, None, None, None]),
            (
                " #new-seq: 1, #new-token: 158, #new-seq: 2, #queue-req: 5",
                [Some(1), Some(158), None, None, None],
            ),
        ] {
            assert_eq!(counts(message), expected, "{message}");
        }
    }

    #[test]
    fn no_prefill_line() {
        for (message, reason) in [
            ("", SkipReason::Truncated),
            (" #new-s", SkipReason::Truncated),
            (" #new-seq: 1x, #new-token: 5,", SkipReason::Truncated),
            (" #running-req: 5, #queue-req: 1", SkipReason::Truncated),
            (" which is the next step", SkipReason::Lookalike),
            (" #new-seq: 1, ..., #queue-req: 0", SkipReason::Lookalike),
        ] {
            assert_eq!(read(message), Err(reason), "{message}");
        }
    }
}
