//! A calibrated server: what is known of it, what is not, and its file.

mod calibrated;
mod coefficient;
mod file;
mod missing;

pub use calibrated::{
    Fitted, Law, Level, Merged, Model, Outcome, Quality, Ranges, Resamples, Source, Workload,
};
pub use coefficient::{Coefficient, IDENTIFIED, Loose};
pub use file::{MODEL_KIND, MODEL_VERSION, ModelError, read_model};
pub use missing::Missing;
