//! Does a run show the accept length that it was meant to show? Records go into a [`PointBuilder`], which keeps sums
//! of bounded size; [`judge`] compares what came together with a target and explains its verdict. Values in, values
//! out: no I/O and no printing.

mod contest;
mod correlation;
mod decision;
mod dispersion;
mod estimate;
mod evaluation;
mod explain;
mod figures;
mod finding;
mod hypotheses;
mod injection;
mod judge;
mod kappa;
mod likelihood;
mod mechanism;
mod options;
mod partial;
mod point;
mod pooled;
mod rank;
mod rates;
mod recent;
mod replay;
mod report;
mod sample;
mod scope;
mod sequential;
mod series;
mod server;
mod skipped;
mod speed;
mod stray;
mod stretches;
mod tally;
mod trace;
mod values;

pub use decision::{Reason, Shortfall, Verdict};
pub use dispersion::{Dispersion, LatticeCheck};
pub use estimate::MeanInterval;
pub use finding::{Finding, FindingCode, Severity};
pub use injection::{InjectedSetting, injected_length};
pub use judge::{judge, judge_growing};
pub use mechanism::{Mechanism, Mechanisms, Other};
pub use options::{Confidence, Margin, OptionError, Options, ReplayMode, RivalCell};
pub use partial::{LogPart, LogRecorder, PartError};
pub use point::{Observed, PointBuilder};
pub use pooled::{PooledEvidence, PooledRank, PooledSource};
pub use report::{AcceptLenReport, ExpectedLine, PointReport, RankReport};
pub use sample::{DecodeInterval, IntervalSource};
pub use scope::{Moment, Scope};
pub use sequential::Sequence;
pub use series::{Extent, LineStretch, RankSeries, Series, ValueCount};
pub use skipped::{SkipKind, Skipped, SkippedLine};
pub use stretches::{Change, Stretch};
