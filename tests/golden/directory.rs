//! A directory of curves instead of the compiled-in ones.

use std::fs;
use std::path::{Path, PathBuf};

use accsim::golden::{
    Catalogue, CatalogueOrigin, DirectoryError, LookupError, LookupWarning, Query, Thinking,
};

/// A fresh directory with these files.
pub(crate) fn directory(name: &str, files: &[(&str, &[u8])]) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden").join(name);
    if directory.exists() {
        fs::remove_dir_all(&directory).unwrap();
    }
    for (file, bytes) in files {
        let path = directory.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    fs::create_dir_all(&directory).unwrap();
    directory
}

fn codes(catalogue: &Catalogue, query: &Query<'_>) -> Vec<&'static str> {
    catalogue.lookup(query).unwrap().warnings.iter().map(LookupWarning::code).collect()
}

#[test]
fn the_repositorys_own_directory_is_the_compiled_in_set() {
    let read = Catalogue::from_dir(&Path::new(env!("CARGO_MANIFEST_DIR")).join("golden_al")).unwrap();
    let builtin = Catalogue::builtin();
    assert!(read.names().eq(builtin.names()));
    assert_eq!(read.unnamed(), [] as [PathBuf; 0]);
    for (ours, theirs) in read.entries().zip(builtin.entries()) {
        assert_eq!(ours.load(), theirs.load());
    }
    assert_eq!(builtin.origin(), &CatalogueOrigin::BuiltIn);
}

#[test]
fn a_broken_file_spoils_no_other_curve() {
    let large = vec![b'#'; 2 << 20];
    let directory = directory(
        "broken",
        &[
            ("good_mtp.yaml", b"good: {thinking_on: {3: 2.83}}"),
            ("twice_mtp.yaml", b"twice: {thinking_on: {3: 2.83, 3: 2.78}}"),
            ("bytes_mtp.yaml", b"\xff\xfe"),
            ("large_mtp.yaml", &large),
            ("Upper_mtp.yaml", b"upper: {thinking_on: {3: 2.83}}"),
            ("short_mtp.yml", b"short: {thinking_on: {3: 2.83}}"),
            ("README.md", b"# not a curve"),
        ],
    );
    let catalogue = Catalogue::from_dir(&directory).unwrap();
    let found = catalogue.lookup(&Query::new("good", "mtp", 3)).unwrap();
    assert_eq!(found.target.accept_length().to_string(), "2.83");
    assert_eq!(found.warnings, []);
    for (prefix, word) in [("twice", "duplicate"), ("bytes", "UTF-8"), ("large", "larger than")] {
        let error = catalogue.lookup(&Query::new(prefix, "mtp", 3)).unwrap_err();
        assert!(matches!(error, LookupError::Unusable { .. }), "{error}");
        assert!(error.to_string().contains(word), "{error}");
    }
    let unnamed: Vec<_> = catalogue.unnamed().iter().map(|path| path.file_name().unwrap()).collect();
    assert_eq!(unnamed, ["Upper_mtp.yaml", "short_mtp.yml"]);
    // The compiled-in curves are replaced, not added to.
    assert!(catalogue.lookup(&Query::new("dsv4", "mtp", 3)).is_err());
}

#[test]
fn a_bad_cell_is_refused_and_its_neighbours_are_not() {
    let file: &[u8] =
        b"bad:\n  thinking_on:\n    1: 1.80\n    2: .nan\n    3: null\n    4: 5.01\n    5: '3.50'\n";
    let catalogue = Catalogue::from_dir(&directory("cells", &[("bad_mtp.yaml", file)])).unwrap();
    for (draft_length, word) in [(2, "not finite"), (3, "unmeasured"), (4, "outside [1, 5]")] {
        let error = catalogue.lookup(&Query::new("bad", "mtp", draft_length)).unwrap_err();
        assert!(matches!(error, LookupError::BadCell { .. }), "{error}");
        let message = error.to_string();
        let place = format!("bad_mtp.yaml:{}:8", draft_length + 2);
        assert!(message.contains(word) && message.contains(&place), "{message}");
        assert!(message.contains("bad_mtp (thinking_on) has 1, 5"), "{message}");
    }
    assert_eq!(codes(&catalogue, &Query::new("bad", "mtp", 1)), [] as [&str; 0]);
    assert_eq!(codes(&catalogue, &Query::new("bad", "mtp", 5)), ["quoted-number"]);
}

#[test]
fn an_unstated_mode_answers_only_alone() {
    let files: [(&str, &[u8]); 2] = [
        ("old_mtp.yaml", b"old: {1: 1.90, 2: 2.60}"),
        ("mixed_mtp.yaml", b"mixed: {thinking_on: {1: 1.80}, 1: 1.90, 2: 2.60}"),
    ];
    let catalogue = Catalogue::from_dir(&directory("unstated", &files)).unwrap();
    for thinking in [Thinking::On, Thinking::Off] {
        let query = Query { thinking, ..Query::new("old", "mtp", 2) };
        assert_eq!(codes(&catalogue, &query), ["unstated-mode"]);
        let found = catalogue.lookup(&query).unwrap();
        assert_eq!(found.target.cell().unwrap().thinking, Thinking::Unstated);
    }
    assert_eq!(codes(&catalogue, &Query::new("mixed", "mtp", 1)), [] as [&str; 0]);
    assert!(catalogue.lookup(&Query::new("mixed", "mtp", 2)).is_err());
    let off = Query { thinking: Thinking::Off, ..Query::new("mixed", "mtp", 2) };
    let error = catalogue.lookup(&off).unwrap_err().to_string();
    assert!(error.contains("thinking_on (1) and unstated (1-2)"), "{error}");
}

#[test]
fn provenance_is_used_where_it_is_and_never_stops_a_lookup() {
    let good = include_bytes!("../../golden_al/provenance/glm5.3_mtp.yaml");
    let curve: &[u8] = b"glm-5.3-fp8: {thinking_on: {3: 2.99}}";
    let with = directory("with", &[("glm5.3_mtp.yaml", curve), ("provenance/glm5.3_mtp.yaml", good)]);
    let query = Query::new("glm5.3", "mtp", 3);
    assert_eq!(codes(&Catalogue::from_dir(&with).unwrap(), &query), ["provisional"]);

    let without = directory("without", &[("glm5.3_mtp.yaml", curve)]);
    let found = Catalogue::from_dir(&without).unwrap().lookup(&query).unwrap();
    assert_eq!(found.warnings, []);
    assert!(found.target.cell().unwrap().source.ends_with("glm5.3_mtp.yaml"));

    for (name, text) in
        [("unknown", "curve: glm5.3_mtp\nsurprise: 1\n"), ("twice", "curve: a\ncurve: b\n"), ("empty", "")]
    {
        let files: [(&str, &[u8]); 2] =
            [("glm5.3_mtp.yaml", curve), ("provenance/glm5.3_mtp.yaml", text.as_bytes())];
        let catalogue = Catalogue::from_dir(&directory(name, &files)).unwrap();
        let warnings = catalogue.lookup(&query).unwrap().warnings;
        assert_eq!(warnings.len(), 1, "{name}");
        assert_eq!(warnings[0].severity().name(), "warning");
        assert!(warnings[0].to_string().contains("provenance"), "{}", warnings[0]);
    }

    let text = String::from_utf8(good.to_vec()).unwrap();
    let other = text.replace("model: glm-5.3-fp8", "model: glm-5.2-fp8");
    let files: [(&str, &[u8]); 2] =
        [("glm5.3_mtp.yaml", curve), ("provenance/glm5.3_mtp.yaml", other.as_bytes())];
    let catalogue = Catalogue::from_dir(&directory("other", &files)).unwrap();
    assert_eq!(codes(&catalogue, &query), ["provisional", "provenance"]);
}

#[test]
fn a_directory_that_is_none() {
    let error = Catalogue::from_dir(Path::new("no/such/directory")).unwrap_err();
    assert!(matches!(error, DirectoryError::Io { .. }));
    assert!(error.to_string().contains("no/such/directory"), "{error}");
    let empty = Catalogue::from_dir(&directory("nothing", &[])).unwrap();
    assert_eq!(empty.names().count(), 0);
}
