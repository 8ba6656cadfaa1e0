//! The results of one audit.

use crate::audit::{PointReport, Verdict};
use crate::evidence::Place;
use crate::golden::Target;

/// All that a report of one audit says.
///
/// ```
/// use accsim::audit::{Options, PointBuilder, judge};
/// use accsim::evidence::{Input, Reader};
/// use accsim::golden::Target;
/// use accsim::report::json::{self, AuditDocument};
/// use accsim::report::{AuditRun, html, markdown};
///
/// let file = "tests/data/h200/e3k3_al299.log";
/// let mut point = PointBuilder::new("e3k3");
/// let input = Input::from(std::path::Path::new(file));
/// let errors = Reader::default().read(&input, &mut |place, record| point.add(place, record));
/// assert!(errors.is_empty());
/// let judged = judge(&point.finish(), Some(&Target::explicit(2.99, 4)?), &Options::default());
/// let run = AuditRun { verdict: judged.verdict, points: &[judged], files: &[file], errors: &[], notes: &[] };
///
/// let (mut page, mut text, mut document) = (Vec::new(), Vec::new(), Vec::new());
/// html::write_audit(&run, &mut page)?;
/// markdown::write_audit(&run, &mut text)?;
/// json::write(&mut document, &AuditDocument::new(&run))?;
/// assert!(String::from_utf8(text)?.starts_with("### Accept length audit: consistent"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
