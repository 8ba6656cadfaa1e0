//! zip archives from their first byte on, as a stream.
//!
//! The `zip` crate reads either from a seekable file, or from a stream whose entries name their lengths beforehand.
//! CI artifacts have neither: they come through pipes and inside other archives, and GitHub's writer puts the lengths
//! behind the data. An archive cut short has lost the directory at its end, too. So local headers are followed here;
//! the data itself goes through the same decoders as everywhere.

mod archive;
mod entry;
mod headers;

pub(super) use archive::Zip;
