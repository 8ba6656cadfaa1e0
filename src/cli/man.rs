//! `accsim man`: the manual, one page a command, in roff; or all of it as one page of Markdown.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::{Args, CommandFactory as _};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use super::output::whole_file;
use super::{Cli, Exit, reference};

/// Flags of `accsim man`.
#[derive(Args, Clone, Debug)]
pub(crate) struct ManArgs {
    /// Command whose page to print, word by word [default: accsim's own page]
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,

    /// Print every command with its flags as one page of Markdown
    #[arg(long, conflicts_with = "command")]
    markdown: bool,

    /// Write all pages into the folder DIR: accsim.1, accsim-audit.1, ..
    #[arg(long, value_name = "DIR", conflicts_with_all = ["command", "markdown"])]
    all: Option<PathBuf>,
}

pub(crate) fn run(args: &ManArgs, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let mut root = Cli::command().disable_help_subcommand(true);
    // Gives every command its full name (accsim-curves-lookup) and the global options.
    root.build();
    if args.markdown {
        reference::write(&root, out)?;
        return Ok(Exit::Ok);
    }
    match &args.all {
        Some(folder) => all(&root, folder)?,
        None => page(find(&root, &args.command)?, out)?,
    }
    Ok(Exit::Ok)
}

fn page(command: &clap::Command, out: &mut dyn Write) -> io::Result<()> {
    // No date, so that a build repeats; an empty word must be quoted to keep its place.
    Man::new(command.clone())
        .date(r#""""#)
        .source(concat!("accsim ", env!("CARGO_PKG_VERSION")))
        .manual("accsim manual")
        .render(out)?;
    // `to_roff` leaves out the preamble, which stands at the page's head already.
    out.write_all(exit_status().to_roff().as_bytes())
}

/// The page of a command and of all below it.
fn all(command: &clap::Command, folder: &Path) -> anyhow::Result<()> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let file = folder.join(format!("{name}.1"));
    whole_file(&file, |created| page(command, created))
        .with_context(|| format!("cannot write {}", file.display()))?;
    command.get_subcommands().try_for_each(|inner| all(inner, folder))
}

fn find<'a>(root: &'a clap::Command, words: &[String]) -> anyhow::Result<&'a clap::Command> {
    let mut command = root;
    for word in words {
        let Some(inner) = command.find_subcommand(word) else {
            let name = command.get_bin_name().unwrap_or("accsim");
            let known: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
            if known.is_empty() {
                bail!("no page for '{word}': {name} has no commands below it");
            }
            bail!("no page for '{word}': the commands of {name} are {}", known.join(", "));
        };
        command = inner;
    }
    Ok(command)
}

fn exit_status() -> Roff {
    let mut section = Roff::new();
    section.control("SH", ["EXIT STATUS"]);
    for exit in Exit::ALL {
        section.control("TP", []).text([bold(exit.code().to_string())]).text([roman(exit.meaning())]);
    }
    section
}
