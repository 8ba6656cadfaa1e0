//! Numbers as large as they come: sums of them do not wrap and do not end the program. Tests are built with checked arithmetic, as
//! releases are.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::support::accsim;

/// Ends of the ranges that programs count in, and what lies beyond them.
const LARGEST: [&str; 12] = [
    "18446744073709551615",
    "18446744073709551614",
    "18446744073709551616",
    "9223372036854775807",
    "9007199254740992",
    "9007199254740991",
    "4503599627370496",
    "4294967295",
    "4294967296",
    "1e308",
    "1.8446744073709552e19",
    "0",
];

/// Everything that holds counts: snapshots, exports, requests, and lines of every engine, each as often as a log repeats it.
fn texts() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<PathBuf> = fs::read_dir(root.join("tests/data/counters"))
        .unwrap()
        .chain(
            ["vllm", "trtllm", "atom"]
                .into_iter()
                .flat_map(|engine| fs::read_dir(root.join("fuzz/seeds").join(engine)).unwrap()),
        )
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let text = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.extension().is_none() { (format!("{name}.log"), text.repeat(3)) } else { (name, text) }
    };
    let mut texts: Vec<_> = paths.into_iter().map(text).collect();
    let line = "[2026-10-12 01:02:03 TP0] Decode batch, #running-req: 16, #token: 793, token usage: 0.05, accept len: 3.52, \
        accept rate: 0.50, cuda graph: True, gen throughput (token/s): 585.98, #queue-req: 0\n";
    texts.push(("sglang.log".to_owned(), line.repeat(6)));
    texts
}

/// The text with some of its numbers replaced: by `choices` in turn, where one is given.
fn replaced(text: &str, choices: &[Option<usize>]) -> String {
    let mut turn = choices.iter().cycle();
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|letter: char| letter.is_ascii_digit()) {
        let end = rest[at..].find(|letter: char| !letter.is_ascii_digit() && letter != '.');
        let end = end.map_or(rest.len(), |end| at + end);
        out.push_str(&rest[..at]);
        // A number and not a part of a name.
        let is_number = !rest[..at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        match turn.next().copied().flatten().filter(|_| is_number) {
            Some(choice) => out.push_str(LARGEST[choice]),
            None => out.push_str(&rest[at..end]),
        }
        rest = &rest[end..];
    }
    out + rest
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_largest_counts_neither_wrap_nor_panic(
        (name, text) in prop::sample::select(texts()),
        choices in prop::collection::vec(prop::option::weighted(0.6, 0..LARGEST.len()), 1..12),
        others in prop::collection::vec(prop::option::weighted(0.3, 0..LARGEST.len()), 1..12),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join(&name), folder.path().join(format!("other-{name}")));
        fs::write(&one, replaced(&text, &choices)).unwrap();
        fs::write(&other, replaced(&text, &others)).unwrap();
        let (one, other) = (one.to_str().unwrap(), other.to_str().unwrap());
        for args in [
            &["audit", one, "--accept-length", "3.5", "--max-accept-length", "6", "--json"][..],
            &["audit", one, other, "--expect-real", "--json"],
            &["audit", folder.path().to_str().unwrap(), "--expect-real", "--json"],
            &["records", one, other],
            &["collect", "--before", one, "--after", other, "--json"],
            &["throughput", "predict", one, "--accept-length", "2", "--json"],
        ] {
            let ran = accsim(args);
            let text = String::from_utf8(ran.out).unwrap();
            for document in serde_json::Deserializer::from_str(&text).into_iter::<serde_json::Value>() {
                prop_assert!(document.is_ok(), "{:?}: {}", args, text);
            }
        }
    }
}
