//! Acceptance laws: how many tokens a verify step emits, exactly, and what one line of a log can print under each law.
//! Values in, values out; no I/O.
//!
//! A [`Setting`] is checked once; from it come the [`AcceptanceLaw`]s, each with its step distribution, and from a law
//! and a decode log interval the [`LineLaw`]: the probability of every accept length that a decode line can print.

mod acceptance;
mod line;
mod multinomial;
mod number;
mod printed;
mod setting;
mod special;
mod two_point;

pub use acceptance::{AcceptanceLaw, Draws, Pmf};
pub use line::{LineLaw, Window, ln_normal_average, ln_normal_line};
pub use multinomial::Multinomial;
pub use printed::{Lattice, printed};
pub use setting::{Setting, SettingError};
pub use two_point::TwoPoint;

pub(crate) use number::{float, whole, whole32};
pub(crate) use special::{
    beta_quantile, beta_reg, chi_square_lower, chi_square_upper, ln_gamma, normal_quantile, normal_upper,
    student_quantile,
};
