//! Seeds, and hostile files made of them.

use std::path::Path;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};

use crate::damage::Damage;

/// Bytes of a seed that are used; real logs repeat themselves.
const MOST: usize = 256 << 10;

/// A file to give to the binary.
#[derive(Clone, Debug)]
pub(crate) struct File {
    /// Its name, which no reader should believe.
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    /// What it was before it was damaged.
    pub(crate) kind: Kind,
    /// What was done to it.
    pub(crate) damage: &'static str,
}

/// Which commands are meant for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Log,
    Packed,
    Yaml,
    Json,
    Csv,
    Text,
}

impl Kind {
    fn of(path: &Path) -> Self {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("log" | "out" | "err") => Self::Log,
            Some("yaml" | "yml") => Self::Yaml,
            Some("json" | "jsonl") => Self::Json,
            Some("csv") => Self::Csv,
            Some("sh" | "env" | "toml" | "prom" | "trace" | "txt" | "md") => Self::Text,
            _ => Self::Packed,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Log => "logs",
            Self::Packed => "archives and compressed files",
            Self::Yaml => "YAML",
            Self::Json => "JSON",
            Self::Csv => "CSV",
            Self::Text => "shell, settings, counters and other text",
        }
    }
}

struct Seed {
    name: String,
    kind: Kind,
    bytes: Vec<u8>,
}

/// The seeds of all formats.
pub(crate) struct Corpus {
    kinds: Vec<Vec<Seed>>,
}

impl Corpus {
    /// The files of the repository that tests and users read.
    pub(crate) fn collect() -> Self {
        let mut seeds = Vec::new();
        for folder in ["tests/data", "golden_al", "docs/schema"] {
            walk(Path::new(folder), &mut seeds);
        }
        let mut kinds: Vec<Vec<Seed>> = Vec::new();
        for seed in seeds {
            match kinds.iter_mut().find(|kind| kind[0].kind == seed.kind) {
                Some(kind) => kind.push(seed),
                None => kinds.push(vec![seed]),
            }
        }
        kinds.sort_by_key(|kind| kind[0].kind);
        Self { kinds }
    }

    /// The hostile file with this number: the kinds and the damages in turn, the rest by chance.
    pub(crate) fn damaged(&self, number: usize) -> File {
        let mut random = ChaCha8Rng::seed_from_u64(number as u64);
        let kind = &self.kinds[number % self.kinds.len()];
        let seed = &kind[random.random_range(0..kind.len())];
        let other = &kind[random.random_range(0..kind.len())];
        let damage = Damage::ALL[number / self.kinds.len() % Damage::ALL.len()];
        let mut bytes = damage.apply(&seed.bytes, &other.bytes, &mut random);
        // Some files suffer twice.
        if random.random_bool(0.3) {
            let second = Damage::ALL[random.random_range(0..Damage::ALL.len())];
            bytes = second.apply(&bytes, &other.bytes, &mut random);
        }
        bytes.truncate(4 << 20);
        File { name: seed.name.clone(), bytes, kind: seed.kind, damage: damage.name() }
    }
}

fn walk(folder: &Path, seeds: &mut Vec<Seed>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            walk(&path, seeds);
        } else {
            let mut bytes = std::fs::read(&path).unwrap();
            bytes.truncate(MOST);
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            seeds.push(Seed { name, kind: Kind::of(&path), bytes });
        }
    }
}
