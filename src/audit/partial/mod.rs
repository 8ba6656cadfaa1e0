//! What one log adds to its point, small enough to be sent about: its first records as they are, and sums of the others.
//! Parts of a point make the verdict that its logs would make, whatever their order.

mod clip;
mod columns;
mod course;
mod head;
mod log;
mod reading;
mod recorder;
mod rest;
mod wire;

pub use log::{LogPart, PartError};
pub use recorder::LogRecorder;

pub(super) use course::{Course, CourseLine, Moments};
pub(super) use rest::Rest;
