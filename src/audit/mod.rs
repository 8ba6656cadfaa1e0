//! Does a run show the accept length that it was meant to show? Records go into a [`PointBuilder`], which keeps sums
//! of bounded size. Values in, values out: no I/O and no printing.

mod duplicates;
mod finding;
mod fingerprint;
mod kappa;
mod point;
mod rank;
mod rates;
mod server;
mod speed;
mod tally;
mod trace;
mod values;
mod voices;

pub use finding::{Finding, FindingCode, Severity};
pub use point::{Observed, PointBuilder, Skipped};
pub use rates::RateDefinition;
