//! Which documents hold figures: by their first bytes, not by their name.

use super::exposition::{Exposed, parse_line};
use super::family::exporter_of;

/// Bytes that are looked at.
pub(in crate::evidence) const LOOK: usize = 1 << 15;

/// Lines within which the first description of a metric has to come.
const DESCRIBED: usize = 64;

/// A document of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::evidence) enum Document {
    /// Prometheus text.
    Text,
    /// JSON, one value or many.
    Json,
    /// Parquet.
    Parquet,
}

/// Names in JSON that only documents of figures have.
const MARKS: [&[u8]; 21] = [
    b"\"endpoint_url\"",
    b"\"endpoints_configured\"",
    b"\"endpoints_successful\"",
    b"\"endpoint_summaries\"",
    b"vllm:spec_decode",
    b"trtllm_spec_decode",
    b"atom:mtp_",
    b"sglang:spec_",
    b"\"specDecodingStats\"",
    b"\"numRequestsWithDraftTokens\"",
    b"\"iterLatencyMS\"",
    b"\"spec_verify_ct\"",
    b"\"avg_spec_accept_length\"",
    b"\"internal_states\"",
    b"\"total_accepted_tokens\"",
    b"\"speculative_decoding\"",
    b"\"acceptance_histogram\"",
    b"\"num_spec_steps\"",
    b"\"accepted_drafts\"",
    b"\"mean_acceptance_length\"",
    b"\"spec_accept_length\"",
];

/// Words of logs: a document with one of them is a log in a wrapper.
const LOG_WORDS: [&[u8]; 5] = [
    b"Decode batch",
    b"SpecDecoding metrics",
    b"Speculative metrics:",
    b"[MTP Stats",
    b"server_args=ServerArgs(",
];

/// What begins with `head`, [`LOOK`] bytes of it or all that it has.
pub(in crate::evidence) fn recognise(head: &[u8]) -> Option<Document> {
    if head.starts_with(b"PAR1") {
        return Some(Document::Parquet);
    }
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let text = text.trim_ascii_start();
    match text.first()? {
        b'{' | b'[' => is_json(text).then_some(Document::Json),
        _ => is_exposition(text).then_some(Document::Text),
    }
}

fn is_json(text: &[u8]) -> bool {
    let has = |word: &[u8]| memchr::memmem::find(text, word).is_some();
    let inside = text.get(1..).unwrap_or_default().trim_ascii_start();
    if is_disabled(text) {
        return true;
    }
    matches!(inside.first(), Some(b'"' | b'{'))
        && MARKS.into_iter().any(has)
        && !LOG_WORDS.into_iter().any(has)
}

/// The whole answer of ATOM's `/debug/mtp_stats` where nothing is drafted: `{"enabled": false}`.
fn is_disabled(text: &[u8]) -> bool {
    text.iter().filter(|byte| !byte.is_ascii_whitespace()).eq(br#"{"enabled":false}"#)
}

/// Nothing but comments and samples, up to the `# HELP` or `# TYPE` of a metric within the first lines, or to a sample of an
/// engine's metric: a scrape with or without its comments, and what `grep spec_decode` leaves of one.
fn is_exposition(text: &[u8]) -> bool {
    let mut has_samples = false;
    for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
        match std::str::from_utf8(line).map(parse_line) {
            Ok(Ok(Exposed::Nothing)) if line.starts_with(b"#") || line.trim_ascii().is_empty() => {}
            Ok(Ok(Exposed::Described(_))) => return !has_samples && index < DESCRIBED,
            Ok(Ok(Exposed::Sample(sample))) if exporter_of(sample.name).is_some() => return true,
            Ok(Ok(Exposed::Sample(_))) => has_samples = true,
            _ => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_content() {
        let text = Some(Document::Text);
        assert_eq!(recognise(b"# HELP a:b What.\n# TYPE a:b gauge\na:b 1\n"), text);
        assert_eq!(recognise(b"\n# scraped by hand\n\n# TYPE a:b gauge"), text);
        assert_eq!(recognise(b"vllm:spec_decode_num_drafts_total{engine=\"0\"} 1\n"), text);
        let stripped = b"python_gc_objects_collected_total{generation=\"0\"} 1.5e3\nvllm:spec_decode_num_drafts_total 1\n";
        assert_eq!(recognise(stripped), text);
        assert_eq!(recognise(b"# by hand\nvllm:spec_decode_num_drafts_total 1\n"), text);
        assert_eq!(recognise(b"PAR1\x15\x04"), Some(Document::Parquet));
        assert_eq!(recognise(b"\xef\xbb\xbf {\"meta_info\": {\"spec_verify_ct\": 3}}"), Some(Document::Json));
        assert_eq!(recognise(b"[\n {\"specDecodingStats\": null}]"), Some(Document::Json));
        assert_eq!(recognise(b"{\"enabled\": false}\n"), Some(Document::Json));
        assert_eq!(recognise(b"[{\"iter\": 0, \"iterLatencyMS\": 12.3}]"), Some(Document::Json));
    }

    #[test]
    fn logs_and_other_documents_are_none() {
        for text in [
            &b""[..],
            b"# a shell script\nexport A=1\n",
            b"#!/bin/bash\nset -x\n",
            b"# HELP \n",
            b"[2026-10-12 01:02:03 TP0] Decode batch, #running-req: 1",
            b"{\"log\":\"Decode batch \\\"spec_verify_ct\\\"\"}",
            b"{\"enabled\": true}",
            b"{\"k\":0,\"tput\":460.7,\"al\":1.0}",
            b"go_threads 8\n",
        ] {
            assert_eq!(recognise(text), None, "{}", String::from_utf8_lossy(text));
        }
    }
}
