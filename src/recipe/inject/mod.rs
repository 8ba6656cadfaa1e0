//! Writing the golden value into a recipe, and nothing else.
//!
//! [`plan`] decides for every variant what its roles must have, before anything is written; the new text differs from
//! the old in those values alone. The plan is checked by reading the new text back.

mod change;
mod desired;
mod edit;
mod error;
mod json;
mod plan;
mod removal;
mod scalar;
mod section;
mod verify;

pub use change::{Change, Override};
pub use error::InjectError;
pub use plan::{Plan, Request, plan};
