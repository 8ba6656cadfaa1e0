//! `accsim completions`: a completion script for a shell.

use std::io::Write;

use clap::{Args, CommandFactory as _};
use clap_complete::{Generator as _, Shell};

use super::{Cli, Exit};

/// Flags of `accsim completions`.
#[derive(Args, Clone, Debug)]
pub(crate) struct CompletionsArgs {
    /// Shell to write for
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let mut command = Cli::command();
    command.set_bin_name("accsim");
    command.build();
    args.shell.try_generate(&command, out)?;
    Ok(Exit::Ok)
}
