//! What every format of a fleet's results shares: points that come one after the other, from disk, so that no number of
//! them takes memory.

mod columns;
mod point;
mod rows;
mod tally;

pub use point::FleetPoint;
pub use rows::{FleetRow, FleetRows, RunRows};
pub use tally::FleetTally;

pub(super) use columns::{Column, Kind, columns};
pub(super) use rows::cell_of;
