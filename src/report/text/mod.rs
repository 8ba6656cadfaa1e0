//! Plain text for terminals.

pub mod audit;
pub mod curves;
mod style;
mod table;

pub(crate) use table::{Align, Table};
