//! What stands in front of a server: programs that run it, and which variables they pass on.

use crate::recipe::number::{is_unresolved, shown};

use super::assign::is_name;
use super::state::{State, Value};
use super::word::{Word, unresolved};

/// Variables that carry simulated acceptance.
const SIMULATION: [&str; 3] = ["SGLANG_SIMULATE_ACC_", "TLLM_SPEC_DECODE_", "TILERT_SIMULATE_ACC_"];

/// What a program of this name is called: `/usr/bin/env` is `env`.
pub(super) fn program(word: &Word) -> &str {
    word.text.rsplit('/').next().unwrap_or(&word.text)
}

/// The state as the command behind `front` gets it: what is exported and passed on.
pub(super) fn passed(front: &[Word], state: &State) -> State {
    let mut passed = Passing { before: state.clone(), state: state.clone(), dash_e: true, is_apart: false };
    let mut rest = front;
    while let Some((word, behind)) = rest.split_first() {
        let taken = passed.word(word, behind);
        rest = behind.get(taken..).unwrap_or_default();
    }
    passed.state
}

/// Whether a command that starts here is given simulated acceptance.
pub(super) fn simulates(state: &State) -> bool {
    state.vars.iter().any(|(name, var)| {
        let is_set = matches!(&var.value, Value::Scalar(word) if !word.text.is_empty());
        var.is_exported && is_set && SIMULATION.iter().any(|start| name.starts_with(start))
    })
}

/// Programs in front, one behind the other.
struct Passing {
    /// Before a program dropped the environment: `-e NAME` takes from it.
    before: State,
    state: State,
    /// Whether `-e` gives a variable.
    dash_e: bool,
    /// Whether the environment is no longer that of the script.
    is_apart: bool,
}

impl Passing {
    /// Takes one word in; how many of those behind it belong to it.
    fn word(&mut self, word: &Word, behind: &[Word]) -> usize {
        match program(word) {
            "env" => return self.env(behind),
            "exec"
                if behind.first().is_some_and(|flag| matches!(flag.text.as_str(), "-c" | "-cl" | "-lc")) =>
            {
                self.drop_all();
            }
            "srun" | "sbatch" | "salloc" => self.slurm(behind),
            "docker" | "podman" | "nerdctl"
                if behind.iter().take(3).any(|word| matches!(word.text.as_str(), "run" | "exec")) =>
            {
                self.drop_all();
            }
            "ssh" | "pdsh" | "clush" | "kubectl" | "oc" => self.drop_all(),
            "sudo" => self.sudo(behind),
            "su" | "runuser"
                if behind.iter().any(|flag| matches!(flag.text.as_str(), "-" | "-l" | "--login")) =>
            {
                self.drop_all();
            }
            "apptainer" | "singularity" => self.apptainer(behind),
            "mpirun" | "mpiexec" | "mpiexec.hydra" | "orterun" | "prterun"
                if behind.iter().any(|flag| flag.text == "-genvnone") =>
            {
                self.drop_all();
            }
            _ => return self.option(word, behind),
        }
        0
    }

    /// An option that gives a variable, or an assignment.
    fn option(&mut self, word: &Word, behind: &[Word]) -> usize {
        let text = word.text.as_str();
        if let Some(file) = text.strip_prefix("--env-file=") {
            self.file(word, file);
            return 0;
        }
        if let Some(pair) = text.strip_prefix("--env=").or_else(|| text.strip_prefix("--setenv=")) {
            self.pairs(word, pair);
            return 0;
        }
        match text {
            "--env-file" => {
                if let Some(file) = behind.first() {
                    self.file(word, &file.text);
                }
                return 1;
            }
            "-e" if !self.dash_e => return 0,
            "-e" | "--env" | "-x" => {
                if let Some(pair) = behind.first() {
                    self.pairs(pair, &pair.text);
                }
                return 1;
            }
            "-genv" | "-env" => {
                if let [name, value, ..] = behind {
                    self.set(&name.text, value.clone());
                }
                return 2;
            }
            "-o" => {
                if let Some(option) = behind.first() {
                    self.ssh_option(option);
                }
                return 1;
            }
            _ => {}
        }
        let attached = text.strip_prefix("-e").filter(|_| self.dash_e).unwrap_or(text);
        if attached.contains('=') {
            self.pair(word, attached);
        } else if self.is_apart && is_unresolved(text) {
            // `docker run $ARGUMENTS image`: they may give variables.
            self.state.not_followed(word.at, &shown(text), false);
        }
        0
    }

    /// `env [-i] [-u NAME] [NAME=value].. command`
    fn env(&mut self, behind: &[Word]) -> usize {
        let mut index = 0;
        while let Some(word) = behind.get(index) {
            let text = word.text.as_str();
            let next = behind.get(index + 1);
            match text {
                "-" | "-i" | "--ignore-environment" => self.drop_all(),
                "-u" | "--unset" => {
                    if let Some(name) = next {
                        self.remove(name, &name.text);
                    }
                    index += 1;
                }
                "-C" | "--chdir" => index += 1,
                _ => {
                    if let Some(name) = text.strip_prefix("--unset=") {
                        self.remove(word, name);
                    } else if text.starts_with("--") {
                    } else if let Some(flags) = text.strip_prefix('-') {
                        index += self.env_flags(word, flags, next);
                    } else if is_unresolved(text) && !text.split('=').next().is_some_and(is_name) {
                        self.state.not_followed(word.at, &shown(text), false);
                    } else if text.contains('=') {
                        self.pair(word, text);
                    } else {
                        break;
                    }
                }
            }
            index += 1;
        }
        index
    }

    /// Flags of `env` in one word: `-iu NAME`, `-uNAME`. How many words more they take.
    fn env_flags(&mut self, word: &Word, flags: &str, next: Option<&Word>) -> usize {
        for (at, flag) in flags.char_indices() {
            match flag {
                'i' => self.drop_all(),
                'u' => {
                    let name = flags.get(at + 1..).unwrap_or_default();
                    if !name.is_empty() {
                        self.remove(word, name);
                        return 0;
                    }
                    if let Some(name) = next {
                        self.remove(name, &name.text);
                    }
                    return 1;
                }
                _ => {}
            }
        }
        0
    }

    /// `--export` of Slurm's programs, else `SLURM_EXPORT_ENV`.
    fn slurm(&mut self, behind: &[Word]) {
        let given = behind.iter().enumerate().find_map(|(index, word)| match word.text.as_str() {
            "--export" => behind.get(index + 1).cloned(),
            text => text.strip_prefix("--export=").map(|list| Word {
                text: list.to_owned(),
                verbatim: None,
                ..word.clone()
            }),
        });
        let of_variable = || match self.state.get("SLURM_EXPORT_ENV") {
            Some(Value::Scalar(list)) => Some(list.clone()),
            _ => None,
        };
        let Some(list) = given.or_else(of_variable) else { return };
        if !list.is_resolved()
            && !list.text.split(',').all(|part| part.split('=').next().is_some_and(is_name))
        {
            self.doubt(&list);
            return;
        }
        let is = |word: &str| list.text.split(',').any(|part| part.trim().eq_ignore_ascii_case(word));
        if !is("ALL") {
            let kept: Vec<&str> = list.text.split(',').map(str::trim).collect();
            let is_kept = |name: &str| kept.contains(&name) || name.starts_with("SLURM_");
            self.keep(&is_kept);
        }
        let parts: Vec<String> = list.text.split(',').map(str::to_owned).collect();
        for part in parts.iter().filter(|part| part.contains('=')) {
            self.pair(&list, part);
        }
    }

    /// `sudo` begins with an environment of its own, unless it is told to keep this one.
    fn sudo(&mut self, behind: &[Word]) {
        let flags = behind.iter().take_while(|word| word.text.starts_with('-') || !is_program(word));
        let mut kept: Option<Vec<String>> = Some(Vec::new());
        for flag in flags {
            match flag.text.as_str() {
                "-E" | "--preserve-env" => kept = None,
                text => {
                    if let (Some(list), Some(kept)) = (text.strip_prefix("--preserve-env="), &mut kept) {
                        kept.extend(list.split(',').map(str::to_owned));
                    }
                }
            }
        }
        if let Some(kept) = kept {
            self.keep(&|name| kept.iter().any(|held| held == name));
        }
    }

    /// Apptainer passes the environment on unless `--cleanenv`; `-e` is its short form.
    fn apptainer(&mut self, behind: &[Word]) {
        let is_clean =
            |word: &Word| matches!(word.text.as_str(), "-e" | "--cleanenv" | "-C" | "--containall");
        let given: Vec<(String, Word)> = ["APPTAINERENV_", "SINGULARITYENV_"]
            .into_iter()
            .flat_map(|start| {
                self.state.vars.iter().filter(|(_, var)| var.is_exported).filter_map(
                    move |(name, var)| match (name.strip_prefix(start), &var.value) {
                        (Some(name), Value::Scalar(word)) => Some((name.to_owned(), word.clone())),
                        _ => None,
                    },
                )
            })
            .collect();
        if behind.iter().take_while(|word| word.text != "--").any(is_clean) {
            self.drop_all();
        }
        self.dash_e = false;
        for (name, word) in given {
            self.set(&name, word);
        }
    }

    /// `SetEnv=NAME=value`; what `SendEnv` sends arrives only where the other side takes it.
    fn ssh_option(&mut self, option: &Word) {
        let Some((key, value)) = option.text.split_once(['=', ' ']) else { return };
        if key.eq_ignore_ascii_case("SetEnv") {
            self.pair(option, value);
        } else if key.eq_ignore_ascii_case("SendEnv") {
            for name in value.split_whitespace().filter(|name| is_name(name)) {
                if self.before.vars.get(name).is_some_and(|var| var.is_exported) {
                    let open = Word { text: unresolved("SendEnv"), verbatim: None, ..option.clone() };
                    self.set(name, open);
                }
            }
        }
    }

    /// `--env-file`: what a here-document wrote is read, another file is not.
    fn file(&mut self, word: &Word, file: &str) {
        let Some(written) = self.state.files.get(file).cloned() else {
            self.state.not_followed(word.at, &shown(file), true);
            return;
        };
        let lines = written.text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
        for line in lines {
            let line = Word { text: line.to_owned(), verbatim: None, at: written.at, defaulted: None };
            self.pairs(&line, &line.text);
        }
    }

    /// `NAME=value`, several of them behind commas, or `NAME`, which passes a variable on.
    fn pairs(&mut self, word: &Word, text: &str) {
        if !self.dash_e {
            // Apptainer's lists: `--env A=b,C=d`.
            for pair in text.split(',') {
                self.pair(word, pair);
            }
            return;
        }
        if text.contains('=') {
            self.pair(word, text);
            return;
        }
        if let Some(Value::Scalar(value)) = self.before.get(text) {
            let value = value.clone();
            self.set(text, value);
        } else if is_unresolved(text) {
            self.state.not_followed(word.at, &shown(text), false);
        }
    }

    fn pair(&mut self, word: &Word, text: &str) {
        let Some((name, value)) = text.split_once('=') else { return };
        if is_name(name) {
            self.set(name, Word { text: value.to_owned(), verbatim: None, ..word.clone() });
        }
    }

    fn set(&mut self, name: &str, value: Word) {
        self.state.set(name, Value::Scalar(value), true);
    }

    fn remove(&mut self, word: &Word, name: &str) {
        if is_unresolved(name) {
            self.doubt(word);
        } else {
            self.state.unset(name);
        }
    }

    /// Nothing of the environment goes on.
    fn drop_all(&mut self) {
        self.keep(&|_| false);
    }

    /// Only some names go on.
    fn keep(&mut self, is_kept: &dyn Fn(&str) -> bool) {
        self.before = self.state.clone();
        let kept: Vec<(String, Word)> = self
            .state
            .vars
            .iter()
            .filter(|(name, var)| var.is_exported && is_kept(name))
            .filter_map(|(name, var)| match &var.value {
                Value::Scalar(word) => Some((name.clone(), word.clone())),
                Value::Array(_) | Value::Unset => None,
            })
            .collect();
        self.state.forget();
        for (name, word) in kept {
            self.set(&name, word);
        }
        self.is_apart = true;
    }

    /// Only the run tells which variables go on: what they would say of simulated acceptance is open.
    fn doubt(&mut self, by: &Word) {
        let names: Vec<String> = self
            .state
            .vars
            .iter()
            .filter(|(name, var)| var.is_exported && SIMULATION.iter().any(|start| name.starts_with(start)))
            .map(|(name, _)| name.clone())
            .collect();
        for name in names {
            self.set(&name, Word { text: by.text.clone(), verbatim: None, ..by.clone() });
        }
        self.state.not_followed(by.at, &shown(&by.text), false);
    }
}

/// Whether a word may be the program that `sudo` runs, and not the value of one of its options.
fn is_program(word: &Word) -> bool {
    word.text.contains('/')
        || matches!(word.text.as_str(), "env" | "bash" | "sh" | "python" | "python3" | "nohup")
}
