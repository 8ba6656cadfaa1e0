//! One command over one file, under limits, and what it did.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use wait4::Wait4 as _;

use crate::commands::{Command, Output};
use crate::corpus::{File, Kind};

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

/// What a command did with a file.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) kind: Kind,
    pub(crate) damage: &'static str,
    pub(crate) exit: i32,
    pub(crate) memory: u64,
    pub(crate) time: Duration,
    pub(crate) fault: Option<Fault>,
}

/// A promise that was broken.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    what: String,
    command: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: accsim {}", self.what, self.command)
    }
}

impl Runner {
    pub(crate) fn new(binary: &Path) -> Self {
        Self { binary: binary.to_owned() }
    }

    /// Runs `command`, which reads `file`; `folder` takes what it prints.
    pub(crate) fn run(&self, file: &File, command: &Command, folder: &Path) -> Outcome {
        let printed = tempfile::tempfile_in(folder.parent().unwrap()).unwrap();
        let said = tempfile::tempfile_in(folder.parent().unwrap()).unwrap();
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
        let (printed, said) = (whole(printed), whole(said));
        let broken = broken(exit, memory, &printed, &said, command.output);
        let fault = broken.map(|what| Fault { what, command: command.words.join(" ") });
        Outcome { kind: file.kind, damage: file.damage, exit, memory, time, fault }
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
fn broken(exit: i32, memory: u64, printed: &[u8], said: &[u8], output: Output) -> Option<String> {
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
    if said.iter().any(|byte| byte.is_ascii_control() && !matches!(byte, b'\n' | b'\t')) {
        return Some("control characters on standard error".to_owned());
    }
    let Ok(text) = std::str::from_utf8(printed) else {
        return Some("standard output is not UTF-8".to_owned());
    };
    if text.trim().is_empty() {
        return None;
    }
    let valid = |text: &str| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    match output {
        Output::Json if !valid(text) => Some("standard output is no JSON document".to_owned()),
        Output::JsonLines if !text.lines().all(valid) => {
            Some("a line of standard output is no JSON".to_owned())
        }
        Output::Text if text.chars().any(|letter| letter.is_control() && !matches!(letter, '\n' | '\t')) => {
            Some("control characters on standard output".to_owned())
        }
        _ => None,
    }
}
