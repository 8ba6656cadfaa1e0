//! `accsim simulate`: draws of a law, and what injected settings make a log show, and such a log.

mod args;
mod change;
mod check;
mod draw;
mod emit;
mod lines;
mod seeded;
mod target;

use std::io::Write;
use std::path::PathBuf;

use super::apart::apart;
use super::{Exit, Global};

pub(crate) use args::SimulateArgs;

pub(crate) fn run(
    args: &SimulateArgs,
    global: &Global,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let golden = global.golden_files();
    apart(golden.iter().map(PathBuf::as_path), [args.output.as_deref(), args.emit.file()])?;
    match args.found()? {
        Some(found) => check::run(args, &found, global, out, err),
        None => draw::run(args, global, out, err),
    }
}
