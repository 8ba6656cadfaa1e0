//! Text for terminals.

pub mod audit;
mod style;
