//! Layouts that nobody recognises, mapped by hand: a small TOML.

use serde::Deserialize;

use super::profile::{ProfileError, refused};

/// Which files belong to which point.
///
/// ```
/// use accsim::signoff::Map;
///
/// let map = Map::parse("[[point]]\nname = \"c4\"\nconcurrency = 4\nfiles = [\"server-4.log\", \"client-4.json\"]\n")?;
/// assert_eq!(map.of("run/server-4.log").map(|point| point.concurrency), Some(Some(4)));
/// assert!(map.of("run/other.log").is_none());
/// # Ok::<(), accsim::signoff::MapError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Map {
    /// Points of the curve.
    #[serde(default)]
    point: Vec<MappedPoint>,
    /// Evaluation runs.
    #[serde(default)]
    evaluation: Vec<MappedPoint>,
    /// Files of no point.
    #[serde(default)]
    ignore: Vec<String>,
}

/// One point of a map.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MappedPoint {
    /// Its name.
    pub name: String,
    /// Requests at a time.
    pub concurrency: Option<u64>,
    /// Its files: the last parts of their paths; `*` stands for any letters.
    pub files: Vec<String>,
    #[serde(skip)]
    /// Whether it is an evaluation.
    pub is_evaluation: bool,
}

/// Why a map is refused.
pub type MapError = ProfileError;

impl Map {
    /// Reads a map.
    pub fn parse(text: &str) -> Result<Self, MapError> {
        let mut map: Self = toml::from_str(text).map_err(|error| refused(text, &error))?;
        map.evaluation.iter_mut().for_each(|point| point.is_evaluation = true);
        Ok(map)
    }

    /// The point of a file, the first that names it.
    #[must_use]
    pub fn of(&self, name: &str) -> Option<&MappedPoint> {
        let is_named = |point: &&MappedPoint| point.files.iter().any(|pattern| ends_like(name, pattern));
        self.point.iter().chain(&self.evaluation).find(is_named)
    }

    /// Points whose pattern is like none of these names, each with that pattern.
    #[must_use]
    pub fn unmatched(&self, names: &[&str]) -> Vec<(&str, &str)> {
        let all = self.point.iter().chain(&self.evaluation);
        let patterns = all
            .flat_map(|point| point.files.iter().map(move |pattern| (point.name.as_str(), pattern.as_str())));
        patterns.filter(|(_, pattern)| !names.iter().any(|name| ends_like(name, pattern))).collect()
    }

    /// Whether a file belongs to nothing.
    #[must_use]
    pub fn ignores(&self, name: &str) -> bool {
        self.ignore.iter().any(|pattern| ends_like(name, pattern))
    }
}

/// Whether the last parts of a path are as the pattern says.
fn ends_like(name: &str, pattern: &str) -> bool {
    let wanted = pattern.split('/').count();
    let parts: Vec<&str> = name.split('/').collect();
    let tail = parts.get(parts.len().saturating_sub(wanted)..).unwrap_or(&parts);
    tail.len() == wanted && tail.iter().zip(pattern.split('/')).all(|(part, pattern)| is_like(part, pattern))
}

/// `*` stands for any letters, and nothing else is special.
fn is_like(text: &str, pattern: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let pieces: Vec<&str> = pieces.collect();
    let Some((last, between)) = pieces.split_last() else { return rest.is_empty() };
    for piece in between {
        match rest.find(piece).and_then(|at| rest.get(at + piece.len()..)) {
            Some(behind) => rest = behind,
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (name, pattern, expected) in [
            ("run/a/server-4.log", "server-4.log", true),
            ("run/a/server-4.log", "a/server-*.log", true),
            ("run/a/server-4.log", "*", true),
            ("run/a/server-4.log", "b/*", false),
            ("server-4.log", "run/server-4.log", false),
            ("x/aba", "a*a", true),
            ("x/a", "a*a", false),
            ("x/abcbd", "a*b*d", true),
        ] {
            assert_eq!(ends_like(name, pattern), expected, "{name} {pattern}");
        }
    }

    #[test]
    fn faults_have_their_place() {
        let error = Map::parse("[[point]]\nname = \"c4\"\nfile = []\n").unwrap_err();
        assert_eq!(error.line, Some(3));
    }
}
