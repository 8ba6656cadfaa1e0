//! Throughput at another accept length: calibrated on a log, in closed form, and as a simulation of the whole server.
//!
//! [`Calibration`] takes the records of logs and gives a [`Model`]: what a step costs, what prefill costs, and how far each can
//! be believed. [`predict`] answers for an accept length and a batch, each number with the basis it stands on;
//! [`Demand::steady`] is the closed form of a closed loop, [`sim`] the discrete-event simulation that gives distributions,
//! [`sweep`] which draft length wins where, [`pareto`] the frontier of measured points. Values in, values out; no printing.

mod closed_form;
mod lengths;
mod linear;
mod pareto;
mod ratio;
pub mod sim;
mod step;

pub use closed_form::{Demand, NoSteadyState, Steady, open_loop};
pub use lengths::{Lengths, LengthsError};
pub use pareto::{Standing, pareto};
pub use ratio::{break_even, throughput_ratio};
pub use step::{Bend, Load, PrefillLaw, StepLaw, experts_touched, padded};
