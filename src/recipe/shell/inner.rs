//! Scripts inside of a command's words: `bash -c script`, `ssh host command`, `tmux new-session command`.

use super::word::Word;
use super::wrap::program;

/// A script that a command's words hold.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Inner {
    /// Words in front of it, which say what environment it gets.
    pub(super) end: usize,
    pub(super) script: Word,
    /// Its `$1`, `$2` and so on.
    pub(super) arguments: Vec<Word>,
    /// Whether it is typed into a shell that runs already.
    pub(super) is_typed: bool,
}

/// Programs that take a script behind `-c`.
const SHELLS: [&str; 10] = ["bash", "sh", "zsh", "dash", "ksh", "ash", "su", "runuser", "script", "flock"];

/// Programs that run a line on other machines, with the options of theirs that take a value.
const REMOTE: [(&str, &str); 3] =
    [("ssh", "BbcDEeFIiJLlmOopQRSWw"), ("pdsh", "wxgflutRq"), ("clush", "wxgflutoG")];

/// The script of a command, whatever stands in front of it.
pub(super) fn inner_script(words: &[Word]) -> Option<Inner> {
    behind_flag(words).or_else(|| remote(words)).or_else(|| terminal(words)).or_else(|| split_string(words))
}

/// `bash -c script`, `su user -c script`.
fn behind_flag(words: &[Word]) -> Option<Inner> {
    let shell = words.iter().position(|word| SHELLS.contains(&program(word)))?;
    let rest = words.get(shell + 1..)?;
    let flag = rest.iter().position(|word| {
        word.text.starts_with('-') && !word.text.starts_with("--") && word.text.ends_with('c')
    })?;
    let script = rest.get(flag + 1)?.clone();
    // The first behind the script is `$0`.
    let arguments = rest.get(flag + 3..).unwrap_or_default().to_vec();
    Some(Inner { end: shell + 1, script, arguments, is_typed: false })
}

/// `ssh [options] host command..`: the words are joined, and the other side's shell reads them.
fn remote(words: &[Word]) -> Option<Inner> {
    let (at, valued) = words.iter().enumerate().find_map(|(index, word)| {
        REMOTE.iter().find(|(name, _)| *name == program(word)).map(|(_, valued)| (index, *valued))
    })?;
    let has_host = words.get(at).is_some_and(|word| program(word) == "ssh");
    let mut index = at + 1;
    while let Some(flag) = words.get(index).and_then(|word| word.text.strip_prefix('-')) {
        let takes_value = flag.len() == 1 && valued.contains(flag);
        index += if takes_value { 2 } else { 1 };
    }
    joined(words, index + usize::from(has_host), false)
}

/// `tmux new-session 'command'`, `tmux send-keys 'command' Enter`, `screen -X stuff 'command'`.
fn terminal(words: &[Word]) -> Option<Inner> {
    let at = words.iter().position(|word| matches!(program(word), "tmux" | "screen"))?;
    let is = |names: &[&str]| {
        words.iter().enumerate().skip(at + 1).find(|(_, word)| names.contains(&word.text.as_str()))
    };
    if let Some((index, _)) = is(&["stuff"]) {
        return joined(words, index + 1, true);
    }
    if let Some((index, _)) = is(&["send-keys", "send"]) {
        let mut keys = words.get(index + 1..)?.iter().peekable();
        let mut script: Option<Word> = None;
        while let Some(key) = keys.next() {
            let text = match key.text.as_str() {
                "-t" | "-N" => {
                    keys.next();
                    continue;
                }
                "Enter" | "C-m" | "KPEnter" | "C-j" => "\n",
                "Space" => " ",
                flag if flag.starts_with('-') && flag.len() == 2 => continue,
                text => text,
            };
            match &mut script {
                Some(script) => script.text.push_str(text),
                None => script = Some(Word { text: text.to_owned(), verbatim: None, ..key.clone() }),
            }
        }
        return script.map(|script| Inner { end: index, script, arguments: Vec::new(), is_typed: true });
    }
    let starts = [
        "new-session",
        "new",
        "new-window",
        "neww",
        "split-window",
        "splitw",
        "respawn-pane",
        "respawn-window",
        "run-shell",
        "run",
    ];
    let (start, _) = is(&starts)?;
    let mut index = start + 1;
    while let Some(flag) = words.get(index).and_then(|word| word.text.strip_prefix('-')) {
        let takes_value = flag.len() == 1 && "cefFlnpstxy".contains(flag)
            || flag.len() > 1 && flag.ends_with(['s', 't', 'n', 'c', 'e', 'x', 'y', 'F']);
        index += if takes_value { 2 } else { 1 };
    }
    // Several words are run as they are, one by a shell.
    (words.len() == index + 1).then(|| joined(words, index, false)).flatten()
}

/// `env -S 'A=b command'`.
fn split_string(words: &[Word]) -> Option<Inner> {
    let at = words.iter().position(|word| program(word) == "env")?;
    let is_flag = |word: &Word| matches!(word.text.as_str(), "-S" | "--split-string" | "-iS");
    let flag = at + 1 + words.get(at + 1..)?.iter().position(is_flag)?;
    joined(words, flag + 1, false)
}

fn joined(words: &[Word], from: usize, is_typed: bool) -> Option<Inner> {
    let rest = words.get(from..)?;
    let first = rest.first()?;
    let texts: Vec<&str> = rest.iter().map(|word| word.text.as_str()).collect();
    let script = Word { text: texts.join(" "), verbatim: None, ..first.clone() };
    Some(Inner { end: from, script, arguments: Vec::new(), is_typed })
}

/// Programs that run the command behind them.
const RUNNERS: [&str; 14] = [
    "nohup", "exec", "time", "setsid", "timeout", "numactl", "srun", "sbatch", "env", "sudo", "nice",
    "ionice", "stdbuf", "taskset",
];

/// Whether a program runs the command behind it.
pub(super) fn is_runner(program: &str) -> bool {
    RUNNERS.contains(&program)
}

/// The file that a command runs as a script, and where its name stands: `bash FILE`, `sbatch FILE`, `./FILE`.
pub(super) fn script_file(words: &[Word]) -> Option<(usize, String)> {
    let is_shell = |word: &Word| is_plain_shell(word) || program(word) == "sbatch";
    let index = if let Some(shell) = words.iter().position(is_shell) {
        let rest = words.get(shell + 1..)?;
        shell + 1 + rest.iter().position(|word| !word.text.starts_with('-'))?
    } else {
        let index = words.iter().position(|word| word.text.contains('/') && !word.text.starts_with('-'))?;
        let is_run = index == 0 || words.first().is_some_and(|first| RUNNERS.contains(&program(first)));
        is_run.then_some(index)?
    };
    words.get(index).filter(|file| file.is_resolved()).map(|file| (index, file.text.clone()))
}

fn is_plain_shell(word: &Word) -> bool {
    matches!(program(word), "bash" | "sh" | "zsh" | "dash" | "ksh" | "ash")
}

/// Whether a command reads its script from its input: `bash`, `bash -s`, `ssh host`, `sbatch`.
pub(super) fn reads_script(words: &[Word]) -> bool {
    let Some(at) =
        words.iter().rposition(|word| is_plain_shell(word) || matches!(program(word), "sbatch" | "ssh"))
    else {
        return false;
    };
    let rest = words.get(at + 1..).unwrap_or_default();
    match words.get(at).map(program) {
        Some("ssh") => remote(words).is_none(),
        Some("sbatch") => rest.iter().all(|word| word.text.starts_with('-')),
        _ => rest.iter().all(|word| word.text.starts_with('-')) || rest.iter().any(|word| word.text == "-s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::Position;

    fn words(text: &str) -> Vec<Word> {
        shlex::split(text).unwrap().into_iter().map(|word| Word::new(word, Position::START)).collect()
    }

    #[test]
    fn scripts_in_words() {
        for (text, script) in [
            ("bash -lc 'a b'", Some("a b")),
            ("timeout 60 numactl -N 0 bash -c 'a b'", Some("a b")),
            ("ssh host a b", Some("a b")),
            ("ssh -p 22 -o X=y -t user@host 'a b'", Some("a b")),
            ("ssh host", None),
            ("tmux new-session -d -s x 'a b'", Some("a b")),
            ("tmux new -ds x 'a b'", Some("a b")),
            ("tmux new-session -d a b", None),
            ("tmux send-keys -t x 'a b' Enter c C-m", Some("a b\nc\n")),
            ("screen -S x -X stuff 'a b'", Some("a b")),
            ("env -i -S 'A=1 b'", Some("A=1 b")),
            ("pdsh -w n1,n2 'a b'", Some("a b")),
            ("python3 -m a", None),
        ] {
            let found = inner_script(&words(text)).map(|inner| inner.script.text);
            assert_eq!(found.as_deref(), script, "{text}");
        }
        assert!(reads_script(&words("bash -s")) && reads_script(&words("ssh -p 22 host")));
        assert!(reads_script(&words("srun -N 1 bash")) && !reads_script(&words("bash a.sh")));
        assert_eq!(script_file(&words("chmod +x ./run.sh")), None);
        assert_eq!(script_file(&words("./run.sh a")), Some((0, "./run.sh".to_owned())));
        assert_eq!(script_file(&words("nohup bash -x run.sh a")), Some((3, "run.sh".to_owned())));
    }
}
