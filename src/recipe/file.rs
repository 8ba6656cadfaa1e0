//! Which kind of file a text is, and what it says.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use crate::engine::Engine;
use crate::yaml::{Limits, Node, Position, YamlError, parse_with};

use super::model::{Argument, Document, Kind, Launch, Role, Variant};
use super::number::UNRESOLVED;
use super::source::Source;
use super::variants::VariantsError;
use super::{compose, dockerfile, dotenv, json, master, shell, srt};

/// Largest file that is read, in bytes. Recipes have some thousands.
pub const MOST_BYTES: usize = 1 << 20;

/// Why a file cannot be read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReadError {
    /// No YAML.
    #[error(transparent)]
    Yaml(#[from] YamlError),
    /// No JSON.
    #[error("{at}: not JSON: {message}")]
    Json {
        /// Where.
        at: Position,
        /// What.
        message: String,
    },
    /// A recipe of a version that is not known.
    #[error("{at}: schema {} is not known; expected 1 or 2", crate::yaml::quoted(found))]
    Schema {
        /// Where.
        at: Position,
        /// What stands there.
        found: String,
    },
    /// Variants that do not fit together.
    #[error("{0}")]
    Variants(String),
    /// More bytes than [`MOST_BYTES`].
    #[error("{found} bytes; expected at most {MOST_BYTES}")]
    TooLarge {
        /// Bytes of the file.
        found: usize,
    },
    /// A script that the grammar gives up.
    #[error("this script cannot be read")]
    Script,
    /// A character that stands for something else here.
    #[error("found the private character U+F8FF; expected text")]
    Private,
}

impl ReadError {
    /// Where, if there is a place.
    #[must_use]
    pub fn at(&self) -> Option<Position> {
        match self {
            Self::Yaml(error) => Some(error.at),
            Self::Json { at, .. } | Self::Schema { at, .. } => Some(*at),
            Self::Variants(_) | Self::TooLarge { .. } | Self::Script | Self::Private => None,
        }
    }
}

/// Words one of which every file of interest has.
const WORDS: [&str; 12] = [
    "speculative-",
    "speculative_",
    "SIMULATE_ACC",
    "TLLM_SPEC_DECODE",
    "spec-decode-acceptance",
    "spec_decode_acceptance",
    "num-speculative-tokens",
    "num_speculative_tokens",
    "synthetic_acceptance",
    "SYNTHETIC_ACCEPTANCE",
    "with-mtp",
    "rejection_sample_method",
];

static INTEREST: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::new(WORDS).ok());

/// Whether a file found in a folder is worth reading: by its name a kind that is read here, and some word of it speaks of
/// drafting or simulated acceptance.
#[must_use]
pub fn is_candidate(name: &str, bytes: &[u8]) -> bool {
    let has_kind = by_name(name).is_some() || bytes.starts_with(b"#!");
    has_kind && is_of_interest(bytes)
}

fn is_of_interest(bytes: &[u8]) -> bool {
    INTEREST.as_ref().is_none_or(|words| words.is_match(bytes))
}

/// Whether a folder's name says that nothing in it is the repository's own.
#[must_use]
pub fn is_excluded(folder: &str) -> bool {
    matches!(folder, ".git" | "node_modules" | "target" | ".venv" | "venv" | "__pycache__")
}

/// What a name says of the kind.
fn by_name(name: &str) -> Option<Guess> {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name).to_ascii_lowercase();
    let extension = file.rsplit_once('.').map(|(_, extension)| extension);
    match extension {
        _ if file.starts_with("dockerfile") || file.starts_with("containerfile") => Some(Guess::Dockerfile),
        Some("yaml" | "yml") => Some(Guess::Yaml),
        Some("sh" | "bash" | "sbatch" | "slurm" | "zsh") => Some(Guess::Shell),
        Some("json") => Some(Guess::Json),
        Some("dockerfile") => Some(Guess::Dockerfile),
        Some("env") => Some(Guess::Dotenv),
        _ if file.starts_with(".env") => Some(Guess::Dotenv),
        _ => None,
    }
}

#[derive(Clone, Copy, Debug)]
enum Guess {
    Yaml,
    Shell,
    Json,
    Dockerfile,
    Dotenv,
}

/// What a file says of servers and simulated acceptance; `None` for a file of another kind.
///
/// The kind is told by the name, else by the text: `{` begins JSON, `#!` or `#SBATCH` a script.
///
/// ```
/// use accsim::recipe::{Kind, read};
///
/// let script = "#!/bin/bash\nexport SGLANG_SIMULATE_ACC_LEN=3.51\n";
/// let document = read("run.sh", script)?.ok_or("nothing to check")?;
/// assert_eq!(document.kind, Kind::Launcher);
/// assert!(read("notes.txt", "no server is started here")?.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(name: &str, text: &str) -> Result<Option<Document>, ReadError> {
    read_within(name, text, &Limits::default())
}

/// As [`read`], under limits of the caller's for YAML.
pub fn read_within(name: &str, text: &str, limits: &Limits) -> Result<Option<Document>, ReadError> {
    if text.len() > MOST_BYTES {
        return Err(ReadError::TooLarge { found: text.len() });
    }
    if text.contains(UNRESOLVED) {
        return Err(ReadError::Private);
    }
    let found = match by_name(name).unwrap_or_else(|| by_text(text)) {
        Guess::Yaml => yaml(name, text, limits)?,
        Guess::Shell => {
            let mut document = shell::read(text).ok_or(ReadError::Script)?;
            if !is_of_interest(text.as_bytes()) {
                document.undecided.clear();
            }
            Some(document)
        }
        Guess::Json => of_json(text)?,
        Guess::Dockerfile => Some(dockerfile::read(text)),
        Guess::Dotenv => Some(dotenv::read(text)),
    };
    Ok(found.filter(Document::is_of_interest))
}

fn by_text(text: &str) -> Guess {
    let start = text.trim_start_matches('\u{feff}').trim_start();
    if start.starts_with('{') {
        return Guess::Json;
    }
    if start.starts_with("#!") || text.contains("\n#SBATCH") {
        return Guess::Shell;
    }
    let is_yaml = matches!(parse_with(text, &Limits::default()), Ok(Node::Mapping(_)));
    if is_yaml { Guess::Yaml } else { Guess::Shell }
}

fn yaml(name: &str, text: &str, limits: &Limits) -> Result<Option<Document>, ReadError> {
    let root = parse_with(text, limits)?;
    let Node::Mapping(map) = &root else { return Ok(None) };
    if srt::is_recipe(map) {
        if let Some((at, found)) = srt::unknown_schema(map) {
            return Err(ReadError::Schema { at, found });
        }
        return match srt::read(&root, &Source::new(text), name) {
            Ok(document) => Ok(Some(document)),
            Err(error @ (VariantsError::Zip(_) | VariantsError::TooMany { .. })) => {
                Err(ReadError::Variants(error.to_string()))
            }
        };
    }
    if compose::is_compose(map) {
        return Ok(Some(compose::read(map)));
    }
    Ok(master::is_master(map).then(|| Document::new(Kind::Master, Vec::new())))
}

/// vLLM's configuration, alone or under its name.
fn of_json(text: &str) -> Result<Option<Document>, ReadError> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(body) {
        let at = Position { line: error.line().max(1), column: error.column().max(1) };
        return Err(ReadError::Json { at, message: error.to_string() });
    }
    let tree = json::tree(body, Position::START, Some(Position::START))
        .map_err(|message| ReadError::Json { at: Position::START, message })?;
    let Node::Mapping(root) = &tree else { return Ok(None) };
    let keys = ["speculative_config", "speculative-config"];
    let config = keys.iter().find_map(|key| root.get(key)).unwrap_or(&tree);
    let Node::Mapping(object) = config else { return Ok(None) };
    let says = object.get("num_speculative_tokens").is_some() || super::resolve::is_synthetic(object);
    if !says {
        return Ok(None);
    }
    let mut launch = Launch::new(Role::Agg, object.at);
    launch.engine = Some((Engine::Vllm, object.at));
    launch.args.push(Argument {
        name: "speculative-config".to_owned(),
        value: Node::Mapping(object.clone()),
        at: object.at,
    });
    let variant = Variant { launches: vec![launch], ..Variant::default() };
    Ok(Some(Document::new(Kind::Json, vec![variant])))
}
