//! Parquet tables, for DuckDB, Polars and Spark: typed columns, Snappy, row groups of bounded size.

mod fleet;

pub use fleet::write_fleet;
