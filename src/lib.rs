//! Golden accept lengths for LLM inference benchmarks: engine settings, and an audit of server logs against them.
//!
//! In speculative decoding a draft proposes tokens and the model verifies them; the mean number of tokens gained
//! per verify step is the *accept length*. Benchmarks with synthetic acceptance prescribe it by a committed
//! *golden curve*. This crate loads the curves ([`golden`]), turns a cell into the settings of an engine
//! ([`engine`]), simulates what a run would show ([`simulate`]), reads what a server left behind ([`evidence`]) and decides
//! whether the two agree ([`audit`]).
//!
//! The rooms are pure: they take values and return values. Files, flags and terminals belong to [`evidence`]'s
//! sources and to the command line. The three jobs of a benchmark, ten lines each; `examples/` has them as programs.
//!
//! # Write a recipe
//!
//! The prescribed value, and what an engine version must be told to hold it. What was never measured is refused.
//!
//! ```
//! use accsim::engine::{Drafter, Engine, Server, settings};
//! use accsim::golden::{Catalogue, Query};
//!
//! let cell = Catalogue::builtin().lookup(&Query::new("dsv41flash", "dspark", 5))?;
//! assert_eq!(cell.target.accept_length().to_string(), "3.51");
//!
//! let server = Server::new(Engine::Sglang).version("0.5.16".parse()?).drafter(Drafter::DSpark);
//! let told = settings(&server, &cell.target)?;
//! assert_eq!((told.settings[0].name, told.settings[0].value.text()), ("SGLANG_SIMULATE_ACC_LEN", "3.51"));
//! assert_eq!(told.warnings[0].code.name(), "dspark-rounds-target"); // 0.5.18 and later hold it
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Sign off a run
//!
//! A reader hands the records of a log to a point, and the point is judged against the target. Where the log names the
//! server's random seed, the lines are laid against the server's own draws, too ([`replay`]).
//!
//! ```
//! use accsim::audit::{Options, PointBuilder, Verdict, judge};
//! use accsim::evidence::{Input, Reader};
//! use accsim::golden::{Catalogue, Query};
//! use accsim::replay::ReplayOptions;
//!
//! let target = Catalogue::builtin().lookup(&Query::new("glm5.2", "mtp", 3))?.target;
//! let log = std::path::Path::new("tests/data/h200/e3k3_al299.log");
//! let mut point = PointBuilder::new("e3k3").with_replay(ReplayOptions::default());
//! let errors = Reader::default().read(&Input::from(log), &mut |place, record| point.add(place, record));
//! assert!(errors.is_empty());
//! let report = judge(&point.finish(), Some(&target), &Options::default());
//! assert_eq!(report.verdict, Verdict::Consistent);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Choose a draft length
//!
//! What the server of a log would give at other accept lengths ([`throughput`]), each number with the basis that it stands
//! on. What no log covers is refused, or marked as extrapolated.
//!
//! ```
//! use accsim::evidence::{Input, Reader};
//! use accsim::throughput::{Basis, Observer, Options, Question, calibrate, predict};
//!
//! let log = std::path::Path::new("tests/data/h200/e3k3_al299.log");
//! let mut observer = Observer::new(None);
//! observer.begin("e3k3");
//! let errors = Reader::default().read(&Input::from(log), &mut |place, record| observer.record(place, record));
//! assert!(errors.is_empty());
//! let model = calibrate(&observer.finish()?, &Options::default())?;
//! let found = predict(&model, &Question::running(2.0, Some(3), 16))?;
//! assert_eq!((found.tps.round(), found.basis), (3135.0, Basis::Ratio));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
