//! Bytes that come in odd pieces, are interrupted, or fail: the library's readers.

use std::io::{self, ErrorKind, Read};
use std::num::NonZeroUsize;
use std::path::Path;

use accsim::evidence::{Failure, Limits, Reader};
use proptest::prelude::*;

use crate::pack::Pack;

/// A source that goes wrong.
struct Faulty<'a> {
    bytes: &'a [u8],
    /// Bytes a read, in turn; 0 is an interruption.
    pieces: Vec<usize>,
    turn: usize,
    /// What stands behind the bytes.
    end: Option<ErrorKind>,
}

impl Read for Faulty<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.turn += 1;
        match self.pieces[self.turn % self.pieces.len()] {
            0 => Err(ErrorKind::Interrupted.into()),
            _ if self.bytes.is_empty() && self.end.is_some() => Err(self.end.unwrap().into()),
            most => {
                let most = most.min(to.len());
                self.bytes.read(&mut to[..most])
            }
        }
    }
}

/// The records, and the failures.
fn read(source: &mut (dyn Read + Send), threads: usize) -> (Vec<String>, Vec<Failure>) {
    let mut records = Vec::new();
    let mut reader = Reader::new(Limits::default()).with_threads(NonZeroUsize::new(threads).unwrap());
    let errors = reader.read_stream("x", source, &mut |place, record| {
        records.push(format!("{} {record:?}", place.line));
    });
    (records, errors.into_iter().map(|error| error.failure).collect())
}

fn log() -> Vec<u8> {
    let line = |second: usize| {
        format!(
            "[2026-10-12 01:{:02}:{:02} TP0] Decode batch, #running-req: 16, #token: 793, token usage: 0.05, accept len: 3.52, \
             accept rate: 0.50, cuda graph: True, gen throughput (token/s): 585.98, #queue-req: 0\n",
            second / 60,
            second % 60
        )
    };
    (0..120).map(line).collect::<String>().into_bytes()
}

/// What is packed, or a document of figures as it is.
fn inputs() -> Vec<Vec<u8>> {
    let documents = ["vllm_after.prom", "aiperf_server_metrics.json", "sglang_requests.jsonl"].map(|name| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/counters").join(name);
        std::fs::read(path).unwrap()
    });
    Pack::ALL.into_iter().map(|pack| pack.pack(&log())).chain(documents).chain([log()]).collect()
}

fn pieces() -> impl Strategy<Value = Vec<usize>> {
    // One that brings something is always there.
    (prop::collection::vec(prop_oneof![1 => Just(0_usize), 4 => 1_usize..5000], 0..6), 1_usize..5000)
        .prop_map(|(pieces, last)| [pieces, vec![last]].concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn pieces_and_interruptions_change_nothing(
        bytes in prop::sample::select(inputs()), pieces in pieces(), threads in 1_usize..4,
    ) {
        let mut faulty = Faulty { bytes: &bytes, pieces, turn: 0, end: None };
        prop_assert_eq!(read(&mut faulty, threads), read(&mut &bytes[..], 1));
    }

    /// What came before an error counts, and the error is the source's own, through every layer.
    #[test]
    fn an_error_in_the_middle_is_the_sources_own(
        pack in prop::option::of(prop::sample::select(&Pack::ALL)), pieces in pieces(), threads in 1_usize..4, cut in 0.0..0.97_f64,
        kind in prop::sample::select(&[ErrorKind::ConnectionReset, ErrorKind::TimedOut, ErrorKind::UnexpectedEof, ErrorKind::Other]),
    ) {
        let bytes = pack.map_or_else(log, |pack| pack.pack(&log()));
        #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss)]
        let at = (bytes.len() as f64 * cut) as usize;
        let mut faulty = Faulty { bytes: &bytes[..at], pieces, turn: 0, end: Some(kind) };
        let (records, failures) = read(&mut faulty, threads);
        let (all, _) = read(&mut &bytes[..], 1);
        let whole = records.iter().filter(|record| record.contains("Decode("));
        prop_assert!(whole.zip(&all).all(|(record, expected)| record == expected));
        // Behind the last entry of an archive nothing is missed, and nobody need read on.
        prop_assert!(!failures.is_empty() || records == all);
        let own = |failure: &Failure| matches!(failure, Failure::Io { kind: found, .. } if *found == kind);
        prop_assert!(failures.iter().all(own), "{:?}", failures);
    }
}
