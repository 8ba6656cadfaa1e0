//! From texts to facts: only what the rules of a profile ask for.

mod asked;
mod assign;
mod json;
mod line;
mod table;
mod text;
mod tree;

pub use asked::Asked;
pub(super) use asked::{SETTINGS, is_any, underscored};
pub use table::read_table;
pub use text::{TextRead, TextReader};
