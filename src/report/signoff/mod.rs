//! What every format of a sign-off shares.

mod run;

pub use run::SignoffRun;
