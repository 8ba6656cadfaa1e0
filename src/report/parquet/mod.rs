//! Parquet tables, for people who load records into a data frame.

mod records;

pub use records::RecordFile;
