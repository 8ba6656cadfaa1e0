//! The results of one sign-off.

use crate::signoff::Signoff;

/// All that a report of one sign-off says.
#[derive(Clone, Copy, Debug)]
pub struct SignoffRun<'a> {
    /// The items.
    pub signoff: &'a Signoff,
    /// What could not be read to its end, and why.
    pub errors: &'a [String],
    /// What else there is to know about the files.
    pub notes: &'a [String],
}
