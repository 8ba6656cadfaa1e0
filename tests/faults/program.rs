//! The program, the files that its commands are given, and the faults that it meets.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use crate::pack::Pack;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

const TARGET: &str = "--accept-length 3.5 --max-accept-length 6";

const MATRIX: &str = "model: m\nmethod: mtp\nimage: \"vllm:nightly\"\ndataset: d\noutput_len: 4096\nmeasured_on: here\n\
    sampling:\n  all: {temperature: 1.0}\nsource: {repository: example/benchmarks, commit: 0123abcd, where: main}\n";

/// Counters after so many steps.
fn scrape(steps: u32) -> String {
    let positions = [4, 3, 2].map(|share| steps / 5 * share);
    let accepted: u32 = positions.iter().sum();
    let counts = [("num_drafts", steps), ("num_draft_tokens", 3 * steps), ("num_accepted_tokens", accepted)];
    let counts =
        counts.map(|(name, count)| format!("vllm:spec_decode_{name}_total{{model_name=\"m\"}} {count}.0\n"));
    let positions = positions.iter().enumerate().map(|(place, count)| {
        format!("vllm:spec_decode_num_accepted_tokens_per_pos_total{{model_name=\"m\",position=\"{place}\"}} {count}.0\n")
    });
    "# TYPE vllm:spec_decode_num_drafts counter\n".to_owned()
        + &counts.concat()
        + &positions.collect::<String>()
}

/// Every command that reads files; a word that begins with `@` names a file of [`Folder`].
pub(crate) const READERS: [&str; 34] = [
    "audit @a/a.log TARGET --json",
    "audit @a/a.log TARGET --format html",
    "audit @a/a.log TARGET --partial",
    "audit @gz/a.log.gz TARGET --json",
    "audit @zst/a.log.zst TARGET --json",
    "audit @xz/a.log.xz TARGET --json",
    "audit @tar/a.tar TARGET --json",
    "audit @zip/a.zip TARGET --json",
    "audit @long/long.log TARGET --json --threads 1",
    "audit @long/long.log TARGET --json --threads 3",
    "audit @vllm/vllm.log TARGET --json",
    "audit @prom/after.prom TARGET --json",
    "audit @a/a.log --env @a.env --json",
    "audit @a/a.log --recipe @recipe.yaml --json",
    "audit --manifest @runs.csv --json",
    "records @a/a.log",
    "records @export.json --format csv",
    "collect --before @prom/before.prom --after @prom/after.prom --json",
    "curves check @curve.yaml --json",
    "curves show @curve.yaml",
    "curves diff @curve.yaml @other.yaml",
    "curves plot @curve.yaml",
    "recipe check @recipe.yaml --model glm5.2 --json --no-config",
    "recipe check @launch.sh --model glm5.2 --json --no-config",
    "recipe inject @recipe.yaml --framework sglang --model glm5.2",
    "merge @part.json --json",
    "simulate --env @a.env --max-accept-length 6 --json",
    "signoff launch-diff @launch.sh @other.sh",
    "throughput calibrate @real/real.log --json",
    "throughput predict @real/real.log --accept-length 2",
    "throughput simulate @model.json --accept-length 2 --draft-length 3 --concurrency 2 --isl 64 --osl 32 --duration 1",
    "throughput simulate @model.json --accept-length 2 --draft-length 3 --trace @trace.csv --json",
    "throughput sweep @model.json --curve glm5.2_mtp --concurrency 1 --duration 1 --replicates 1",
    "throughput pareto @points.csv --x x --y y",
];

/// Commands that write files, each with the files that it writes; `@out` and what begins with it are not there before.
pub(crate) const WRITERS: [(&str, &[&str]); 24] = [
    ("audit @a/a.log TARGET --json -o @out", &["out"]),
    ("audit @a/a.log TARGET --html @out.html", &["out.html"]),
    ("audit @a/a.log TARGET --format parquet -o @out.parquet", &["out.parquet"]),
    ("audit @a/a.log TARGET --partial -o @out", &["out"]),
    ("audit --manifest @runs.csv --format csv -o @out", &["out"]),
    ("records @a/a.log -o @out", &["out"]),
    ("records @a/a.log --format parquet -o @out.parquet", &["out.parquet"]),
    ("curves plot @curve.yaml -o @out.svg", &["out.svg"]),
    ("curves plot @curve.yaml --html @out.html", &["out.html"]),
    ("recipe check @recipe.yaml --model glm5.2 --json --no-config -o @out", &["out"]),
    ("recipe inject @recipe.yaml --framework sglang --model glm5.2 -o @out", &["out"]),
    ("recipe inject @recipe.yaml --framework sglang --model glm5.2 --in-place", &["recipe.yaml"]),
    ("merge @part.json --json -o @out", &["out"]),
    ("merge @part.json --partial -o @out", &["out"]),
    ("simulate TARGET --steps 1000 --json -o @out", &["out"]),
    ("simulate TARGET --lines 60 --emit-log @out", &["out"]),
    ("signoff launch-diff @launch.sh @other.sh -o @out", &["out"]),
    ("throughput calibrate @real/real.log -o @out", &["out"]),
    ("throughput predict @real/real.log --accept-length 2 -o @out --html @out.html", &["out", "out.html"]),
    (
        "throughput simulate @model.json --accept-length 2 --draft-length 3 --concurrency 2 --isl 64 --osl 64 --duration 1 --emit-log @out",
        &["out"],
    ),
    (
        "throughput sweep @model.json --curve glm5.2_mtp --concurrency 1 --duration 1 --replicates 1 -o @out --plot @out.svg",
        &["out", "out.svg"],
    ),
    ("throughput pareto @points.csv --x x --y y --format csv -o @out", &["out"]),
    ("throughput pareto @points.csv --x x --y y --format svg -o @out.svg", &["out.svg"]),
    ("collect --matrix @matrix -o @out.yaml", &["out.yaml"]),
];

/// What goes wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    None,
    /// An action of `shim.c`, and its number.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    Of(&'static str, u32),
    /// Every look at a clock finds it earlier.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    Clock,
}

/// What came of a command.
pub(crate) struct Ran {
    /// `None`: a signal.
    pub(crate) code: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
    /// Whether the fault came up at all.
    pub(crate) met: bool,
}

impl Ran {
    fn of(output: Output, met: bool) -> Self {
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(!err.contains("panicked"), "{err}");
        Self { code: output.status.code(), out: output.stdout, err, met }
    }
}

/// The words of a command line, with the paths that its files are given.
pub(crate) fn words_with(line: &str, path: impl Fn(&str) -> PathBuf) -> Vec<OsString> {
    let line = line.replace("TARGET", TARGET);
    let word = |word: &str| word.strip_prefix('@').map_or_else(|| word.into(), |name| path(name).into());
    line.split_whitespace().map(word).collect()
}

/// Files for all commands.
pub(crate) struct Folder {
    path: PathBuf,
    _temporary: tempfile::TempDir,
}

impl Folder {
    /// A copy of the files that [`made`](Self::made) once.
    pub(crate) fn new() -> Self {
        static FIRST: OnceLock<Folder> = OnceLock::new();
        let (first, folder) = (FIRST.get_or_init(Self::made), Self::empty());
        copy(&first.path, &folder.path);
        folder
    }

    fn empty() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        Self { path: temporary.path().canonicalize().unwrap(), _temporary: temporary }
    }

    fn made() -> Self {
        let folder = Self::empty();
        // Each log in a folder of its own: an audit looks at what lies beside one.
        for name in ["a", "long", "vllm", "gz", "zst", "xz", "tar", "zip", "real", "prom"] {
            fs::create_dir(folder.at(name)).unwrap();
        }
        folder.simulate("a/a.log", "--lines 60");
        folder.simulate("long/long.log", "--lines 1500");
        folder.simulate("vllm/vllm.log", "--lines 60 --engine vllm --batch 8");
        let log = fs::read(folder.at("a/a.log")).unwrap();
        for (name, pack) in [
            ("gz/a.log.gz", Pack::Gzip),
            ("zst/a.log.zst", Pack::Zstd),
            ("xz/a.log.xz", Pack::Xz),
            ("tar/a.tar", Pack::Tar),
            ("zip/a.zip", Pack::ZipDeflated),
        ] {
            folder.write(name, pack.pack(&log));
        }
        for (name, from) in [
            ("real/real.log", "tests/data/h200/e3k5_al351.log"),
            ("prom/before.prom", "tests/data/counters/vllm_before.prom"),
            ("prom/after.prom", "tests/data/counters/vllm_after.prom"),
            ("export.json", "tests/data/counters/aiperf_server_metrics.json"),
            ("curve.yaml", "golden_al/glm5.2_mtp.yaml"),
            ("other.yaml", "golden_al/glm5.3_mtp.yaml"),
            ("recipe.yaml", "tests/data/recipes/agg_sglang.yaml"),
            ("model.json", "tests/data/throughput/h200_k3_k5.json"),
        ] {
            fs::copy(Path::new(ROOT).join(from), folder.at(name)).unwrap();
        }
        folder.write("a.env", "SGLANG_SIMULATE_ACC_LEN=3.5\nSGLANG_SIMULATE_ACC_METHOD=match-expected\n");
        let server =
            "python3 -m sglang.launch_server --speculative-algorithm EAGLE --speculative-num-steps 3";
        folder.write("launch.sh", format!("export SGLANG_SIMULATE_ACC_LEN=2.99\n{server}\n"));
        folder.write("other.sh", format!("{server} --tp 4\n"));
        folder
            .write("runs.csv", "path,accept_length,max_accept_length\na/a.log,3.5,6\nlong/long.log,3.5,6\n");
        folder.write("trace.csv", "arrival_s,isl,osl\n0,64,32\n1.5,64,16\n");
        folder.write("points.csv", "x,y\n1,2\n2,3\n3,1\n");
        folder.matrix();
        let ran = folder.run("audit @a/a.log TARGET --partial -o @part.json", Fault::None);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        folder
    }

    /// Snapshots of a curve of one cell.
    fn matrix(&self) {
        let cell = self.at("matrix/thinking_on/k3");
        fs::create_dir_all(&cell).unwrap();
        self.write("matrix/matrix.yaml", MATRIX);
        for (name, steps) in [("before.prom", 0), ("after.prom", 5000)] {
            fs::write(cell.join(name), scrape(steps)).unwrap();
        }
    }

    fn simulate(&self, name: &str, flags: &str) {
        let ran = self.run(&format!("simulate TARGET {flags} --emit-log @{name}"), Fault::None);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.at(name), bytes).unwrap();
    }

    /// The names in the folder, in order.
    pub(crate) fn names(&self) -> Vec<OsString> {
        let mut names: Vec<_> =
            fs::read_dir(&self.path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }

    /// The words of a command line, with the paths of its files.
    pub(crate) fn words(&self, line: &str) -> Vec<OsString> {
        words_with(line, |name| self.at(name))
    }

    pub(crate) fn run(&self, line: &str, fault: Fault) -> Ran {
        self.run_words(&self.words(line), fault)
    }

    pub(crate) fn run_words(&self, words: &[OsString], fault: Fault) -> Ran {
        let mark = tempfile::tempdir().unwrap();
        let mark = mark.path().join("met");
        let mut command = program();
        match fault {
            Fault::None => {}
            #[cfg(all(target_os = "linux", target_env = "gnu"))]
            Fault::Of(action, number) => {
                command.env("LD_PRELOAD", shim()).env("FAULT_FOLDER", &self.path).env("FAULT_MARK", &mark);
                command.env("FAULT", format!("{action}:{number}"));
            }
            #[cfg(all(target_os = "linux", target_env = "gnu"))]
            Fault::Clock => {
                command.env("LD_PRELOAD", shim()).env("FAULT_CLOCK", "1");
            }
        }
        let output = command.args(words).output().unwrap();
        Ran::of(output, mark.exists())
    }
}

/// Does this with each case, on some threads, and tells of all that fail.
pub(crate) fn each<T: Sync>(cases: &[T], test: impl Fn(&T) + Sync) {
    let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    // Threads of the test itself, so that what they say is shown with it.
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Relaxed)) {
                    if catch_unwind(AssertUnwindSafe(|| test(case))).is_err() {
                        failed.fetch_add(1, Relaxed);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner();
    assert_eq!(failed, 0, "{failed} of {} cases failed", cases.len());
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir(&to).unwrap();
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// The program, without variables that would change what it does.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_accsim"));
    for name in ["ACCSIM_GOLDEN_DIR", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command.stdin(Stdio::null());
    command
}

/// The library that is loaded in front of the C library. A C compiler is there: the grammar of bash needs one too.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn shim() -> &'static Path {
    static SHIM: OnceLock<PathBuf> = OnceLock::new();
    SHIM.get_or_init(|| {
        let shim = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("faults-{}.so", std::process::id()));
        let built = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"])
            .arg(&shim)
            .arg(Path::new(ROOT).join("tests/faults/shim.c"))
            .status();
        assert!(built.unwrap().success());
        shim
    })
}

/// The path with a name that is no text.
pub(crate) fn odd(path: &Path) -> PathBuf {
    path.with_file_name(OsString::from_vec([b"\xff\xfe\n", path.file_name().unwrap().as_bytes()].concat()))
}

/// Whether text names a file, in whatever way.
pub(crate) fn mentions(text: &str, name: &str) -> bool {
    text.as_bytes().windows(name.len()).any(|window| window == std::ffi::OsStr::new(name).as_bytes())
}
