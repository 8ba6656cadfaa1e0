//! The comments above a curve's model key: metadata for people, read leniently and never required. Nothing in a
//! header decides a value: the first published map said "thinking: true" above values of the other mode.

mod model;
mod parse;

pub use model::{CounterLine, Header, MeasuredOn, ModeHeader, SourceRun};

#[cfg(test)]
mod tests;
