//! The sign-off of a run: a [`Profile`] of rules over the evidence that readers hand in as typed facts, each item decided
//! or said to be undecidable, with the lines that show it. No printing and no I/O; what is read of a text is only what a
//! rule names.

mod decide;
mod facts;
mod item;
pub mod launch;
mod layout;
mod map;
mod profile;
mod read;
mod redact;
mod rules;

pub use decide::decide;
pub use facts::{
    Access, AccessCount, Argument, Client, Facts, Origin, Point, Run, Score, Seen, Server, Sighting, Stated,
    Table, TableRow, Unread,
};
pub use item::{Evidence, Item, Signoff, Status};
pub use layout::{FileKind, concurrency, is_evaluation, is_evaluation_log, kind_of, point_folder};
pub use map::{Map, MapError, MappedPoint};
pub use profile::{Axis, Check, Profile, ProfileError, Rule, Threshold};
pub use read::{Asked, TextRead, TextReader, read_table};
pub use redact::redact;
