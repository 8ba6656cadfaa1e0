//! Answers for an accept length and a batch, each with the basis that it stands on.

mod answer;
mod error;
mod law;

pub use answer::{Asked, NOT_MODELLED, Prediction, Question, predict};
pub use error::PredictError;
