//! Why a log cannot be followed.

use std::io;

use crate::evidence::Format;

/// A log that is not followed, or no longer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot follow {name}: {why}")]
pub struct FollowError {
    /// The log as it is named to the user.
    pub name: String,
    /// Why.
    pub why: Unfollowed,
}

/// Why a log is not followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfollowed {
    /// A directory.
    #[error("it is a directory; name the logs in it")]
    Directory,
    /// An archive or a compressed file.
    #[error("it is packed ({0}), and what is packed does not grow; audit it without --follow")]
    Packed(Format),
    /// Packed in a way that is not read.
    #[error("it is packed ({0}), which is not read")]
    Unsupported(&'static str),
    /// No text.
    #[error("it is no text ({0})")]
    NotText(&'static str),
    /// The system said no.
    #[error("{message}")]
    Io {
        /// What kind of no.
        kind: io::ErrorKind,
        /// Its words.
        message: String,
    },
}

impl From<io::Error> for Unfollowed {
    fn from(error: io::Error) -> Self {
        Self::Io { kind: error.kind(), message: error.to_string() }
    }
}
