//! `accsim curves`: one file per subcommand that does more than print.

mod check;
mod command;
mod named;

pub(crate) use command::{CurvesCommand, run};
