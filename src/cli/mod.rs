//! The command line: flags in, library call, report out, exit code. One file per command, and nothing here that is
//! worth a unit test of its own.

mod apart;
mod audit;
mod catalogue;
mod collect;
mod completions;
mod curves;
mod env;
mod exit;
mod fleet;
mod format;
mod found;
mod global;
mod help;
mod limits;
mod man;
mod number;
mod output;
mod patient;
mod progress;
mod recipe;
mod records;
mod recover;
mod reference;
mod replay;
mod run;
mod select;
mod signoff;
mod simulate;
mod skipped;
mod throughput;

use std::io::Write;

use clap::{Parser, Subcommand};

pub use exit::{EXIT_FAILED, EXIT_OK, EXIT_UNDECIDED, EXIT_WRONG, Exit};
pub use run::{main, main_with, run};

use global::Global;

/// Golden accept lengths: curves, engine settings, and audits of server logs
#[derive(Debug, Parser)]
#[command(name = "accsim", version, propagate_version = true)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Decide whether server logs show the accept length that they were meant to show
    Audit(Box<audit::AuditArgs>),
    /// Accept lengths from counters: of two snapshots, or a golden curve from a folder of them
    Collect(Box<collect::CollectArgs>),
    /// Golden curves: list, show, look up, check, draw, compare
    #[command(subcommand)]
    Curves(curves::CurvesCommand),
    /// Print what an engine must be told to hold a golden accept length
    Env(Box<env::EnvArgs>),
    /// Recipes and launchers: check what they pin, write the golden value
    #[command(subcommand)]
    Recipe(recipe::RecipeCommand),
    /// Put parts that audit --partial wrote together, and judge the points
    ///
    /// The order of the parts does not matter, nor whether one is named twice. A part that cannot be read is named and left
    /// out, with exit code 2.
    Merge(Box<fleet::MergeArgs>),
    /// Print what the readers find in server logs, one record a line
    Records(records::RecordsArgs),
    /// Draw accept lengths from an engine's law, and say what its log would show
    ///
    /// With --env or --recipe: what the settings of a run make its log show, and what it would show had they been ignored,
    /// rounded or written in another unit.
    Simulate(Box<simulate::SimulateArgs>),
    /// Decide every item of a sign-off that logs, recipes and exports can decide
    ///
    /// Reads the folders of a run, finds its points and evaluations, and decides the rules of a profile, each with the lines
    /// that show it. What is missing makes an item undecidable, never true.
    Signoff(Box<signoff::SignoffArgs>),
    /// Throughput at another accept length: calibrate on logs, predict, simulate the whole server
    #[command(subcommand)]
    Throughput(throughput::ThroughputCommand),
    /// Print a completion script for a shell
    ///
    /// Where it goes is the shell's own rule. To try it in bash: source <(accsim completions bash)
    Completions(completions::CompletionsArgs),
    /// Print the manual, one page a command
    ///
    /// The page is in roff, as man takes it. To read it: accsim man | man -l -
    Man(man::ManArgs),
}

fn dispatch(cli: &Cli, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<Exit> {
    match &cli.command {
        Command::Audit(args) => audit::run(args, &cli.global, out, err),
        Command::Collect(args) => collect::run(args, &cli.global, out, err),
        Command::Curves(command) => curves::run(command, &cli.global, out, err),
        Command::Env(args) => env::run(args, &cli.global, out, err),
        Command::Recipe(command) => recipe::run(command, &cli.global, out, err),
        Command::Merge(args) => fleet::merge(args, &cli.global, out, err),
        Command::Records(args) => records::run(args, &cli.global, out, err),
        Command::Simulate(args) => simulate::run(args, &cli.global, out, err),
        Command::Signoff(args) => signoff::run(args, &cli.global, out, err),
        Command::Throughput(command) => throughput::run(command, &cli.global, out, err),
        Command::Completions(args) => completions::run(args, out),
        Command::Man(args) => man::run(args, out),
    }
}
