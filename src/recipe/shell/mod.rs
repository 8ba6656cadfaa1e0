//! Shell scripts: what their servers are given.
//!
//! The grammar is tree-sitter's. The script is walked as a shell would run it, with what it does not know left open:
//! a condition that only the run decides is taken both ways, and a value that only the run has is marked and never
//! guessed. Steps, ways and depth are bounded.

mod arithmetic;
mod assign;
mod branch;
mod builtin;
mod case;
mod command;
mod condition;
mod exec;
mod expand;
mod inner;
mod learn;
mod listed;
mod parameter;
mod parse;
mod quote;
mod reach;
mod read;
mod redirect;
mod server;
mod shared;
mod state;
mod substitution;
mod word;
mod wrap;

pub(crate) use parse::is_sound;
pub use reach::{Reached, ReachedKind, Way, reaching};
pub(crate) use read::{read, script, with_words};
pub(crate) use server::launch_behind;
pub(crate) use word::{Word, unresolved};
