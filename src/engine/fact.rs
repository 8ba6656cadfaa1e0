//! What a version does, with its source: the rows that the tables of the engines are made of.

use std::fmt;

use super::{EngineVersion, Release};

/// One row: from `first` to `last`, both included, the engine behaves so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fact<B: 'static> {
    /// When it began.
    pub first: First,
    /// The last release it holds for; none while it holds, or where only the change that ended it is known.
    pub last: Option<Release>,
    /// What the engine does.
    pub behaviour: B,
    /// Where this was read, measured or stated.
    pub source: &'static str,
}

/// When a behaviour began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// As far back as anybody has looked.
    Ever,
    /// With this release.
    Release(Release),
    /// With this change; which release carried it first is not known.
    Change(Change),
}

/// A change to an engine that is known by its pull request, not by a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The pull request: `vllm-project/vllm#40662`.
    pub reference: &'static str,
    /// Month it was made in (`2026-04`), where that is known.
    pub month: Option<&'static str>,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reference)?;
        self.month.map_or(Ok(()), |month| write!(f, " ({month})"))
    }
}

/// How one behaviour changed over time: what held first, then each change, oldest first. Never empty, so there is an
/// answer for every version.
#[derive(Clone, Copy, Debug)]
pub struct History<B: 'static> {
    /// What held first.
    pub origin: Fact<B>,
    /// What replaced it, oldest first.
    pub changes: &'static [Fact<B>],
}

/// The row of a history that holds for a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Era<B: 'static> {
    /// The row.
    pub fact: Fact<B>,
    /// Why another row may hold instead.
    pub doubt: Option<Doubt>,
}

/// Why a version cannot be placed with certainty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// It is a pre-release of the release that brought a change: it may have it already.
    PreRelease(Release),
    /// The row began with a change whose first release is not known: the version may be older.
    Undated(Change),
}

impl fmt::Display for First {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ever => f.write_str("the first release"),
            Self::Release(release) => release.fmt(f),
            Self::Change(change) => change.fmt(f),
        }
    }
}

impl<B: Copy> Era<B> {
    /// What the engine does.
    #[must_use]
    pub fn behaviour(&self) -> B {
        self.fact.behaviour
    }

    /// Where that was read, measured or stated.
    #[must_use]
    pub fn source(&self) -> &'static str {
        self.fact.source
    }
}

impl<B: Copy + PartialEq> History<B> {
    /// The row that holds for `version`; the newest one without a version.
    ///
    /// A version of an engine whose changes are known by date only gets the newest row and a [`Doubt`]. So does a
    /// pre-release of a release that brought a change, with the row before the change.
    #[must_use]
    pub fn at(&self, version: Option<&EngineVersion>) -> Era<B> {
        let Some(version) = version else {
            return Era { fact: self.newest(|_| true), doubt: None };
        };
        let fact = self.newest(|fact| fact.reached_by(version));
        let doubt = match fact.first {
            First::Change(change) => Some(Doubt::Undated(change)),
            First::Ever | First::Release(_) if version.is_prerelease() => {
                let release = version.final_release();
                match self.newest(|fact| fact.reached_by(&release)).first {
                    First::Release(first) if !version.is_at_least(first) => Some(Doubt::PreRelease(first)),
                    _ => None,
                }
            }
            First::Ever | First::Release(_) => None,
        };
        Era { fact, doubt }
    }

    /// When `behaviour` began; the beginning of everything for one that never was.
    #[must_use]
    pub fn began(&self, behaviour: B) -> First {
        self.rows().find(|fact| fact.behaviour == behaviour).map_or(First::Ever, |fact| fact.first)
    }

    /// Every row, oldest first.
    pub fn rows(&self) -> impl Iterator<Item = Fact<B>> + '_ {
        std::iter::once(self.origin).chain(self.changes.iter().copied())
    }

    /// Rows that hold in front of `fact`, each with the change that ended it; only changes known by a pull request, where
    /// no version tells on which side it lies.
    pub(crate) fn in_front_of(&self, fact: &Fact<B>) -> Vec<(Change, B)> {
        let rows: Vec<Fact<B>> = self.rows().take_while(|row| row != fact).chain([*fact]).collect();
        let pairs = rows.iter().zip(rows.iter().skip(1));
        pairs
            .filter_map(|(older, newer)| match newer.first {
                First::Change(change) => Some((change, older.behaviour)),
                First::Ever | First::Release(_) => None,
            })
            .collect()
    }

    fn newest(&self, holds: impl Fn(&Fact<B>) -> bool) -> Fact<B> {
        self.changes.iter().rev().find(|fact| holds(fact)).copied().unwrap_or(self.origin)
    }
}

impl<B> Fact<B> {
    /// Whether `version` may show this behaviour or one that replaced it.
    fn reached_by(&self, version: &EngineVersion) -> bool {
        match self.first {
            First::Ever | First::Change(_) => true,
            First::Release(first) => version.is_at_least(first),
        }
    }
}

/// Checks of a table's own consistency, for the tests beside each table.
#[cfg(test)]
pub(crate) mod check {
    use super::{EngineVersion, Fact, First, History};

    /// Rows are in order, do not overlap, each differs from the one before, and each names a source.
    pub(crate) fn history<B: Copy + PartialEq + std::fmt::Debug>(history: &History<B>) {
        assert_eq!(history.origin.first, First::Ever);
        let rows: Vec<Fact<B>> = history.rows().collect();
        for row in &rows {
            assert!(!row.source.is_empty(), "{row:?} names no source");
        }
        for pair in rows.windows(2) {
            let (older, newer) = (pair[0], pair[1]);
            assert_ne!(older.behaviour, newer.behaviour, "a change that changes nothing");
            match (older.first, older.last, newer.first) {
                (_, Some(last), First::Release(first)) => {
                    assert!(last < first, "{older:?} overlaps {newer:?}");
                }
                (_, None, First::Change(_)) => {}
                _ => panic!("{newer:?} does not continue {older:?}"),
            }
            if let (First::Release(first), Some(last)) = (older.first, older.last) {
                assert!(first <= last, "{older:?} ends before it begins");
            }
        }
        assert_eq!(rows[rows.len() - 1].last, None, "the newest row is open");
    }

    /// The first and the last release of each row get that row, without a doubt.
    pub(crate) fn releases<B: Copy + PartialEq + std::fmt::Debug>(history: &History<B>) {
        for row in history.rows() {
            let first = if let First::Release(first) = row.first { Some(first) } else { None };
            for release in [first, row.last].into_iter().flatten() {
                let era = history.at(Some(&EngineVersion::from(release)));
                assert_eq!(era.fact, row, "{release}");
                assert_eq!(era.doubt, None, "{release}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATED: Change = Change { reference: "a/b#1", month: Some("2026-04") };
    const BY_RELEASE: History<u8> = History {
        origin: Fact { first: First::Ever, last: Some(Release::new(0, 5, 2)), behaviour: 1, source: "x" },
        changes: &[
            Fact {
                first: First::Release(Release::new(0, 5, 3)),
                last: Some(Release::new(0, 5, 10).post(1)),
                behaviour: 2,
                source: "y",
            },
            Fact { first: First::Release(Release::new(0, 5, 11)), last: None, behaviour: 3, source: "z" },
        ],
    };
    const BY_CHANGE: History<u8> = History {
        origin: Fact { first: First::Ever, last: None, behaviour: 1, source: "x" },
        changes: &[Fact { first: First::Change(DATED), last: None, behaviour: 2, source: "y" }],
    };

    fn at(history: &History<u8>, version: &str) -> (u8, Option<Doubt>) {
        let era = history.at(Some(&version.parse().unwrap()));
        (era.behaviour(), era.doubt)
    }

    #[test]
    fn releases_on_each_side_of_a_change() {
        check::history(&BY_RELEASE);
        check::releases(&BY_RELEASE);
        assert_eq!(at(&BY_RELEASE, "0.4.4.post4"), (1, None));
        assert_eq!(at(&BY_RELEASE, "0.5.2"), (1, None));
        assert_eq!(at(&BY_RELEASE, "0.5.3"), (2, None));
        assert_eq!(at(&BY_RELEASE, "0.5.10.post1"), (2, None));
        assert_eq!(at(&BY_RELEASE, "0.5.10.post9"), (2, None));
        assert_eq!(at(&BY_RELEASE, "0.5.11"), (3, None));
        assert_eq!(at(&BY_RELEASE, "0.9"), (3, None));
    }

    #[test]
    fn without_a_version_the_newest_row_holds_undoubted() {
        assert_eq!(BY_RELEASE.at(None), Era { fact: BY_RELEASE.changes[1], doubt: None });
        assert_eq!(BY_CHANGE.at(None), Era { fact: BY_CHANGE.changes[0], doubt: None });
    }

    #[test]
    fn a_behaviour_knows_when_it_began() {
        assert_eq!(BY_RELEASE.began(1), First::Ever);
        assert_eq!(BY_RELEASE.began(3).to_string(), "0.5.11");
        assert_eq!(BY_CHANGE.began(2).to_string(), "a/b#1 (2026-04)");
    }

    #[test]
    fn a_pre_release_of_the_changing_release_is_doubted() {
        let boundary = Release::new(0, 5, 3);
        assert_eq!(at(&BY_RELEASE, "0.5.3rc0"), (1, Some(Doubt::PreRelease(boundary))));
        assert_eq!(at(&BY_RELEASE, "0.5.3.dev4"), (1, Some(Doubt::PreRelease(boundary))));
        assert_eq!(at(&BY_RELEASE, "0.5.4rc0"), (2, None));
    }

    #[test]
    fn a_version_cannot_be_placed_by_a_date() {
        check::history(&BY_CHANGE);
        assert_eq!(at(&BY_CHANGE, "0.11.0"), (2, Some(Doubt::Undated(DATED))));
        assert_eq!(DATED.to_string(), "a/b#1 (2026-04)");
        let era = BY_CHANGE.at(Some(&"0.11.0".parse().unwrap()));
        assert_eq!(BY_CHANGE.in_front_of(&era.fact), [(DATED, 1)]);
        assert_eq!(BY_RELEASE.in_front_of(&BY_RELEASE.at(None).fact), []);
    }
}
