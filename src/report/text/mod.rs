//! Plain text for terminals.

pub mod audit;
pub mod check;
pub mod curves;
pub mod fleet;
mod prediction;
mod replay;
pub mod simulate;
mod style;
mod table;
pub mod throughput;

pub(crate) use table::{Align, Table};
