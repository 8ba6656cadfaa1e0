//! Any text, read as a recipe, judged, and injected into.
//!
//! Nothing may panic. What inject writes must read back, must be left alone by a second injection, and must have no pin after
//! an injection of none.

#![no_main]

use accsim::golden::Catalogue;
use accsim::recipe::inject::{Request, plan};
use accsim::recipe::{Options, judge, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let catalogue = Catalogue::builtin();
    for name in ["r.yaml", ".env", "Dockerfile", "c.json"] {
        if let Ok(Some(document)) = read(name, text) {
            let _ = judge(&document, name, &catalogue, &Options::default());
        }
    }
    for framework in ["sglang", "vllm", "trt", "atom", "tilert"] {
        for eval_only in [false, true] {
            let request = Request {
                framework,
                model: Some("glm5.2"),
                thinking: None,
                eval_only,
                selector: None,
                unset: &[],
            };
            if let Ok(once) = plan("r.yaml", text, &catalogue, &request) {
                let twice =
                    plan("r.yaml", &once.text, &catalogue, &request).expect("what was written is a recipe");
                assert_eq!(once.text, twice.text);
            }
        }
    }
});
