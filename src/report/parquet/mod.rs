//! Parquet tables, for DuckDB, Polars, Spark and data frames: typed columns, row groups of bounded size.

mod fleet;
mod records;

pub use fleet::write_fleet;
pub use records::RecordFile;
