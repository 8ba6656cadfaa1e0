//! A launch as the engine reads it: does it draft, how, and what is pinned.

mod pin;
mod speculation;

pub(crate) use pin::{
    OLD_RATE, Pin, TOKEN_MODE, is_synthetic, method_variable, pin_in, pin_of, pin_variable,
};
pub(crate) use speculation::{DraftLength, Speculation, json_object, speculation_of};

/// Something that cannot be read, with the reason.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    pub(crate) at: crate::yaml::Position,
    pub(crate) message: String,
}
