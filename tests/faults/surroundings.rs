//! What surrounds the program: clocks, folders, pipes, names, limits of the system.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};

use super::program::{Fault, Folder, READERS, WRITERS, each, mentions, odd, program, words_with};

/// Commands that read no file.
const OTHERS: [&str; 8] = [
    "curves list",
    "curves lookup glm5.2 mtp 3",
    "env --engine sglang glm5.2 mtp 3",
    "simulate TARGET --steps 100",
    "signoff profile",
    "completions bash",
    "man --markdown",
    "--help",
];

fn all() -> Vec<&'static str> {
    READERS.into_iter().chain(OTHERS).collect()
}

/// Commands whose result goes to a file that need not be there.
fn new_files() -> Vec<(&'static str, &'static [&'static str])> {
    WRITERS.into_iter().filter(|(line, _)| line.contains("@out")).collect()
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn a_clock_that_goes_backwards_changes_nothing() {
    let folder = Folder::new();
    each(&all(), |line| {
        let (expected, ran) = (folder.run(line, Fault::None), folder.run(line, Fault::Clock));
        assert!((ran.code, &ran.out) == (expected.code, &expected.out), "{line}: {}", ran.err);
    });
}

/// No variable at all: no home, no path, no folder for temporary files.
#[test]
fn an_empty_environment_changes_nothing() {
    let folder = Folder::new();
    each(&all(), |line| {
        let expected = folder.run(line, Fault::None);
        let output = program().env_clear().args(folder.words(line)).output().unwrap();
        assert!((output.status.code(), &output.stdout) == (expected.code, &expected.out), "{line}");
    });
}

/// As in `accsim .. | head -n 1`, and where nobody reads at all: a quiet end with the command's own code, or 0.
#[test]
fn readers_that_leave_end_it_quietly() {
    let folder = Folder::new();
    each(&all(), |line| {
        let code = folder.run(line, Fault::None).code;
        for bytes in [0, 1] {
            let mut child = program()
                .args(folder.words(line))
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let mut out = child.stdout.take().unwrap();
            out.read_exact(&mut vec![0; bytes]).unwrap();
            drop(out);
            let output = child.wait_with_output().unwrap();
            let err = String::from_utf8(output.stderr).unwrap();
            assert!(output.status.code() == code || output.status.code() == Some(0), "{line}: {err}");
            assert!(!err.contains("panicked") && !err.to_lowercase().contains("pipe"), "{line}: {err}");
        }
    });
}

/// A folder that takes no file: of the system's own, below a file, or not there. What stands on the command line is named.
#[test]
fn results_for_places_that_take_none() {
    let folder = Folder::new();
    let names = folder.names();
    let places = ["a/a.log", "no/such/folder"].map(|name| folder.at(name));
    let places = places
        .iter()
        .map(std::path::PathBuf::as_path)
        .chain(Path::new("/proc/self").is_dir().then_some(Path::new("/proc/self")));
    let places: Vec<&Path> = places.collect();
    each(&new_files(), |(line, files)| {
        for place in &places {
            let words =
                words_with(
                    line,
                    |name| {
                        if name.starts_with("out") { place.join(name) } else { folder.at(name) }
                    },
                );
            let ran = folder.run_words(&words, Fault::None);
            assert_eq!(ran.code, Some(2), "{line}, {}: {}", place.display(), ran.err);
            // The provenance of a curve comes first, and lies beside it.
            let names = files.iter().copied().chain(["provenance"]);
            assert!(names.into_iter().any(|name| mentions(&ran.err, name)), "{line}: {}", ran.err);
        }
    });
    assert_eq!(folder.names(), names, "a folder that is not there was made on the way");
}

/// From a working folder that nobody can write to.
#[test]
fn a_working_folder_that_takes_no_file_changes_nothing() {
    let folder = Folder::new();
    let place = if Path::new("/proc/self").is_dir() { "/proc/self" } else { "/" };
    each(&all(), |line| {
        let expected = folder.run(line, Fault::None);
        let output = program().current_dir(place).args(folder.words(line)).output().unwrap();
        assert!((output.status.code(), &output.stdout) == (expected.code, &expected.out), "{line}");
    });
}

/// Commands whose arguments are names as well as paths, or have selectors behind them: they take text.
const AS_TEXT: [&str; 5] = ["curves show", "curves diff", "curves plot", "recipe", "signoff launch-diff"];

/// Names that are no text, with a line end in them: read and written as any other, or refused in words; and shown without what a
/// terminal obeys.
#[cfg(target_os = "linux")]
#[test]
fn names_that_are_no_text() {
    let folder = Folder::new();
    each(&READERS, |line| {
        let expected = folder.run(line, Fault::None);
        let own = Folder::new();
        for name in line.split_whitespace().filter_map(|word| word.strip_prefix('@')) {
            if own.at(name).exists() {
                fs::rename(own.at(name), odd(&own.at(name))).unwrap();
            }
        }
        let words = words_with(line, |name| odd(&own.at(name)));
        let ran = own.run_words(&words, Fault::None);
        if AS_TEXT.iter().any(|command| line.starts_with(command)) {
            assert!(ran.code == Some(2) && ran.err.contains("invalid UTF-8"), "{line}: {}", ran.err);
            return;
        }
        assert_eq!(ran.code, expected.code, "{line}: {}", ran.err);
        let out = String::from_utf8(ran.out).unwrap_or_else(|_| panic!("{line}: no text"));
        assert_eq!(
            out.starts_with('{') && line.contains("--json"),
            serde_json::from_str::<serde_json::Value>(&out).is_ok() && line.contains("--json"),
            "{line}"
        );
    });
    each(&new_files(), |(line, files)| {
        let own = Folder::new();
        let place = |name: &str| if name.starts_with("out") { odd(&own.at(name)) } else { own.at(name) };
        let ran = own.run_words(&words_with(line, place), Fault::None);
        if line.starts_with("collect") {
            assert!(ran.code == Some(2) && ran.err.contains("is no name of a curve"), "{line}: {}", ran.err);
            return;
        }
        assert!(matches!(ran.code, Some(0 | 1 | 3)), "{line}: {}", ran.err);
        assert!(
            files.iter().all(|name| fs::metadata(place(name)).is_ok_and(|file| file.len() > 0)),
            "{line}"
        );
    });
}

/// Runs the program with few files open at a time.
fn with_few_files(words: &[std::ffi::OsString]) -> (Option<i32>, Vec<u8>, String) {
    let output = Command::new("sh")
        .args(["-c", "ulimit -n 20 && exec \"$0\" \"$@\""])
        .arg(env!("CARGO_BIN_EXE_accsim"))
        .args(words)
        .env_remove("ACCSIM_GOLDEN_DIR")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (output.status.code(), output.stdout, String::from_utf8(output.stderr).unwrap())
}

/// Ten thousand files where twenty may be open: each is closed before the next ones are opened.
#[test]
fn many_files_need_few_at_a_time() {
    let folder = Folder::new();
    let log = fs::read_to_string(folder.at("a/a.log")).unwrap();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains("Decode batch")).take(2).collect();
    for file in 0..10_000 {
        let below = format!("many/{}", file % 100);
        if file < 100 {
            fs::create_dir_all(folder.at(&below)).unwrap();
        }
        folder.write(&format!("{below}/{file}.log"), lines.join("\n") + "\n");
    }
    let recipe = fs::read(folder.at("recipe.yaml")).unwrap();
    fs::create_dir(folder.at("recipes")).unwrap();
    for file in 0..100 {
        folder.write(&format!("recipes/{file}.yaml"), &recipe);
    }
    let rows: String = (0..60).map(|file| format!("many/{}/{file}.log,3.5,6\n", file % 100)).collect();
    folder.write("many.csv", format!("path,accept_length,max_accept_length\n{rows}"));
    // Ten thousand for the one that only reads, some hundred for the others.
    for line in [
        "audit @many/2 @many/3 TARGET --json --threads 4",
        "records @many --threads 4",
        "audit @many/0 @many/1 TARGET --json --point-by dir --threads 4",
        "audit @many/0 TARGET --partial --threads 4",
        "audit --manifest @many.csv --json --threads 4",
        "recipe check @recipes --model glm5.2 --json --no-config --threads 4",
        "curves list --golden-dir @recipes",
        "throughput calibrate @many/0 --threads 4",
        "signoff @many/0 --format json --threads 4",
    ] {
        let words = folder.words(line);
        let expected = folder.run_words(&words, Fault::None);
        let (code, out, err) = with_few_files(&words);
        assert!(!err.contains("Too many open files"), "{line}: {err}");
        assert_eq!(code, expected.code, "{line}: {err}");
        assert!(out == expected.out, "{line}");
        assert!(
            line.starts_with("curves") || line.starts_with("throughput") || code != Some(2),
            "{line}: {err}"
        );
    }
}
