//! Golden accept lengths for LLM inference benchmarks: engine settings, and an audit of server logs against them.
//!
//! In speculative decoding a draft proposes tokens and the model verifies them; the mean number of tokens gained
//! per verify step is the *accept length*. Benchmarks with synthetic acceptance prescribe it by a committed
//! *golden curve*. This crate loads the curves ([`golden`]), turns a cell into the settings of an engine
//! ([`engine`]), simulates what a run would show ([`simulate`]), reads what a server left behind ([`evidence`]) and decides whether the two agree ([`audit`]).
//!
//! The rooms are pure: they take values and return values. Files, flags and terminals belong to [`evidence`]'s
//! sources and to the command line.

pub mod audit;
#[cfg(feature = "cli")]
pub mod cli;
pub mod collect;
pub mod engine;
pub mod evidence;
pub mod golden;
pub mod law;
pub mod recipe;
pub mod replay;
pub mod report;
pub mod signoff;
pub mod simulate;
pub mod throughput;
pub mod yaml;
