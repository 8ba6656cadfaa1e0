//! Plain text for terminals.

pub mod audit;
pub mod check;
pub mod curves;
mod prediction;
pub mod recipe;
mod replay;
pub mod simulate;
mod style;
mod table;
pub mod throughput;

pub(crate) use table::{Align, Table};
