//! `accsim recipe`: flags, files, git; the decisions are the room's.

mod check;
mod collect;
mod command;
mod git;
mod inject;
mod place;
mod settings;

pub(crate) use command::{RecipeCommand, run};
