//! What a run would show: draws of a law, and what injected settings should look like in a log. Values in, values out;
//! no I/O but the writer that a log goes to.
//!
//! A [`Plan`] is a law with a load and a seed; running it gives a [`Simulation`]. A [`Check`] reads settings as they stand
//! in a file ([`found`]) and says what a log should show, and what it would show instead if they were not obeyed. A
//! [`log`] is written as the server would have written it.

mod answer;
mod check;
mod expected;
pub mod found;
pub mod log;
mod plan;
mod simulation;

pub use answer::{Answer, SeededLines};
pub use check::{Check, Fault, Holds, Instead};
pub use expected::{Expected, Load};
pub use plan::{Plan, PlanError};
pub use simulation::{Replicates, Simulation};
