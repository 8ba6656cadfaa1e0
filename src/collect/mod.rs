//! Accept lengths from counters: of two snapshots, and a whole golden curve from a folder of them. Everything that casts
//! doubt on a value refuses it; no cell is guessed, smoothed or left out without a word.

mod about;
mod curve;
mod matrix;
mod measure;

pub use about::{About, AboutError, CurveSource};
pub use curve::{CurveFiles, WriteError};
pub use matrix::{ABOUT_FILE, Matrix, MatrixCell, MatrixError, read_matrix};
pub use measure::{LEAST_STEPS, Measured, Refusal, measure};
