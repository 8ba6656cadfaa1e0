//! The documents of `accsim throughput`.

mod model;
mod pareto;
mod predict;
mod simulate;
mod sweep;

pub use model::ModelDocument;
pub use pareto::ParetoDocument;
pub use predict::PredictDocument;
pub use simulate::ThroughputSimulation;
pub use sweep::SweepDocument;
