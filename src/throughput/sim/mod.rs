//! The discrete-event simulation: one event is one step of the whole server.
//!
//! A [`Server`] says what a step costs and what limits the batch, a [`Traffic`] what is asked of it; [`simulate`] runs one
//! replicate, [`Replicates::run`] many of them on all threads. With one draw a step for the whole batch all requests advance
//! alike: a request is then a place on one line that the batch moves along, and a step costs the same for 1 request and
//! for 1000.

mod arrivals;
mod batch;
mod each;
mod error;
mod gaps;
mod jobs;
mod lock_step;
mod log;
mod outcome;
mod rank;
mod replicates;
mod server;
mod shared;
mod traffic;

pub use error::SimError;
pub use gaps::Gaps;
pub use lock_step::{simulate, simulate_logged};
pub use log::{DecodeEvent, LogEvent, LogWriter, PrefillEvent};
pub use outcome::{Outcome, Percentiles};
pub use replicates::{Point, Replicates, Spread};
pub use server::{Pool, Prefilling, Server, WhenFull};
pub use traffic::{Arrivals, Request, Requests, Traffic};
