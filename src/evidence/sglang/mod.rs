//! The reader of SGLang logs, releases 0.3.6 to 0.5.23: finds record heads, reads fields by name, and says of every
//! line that looked like a record and is none why it was passed over.

mod decode;
mod fields;
mod guard;
mod head;
mod layout;
mod lines;
mod number;
mod other;
mod prefill;
mod prefix;
mod quotes;
mod runtime;
mod scan;
mod server_args;
mod setting;
mod tag_cache;
#[cfg(test)]
mod tests;
mod unwrap;

pub(crate) use decode::leading_tokens;
pub use fields::{Field, Fields};
pub(in crate::evidence) use layout::MARGIN;
pub(in crate::evidence) use lines::LineScanner;
pub use scan::Scanner;
pub use server_args::server_arguments;
pub(in crate::evidence) use unwrap::{docker_line, plain, strip_colours};
