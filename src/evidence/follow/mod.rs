//! Logs that grow: what is there, then what is added, through rotation and truncation, from files and pipes.
//!
//! A log is plain text here. What is packed does not grow and is refused; the other door, `source`, reads it.

mod error;
mod follower;
mod lines;
mod pipe;
mod tail;

pub use error::{FollowError, Unfollowed};
pub use follower::{Follower, Polled};
