//! Where findings stand for code scanning and annotations: from the top of the checkout.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::base::launcher;
use super::program::accsim_in;

fn uris(folder: &Path, path: &str) -> Vec<(String, bool)> {
    let ran = accsim_in(folder, &["recipe", "check", path, "--format", "sarif"]);
    let sarif: Value = serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {}", ran.err));
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let place = |result: &Value| {
        let artifact = &result["locations"][0]["physicalLocation"]["artifactLocation"];
        (artifact["uri"].as_str().unwrap().to_owned(), artifact["uriBaseId"].is_string())
    };
    results.iter().map(place).collect()
}

fn annotated(folder: &Path, path: &str) -> String {
    accsim_in(folder, &["recipe", "check", path, "--format", "github"]).out
}

#[test]
fn paths_start_at_the_top_of_the_checkout() {
    let folder = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(folder.path()).unwrap();
    let deep = top.join("a b/c\u{e9}#%");
    fs::create_dir_all(&deep).unwrap();
    // A checkout has a folder or, as a worktree, a file of that name.
    fs::write(top.join(".git"), "gitdir: elsewhere\n").unwrap();
    fs::write(deep.join("x.sh"), launcher("2.10")).unwrap();
    let expected = vec![("a%20b/c%C3%A9%23%25/x.sh".to_owned(), true)];
    let whole = deep.join("x.sh").display().to_string();
    for (here, path) in [
        (top.as_path(), "a b/c\u{e9}#%/x.sh"),
        (&top, "./a b/../a b/c\u{e9}#%/x.sh"),
        (&top, "."),
        (&top, &whole),
        (&deep, "x.sh"),
        (&deep, "../c\u{e9}#%"),
        (Path::new("/"), &whole),
    ] {
        assert_eq!(uris(here, path), expected, "{path} from {}", here.display());
        let out = annotated(here, path);
        assert!(
            out.starts_with("::error file=a b/c\u{e9}#%25/x.sh,line=1,col=32,title=al-mismatch::"),
            "{path}: {out}"
        );
        // People and programs that read JSON get the path as they gave it.
        let text = accsim_in(here, &["recipe", "check", path]).out;
        assert!(text.contains("x.sh:1:32: error: al-mismatch"), "{text}");
    }
}

#[test]
fn a_file_in_no_checkout_keeps_the_path_that_was_given() {
    let folder = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(folder.path()).unwrap();
    if top.ancestors().any(|folder| folder.join(".git").exists()) {
        return;
    }
    fs::write(top.join("x y.sh"), launcher("2.10")).unwrap();
    assert_eq!(uris(&top, "x y.sh"), [("x%20y.sh".to_owned(), true)]);
    // A whole path is a URI of its own, relative to nothing.
    let whole = top.join("x y.sh").display().to_string();
    let uri = format!("file://{}", whole.replace(' ', "%20"));
    assert_eq!(uris(&top, &whole), [(uri, false)]);
}
