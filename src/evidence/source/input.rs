//! What a path of the command line names.

use std::path::{Path, PathBuf};

use super::name;

/// The name that standard input is shown under.
pub(super) const STDIN: &str = "(standard input)";

/// What a path of the command line names.
///
/// ```
/// use std::path::Path;
/// use accsim::evidence::Input;
///
/// assert_eq!(Input::from(Path::new("-")), Input::Stdin);
/// assert_eq!(Input::from(Path::new("logs")).name(), "logs");
/// assert_eq!(Input::from(Path::new("s3://runs/a.log")), Input::Url("s3://runs/a.log".to_owned()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// `-`
    Stdin,
    /// A file, or a directory that is walked.
    Path(PathBuf),
    /// An object, or all objects below a prefix: `s3://bucket/run/decode.log`. Read where the feature `object-store` is on.
    Url(String),
}

/// What a URL of an object begins with.
const SCHEMES: [&str; 5] = ["s3://", "gs://", "az://", "https://", "http://"];

impl Input {
    /// The input as it is shown to the user: control characters escaped.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Stdin => STDIN.to_owned(),
            Self::Path(path) if path.to_str().is_some_and(|text| text.contains("://")) => {
                name::of_url(&path.to_string_lossy())
            }
            Self::Path(path) => name::of_path(path),
            Self::Url(url) => name::of_url(url),
        }
    }
}

impl From<&Path> for Input {
    fn from(path: &Path) -> Self {
        if path == Path::new("-") {
            return Self::Stdin;
        }
        match path.to_str().filter(|text| SCHEMES.iter().any(|scheme| text.starts_with(scheme))) {
            Some(url) => Self::Url(url.to_owned()),
            None => Self::Path(path.to_owned()),
        }
    }
}
