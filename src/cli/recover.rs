//! `accsim audit --recover-seed`: the seed that no line names, by trying all.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use super::Global;
use super::audit::Wanted;
use super::progress::SearchLine;
use crate::audit::Observed;
use crate::law::Setting;
use crate::replay::{DrawLaw, DrawMethod, FoundSeeds, RecoverError, SEEDS, SeedSearch, UnknownSeed};

/// Steps of a line where nobody says how many.
const DEFAULT_INTERVAL: u32 = 40;

/// Why a point's seed stays unknown.
#[derive(Debug, thiserror::Error)]
enum Unrecovered {
    #[error("its largest accept length is not known; add --max-accept-length")]
    NoMax,
    #[error("lengths above 255 are not drawn")]
    TooLong,
    #[error(transparent)]
    Search(#[from] RecoverError),
    #[error(
        "no seed draws its first {0} steady lines: the log does not begin at the server's start, or the target is another"
    )]
    None(u64),
    #[error("{0} seeds draw its steady lines alike")]
    Several(usize),
    #[error(transparent)]
    Threads(#[from] anyhow::Error),
}

/// The seeds of the points that lack one, by the points' names.
pub(super) fn recover(
    points: &[Observed],
    wanted: &Wanted,
    method: DrawMethod,
    global: &Global,
    err: &mut dyn Write,
    is_quiet: bool,
) -> HashMap<String, u64> {
    let mut seeds = HashMap::new();
    for point in points {
        let Some(unknown) = point.replay().and_then(|replay| replay.unknown_seed()) else { continue };
        match search(point, unknown, wanted, method, global, is_quiet) {
            Ok((seed, found)) => {
                if !is_quiet {
                    let _ = writeln!(
                        err,
                        "note: {}: seed {seed} is the only one of 2^30 that draws its {} first steady lines; chance of \
                         an accident 10^{:.0}",
                        point.name(),
                        found.lines,
                        found.log10_chance
                    );
                }
                seeds.insert(point.name().to_owned(), seed);
            }
            Err(error) => {
                let _ = writeln!(err, "note: {}: no seed recovered: {error}", point.name());
            }
        }
    }
    seeds
}

fn search(
    point: &Observed,
    unknown: &UnknownSeed,
    wanted: &Wanted,
    method: DrawMethod,
    global: &Global,
    is_quiet: bool,
) -> Result<(u64, FoundSeeds), Unrecovered> {
    let (length, max) = match wanted {
        Wanted::Known(target) => (target.accept_length().get(), Some(target.max_accept_length())),
        Wanted::Length(length) => (*length, point.max_accept_length()),
        Wanted::Nothing | Wanted::Evaluation => return Err(Unrecovered::NoMax),
    };
    let max = unknown.max_accept_length.or(max).ok_or(Unrecovered::NoMax)?;
    let setting = Setting::new(length, max).map_err(|_| Unrecovered::TooLong)?;
    let law = DrawLaw::new(method, setting).ok_or(Unrecovered::TooLong)?;
    let interval = unknown.interval.unwrap_or(DEFAULT_INTERVAL);
    let search = Arc::new(SeedSearch::new(law, interval, unknown.clues.clone())?);
    let line = SearchLine::show(Arc::clone(&search), is_quiet);
    let found = global.on_threads(|| search.run(SEEDS))?;
    drop(line);
    match found.seeds.as_slice() {
        [seed] => Ok((*seed, found.clone())),
        [] => Err(Unrecovered::None(found.lines)),
        several => Err(Unrecovered::Several(several.len())),
    }
}
