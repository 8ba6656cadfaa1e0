//! Plots beside the numbers.

use std::io::{self, Write};

use crate::cli::global::Global;
use crate::cli::output::plain;
use crate::report::plot::{self, Figure};

/// Draws the figures below a text, under `-v`.
pub(super) fn draw(global: &Global, figures: &[Figure], out: &mut dyn Write) -> io::Result<()> {
    if global.verbose {
        for figure in figures {
            writeln!(out)?;
            plot::draw(figure, "", out)?;
        }
    }
    Ok(())
}

/// A result as the terminal shows it.
pub(super) fn shown(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&plain(write)?).into_owned())
}
