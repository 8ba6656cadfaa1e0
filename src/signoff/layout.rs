//! What a path says: what kind of file it is, which point it belongs to, and whether that is an evaluation.

use super::facts::Origin;
use crate::evidence::WorkerName;

/// How a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Line by line: a log, a trace, a script, an environment.
    Text(Origin),
    /// One JSON document.
    Json,
    /// A JSON document a line.
    JsonLines,
    /// A recipe, or a configuration made of one.
    Yaml(Origin),
    /// A table of points.
    Table,
    /// Nothing that a sign-off reads.
    Other,
}

/// Endings of compressed files, which say nothing about what is in them.
const PACKED: [&str; 4] = [".gz", ".zst", ".xz", ".zstd"];

/// Folders that srt-slurm and harnesses make within the folder of a point.
const INNER: [&str; 10] = [
    "logs",
    "log",
    "results",
    "artifacts",
    "agentic",
    "outputs",
    "output",
    "server_logs",
    "eval_results",
    "aiperf_artifacts",
];

/// The last part of a path without compression, in lower case.
fn base(name: &str) -> String {
    let file = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    PACKED.iter().find_map(|ending| file.strip_suffix(ending)).unwrap_or(&file).to_owned()
}

/// How a file is read, by its name.
///
/// ```
/// use accsim::signoff::{FileKind, Origin, kind_of};
///
/// assert_eq!(kind_of("run/logs/gb200-01_decode_w0.out.gz"), FileKind::Text(Origin::Log));
/// assert_eq!(kind_of("run/config.yaml"), FileKind::Yaml(Origin::Config));
/// assert_eq!(kind_of("run/env.txt"), FileKind::Text(Origin::Environment));
/// ```
#[must_use]
pub fn kind_of(name: &str) -> FileKind {
    let file = base(name);
    if WorkerName::parse(name).is_some() {
        return FileKind::Text(Origin::Log);
    }
    let (stem, extension) = file.rsplit_once('.').unwrap_or((&file, ""));
    match extension {
        "yaml" | "yml" if has_word(stem, "config") || has_word(stem, "master") => {
            FileKind::Yaml(Origin::Config)
        }
        "yaml" | "yml" => FileKind::Yaml(Origin::Recipe),
        "json" => FileKind::Json,
        "jsonl" | "ndjson" => FileKind::JsonLines,
        "csv" => FileKind::Table,
        "sh" | "bash" | "sbatch" | "slurm" => FileKind::Text(Origin::Launcher),
        "env" | "trace" => FileKind::Text(Origin::Environment),
        "log" | "out" | "err" | "txt" | "" => {
            let is_environment = ["env", "environ", "trace"].iter().any(|word| has_word(stem, word));
            FileKind::Text(if is_environment { Origin::Environment } else { Origin::Log })
        }
        _ => FileKind::Other,
    }
}

/// The folder of a file's point: that of the file, or the one around those that harnesses make in it.
#[must_use]
pub fn point_folder(name: &str) -> &str {
    let mut folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
    loop {
        let last = folder.rsplit('/').next().unwrap_or(folder);
        if !INNER.contains(&last.to_ascii_lowercase().as_str()) {
            return folder;
        }
        folder = folder.rsplit_once('/').map_or("", |(outer, _)| outer);
    }
}

/// Whether a path below `root` is that of an evaluation: one of its words is `eval`, `evals` or `evaluation`.
#[must_use]
pub fn is_evaluation(name: &str, root: &str) -> bool {
    let own = name.strip_prefix(root).unwrap_or(name).to_ascii_lowercase();
    ["eval", "evals", "evaluation", "evaluations"].iter().any(|word| has_word(&own, word))
}

/// Whether a server's log is that of an evaluation: its path below `root` says so, or `root` itself where nothing but the
/// folders that harnesses make lies between.
#[must_use]
pub fn is_evaluation_log(name: &str, root: &str) -> bool {
    let root = root.trim_end_matches('/');
    let folder = point_folder(name);
    let is_direct =
        name == root || folder.trim_end_matches('!') == root || folder == point_folder(&format!("{root}/x"));
    is_evaluation(name, root)
        || (is_direct
            && concurrency(name, root).is_none()
            && is_evaluation(root.rsplit('/').next().unwrap_or(root), ""))
}

/// The concurrency that a path below `root` names, its innermost part first: `c192`, `conc_64`, `concurrency-4`.
///
/// ```
/// use accsim::signoff::concurrency;
///
/// assert_eq!(concurrency("run/c192/server.log", "run"), Some(192));
/// assert_eq!(concurrency("run/agg-tp4-conc_64/logs/a.json", "run"), Some(64));
/// assert_eq!(concurrency("run/dc4/server.log", "run"), None);
/// ```
#[must_use]
pub fn concurrency(name: &str, root: &str) -> Option<u64> {
    let own = name.strip_prefix(root).unwrap_or(name).to_ascii_lowercase();
    own.rsplit('/').find_map(|part| {
        let words: Vec<&str> = part.split(|letter: char| !letter.is_ascii_alphanumeric()).collect();
        words.iter().enumerate().find_map(|(index, word)| {
            ["concurrency", "conc", "c"].iter().find_map(|mark| {
                let rest = word.strip_prefix(mark)?;
                let number = if rest.is_empty() && *mark != "c" { *words.get(index + 1)? } else { rest };
                let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
                is_number.then(|| number.parse().ok()).flatten().filter(|number: &u64| *number > 0)
            })
        })
    })
}

/// Whether `word` stands in `text` between marks that are no letters.
fn has_word(text: &str, word: &str) -> bool {
    text.split(|letter: char| !letter.is_ascii_alphabetic()).any(|part| part == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_points() {
        for (name, folder) in [
            ("run/c4/logs/n_agg_w0.out", "run/c4"),
            ("run/c4/server.log", "run/c4"),
            ("run/c4/logs/agentic/profile_export_aiperf.json", "run/c4"),
            ("server.log", ""),
            ("logs/server.log", ""),
            ("a.tar!/c4/logs/x.out", "a.tar!/c4"),
        ] {
            assert_eq!(point_folder(name), folder, "{name}");
        }
    }

    #[test]
    fn evaluations_by_their_words() {
        assert!(is_evaluation("run/eval/server.log", "run"));
        assert!(is_evaluation("run/1p1d-eval-agentic/server.log", "run"));
        assert!(!is_evaluation("run/retrieval/server.log", "run"));
        assert!(!is_evaluation("eval-runs/c4/server.log", "eval-runs"));
        // A folder that is given itself.
        assert!(is_evaluation_log("base/eval/logs/server.log", "base/eval"));
        assert!(is_evaluation_log("base/eval/server.log", "base/eval/"));
        assert!(is_evaluation_log("base/eval.log", "base/eval.log"));
        assert!(is_evaluation_log("eval.tar!/server.log", "eval.tar"));
        assert!(!is_evaluation_log("eval-runs/c4/server.log", "eval-runs"));
        assert!(!is_evaluation_log("eval/run/server.log", "eval/run"));
    }

    #[test]
    fn kinds() {
        assert_eq!(kind_of("x/launcher.sh"), FileKind::Text(Origin::Launcher));
        assert_eq!(kind_of("x/points.csv"), FileKind::Table);
        assert_eq!(kind_of("x/server.log"), FileKind::Text(Origin::Log));
        assert_eq!(kind_of("x/agg.yaml"), FileKind::Yaml(Origin::Recipe));
        assert_eq!(kind_of("x/picture.png"), FileKind::Other);
    }
}
