//! Plots beside the numbers.

use std::io::{self, Write};

use crate::cli::global::Global;
use crate::cli::output::plain;
use crate::report::plot::{self, Figure};

/// Draws below a text what it tells: the first figure that shows a course, all of them under `-v`, none under `-q`.
pub(super) fn draw(global: &Global, figures: &[Figure], out: &mut dyn Write) -> io::Result<()> {
    let most = match (global.quiet, global.verbose) {
        (true, _) => 0,
        (_, true) => figures.len(),
        _ => 1,
    };
    for figure in figures.iter().filter(|figure| figure.has_course()).take(most) {
        writeln!(out)?;
        plot::draw(figure, "", out)?;
    }
    Ok(())
}

/// A result as the terminal shows it.
pub(super) fn shown(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&plain(write)?).into_owned())
}
