//! Hostile files, made of seeds by their numbers.

use std::path::Path;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};

use crate::damage::Damage;
use crate::format::Format;

/// Bytes of a damaged file at most.
const MOST: usize = 4 << 20;

/// A file to give to the binary.
#[derive(Clone, Debug)]
pub(crate) struct File {
    /// Its name, which no reader should believe.
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    /// What it was before it was damaged.
    pub(crate) format: Format,
    /// What was done to it.
    pub(crate) damage: &'static str,
}

struct Seed {
    name: String,
    bytes: Vec<u8>,
}

/// The seeds of all formats.
pub(crate) struct Corpus {
    seeds: Vec<(Format, Vec<Seed>)>,
}

impl Corpus {
    /// Reads the folders that [`seeds`](crate::seeds) wrote.
    pub(crate) fn read(folder: &Path) -> Self {
        let seeds = Format::ALL.map(|format| {
            let listing = std::fs::read_dir(folder.join(format.folder())).unwrap();
            let mut paths: Vec<_> = listing.map(|entry| entry.unwrap().path()).collect();
            paths.sort();
            assert!(!paths.is_empty(), "no seeds of {format:?}");
            let seeds = paths.iter().map(|path| Seed {
                name: path.file_name().unwrap().to_str().unwrap().to_owned(),
                bytes: std::fs::read(path).unwrap(),
            });
            (format, seeds.collect())
        });
        Self { seeds: seeds.into() }
    }

    /// The hostile file with this number: the formats and the damages in turn, the rest by chance.
    pub(crate) fn damaged(&self, number: usize) -> File {
        let mut random = ChaCha8Rng::seed_from_u64(number as u64);
        let (format, seeds) = &self.seeds[number % self.seeds.len()];
        let seed = &seeds[random.random_range(0..seeds.len())];
        let other = &seeds[random.random_range(0..seeds.len())];
        let damage = Damage::ALL[number / self.seeds.len() % Damage::ALL.len()];
        let mut bytes = damage.apply(&seed.bytes, &other.bytes, &mut random);
        // Some files suffer twice.
        if random.random_bool(0.3) {
            let second = Damage::ALL[random.random_range(0..Damage::ALL.len())];
            bytes = second.apply(&bytes, &other.bytes, &mut random);
        }
        bytes.truncate(MOST);
        File { name: seed.name.clone(), bytes, format: *format, damage: damage.name() }
    }
}
