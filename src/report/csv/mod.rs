//! CSV tables (RFC 4180, lines ended by a line feed). A text that a spreadsheet would take for a formula gets an
//! apostrophe in front.

mod audit;
mod cell;
mod fleet;
mod records;
pub mod throughput;

pub use audit::write_audit;
pub(in crate::report) use audit::{COLUMNS, cells};
pub use fleet::write_fleet;
pub use records::RecordTable;
pub(super) use records::{COLUMNS as RECORD_COLUMNS, row_of};
