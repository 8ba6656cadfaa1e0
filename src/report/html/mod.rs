//! Results as pages: one file each, with everything in it. Nothing is fetched: the page's own policy forbids it, and lets no
//! script run but the one that it names by hash.
//!
//! The markup stands in `templates/`, which [`askama`] checks and compiles in. Whatever a template prints is escaped; the
//! two texts that are not are this room's own style sheet and script.

mod audit;
mod curves;
mod page;
mod table;
mod throughput;

pub use audit::write_audit;
pub use curves::write_curves;
pub use throughput::{write_pareto, write_predictions, write_simulation, write_sweep};
