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
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// `-`
    Stdin,
    /// A file, or a directory that is walked.
    Path(PathBuf),
}

impl Input {
    /// The input as it is shown to the user: control characters escaped.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Stdin => STDIN.to_owned(),
            Self::Path(path) => name::of_path(path),
        }
    }
}

impl From<&Path> for Input {
    fn from(path: &Path) -> Self {
        if path == Path::new("-") { Self::Stdin } else { Self::Path(path.to_owned()) }
    }
}
