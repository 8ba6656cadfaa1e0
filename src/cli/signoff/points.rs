//! Which server and which file belongs to which point.

use super::gather::{File, Named};
use super::servers::Seen;
use crate::evidence::{Input, Place};
use crate::signoff::{Argument, Facts, concurrency, is_evaluation, is_evaluation_log, point_folder};

/// A server's arguments, their line, and whether that is whole.
pub(super) type Begun = (Vec<Argument>, Place, bool);

/// A point with its servers, not yet judged.
pub(super) struct Placed {
    pub(super) name: String,
    pub(super) concurrency: Option<u64>,
    pub(super) facts: Facts,
    pub(super) servers: Vec<(Seen, Option<Begun>)>,
    is_evaluation: bool,
    /// The folder whose files are all its own; `None` where other points share it.
    folder: Option<String>,
}

/// All points, and what belongs to none.
pub(super) struct Points {
    pub(super) curve: Vec<Placed>,
    pub(super) evaluations: Vec<Placed>,
    pub(super) shared: Facts,
}

impl Points {
    pub(super) fn sort(
        named: &Named<'_>,
        seen: Vec<Seen>,
        mut files: Vec<File>,
        notes: &mut Vec<String>,
    ) -> Self {
        let evaluations: Vec<String> =
            named.evaluations.iter().map(|path| Input::from(path.as_path()).name()).collect();
        let mut all: Vec<Placed> = Vec::new();
        // Logs of one folder that are no workers of one run are points of their own.
        let folders: Vec<String> = seen
            .iter()
            .filter(|seen| !seen.is_worker && named.map.of(&seen.log).is_none())
            .map(|seen| point_folder(&seen.log).to_owned())
            .collect();
        for seen in seen {
            let mapped = named.map.of(&seen.log);
            let folder = point_folder(&seen.log).to_owned();
            let is_alone = seen.is_worker || folders.iter().filter(|other| **other == folder).count() == 1;
            let name = match mapped {
                Some(point) => point.name.clone(),
                None if is_alone && !folder.is_empty() => folder.clone(),
                None => seen.log.clone(),
            };
            let is_evaluation = mapped.map_or_else(
                || evaluations.contains(&seen.input) || is_evaluation_log(&seen.log, &seen.input),
                |point| point.is_evaluation,
            );
            let number =
                mapped.and_then(|point| point.concurrency).or_else(|| concurrency(&seen.log, &seen.input));
            let started = seen
                .observed
                .files()
                .iter()
                .find_map(|file| files.get_mut(usize::try_from(*file).ok()?)?.read.started.take());
            let held =
                all.iter_mut().find(|placed| placed.name == name && placed.is_evaluation == is_evaluation);
            match held {
                Some(placed) => placed.servers.push((seen, started)),
                None => all.push(Placed {
                    name,
                    concurrency: number,
                    facts: Facts::default(),
                    servers: vec![(seen, started)],
                    is_evaluation,
                    folder: (mapped.is_none() && is_alone).then_some(folder),
                }),
            }
        }
        let mut shared = Facts::default();
        for file in files {
            let owner = if file.is_shared { None } else { owner(named, &evaluations, &mut all, &file) };
            match owner.and_then(|index| all.get_mut(index)) {
                Some(placed) => merge(&mut placed.facts, file.read.facts),
                None => merge(&mut shared, file.read.facts),
            }
        }
        for placed in &mut all {
            let told: Vec<u64> =
                placed.facts.clients.iter().filter_map(|client| client.concurrency).collect();
            if let ([first, rest @ ..], None) = (told.as_slice(), placed.concurrency)
                && rest.iter().all(|other| other == first)
            {
                placed.concurrency = Some(*first);
            }
        }
        all.sort_by_key(|placed| placed.concurrency);
        if let Some(pair) = all.windows(2).find_map(|pair| match pair {
            [left, right]
                if left.concurrency.is_some()
                    && left.concurrency == right.concurrency
                    && left.is_evaluation == right.is_evaluation =>
            {
                Some((left.name.clone(), right.name.clone()))
            }
            _ => None,
        }) {
            notes.push(format!("{} and {} have the same concurrency: two points", pair.0, pair.1));
        }
        let (evaluations, curve) = all.into_iter().partition(|placed| placed.is_evaluation);
        Self { curve, evaluations, shared }
    }
}

/// The point that a file belongs to; one is made for exports and scores whose point has no log.
fn owner(named: &Named<'_>, evaluations: &[String], all: &mut Vec<Placed>, file: &File) -> Option<usize> {
    let index_of = |all: &[Placed], name: &str, is_evaluation: bool| {
        all.iter().position(|placed| placed.name == name && placed.is_evaluation == is_evaluation)
    };
    if let Some(point) = named.map.of(&file.name) {
        let found = index_of(all, &point.name, point.is_evaluation);
        return Some(found.unwrap_or_else(|| add(all, &point.name, point.concurrency, point.is_evaluation)));
    }
    // A log belongs where its server does.
    if let Some(index) =
        all.iter().position(|placed| placed.servers.iter().any(|(seen, _)| seen.log == file.name))
    {
        return Some(index);
    }
    let folder = point_folder(&file.name);
    let lies_in_one =
        all.iter().any(|placed| placed.is_evaluation && placed.folder.as_deref() == Some(folder));
    let has_scores = !file.read.facts.scores.is_empty() && is_evaluation_log(&file.name, &file.input);
    let is_eval = evaluations.contains(&file.input)
        || is_evaluation(&file.name, &file.input)
        || has_scores
        || lies_in_one;
    let within = |outer: &str| {
        folder == outer
            || outer.is_empty()
            || folder.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'))
    };
    let enclosing = all
        .iter()
        .enumerate()
        .filter_map(|(index, placed)| {
            let outer = placed.folder.as_deref().filter(|outer| within(outer))?;
            (placed.is_evaluation == is_eval).then_some((outer.len(), index))
        })
        .max();
    if let Some((_, index)) = enclosing {
        return Some(index);
    }
    let wanted = concurrency(&file.name, &file.input);
    let mut of_number = all.iter().enumerate().filter(|(_, placed)| {
        wanted.is_some() && placed.concurrency == wanted && placed.is_evaluation == is_eval
    });
    if let (Some((index, _)), None) = (of_number.next(), of_number.next()) {
        return Some(index);
    }
    let stem =
        |name: &str| name.rsplit_once('.').map_or_else(|| name.to_owned(), |(stem, _)| stem.to_owned());
    let mine = stem(&file.name);
    let same_stem = all.iter().position(|placed| {
        placed.servers.iter().any(|(seen, _)| {
            let other = stem(&seen.log);
            mine == other || mine.strip_prefix(&other).is_some_and(|rest| rest.starts_with(['.', '-', '_']))
        })
    });
    if same_stem.is_some() {
        return same_stem;
    }
    let says_something = !file.read.facts.clients.is_empty() || !file.read.facts.scores.is_empty();
    if is_eval {
        let mut those = all.iter().enumerate().filter(|(_, placed)| placed.is_evaluation);
        if let (Some((index, _)), None) = (those.next(), those.next()) {
            return Some(index);
        }
        return Some(index_of(all, folder, true).unwrap_or_else(|| add(all, folder, None, true)));
    }
    (says_something && wanted.is_some())
        .then(|| index_of(all, folder, false).unwrap_or_else(|| add(all, folder, wanted, false)))
}

/// A point without a server log.
fn add(all: &mut Vec<Placed>, name: &str, concurrency: Option<u64>, is_evaluation: bool) -> usize {
    let (name, folder) = (name.to_owned(), None);
    all.push(Placed {
        name,
        concurrency,
        facts: Facts::default(),
        servers: Vec::new(),
        is_evaluation,
        folder,
    });
    all.len() - 1
}

fn merge(into: &mut Facts, from: Facts) {
    into.sightings.extend(from.sightings);
    into.clients.extend(from.clients);
    into.scores.extend(from.scores);
    into.environments.extend(from.environments);
    into.launchers.extend(from.launchers);
    into.recipes.extend(from.recipes);
    into.unread.extend(from.unread);
    into.documents.extend(from.documents);
    for (call, mine) in from.access.calls {
        match into.access.calls.get_mut(&call) {
            Some(held) => {
                held.count += mine.count;
                held.refused += mine.refused;
                held.first_refused = held.first_refused.or(mine.first_refused);
            }
            None => {
                into.access.calls.insert(call, mine);
            }
        }
    }
    into.access.others = into.access.others.or(from.access.others);
}
