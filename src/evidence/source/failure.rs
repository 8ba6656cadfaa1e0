//! What can go wrong while a file is read, and how it travels through the readers that stand on each other.

use std::error::Error;
use std::fmt;
use std::io;

use super::limits::RATIO_GRACE;
use super::name::{self, Bytes};

/// A file that could not be read to its end. What was read before counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The file, as it is named to the user: `run.tar.gz!/logs/node_decode_w0.out` in an archive.
    pub name: String,
    /// What stopped the reading.
    pub failure: Failure,
    /// Bytes of the file that were read before, decompressed.
    pub bytes: u64,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, failure, bytes } = self;
        let name = name::quoted(name);
        if *bytes == 0 {
            write!(f, "cannot read {name}: {failure}")
        } else {
            write!(f, "cannot read {name} to its end: {failure}; the {} before it count", Bytes(*bytes))
        }
    }
}

impl Error for ReadError {}

/// What stopped the reading of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The system said no.
    Io {
        /// What kind of no.
        kind: io::ErrorKind,
        /// Its words.
        message: String,
    },
    /// The bytes end before the format does.
    Truncated(Format),
    /// The bytes are not what the format asks for.
    Damaged {
        /// The format.
        format: Format,
        /// What is wrong, without a name from the file in it.
        detail: String,
    },
    /// A limit was reached.
    OverLimit(Limit),
    /// A password stands before the bytes.
    Encrypted,
    /// A format that is recognised and not read.
    Unsupported(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { message, .. } => f.write_str(message),
            Self::Truncated(format) => write!(f, "the {format} ends early"),
            Self::Damaged { format, detail } => write!(f, "the {format} is damaged ({detail})"),
            Self::OverLimit(limit) => limit.fmt(f),
            Self::Encrypted => f.write_str("it is encrypted"),
            Self::Unsupported(what) => write!(f, "{what} is not read"),
        }
    }
}

impl Error for Failure {}

/// A format that bytes are packed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// gzip, one member or many.
    Gzip,
    /// Zstandard, one frame or many.
    Zstd,
    /// xz, one stream or many.
    Xz,
    /// tar: ustar, GNU, pax.
    Tar,
    /// zip, with and without zip64.
    Zip,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gzip => "gzip stream",
            Self::Zstd => "zstd stream",
            Self::Xz => "xz stream",
            Self::Tar => "tar archive",
            Self::Zip => "zip archive",
        })
    }
}

/// A limit that was reached, with its value; see [`Limits`](super::Limits).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// [`Limits::decompressed`](super::Limits::decompressed)
    Decompressed(u64),
    /// [`Limits::ratio`](super::Limits::ratio)
    Ratio(u64),
    /// [`Limits::window`](super::Limits::window)
    Window(u64),
    /// [`Limits::entries`](super::Limits::entries)
    Entries(u64),
    /// [`Limits::layers`](super::Limits::layers)
    Layers(u32),
    /// [`Limits::depth`](super::Limits::depth)
    Depth(u32),
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decompressed(limit) => {
                write!(
                    f,
                    "it decompresses to more than {} (--max-decompressed raises the limit)",
                    Bytes(*limit)
                )
            }
            Self::Ratio(limit) => write!(
                f,
                "it decompresses to more than {limit} times its size and {} (--max-ratio raises the limit)",
                Bytes(RATIO_GRACE)
            ),
            Self::Window(limit) => write!(
                f,
                "its compression asks for more than {} of memory (--max-window raises the limit)",
                Bytes(*limit)
            ),
            Self::Entries(limit) => {
                write!(f, "it holds more than {limit} entries (--max-entries raises the limit)")
            }
            Self::Layers(limit) => write!(
                f,
                "it is packed in more than {limit} layers of archives and compression (--max-layers raises the limit)"
            ),
            Self::Depth(limit) => write!(f, "it lies more than {limit} directories deep"),
        }
    }
}

impl Failure {
    /// Damage of a format, in our words.
    pub(super) fn damaged(format: Format, detail: &str) -> Self {
        Self::Damaged { format, detail: detail.to_owned() }
    }

    /// What a reader at the bottom said: no format is to blame.
    pub(super) fn of_system(error: &io::Error) -> Self {
        find(error).unwrap_or_else(|| Self::Io { kind: error.kind(), message: error.to_string() })
    }

    /// What a decoder of `format` said: the failure of a reader below it, or damage.
    pub(super) fn of_decoder(format: Format, error: &io::Error) -> Self {
        find(error).unwrap_or_else(|| {
            if error.kind() == io::ErrorKind::UnexpectedEof {
                Self::Truncated(format)
            } else {
                Self::Damaged { format, detail: name::escaped(&error.to_string()).into_owned() }
            }
        })
    }
}

impl From<Failure> for io::Error {
    fn from(failure: Failure) -> Self {
        Self::other(failure)
    }
}

/// The failure that an error carries, however many readers have wrapped it.
fn find(error: &io::Error) -> Option<Failure> {
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = next {
        if let Some(failure) = error.downcast_ref::<Failure>() {
            return Some(failure.clone());
        }
        // An `io::Error` names as its source what its content names, and passes over the content.
        let content = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = content.map(|content| content as &(dyn Error + 'static)).or_else(|| error.source());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_found_through_every_wrapping() {
        let failure = Failure::Truncated(Format::Tar);
        let wrapped = io::Error::other(io::Error::other(io::Error::from(failure.clone())));
        assert_eq!(Failure::of_decoder(Format::Gzip, &wrapped), failure);
        let bare = io::Error::from(io::ErrorKind::UnexpectedEof);
        assert_eq!(Failure::of_decoder(Format::Gzip, &bare), Failure::Truncated(Format::Gzip));
        assert!(matches!(Failure::of_system(&bare), Failure::Io { .. }));
    }

    #[test]
    fn messages_say_what_was_read_and_which_flag_helps() {
        let error = |failure, bytes| ReadError { name: "a.gz".to_owned(), failure, bytes }.to_string();
        assert_eq!(
            error(Failure::Truncated(Format::Gzip), 3 << 20),
            "cannot read a.gz to its end: the gzip stream ends early; the 3.0 MiB before it count"
        );
        assert_eq!(
            error(Failure::OverLimit(Limit::Entries(7)), 0),
            "cannot read a.gz: it holds more than 7 entries (--max-entries raises the limit)"
        );
    }
}
