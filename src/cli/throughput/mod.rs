//! `accsim throughput`: what another accept length would give.

mod calibrate;
mod command;
mod drawn;
mod duration;
mod pareto;
mod predict;
mod read;
mod simulate;
mod sweep;

pub(crate) use command::{ThroughputCommand, run};
