//! The subcommands of `accsim throughput`.

use std::io::Write;

use clap::Subcommand;

use super::{calibrate, pareto, predict, simulate, sweep};
use crate::cli::{Exit, global::Global};

/// Throughput at another accept length: calibrate on logs, predict, simulate the whole server
#[derive(Debug, Subcommand)]
pub(crate) enum ThroughputCommand {
    /// Fit what a step and a prefill cost to server logs, and write the model
    Calibrate(Box<calibrate::CalibrateArgs>),
    /// Tokens a second at other accept lengths, each number with the basis that it stands on
    Predict(Box<predict::PredictArgs>),
    /// Simulate a server event by event: throughput, latencies, and the log that it would write
    Simulate(Box<simulate::SimulateArgs>),
    /// Which draft length of a golden curve wins at which concurrency
    Sweep(Box<sweep::SweepArgs>),
    /// Which points of a table no other point beats
    Pareto(pareto::ParetoArgs),
}

/// Runs one subcommand.
pub(crate) fn run(
    command: &ThroughputCommand,
    global: &Global,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    match command {
        ThroughputCommand::Calibrate(args) => calibrate::run(args, global, out, err),
        ThroughputCommand::Predict(args) => predict::run(args, global, out, err),
        ThroughputCommand::Simulate(args) => simulate::run(args, global, out, err),
        ThroughputCommand::Sweep(args) => sweep::run(args, global, out, err),
        ThroughputCommand::Pareto(args) => pareto::run(args, global, out, err),
    }
}
