//! `accsim signoff`: the evidence of a run, decided by rules.

mod command;
mod gather;
mod launch_diff;
mod points;
mod servers;

pub(super) use command::{SignoffArgs, run};
