//! Throughput at another accept length: calibrated on a log, in closed form, and as a simulation of the whole server.
//!
//! An [`Observer`] takes the records of logs, and [`calibrate`] makes a [`Model`] of them: what a step costs, what prefill
//! costs, and how far each can be believed. [`predict`] answers for an accept length and a batch, each number with the basis it stands on;
//! [`Demand::steady`] is the closed form of a closed loop, [`sim`] the discrete-event simulation that gives distributions,
//! [`sweep`] which draft length wins where, [`pareto`] the frontier of measured points. Values in, values out; no printing.

mod basis;
mod bootstrap;
mod calibrate;
mod client;
mod closed_form;
mod compare;
mod contexts;
mod fit;
mod json;
mod lengths;
mod linear;
mod model;
mod observe;
mod pareto;
mod predict;
mod ratio;
mod serve;
pub mod sim;
mod step;
mod sweep;
mod trace;

pub use basis::{Basis, Ground};
pub use calibrate::{CalibrateError, Options, calibrate};
pub use client::{ClientError, ClientRun, Phase, Timed, read_client};
pub use closed_form::{Demand, NoSteadyState, Steady, open_loop};
pub use compare::{CompareError, Comparison, PhaseFigures, check_against, compare};
pub use json::JsonFault;
pub use lengths::{Lengths, LengthsError};
pub use model::{
    Coefficient, Fitted, IDENTIFIED, Law, Level, Loose, MODEL_KIND, MODEL_VERSION, Merged, Missing, Model,
    ModelError, Outcome, Quality, Ranges, Resamples, Source, Workload, read_model,
};
pub use observe::{Exclusion, LogRun, ObserveError, Observer, Prompts, Window, mean_batch, step_seconds};
pub use pareto::{Standing, pareto};
pub use predict::{Asked, NOT_MODELLED, PredictError, Prediction, Question, predict};
pub use ratio::{BreakEven, break_even, throughput_ratio};
pub use serve::{ServeError, SimulatedPoint, ground_at, server};
pub use step::{Bend, Load, PrefillLaw, StepLaw, experts_touched, padded};
pub use sweep::{Best, Cell, Sweep, SweepError, SweepReport, sweep};
pub use trace::{TraceError, TraceForm, read_trace};
