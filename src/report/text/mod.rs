//! Plain text for terminals.

pub mod curves;
mod table;

pub(crate) use table::{Align, Table};
