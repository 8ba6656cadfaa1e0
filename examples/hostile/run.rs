//! One command over one file, under limits, and what it did.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use wait4::Wait4 as _;

use crate::commands::Command;
use crate::format::Format;
use crate::valid;

/// Resident memory that no command may exceed.
pub(crate) const MEMORY: u64 = 512 << 20;

/// Address space, so that a runaway ends before the machine does.
const ADDRESS_SPACE: u64 = 4 << 30;

/// Processor time that no command may exceed: the files are at most 4 MiB, bombs unpack to 64 MiB and more.
pub(crate) const SECONDS: u64 = 20;

/// Runs the binary.
pub(crate) struct Runner {
    binary: PathBuf,
}

/// A file that lies there to be read.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub(crate) number: usize,
    pub(crate) path: PathBuf,
    pub(crate) format: Format,
    pub(crate) damage: String,
}

/// What a command did with a file.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) format: Format,
    pub(crate) command: &'static str,
    pub(crate) exit: i32,
    pub(crate) memory: u64,
    pub(crate) time: Duration,
    pub(crate) fault: Option<Fault>,
}

/// A promise that was broken.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    what: String,
    line: String,
    damage: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: accsim {} ({})", self.what, self.line, self.damage)
    }
}

impl Runner {
    pub(crate) fn new(binary: &Path) -> Self {
        Self { binary: binary.to_owned() }
    }

    /// Runs `command`, which reads the file.
    pub(crate) fn run(&self, given: &Given, command: &Command) -> Outcome {
        let folder = given.path.parent().unwrap().parent().unwrap();
        let printed = tempfile::tempfile_in(folder).unwrap();
        let said = tempfile::tempfile_in(folder).unwrap();
        let limited = format!(
            "ulimit -v {} -t {SECONDS} -c 0; exec timeout --signal=KILL {} \"$0\" \"$@\"",
            ADDRESS_SPACE >> 10,
            3 * SECONDS
        );
        let child = std::process::Command::new("bash")
            .args(["-c", &limited])
            .arg(&self.binary)
            .args(&command.words)
            .args(["--threads", "2"])
            .stdin(Stdio::null())
            .stdout(printed.try_clone().unwrap())
            .stderr(said.try_clone().unwrap())
            .spawn()
            .unwrap();
        let ended = child.wait4().unwrap();
        let exit = ended.status.code().unwrap_or(-1);
        let memory = ended.rusage.maxrss;
        let time = ended.rusage.utime + ended.rusage.stime;
        let broken = broken(exit, memory, &whole(printed), &whole(said), command);
        let line = || command.words.join(" ");
        let fault = broken.map(|what| Fault { what, line: line(), damage: given.damage.clone() });
        Outcome { format: given.format, command: command.name, exit, memory, time, fault }
    }
}

fn whole(mut file: std::fs::File) -> Vec<u8> {
    use std::io::{Read as _, Seek as _};
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    bytes
}

/// The first promise that does not hold.
fn broken(exit: i32, memory: u64, printed: &[u8], said: &[u8], command: &Command) -> Option<String> {
    if !(0..=3).contains(&exit) {
        return Some(format!(
            "exit code {exit}, where a signal is -1 or above 128: {}",
            String::from_utf8_lossy(said).trim_end()
        ));
    }
    if said.windows(8).any(|window| window == b"panicked") {
        return Some("a panic".to_owned());
    }
    if memory > MEMORY {
        return Some(format!("{} MiB of memory", memory >> 20));
    }
    if !std::str::from_utf8(said).is_ok_and(valid::is_harmless) {
        return Some("control characters on standard error".to_owned());
    }
    if exit == 2 && said.is_empty() && !command.words.iter().any(|word| word == "-q") {
        return Some("exit code 2 without a word".to_owned());
    }
    valid::fault(printed, command.output).map(str::to_owned)
}
