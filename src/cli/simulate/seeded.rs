//! The engine's own draws for a server's random seed.

use anyhow::{Context as _, bail, ensure};

use super::args::SimulateArgs;
use crate::engine::Engine;
use crate::law::{AcceptanceLaw, LawKind, Setting};
use crate::replay::{DrawLaw, DrawMethod, decode_lines};
use crate::simulate::SeededLines;
use crate::simulate::log::SeededSource;

/// Lines that are printed at most.
const MOST_LINES: u64 = 1_000_000;

/// Servers with known seeds, and what they draw.
pub(super) struct Seeded {
    pub(super) seeds: Vec<u64>,
    law: DrawLaw,
}

impl Seeded {
    /// What `--random-seed` asks for; `None` without it. `law` is what the server draws from.
    pub(super) fn asked(
        args: &SimulateArgs,
        law: Option<&AcceptanceLaw>,
        accept_length: f64,
        max: u32,
    ) -> anyhow::Result<Option<Self>> {
        if args.random_seed.is_empty() {
            return Ok(None);
        }
        ensure!(
            args.emit.changes().is_empty(),
            "--random-seed and --change-at do not go together: give several seeds for servers that start again"
        );
        ensure!(
            args.ranks_share_draws != Some(false),
            "the ranks of a server draw from one seed: --random-seed and --ranks-share-draws false contradict each other"
        );
        if let Some(engine) = args.engine.filter(|engine| *engine != Engine::Sglang) {
            bail!("--random-seed recomputes the draws of SGLang; those of {engine} are others");
        }
        let method = match law.map(AcceptanceLaw::kind) {
            Some(LawKind::MatchExpected) => DrawMethod::MatchExpected,
            Some(LawKind::Multinomial) => DrawMethod::Multinomial,
            Some(kind) => bail!(
                "--random-seed is about the methods that draw as SGLang does, match-expected and multinomial; this is {kind}"
            ),
            None => bail!("such a server draws nothing"),
        };
        let law = DrawLaw::new(method, Setting::new(accept_length, max)?)
            .context("--random-seed draws lengths up to 255")?;
        ensure!(
            args.random_seed.len() == 1 || args.emit.is_asked(),
            "further seeds are for servers that start again in a log; add --emit-log"
        );
        Ok(Some(Self { seeds: args.random_seed.clone(), law }))
    }

    /// What the decode lines of the first server read as long as its batch does not change.
    pub(super) fn lines(&self, args: &SimulateArgs) -> anyhow::Result<SeededLines> {
        let count = args.line.lines;
        ensure!(
            count <= MOST_LINES || args.emit.is_asked(),
            "--random-seed prints at most {MOST_LINES} lines; --emit-log writes more"
        );
        let seed = self.seeds.first().copied().unwrap_or(0);
        let lines = decode_lines(seed, &self.law, args.line.decode_log_interval, count.min(MOST_LINES));
        Ok(SeededLines { seed, lines })
    }

    /// The draws of a log's servers.
    pub(super) fn source(&self) -> SeededSource {
        let (first, others) = self.seeds.split_first().map_or((0, &[][..]), |(first, rest)| (*first, rest));
        others.iter().fold(SeededSource::new(self.law, first), |source, seed| source.then(*seed))
    }
}
