//! What a log says about times: one observation a decode line, with the prefills of its window.

mod clean;
mod contexts;
mod run;
mod vllm;
mod window;

pub use clean::Exclusion;
pub use run::{LogRun, ObserveError, Observer, Prompts};
pub use window::{Window, mean_batch, step_seconds};

pub(super) use clean::{clean, median};
