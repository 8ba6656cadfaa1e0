//! Invariants on generated input.

use std::io::{self, Read};

use accsim::evidence::Limits;
use proptest::prelude::*;

use crate::pack::Pack;
use crate::read;

/// Text as logs have it, and text as they do not.
fn log() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        3 => (0_usize..60).prop_map(|second| read::decode_line(second).into_bytes()),
        1 => Just(b"INFO: 127.0.0.1 - \"POST /generate HTTP/1.1\" 200 OK\r\n".to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..200),
        1 => (0_usize..60, 10_usize..150).prop_map(|(second, cut)| read::decode_line(second).into_bytes()[..cut].to_vec()),
    ];
    prop::collection::vec(line, 0..40).prop_map(|lines| [b"log\n".to_vec(), lines.concat()].concat())
}

fn packs() -> impl Strategy<Value = Vec<Pack>> {
    prop::collection::vec(prop::sample::select(&Pack::ALL[..]), 0..4)
}

/// Bytes in pieces whose sizes go round in a circle, with interruptions.
struct Pieces<'a> {
    bytes: &'a [u8],
    sizes: std::iter::Cycle<std::vec::IntoIter<usize>>,
}

impl Read for Pieces<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self.sizes.next().unwrap() {
            0 => Err(io::ErrorKind::Interrupted.into()),
            size => {
                let most = out.len().min(size);
                self.bytes.read(&mut out[..most])
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn neither_packing_nor_pieces_change_the_records(
        log in log(),
        packs in packs(),
        sizes in prop::collection::vec(prop_oneof![0_usize..5, 1_usize..5_000], 1..20),
    ) {
        let plain = read::bytes(&log);
        let packed = packs.iter().fold(log, |content, pack| pack.pack(&content));
        prop_assume!(sizes.iter().any(|size| *size > 0));
        let mut pieces = Pieces { bytes: &packed, sizes: sizes.into_iter().cycle() };
        let read = read::stream(&mut pieces, Limits::default());
        prop_assert_eq!(&read.errors, &[]);
        prop_assert_eq!(read.records(), plain.records());
    }

    /// What a damaged file still gives does not hang on how its bytes arrive. (xz alone loses up to 4 KiB.)
    #[test]
    fn pieces_change_nothing_about_damage(
        pack in prop::sample::select(&Pack::ALL[..]),
        at in any::<prop::sample::Index>(),
        flip in 1_u8..,
        size in 1_usize..3_000,
    ) {
        prop_assume!(!matches!(pack, Pack::Xz | Pack::XzStreams));
        let mut packed = pack.pack(&read::h200_start("ngram_al351.log"));
        let at = at.index(packed.len());
        packed[at] ^= flip;
        let mut pieces = Pieces { bytes: &packed, sizes: vec![size].into_iter().cycle() };
        prop_assert_eq!(read::stream(&mut pieces, Limits::default()), read::bytes(&packed));
    }

    /// Any bytes behind any beginning: an answer, and no panic.
    #[test]
    fn no_bytes_are_too_strange(pack in prop::sample::select(&Pack::ALL[..]), bytes in prop::collection::vec(any::<u8>(), 0..3_000), keep in 4_usize..600) {
        let packed = pack.pack(&read::short_log());
        let head = &packed[..keep.min(packed.len())];
        let read = read::bytes(&[head, &bytes].concat());
        prop_assert!(read.names().iter().all(|name| name.starts_with('x')));
    }
}
