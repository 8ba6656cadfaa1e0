//! Plain text for terminals.

pub mod audit;
pub mod check;
pub mod collect;
pub mod curves;
pub mod fleet;
mod prediction;
pub mod recipe;
mod replay;
pub mod simulate;
mod style;
mod table;
pub mod throughput;

pub(crate) use table::{Align, Table};
