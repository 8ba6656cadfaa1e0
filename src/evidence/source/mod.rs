//! Bytes in: files, folders and standard input, through any archive and compression, as a stream in bounded memory.
//!
//! From outside in: an [`Input`] is walked to files; a file is unpacked to the logs in it, each recognised by its
//! first bytes and never by its name; a log is scanned for records. Nothing is written to disk, and the names inside
//! an archive are labels that no path is ever made of.

mod block;
mod budget;
mod crew;
mod decode;
mod document;
mod failure;
mod format;
mod group;
mod inflate;
mod input;
mod limits;
mod log;
mod name;
mod parallel;
mod passed;
mod progress;
mod reader;
#[cfg(feature = "object-store")]
mod remote;
#[cfg(not(feature = "object-store"))]
#[path = "remote_absent.rs"]
mod remote;
mod snapshot;
mod stitch;
mod stream;
mod tar;
mod text;
mod threads;
mod unpack;
mod walk;
mod window;
mod worker;
mod xz;
mod zip;
mod zstd;

pub(crate) use document::{JSON_BROKEN, JSON_CUT, TEXT_CUT};
pub use failure::{Failure, Format, Limit, ReadError};
pub(super) use format::{HEAD, Kind, recognise};
pub use group::{Group, PointBy, group, point_name};
pub use input::Input;
pub use limits::Limits;
pub use log::LogFile;
pub(crate) use name::escaped;
pub use passed::{PassedOver, Why};
pub use progress::Progress;
pub use reader::Reader;
pub use snapshot::{SnapshotError, read_snapshot};
pub use text::TextSink;
pub use worker::{Mode, WorkerName};
