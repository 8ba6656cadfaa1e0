//! Any text, read as a shell script and judged. Nothing may panic or run away.

#![no_main]

use accsim::golden::Catalogue;
use accsim::recipe::{Options, judge, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(Some(document)) = read("a.sh", text) {
        let _ = judge(&document, "a.sh", &Catalogue::builtin(), &Options::default());
    }
});
