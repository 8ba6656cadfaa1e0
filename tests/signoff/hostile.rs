//! Any text: nothing panics, and no value comes in of a name that no rule asks for.

use accsim::evidence::Place;
use accsim::signoff::launch::read_launches;
use accsim::signoff::{Asked, FileKind, Map, Origin, Profile, TextReader, read_table};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Markup of every kind of file, with names that rules ask for and one that none does.
const PIECES: &[&str] = &[
    "SGLANG_SIMULATE_ACC_LEN",
    "HF_TOKEN",
    "=",
    ": ",
    "'",
    "\"",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ",",
    "\n",
    "  ",
    "- ",
    "#",
    "\\",
    "$",
    "--",
    "--hf-overrides",
    "--api-key",
    " hidden",
    "hidden",
    "3.51",
    "export ",
    "unset ",
    "server_args=ServerArgs(",
    "api_key=",
    "dtype=",
    "POST /v1/x",
    " HTTP/1.1\" 200",
    "sglang==",
    "image",
    "\"error_summary\":",
    "\"count\": 1",
    "é",
    "\u{0}",
    "python3 -m sglang.launch_server ",
    "results",
    "completed",
];

const KINDS: [FileKind; 8] = [
    FileKind::Text(Origin::Log),
    FileKind::Text(Origin::Launcher),
    FileKind::Text(Origin::Environment),
    FileKind::Json,
    FileKind::JsonLines,
    FileKind::Yaml(Origin::Recipe),
    FileKind::Yaml(Origin::Config),
    FileKind::Table,
];

fn texts() -> impl Strategy<Value = String> {
    vec(select(PIECES), 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_text_is_read_by_every_reader(text in texts()) {
        let profile = Profile::builtin("agentx").unwrap();
        let asked = Asked::by(&profile);
        for kind in KINDS {
            let mut reader = TextReader::new(&asked, kind, 0);
            for (line, text) in (1..).zip(text.lines()) {
                reader.line(Place { file: 0, line }, text.as_bytes());
            }
            let read = reader.finish("x.sh");
            for sighting in &read.facts.sightings {
                prop_assert!(!["HF_TOKEN", "api_key"].contains(&sighting.name.as_str()), "{sighting:?}");
                prop_assert!(sighting.place.line >= 1);
            }
            let arguments = read.started.iter().flat_map(|(arguments, ..)| arguments);
            for argument in arguments.filter(|argument| argument.name == "api_key") {
                prop_assert_eq!(&argument.value, &None);
            }
        }
        for name in ["x.sh", "x.yaml", "x.json", "x.log"] {
            let _ = read_launches(name, &text, None);
        }
        let _ = Profile::parse(&text);
        let _ = Map::parse(&text);
        let _ = read_table("x.csv", text.as_bytes());
    }
}

/// A document that repeats a key without end is read in time: its line is looked up once.
#[test]
fn a_document_of_one_key_is_read_in_time() {
    let profile = Profile::builtin("agentx").unwrap();
    let asked = Asked::by(&profile);
    let mut text = String::from("{\"pad\": \"");
    text.push_str(&"x".repeat(8 << 20));
    text.push_str("\", \"all\": [");
    text.push_str(&"{\"dtype\": \"auto\"},".repeat(200_000));
    text.push_str("1]}");
    let mut reader = TextReader::new(&asked, FileKind::Json, 0);
    reader.line(Place { file: 0, line: 1 }, text.as_bytes());
    let read = reader.finish("x.json");
    assert_eq!(read.facts.sightings.len(), 1);
}
