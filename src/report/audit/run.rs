//! The results of one audit.

use crate::audit::{PointReport, Verdict};
use crate::evidence::Place;
use crate::golden::Target;

/// All that a report of one audit says.
#[derive(Clone, Copy, Debug)]
pub struct AuditRun<'a> {
    /// The points, in the order to print them.
    pub points: &'a [PointReport],
    /// The verdict over all.
    pub verdict: Verdict,
    /// The names that places refer to.
    pub files: &'a [&'a str],
    /// What could not be read to its end, and why.
    pub errors: &'a [String],
    /// What else there is to know about inputs and target.
    pub notes: &'a [String],
}

impl<'a> AuditRun<'a> {
    /// The name of a file by its index.
    #[must_use]
    pub fn file(&self, index: u32) -> Option<&'a str> {
        self.files.get(usize::try_from(index).ok()?).copied()
    }

    /// `run/decode.log:255`.
    #[must_use]
    pub fn place(&self, place: Place) -> String {
        let line = place.line;
        self.file(place.file).map_or_else(|| format!("line {line}"), |file| format!("{file}:{line}"))
    }

    /// The target that all points share. Points whose largest accept length comes from their own server may differ.
    #[must_use]
    pub fn target(&self) -> Option<&'a Target> {
        let first = self.points.first()?.target.as_ref()?;
        self.points.iter().all(|point| point.target.as_ref() == Some(first)).then_some(first)
    }

    /// How many points have this verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        self.points.iter().filter(|point| point.verdict == verdict).count()
    }
}
