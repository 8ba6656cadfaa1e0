//! CSV tables (RFC 4180, lines ended by a line feed). A text that a spreadsheet would take for a formula gets an
//! apostrophe in front.

mod cell;
mod records;
pub mod throughput;

pub use records::RecordTable;
