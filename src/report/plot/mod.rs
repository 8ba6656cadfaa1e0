//! Charts in characters, for terminals. Series differ by letter, so that they need no colour.
//!
//! The crate `textplots` was tried first: it draws in Braille dots, in which series differ by colour alone.

mod chart;
mod curves;
pub mod svg;

pub use chart::{Chart, MOST_SERIES, Series};
pub use curves::chart;
