//! One image, wherever it is named.

use crate::signoff::facts::{Facts, Origin, Run, Seen, Sighting};
use crate::signoff::item::{Evidence, Outcome, Weighing, counted};
use crate::signoff::profile::check::Image;
use crate::signoff::read::underscored;

/// The places that must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Recipe,
    Config,
    Log,
}

impl Place {
    fn of(origin: Origin) -> Self {
        match origin {
            Origin::Recipe => Self::Recipe,
            Origin::Config => Self::Config,
            Origin::Launcher | Origin::Environment | Origin::Log => Self::Log,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Recipe => "recipe",
            Self::Config => "config",
            Self::Log => "log, environment or launcher's trace",
        }
    }
}

pub(in crate::signoff) fn image(run: &Run, rule: &Image) -> Outcome {
    let mut weighing = Weighing::default();
    let best = best(run, rule);
    if run.points.is_empty() {
        weighing.miss("no point was found, so nothing says which image ran");
    }
    need_places(run, &best, &mut weighing);
    let all: Vec<(&Sighting, Name)> = best.iter().map(|seen| (*seen, Name::of(&seen.value))).collect();
    // The one that says most is what the others are held against.
    let wanted = all.iter().max_by_key(|(_, name)| (name.digest.is_some(), name.tag.is_some()));
    let mut tags_alone: Vec<String> = Vec::new();
    for (sighting, name) in &all {
        let evidence = Evidence::at(run, sighting.place, name.shown());
        let Some((_, wanted)) = wanted else { break };
        match name.same(wanted) {
            Some(true) if name.digest.is_none() && !rule.tag_suffices => {
                tags_alone.push(run.file(sighting.place.file).to_owned());
                weighing.show(evidence);
            }
            Some(true) => weighing.show(evidence),
            Some(false) => weighing.fail(
                format!(
                    "{} says {}, another file {}",
                    sighting.origin.with_article(),
                    name.shown(),
                    wanted.shown()
                ),
                [evidence],
            ),
            None => weighing.miss(format!(
                "{} and {} may be the same image: nothing says the digest of the one or the tag of the other",
                name.shown(),
                wanted.shown()
            )),
        }
    }
    tags_alone.dedup();
    if let Some(first) = tags_alone.first() {
        let more = tags_alone.len() - 1;
        let more = if more > 0 { format!(" and {} more", counted(more, "file")) } else { String::new() };
        weighing.miss(format!("{first}{more} names a tag and no digest, and a tag can be moved"));
    }
    let shown = wanted.map_or_else(String::new, |(_, wanted)| wanted.shown());
    weighing.conclude(format!("{shown} in all of {}", counted(all.len(), "place")))
}

/// Says which places name no image: recipe, configuration, and what ran, of each point or of all.
fn need_places(run: &Run, best: &[&Sighting], weighing: &mut Weighing) {
    let names = |facts: &Facts, place: Place| {
        let is_of = |seen: &&Sighting| facts.sightings.iter().any(|own| std::ptr::eq(own, *seen));
        best.iter().copied().filter(is_of).any(|seen| Place::of(seen.origin) == place)
    };
    for place in [Place::Recipe, Place::Config, Place::Log] {
        if names(&run.shared, place) {
            continue;
        }
        let without = run.points.iter().filter(|point| !names(&point.facts, place));
        let without: Vec<String> = without.map(crate::signoff::facts::Point::label).collect();
        if without.len() == run.points.len() {
            weighing.miss(format!("no image in a {}", place.name()));
            continue;
        }
        for label in without {
            weighing.miss(format!("{label}: no image in a {}", place.name()));
        }
    }
}

/// Of each file what its first known name says: a recipe may have an alias beside the image.
pub(super) fn best<'a>(run: &'a Run, rule: &Image) -> Vec<&'a Sighting> {
    let order: Vec<String> = rule
        .keys
        .iter()
        .cloned()
        .chain(rule.variables.iter().cloned())
        .chain(rule.arguments.iter().map(|name| underscored(name)))
        .collect();
    let rank =
        |sighting: &Sighting| order.iter().position(|name| *name == sighting.name).unwrap_or(usize::MAX);
    let facts = [&run.shared].into_iter().chain(run.points.iter().map(|point| &point.facts));
    let seen: Vec<&Sighting> = facts
        .flat_map(|facts| &facts.sightings)
        .filter(|sighting| {
            sighting.seen == Seen::Image && sighting.value != "None" && !sighting.value.starts_with('(')
        })
        .collect();
    let least =
        |file: u32| seen.iter().filter(|other| other.place.file == file).map(|other| rank(other)).min();
    seen.iter().filter(|sighting| Some(rank(sighting)) == least(sighting.place.file)).copied().collect()
}

/// An image's name in its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    repository: String,
    pub(super) tag: Option<String>,
    digest: Option<String>,
}

impl Name {
    /// Reads a name: `repo:tag@sha256:..`, enroot's `registry#repo:tag`, and what credentials a URL carries cut off.
    pub(super) fn of(text: &str) -> Self {
        let text = text.split_once("://").map_or(text, |(_, rest)| rest);
        let slash = text.find(['/', '#']).unwrap_or(text.len());
        let credentials = text.get(..slash).and_then(|host| host.rfind('@'));
        let text =
            credentials.filter(|_| slash < text.len()).and_then(|at| text.get(at + 1..)).unwrap_or(text);
        // What a URL asks with is no part of the name.
        let text = text.split_once('?').map_or(text, |(name, _)| name);
        let text = text.replace('#', "/");
        let (name, digest) = match text.split_once('@') {
            Some((name, digest)) => (name.to_owned(), Some(digest.to_owned())),
            None => (text, None),
        };
        let tail = name.rfind('/').map_or(0, |slash| slash + 1);
        let colon = name.get(tail..).and_then(|last| last.find(':')).map(|colon| tail + colon);
        let (repository, tag) = match colon {
            Some(colon) => (name.get(..colon), name.get(colon + 1..).map(str::to_owned)),
            None => (Some(name.as_str()), None),
        };
        let repository = repository.unwrap_or_default();
        let repository = ["docker.io/library/", "docker.io/"]
            .iter()
            .find_map(|registry| repository.strip_prefix(registry))
            .unwrap_or(repository);
        Self { repository: repository.to_owned(), tag, digest }
    }

    fn shown(&self) -> String {
        let tag = self.tag.as_ref().map_or_else(String::new, |tag| format!(":{tag}"));
        let digest = self.digest.as_ref().map_or_else(String::new, |digest| format!("@{digest}"));
        format!("{}{tag}{digest}", self.repository)
    }

    /// Whether two names are of one image; `None` where they have nothing to compare.
    fn same(&self, other: &Self) -> Option<bool> {
        if self.repository != other.repository {
            return Some(false);
        }
        if let (Some(mine), Some(theirs)) = (&self.digest, &other.digest) {
            return Some(mine == theirs);
        }
        match (&self.tag, &other.tag) {
            (Some(mine), Some(theirs)) => Some(mine == theirs),
            (None, None) if self.digest.is_none() && other.digest.is_none() => Some(true),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_by_their_parts() {
        let same = |left: &str, right: &str| Name::of(left).same(&Name::of(right));
        assert_eq!(same("lmsysorg/sglang:v1", "docker.io#lmsysorg/sglang:v1"), Some(true));
        assert_eq!(same("docker://user:secret@lmsysorg/sglang:v1", "lmsysorg/sglang:v1"), Some(true));
        assert_eq!(same("other/sglang:v1", "lmsysorg/sglang:v1"), Some(false));
        assert_eq!(same("r/a:v1@sha256:00", "r/a:v2@sha256:00"), Some(true));
        assert_eq!(same("r/a:v1@sha256:00", "r/a:v1@sha256:01"), Some(false));
        assert_eq!(same("r/a:v1@sha256:00", "r/a:v1"), Some(true));
        assert_eq!(same("r/a@sha256:00", "r/a:v1"), None);
        assert_eq!(same("h:5000/a:v1", "h:5000/a:v2"), Some(false));
        assert!(!Name::of("docker://user:secret@registry/x:1").shown().contains("secret"));
    }
}
