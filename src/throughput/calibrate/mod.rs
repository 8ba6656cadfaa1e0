//! From the runs that logs hold to a model: which server wrote each, the law of its steps, and what was measured.

mod error;
mod law;
mod levels;
mod runs;
mod server;

pub use error::CalibrateError;
pub use runs::calibrate;
pub use server::Options;
