//! Every public name of the library with its types, held against `tests/api/accsim.txt`.
//!
//! `SNAPSHOTS=overwrite cargo test --manifest-path tests/api/Cargo.toml` writes the file anew. What goes or changes there is
//! a breaking change, what comes is not: docs/STABILITY.md.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use public_api::Builder;

#[test]
fn public_names_are_what_they_were() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.join("../..");
    let target = std::env::var_os("ACCSIM_TARGET").map_or_else(|| root.join("target"), Into::into);
    let status = Command::new("cargo")
        .current_dir(&root)
        .args(["doc", "--quiet", "--locked", "--all-features", "--lib", "--no-deps", "--target-dir"])
        .arg(&target)
        .env("RUSTDOC", here.join("rustdoc"))
        .env_remove("RUSTDOCFLAGS")
        .status();
    assert!(status.unwrap().success());
    let names = Builder::from_rustdoc_json(target.join("doc/accsim.json"))
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()
        .unwrap();
    let now: String = names.items().map(|item| format!("{item}\n")).collect();
    assert!(now.lines().count() > 500, "rustdoc wrote next to nothing");
    let file = here.join("accsim.txt");
    if std::env::var_os("SNAPSHOTS").is_some_and(|action| action == "overwrite") {
        std::fs::write(&file, now).unwrap();
        return;
    }
    let then = std::fs::read_to_string(&file).unwrap();
    let (then, now): (BTreeSet<&str>, BTreeSet<&str>) = (then.lines().collect(), now.lines().collect());
    let gone: Vec<_> = then.difference(&now).collect();
    let come: Vec<_> = now.difference(&then).collect();
    assert!(
        gone.is_empty() && come.is_empty(),
        "the public interface has changed; if it should, SNAPSHOTS=overwrite writes it.\ngone: {gone:#?}\nnew: {come:#?}"
    );
}
