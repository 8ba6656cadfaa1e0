//! Plots of results: what they show ([`Figure`]), as SVG for pages and files, and in characters for terminals.
//!
//! In characters series differ by letter, so that they need no colour; the crate `textplots` draws in Braille dots, in which
//! they differ by colour alone.

mod audit;
mod chart;
mod curves;
mod drawing;
mod figure;
mod scale;
mod simulate;
mod svg;
mod terminal;
mod throughput;

pub use audit::{accept_length, point, values};
pub use chart::{Chart, MOST_SERIES, Series};
pub use curves::{chart, curves};
pub use figure::{Axis, Figure, Layer, Look, Mark, Shape};
pub use simulate::drawn;
pub use svg::write_svg;
pub use terminal::draw;
pub use throughput::{measured, pareto, predictions, simulation, sweep};

pub(in crate::report) use drawing::{Drawing, Part};
