//! Acceptance laws: how many tokens a verify step emits, exactly, and what one line of a log can print under each law.
//! Values in, values out; no I/O.
//!
//! A [`Setting`] is checked once; from it come the [`AcceptanceLaw`]s, each with its step distribution, and from a law
//! and a decode log interval the [`LineLaw`]: the probability of every accept length that a decode line can print.

mod acceptance;
mod geometric;
mod histogram;
mod interval;
mod inversion;
mod kind;
mod line;
mod multinomial;
mod number;
mod per_position;
mod pmf;
mod pool;
mod printed;
mod printed_moments;
mod rate;
mod real_head;
mod setting;
mod special;
mod steps;
mod stream;
mod sums;
mod tokens;
mod two_point;
mod values;

pub use acceptance::{AcceptanceLaw, Draws};
pub use geometric::{DecayError, GeometricDecay};
pub use histogram::Histogram;
pub use kind::LawKind;
pub use line::{LineLaw, Window, ln_normal_average, ln_normal_line};
pub use multinomial::Multinomial;
pub use per_position::{PerPosition, RatesError};
pub use pmf::Pmf;
pub use pool::{Pool, PoolKind};
pub use printed::{Lattice, printed};
pub use real_head::RealHead;
pub use setting::{Setting, SettingError};
pub use steps::Steps;
pub use stream::Stream;
pub use tokens::Tokens;
pub use two_point::TwoPoint;
pub use values::LineValues;

pub(crate) use interval::{DEFAULT_INTERVAL, ROUNDING, StepRange, inferred_interval, usual_intervals};
pub(crate) use number::{float, whole, whole32};
pub(crate) use printed_moments::PrintedMoments;
pub(crate) use rate::{MOST_DRAFT_TOKENS, RateDefinition, draft_tokens_of, least_draft_tokens};
pub(crate) use special::{
    beta_quantile, beta_reg, chi_square_lower, chi_square_upper, ln_gamma, normal_quantile, normal_upper,
    student_quantile,
};
