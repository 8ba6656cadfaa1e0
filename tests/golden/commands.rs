//! `accsim curves`: what it prints, where, and how it exits.

use accsim::cli;
use serde_json::{Value, json};

use super::directory::directory;

struct Ran {
    code: u8,
    out: String,
    err: String,
}

fn accsim(args: &[&str]) -> Ran {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let exit = cli::run(std::iter::once("accsim").chain(args.iter().copied()), &mut out, &mut err);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: exit.code(), out: text(out), err: text(err) }
}

fn document(args: &[&str]) -> (u8, Value) {
    let ran = accsim(args);
    assert!(ran.out.starts_with("{\n  \"schema_version\": 1,\n"), "{}", ran.out);
    assert!(ran.out.ends_with("}\n"));
    (ran.code, serde_json::from_str(&ran.out).unwrap())
}

#[test]
fn lookup_prints_the_value_alone() {
    for (args, expected) in [
        (["dsv41flash", "dspark", "5"], "3.51\n"),
        (["dsv4", "eagle", "4"], "2.54\n"),
        (["dsv4", "dspark", "8"], "3.47\n"),
    ] {
        let ran = accsim(&[["curves", "lookup"].as_slice(), &args].concat());
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, expected, ""));
    }
    let ran =
        accsim(&["curves", "lookup", "kimik3", "dspark", "8", "--draft-sample-method", "probabilistic"]);
    assert_eq!(ran.out, "4.00\n", "both decimals of the file");
}

#[test]
fn lookup_as_json() {
    for flag in [&["--json"][..], &["--format", "json"], &["--json", "--format", "json"]] {
        let args = [&["curves", "lookup", "dsv41flash", "dspark", "5"][..], flag].concat();
        let (code, document) = document(&args);
        assert_eq!(code, 0);
        assert_eq!(
            document,
            json!({
                "schema_version": 1, "curve": "dsv41flash_dspark", "model": "deepseek-v4.1-flash",
                "method": "dspark", "thinking": "thinking_on", "draft_length": 5, "accept_length": 3.51,
                "max_accept_length": 6, "warnings": [],
                "source": "GitHub Actions run 34493175056; fork of SemiAnalysisAI/InferenceX at ff6642645a \
                           (golden_al/dsv41flash_dspark.yaml)",
            })
        );
    }
}

#[test]
fn refused_lookups_exit_2_and_print_nothing() {
    for (args, word) in [
        (&["dsv41flash", "dspark", "6"][..], "has 1-5"),
        (&["kimik3", "dspark", "7"], "--draft-sample-method"),
        (&["kimik3", "dspark", "7"], "probabilistic"),
        (&["dsv4", "mtp", "0"], "expected a whole number, 1 or more"),
        (&["dsv4", "mtp", "3.0"], "invalid value '3.0'"),
        (&["dsv4", "mtp", "3", "--thinking", "maybe"], "maybe"),
        (&["../x", "mtp", "3"], "no model prefix"),
    ] {
        let ran = accsim(&[&["curves", "lookup"][..], args].concat());
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
        assert!(ran.err.contains(word), "{args:?}: {}", ran.err);
    }
}

#[test]
fn warnings_go_to_stderr_and_quiet_silences_them() {
    let ran = accsim(&["curves", "lookup", "glm5.3", "mtp", "3"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "2.99\n"));
    assert!(ran.err.starts_with("warning: glm5.3_mtp is provisional"), "{}", ran.err);
    let quiet = accsim(&["-q", "curves", "lookup", "glm5.3", "mtp", "3"]);
    assert_eq!((quiet.out.as_str(), quiet.err.as_str()), ("2.99\n", ""));
    let (_, document) = document(&["curves", "lookup", "glm5.3", "mtp", "3", "--json"]);
    assert_eq!(document["warnings"][0]["code"], "provisional");
}

#[test]
fn list_names_every_curve() {
    let (code, document) = document(&["curves", "list", "--json"]);
    let curves = document["curves"].as_array().unwrap();
    assert_eq!((code, curves.len()), (0, 12));
    let flash = curves.iter().find(|curve| curve["curve"] == "dsv41flash_dspark").unwrap();
    assert_eq!(flash["modes"], json!({"thinking_on": [1, 2, 3, 4, 5], "thinking_off": [1, 2, 3, 4, 5]}));
    assert_eq!(flash["method"], "dspark");
    assert!(flash["source"].as_str().unwrap().contains("34493175056"));
    let text = accsim(&["curves", "list"]);
    assert_eq!(text.out.lines().count(), 13);
    assert!(text.out.contains("thinking_on 1-8; thinking_off 1-8"));
}

#[test]
fn show_prints_every_cell_and_its_origin() {
    let ran = accsim(&["curves", "show", "dsv41flash_dspark"]);
    assert_eq!(ran.code, 0);
    for piece in ["34493175056", "committed", "           5         3.51          4.07", "attested"] {
        assert!(ran.out.contains(piece), "{piece}\n{}", ran.out);
    }
    let (_, document) = document(&["curves", "show", "dsv41flash_dspark", "--json"]);
    assert_eq!(document["modes"]["thinking_off"]["5"], 4.07);
    assert_eq!(document["provenance"]["source"]["commit"], "ff6642645a");
    assert_eq!(document["header"]["tp"], 4);

    let refused = accsim(&["curves", "show", "dsv41flash"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("dsv41flash_dspark"), "{}", refused.err);
}

#[test]
fn check_is_clean_for_our_own_curves() {
    let golden_al = concat!(env!("CARGO_MANIFEST_DIR"), "/golden_al");
    for args in [&["curves", "check", "--json"][..], &["curves", "check", golden_al, "--json"]] {
        let (code, document) = document(args);
        assert_eq!((code, &document["files"]), (0, &json!(24)));
        let findings = document["findings"].as_array().unwrap();
        assert!(findings.iter().all(|finding| finding["severity"] == "note"), "{findings:?}");
    }
}

#[test]
fn check_reports_with_file_line_and_column() {
    let bad: &[u8] = b"m:\n  thinking_on:\n    3: 2.83\n    3: 2.78\n";
    let directory = directory("check", &[("bad_mtp.yaml", bad), ("provenance/bad_mtp.yaml", b"curve: x\n")]);
    let file = directory.join("bad_mtp.yaml").display().to_string();
    let (code, document) = document(&["curves", "check", &file, "--json"]);
    assert_eq!(code, 1);
    let finding = &document["findings"][0];
    assert_eq!(
        (&finding["file"], &finding["line"], &finding["column"]),
        (&json!(file), &json!(4), &json!(5))
    );
    assert_eq!((&finding["code"], &finding["severity"]), (&json!("duplicate-key"), &json!("error")));
    assert!(finding["message"].as_str().unwrap().contains("duplicate key '3'"));

    let text = accsim(&["curves", "check", &file]);
    assert!(text.out.starts_with(&format!("{file}:4:5: error[duplicate-key]: ")), "{}", text.out);
    assert!(text.out.ends_with("1 file checked: 1 error, 0 warnings, 0 notes\n"), "{}", text.out);

    let whole = accsim(&["curves", "check", directory.to_str().unwrap()]);
    assert_eq!(whole.code, 1);
    assert!(whole.out.contains("2 files checked: 2 errors"), "{}", whole.out);
    let instead = accsim(&["--golden-dir", directory.to_str().unwrap(), "curves", "check"]);
    assert_eq!((instead.code, instead.out), (1, whole.out));
}

#[test]
fn check_of_what_cannot_be_read_exits_2_and_checks_the_rest() {
    let empty = directory("empty", &[]);
    let good = concat!(env!("CARGO_MANIFEST_DIR"), "/golden_al/dsv4_mtp.yaml");
    for path in ["no/such/file.yaml", empty.to_str().unwrap()] {
        let ran = accsim(&["curves", "check", path, good]);
        assert_eq!(ran.code, 2, "{path}");
        assert!(ran.err.contains(path), "{}", ran.err);
        assert!(ran.out.contains("1 file checked"), "{}", ran.out);
    }
}

#[test]
fn diff_names_the_cells_that_differ() {
    let args = ["curves", "diff", "minimaxm3_eagle3", "minimaxm3_eagle3_gqa"];
    let ran = accsim(&args);
    assert_eq!(ran.code, 1);
    assert_eq!(ran.out.lines().count(), 17);
    let third = ran.out.lines().nth(3).unwrap();
    assert_eq!(third.split_whitespace().collect::<Vec<_>>(), ["thinking_on", "3", "2.83", "2.78", "-0.05"]);
    let (code, document) = document(&[&args[..], &["--json"]].concat());
    assert_eq!((code, &document["equal"]), (1, &json!(false)));
    assert_eq!(
        document["differences"][2],
        json!({"thinking": "thinking_on", "draft_length": 3, "a": 2.83, "b": 2.78, "difference": -0.05})
    );

    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/golden_al/dsv4_mtp.yaml");
    let equal = accsim(&["curves", "diff", "dsv4_mtp", file]);
    assert_eq!(equal.code, 0);
    assert!(equal.out.contains("agree on every cell"));
    let (_, absent) = self::document(&["curves", "diff", "glm5.3_mtp", "glm5.2_mtp", "--json"]);
    assert_eq!(absent["differences"][0]["a"], Value::Null);
    assert_eq!(absent["differences"].as_array().unwrap().len(), 7, "the copied cell is equal");
}

#[test]
fn plot_marks_series_by_letter() {
    let ran = accsim(&["curves", "plot", "dsv41flash_dspark"]);
    assert_eq!(ran.code, 0);
    assert!(ran.out.ends_with("  a  dsv41flash_dspark thinking_on\n  b  dsv41flash_dspark thinking_off\n"));
    assert!(!ran.out.contains('\u{1b}'));
    let all = accsim(&["curves", "plot"]);
    assert!(all.out.contains("qwen3.8next_mtp thinking_on"));
    assert_eq!(accsim(&["curves", "plot", "nothing"]).code, 2);
}

#[test]
fn another_directory_replaces_the_compiled_in_curves() {
    let curve: &[u8] = b"m: {thinking_on: {2: 2.10}}";
    let directory =
        directory("instead", &[("own_mtp.yaml", curve), ("BAD.yaml", b"x: 1"), ("no_mtp.yaml", b"")]);
    let path = directory.to_str().unwrap();
    let ran = accsim(&["curves", "lookup", "own", "eagle", "2", "--golden-dir", path]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "2.10\n"));
    assert_eq!(accsim(&["--golden-dir", path, "curves", "lookup", "dsv4", "mtp", "3"]).code, 2);
    let list = accsim(&["--golden-dir", path, "curves", "list"]);
    assert_eq!((list.code, list.out.lines().count()), (0, 2));
    assert!(list.err.contains("BAD.yaml") && list.err.contains("no_mtp.yaml"), "{}", list.err);
    assert_eq!(accsim(&["--golden-dir", "no/such", "curves", "list"]).code, 2);
}

/// What holds nothing is said to, and is no list of no curves.
#[test]
fn a_directory_or_a_file_without_a_cell_is_refused() {
    let empty = directory("nothing", &[]);
    let list = accsim(&["--golden-dir", empty.to_str().unwrap(), "curves", "list"]);
    assert_eq!((list.code, list.out.as_str()), (2, ""));
    assert!(list.err.contains("no curve file is in this directory"), "{}", list.err);

    let odd = directory("odd", &[("odd.yaml", b"a: 1")]).join("odd.yaml");
    let shown = accsim(&["curves", "show", odd.to_str().unwrap()]);
    assert_eq!((shown.code, shown.out.as_str()), (2, ""));
    assert!(shown.err.contains("no usable cell"), "{}", shown.err);
}

/// A file is shown with the provenance beside it, as by its name.
#[test]
fn a_path_is_shown_with_its_provenance() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/golden_al/kimik2.5_eagle3.yaml");
    let (code, shown) = document(&["curves", "show", path, "--json"]);
    assert_eq!((code, &shown["status"]), (0, &json!("retired")));
}
