//! Engine versions, ordered as Python packages are.

use std::fmt;
use std::str::FromStr;

use pep440_rs::Version;

/// Longest text read as a version; real ones stay under 40 bytes.
const LONGEST: usize = 128;

/// The version of an engine: `0.5.10.post1`, `0.5.3rc0`, `v0.5.18`. Ordered by PEP 440, so that
/// 0.5.3rc0 < 0.5.3 < 0.5.3.post2 < 0.5.10.
///
/// A local part (`+cu129`) is shown and takes no part in the order of facts.
///
/// ```
/// use accsim::engine::EngineVersion;
///
/// let post: EngineVersion = "v0.5.10.post1".parse()?;
/// assert_eq!(post.to_string(), "0.5.10.post1");
/// assert!(post > "0.5.10".parse()?);
/// assert!(post < "0.5.11rc0".parse()?);
/// assert!("main".parse::<EngineVersion>().is_err());
/// # Ok::<(), accsim::engine::EngineVersionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EngineVersion(Version);

/// Why a text is no version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineVersionError {
    /// It begins like a version and goes on like something else: an image tag.
    #[error("'{text}' is not a version number; did you mean {nearest}?")]
    Tail {
        /// What was given.
        text: String,
        /// The longest beginning that is a version.
        nearest: EngineVersion,
    },
    /// It is none, nor does it begin with one.
    #[error("'{0}' is not a version number; expected one as Python packages have it, like 0.5.10.post1")]
    Invalid(String),
}

impl EngineVersion {
    /// Whether it is a release candidate, a beta or a development build: something between two releases.
    #[must_use]
    pub fn is_prerelease(&self) -> bool {
        self.0.any_prerelease()
    }

    /// The release that a release candidate or a development build leads to; itself if it is a release.
    #[must_use]
    pub fn final_release(&self) -> Self {
        Self(self.0.clone().with_pre(None).with_dev(None).without_local())
    }

    /// Whether this version is `release` or comes after it.
    #[must_use]
    pub fn is_at_least(&self, release: Release) -> bool {
        self.0.clone().without_local() >= release.version()
    }

    /// Whether this version comes after `release`; a local part does not count.
    #[must_use]
    pub fn is_after(&self, release: Release) -> bool {
        self.0.clone().without_local() > release.version()
    }
}

impl fmt::Display for EngineVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for EngineVersion {
    type Err = EngineVersionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        if text.len() > LONGEST {
            return Err(EngineVersionError::Invalid(text.chars().take(32).chain(['.', '.', '.']).collect()));
        }
        if let Ok(version) = Version::from_str(text) {
            return Ok(Self(version));
        }
        let nearest = text
            .rmatch_indices(['-', '_', '+'])
            .filter_map(|(end, _)| text.get(..end))
            .find_map(|head| Version::from_str(head).ok());
        Err(match nearest {
            Some(nearest) => EngineVersionError::Tail { text: text.to_owned(), nearest: Self(nearest) },
            None => EngineVersionError::Invalid(text.to_owned()),
        })
    }
}

/// A release as the tables of facts name it; a constant, where [`EngineVersion`] is read at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release {
    numbers: [u64; 3],
    post: Option<u64>,
}

impl Release {
    /// `major.minor.patch`.
    #[must_use]
    pub const fn new(major: u64, minor: u64, patch: u64) -> Self {
        Self { numbers: [major, minor, patch], post: None }
    }

    /// `major.minor.patch.postN`.
    #[must_use]
    pub const fn post(self, number: u64) -> Self {
        Self { numbers: self.numbers, post: Some(number) }
    }

    fn version(self) -> Version {
        Version::new(self.numbers).with_post(self.post)
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.version().fmt(f)
    }
}

impl From<Release> for EngineVersion {
    fn from(release: Release) -> Self {
        Self(release.version())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> EngineVersion {
        text.parse().unwrap()
    }

    #[test]
    fn order_is_that_of_python_packages() {
        let order = [
            "0.4.4.post4",
            "0.4.5",
            "0.4.6.post5",
            "0.5.2",
            "0.5.3rc0",
            "0.5.3",
            "0.5.3.post2",
            "0.5.9",
            "0.5.10.dev3",
            "0.5.10",
            "0.5.10.post1",
            "0.5.11",
        ];
        for pair in order.windows(2) {
            assert!(version(pair[0]) < version(pair[1]), "{pair:?}");
        }
    }

    #[test]
    fn a_local_part_does_not_move_a_version() {
        let release = Release::new(0, 5, 18);
        assert!(version("0.5.18+cu129").is_at_least(release));
        assert!(!version("0.5.17.post3+cu129").is_at_least(release));
        assert!(version("v0.5.18").is_at_least(release));
        assert!(!version("0.5.18rc1").is_at_least(release));
    }

    #[test]
    fn releases_print_as_versions_do() {
        assert_eq!(Release::new(0, 5, 10).post(1).to_string(), "0.5.10.post1");
        assert_eq!(EngineVersion::from(Release::new(0, 5, 10).post(1)), version("0.5.10.post1"));
        assert!(Release::new(0, 5, 10) < Release::new(0, 5, 10).post(1));
        assert!(Release::new(0, 5, 10).post(1) < Release::new(0, 5, 11));
    }

    #[test]
    fn pre_releases_lead_to_their_release() {
        for text in ["0.5.16rc1", "0.5.16.dev20260801+gabc123", "0.5.16rc1.dev2"] {
            assert!(version(text).is_prerelease(), "{text}");
            assert_eq!(version(text).final_release(), version("0.5.16"));
        }
        assert!(!version("0.5.10.post1").is_prerelease());
        assert_eq!(version("0.5.15.post1.dev2").final_release(), version("0.5.15.post1"));
    }

    #[test]
    fn an_image_tag_is_refused_with_its_version() {
        let error = "v0.5.18-cu129-amd64".parse::<EngineVersion>().unwrap_err();
        assert_eq!(error.to_string(), "'v0.5.18-cu129-amd64' is not a version number; did you mean 0.5.18?");
        let error = "0.5.10rc0-é".parse::<EngineVersion>().unwrap_err();
        assert!(error.to_string().ends_with("did you mean 0.5.10rc0?"), "{error}");
    }

    #[test]
    fn what_is_no_version_is_refused() {
        for text in ["", " ", "main", "latest", "0,5,10", "v", "sglang", "0.5.x", "é.é"] {
            assert!(text.parse::<EngineVersion>().is_err(), "{text}");
        }
        let long = "1.".repeat(10_000);
        assert!(long.parse::<EngineVersion>().unwrap_err().to_string().len() < 200);
    }
}
