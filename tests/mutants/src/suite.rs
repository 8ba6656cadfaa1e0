//! The tests of the copy: which there are, how long each takes, which mutants it reaches.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::state::{Scratch, Test};

/// A test that takes longer than this on its own is left out.
const LONGEST: Duration = Duration::from_secs(120);

/// How one run of one test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Passed,
    Failed,
    TimedOut,
}

/// Lists the tests of all binaries, but for those that are ignored. What is known of a test of that name stays.
pub(crate) fn list(scratch: &Scratch, binaries: &[PathBuf]) -> Result<()> {
    let known = scratch.tests().unwrap_or_default();
    let (mut old, mut tests): (Vec<Test>, Vec<Test>) =
        known.into_iter().partition(|test| binaries.contains(&test.binary));
    for binary in binaries {
        let ignored = names(binary, &scratch.tree(), &["--ignored"])?;
        for name in names(binary, &scratch.tree(), &[])?.difference(&ignored) {
            let same = old.iter().position(|test| test.binary == *binary && test.name == *name);
            let new = || Test { binary: binary.clone(), name: name.clone(), took: None, reached: Vec::new() };
            tests.push(same.map_or_else(new, |same| old.swap_remove(same)));
        }
    }
    eprintln!("{} tests", tests.len());
    scratch.write_tests(&tests)
}

fn names(binary: &Path, tree: &Path, arguments: &[&str]) -> Result<BTreeSet<String>> {
    let output = Command::new(binary)
        .args(["--list", "--format", "terse"])
        .args(arguments)
        .current_dir(tree)
        .output()
        .with_context(|| binary.display().to_string())?;
    ensure!(output.status.success(), "{}: {}", binary.display(), output.status);
    let text = String::from_utf8(output.stdout)?;
    Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
}

/// Runs every test that is not known to pass with the note; goes on where it was stopped.
pub(crate) fn reach(scratch: &Scratch, jobs: usize) -> Result<()> {
    let tests = scratch.tests()?;
    let tree = scratch.tree();
    let notes = scratch.path("reached");
    fs::create_dir_all(&notes)?;
    let new: Vec<usize> = (0..tests.len()).filter(|at| tests[*at].took.is_none()).collect();
    let known = Mutex::new((tests.clone(), 0));
    each(new.len(), jobs, |nth| {
        let at = new[nth];
        let note = notes.join(at.to_string());
        let _ = fs::remove_file(&note);
        let start = Instant::now();
        let mut ended = run(&tree, &tests[at], None, Some(&note), LONGEST)?;
        let mut took = start.elapsed();
        // Some count the reads and writes of the program, the note's among them.
        if ended == Ended::Failed {
            let start = Instant::now();
            ended = run(&tree, &tests[at], None, None, LONGEST)?;
            took = start.elapsed();
        }
        let reached: BTreeSet<usize> = fs::read_to_string(&note)
            .unwrap_or_default()
            .lines()
            .filter_map(|line| line.parse().ok())
            .collect();
        let mut known = lock(&known);
        known.0[at].took = (ended == Ended::Passed).then_some(took);
        known.0[at].reached = reached.into_iter().collect();
        known.1 += 1;
        if known.1 % 20 == 0 { scratch.write_tests(&known.0) } else { Ok(()) }
    })?;
    let (tests, _) = known.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    for test in tests.iter().filter(|test| test.took.is_none()) {
        eprintln!("left out, does not pass on the copy: {}", test.name);
    }
    let all: Duration = tests.iter().filter_map(|test| test.took).sum();
    eprintln!(
        "{} tests pass, in {} s together",
        tests.iter().filter(|test| test.took.is_some()).count(),
        all.as_secs()
    );
    scratch.write_tests(&tests)
}

/// Work on `0..count`, `jobs` at once; the first error ends it.
pub(crate) fn each(count: usize, jobs: usize, work: impl Fn(usize) -> Result<()> + Sync) -> Result<()> {
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(None);
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count {
                        break;
                    }
                    if let Err(error) = work(at) {
                        *lock(&failed) = Some(error);
                        next.store(count, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    lock(&failed).take().map_or(Ok(()), Err)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Runs one test in a process of its own, with a bound on its memory, files and time.
pub(crate) fn run(
    tree: &Path,
    test: &Test,
    thrown: Option<usize>,
    note: Option<&Path>,
    limit: Duration,
) -> Result<Ended> {
    let mut command = Command::new("sh");
    command
        .args(["-c", "ulimit -v 16000000; ulimit -f 16000000; exec \"$@\"", "sh"])
        .arg(&test.binary)
        .args(["--exact", &test.name])
        .current_dir(tree)
        .env("CARGO_MANIFEST_DIR", tree)
        .env_remove("ACCSIM_MUTANT")
        .env_remove("ACCSIM_REACHED")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0);
    if let Some(id) = thrown {
        command.env("ACCSIM_MUTANT", id.to_string());
    }
    if let Some(note) = note {
        command.env("ACCSIM_REACHED", note);
    }
    let mut child = command.spawn().context("sh")?;
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(if status.success() { Ended::Passed } else { Ended::Failed });
        }
        if start.elapsed() > limit {
            // The group: the test's programs too.
            Command::new("sh").args(["-c", &format!("kill -9 -{}", child.id())]).status()?;
            child.wait()?;
            return Ok(Ended::TimedOut);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}
