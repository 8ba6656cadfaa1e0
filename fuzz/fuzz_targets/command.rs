//! Any command line, one argument a line, in a folder with a few small files. It must end with a documented exit code, and
//! what it prints as JSON must be JSON.
//!
//! Left out: paths that lead out of the folder, commands that wait (`--follow`) or search for minutes (`--recover-seed`), more
//! than a few threads, and numbers of more than four digits, because a simulation may be asked to be long.

#![no_main]

use std::fs;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let folder = FOLDER.get_or_init(fill);
    let args: Vec<&str> = text.lines().collect();
    if args.len() > 24 || args.iter().any(|arg| is_left_out(arg)) {
        return;
    }
    let (out, err) = (Kept::default(), Kept::default());
    let command = ["accsim", "--threads", "2"].iter().chain(&args);
    let exit = accsim::cli::run(command, &mut out.clone(), &mut err.clone());
    assert!(exit.code() <= 3, "exit code {}", exit.code());
    // Behind `--` it is a path.
    let flags = args.split(|arg| *arg == "--").next().unwrap_or_default();
    if flags.contains(&"--json")
        && !args.iter().any(|arg| matches!(*arg, "--help" | "-h" | "help" | "--version" | "-V"))
    {
        let out = out.0.lock().unwrap_or_else(PoisonError::into_inner);
        for value in serde_json::Deserializer::from_slice(&out).into_iter::<serde_json::Value>() {
            value.expect("what --json prints is JSON");
        }
    }
    // What a command wrote must not become the next one's input.
    if fs::read_dir(folder).map_or(0, Iterator::count) > FILES.len() {
        let _ = fs::remove_dir_all(folder);
        fill();
    }
});

static FOLDER: OnceLock<std::path::PathBuf> = OnceLock::new();

const FILES: &[(&str, &[u8])] = &[
    ("a.log", include_bytes!("../../tests/data/h200/e3k3_al299.log")),
    ("b.json", include_bytes!("../../tests/data/h200/e3k3_al299.json")),
    ("m.prom", include_bytes!("../../tests/data/counters/sglang.prom")),
    ("n.prom", include_bytes!("../../tests/data/counters/vllm_after.prom")),
    ("p.csv", include_bytes!("../../tests/data/throughput/signoff_points.csv")),
    ("r.yaml", include_bytes!("../../tests/data/recipes/agg_sglang.yaml")),
    ("t.json", include_bytes!("../../tests/data/throughput/h200_k3_k5.json")),
];

fn fill() -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("accsim-fuzz-command-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a temporary folder");
    for (name, bytes) in FILES {
        fs::write(folder.join(name), bytes).expect("a temporary file");
    }
    std::env::set_current_dir(&folder).expect("the folder is there");
    folder
}

fn is_left_out(arg: &str) -> bool {
    let longest = arg.split(|letter: char| !letter.is_ascii_digit()).map(str::len).max().unwrap_or(0);
    let power = arg.to_ascii_lowercase().contains(|letter: char| letter == 'e')
        && arg.chars().all(|letter| matches!(letter, '0'..='9' | 'e' | 'E' | '.' | '+' | '-'));
    arg.len() > 200
        || longest > 4
        || (power && longest > 0)
        || arg.contains(['/', '\0'])
        || arg.contains("..")
        || ["--fol", "--rec", "--th"].iter().any(|word| arg.starts_with(word))
}

/// Bytes that two hands hold: the command's, which wants them for ever, and ours.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
