//! The fields of a line that have no key of their own.

use crate::evidence::{DecodeLine, Field, Fields, PrefillLine};

/// Names with their values as printed, in the order of print. Bytes that are no UTF-8 are replaced.
pub(super) type OtherFields = Vec<(String, String)>;

/// Every field of a decode line but those that are read as a number or a truth value.
pub(super) fn of_decode(line: &DecodeLine<'_>) -> OtherFields {
    collect(line.message, |name| match name {
        b"#running-req" | b"#queue-req" | b"accept len" | b"accept rate" => true,
        b"#token" => line.tokens().is_some(),
        b"token usage" => line.token_usage().is_some(),
        b"gen throughput (token/s)" => line.gen_throughput_tps.is_some(),
        _ => line.graph.is_some() && is_graph(name),
    })
}

/// The same of a prefill line, up to its first damage.
pub(super) fn of_prefill(line: &PrefillLine<'_>) -> OtherFields {
    let figures = line.figures();
    collect(line.intact(), |name| match name {
        b"#new-seq" | b"#new-token" | b"#cached-token" | b"#running-req" | b"#queue-req" => true,
        b"token usage" => figures.token_usage.is_some(),
        b"input throughput (token/s)" => figures.input_throughput_tps.is_some(),
        _ => figures.graph.is_some() && is_graph(name),
    })
}

fn is_graph(name: &[u8]) -> bool {
    [&b"cuda graph"[..], b"cpu graph", b"npu graph", b"musa graph"].contains(&name)
}

fn collect(message: &[u8], has_own_key: impl Fn(&[u8]) -> bool) -> OtherFields {
    let mut fields = OtherFields::new();
    let mut is_open = false;
    for field in Fields::new(message) {
        match field {
            Field::Named { name, value } => {
                is_open = !has_own_key(name);
                if is_open {
                    fields.push((text(name), text(value)));
                }
            }
            // The value before it holds a comma: `full=5120, swa=900`.
            Field::Continued(piece) => {
                if let Some((_, value)) = fields.last_mut().filter(|_| is_open) {
                    value.push_str(", ");
                    value.push_str(&text(piece));
                }
            }
            Field::Junk(_) => {}
        }
    }
    fields
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{Place, Record, Scanner};

    fn fields(line: &str) -> Vec<(String, String)> {
        let mut fields = Vec::new();
        Scanner::new(0).lines(line.as_bytes(), &mut |_: Place, record: &Record<'_>| {
            fields = match record {
                Record::Decode(line) => of_decode(line),
                Record::Prefill(line) => of_prefill(line),
                other => panic!("{other:?}"),
            };
        });
        fields
    }

    fn pairs<const N: usize>(expected: [(&str, &str); N]) -> Vec<(String, String)> {
        expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
    }

    #[test]
    fn fields_without_a_key_keep_their_text() {
        let line = "Decode batch. #running-req: 3, #token: full=5120, swa=900, token usage: full=0.04, swa=0.02, accept len: 2.40, \
            est uncap acc len: 3.71 [3.55, 3.87], cuda graph: True, gen throughput (token/s): nan, #queue-req: 0, ";
        let expected = [
            ("#token", "full=5120, swa=900"),
            ("token usage", "full=0.04, swa=0.02"),
            ("est uncap acc len", "3.71 [3.55, 3.87]"),
            ("gen throughput (token/s)", "nan"),
        ];
        assert_eq!(fields(line), pairs(expected));
    }

    #[test]
    fn nothing_of_another_record_is_shown() {
        let line =
            "Prefill batch, #new-seq: 1, #pending-token: 7, #new-token: 158en: 11179, swa: 1, #queue-req: 0";
        assert_eq!(fields(line), pairs([("#pending-token", "7")]));
    }
}
