//! What the lines leave open, though there is a verdict or something that speaks for one.

use super::super::finding::{Finding, FindingCode, Severity};
use super::super::mechanism::{Mechanism, Mechanisms};
use super::warning;
use crate::golden::Target;
use crate::law::{float, whole};

/// The likelihood ratio at which a law is rejected.
const REJECTED: f64 = 1000.0;

/// Lines of a batch that does not change which tell real acceptance from shared draws, each off the lattice of 40 steps with
/// a chance of 0.59.
const STEADY_LINES: u64 = 10;

/// Lines beyond which nobody waits.
const MOST_LINES: f64 = 100_000.0;

/// The mean is the target's, and real acceptance with that mean would print such lines as well. The rules of the mean do
/// not ask for more, so the verdict stands; it must not be read as more than it says.
pub(crate) fn real_or_simulated(
    target: &Target,
    mechanisms: &Mechanisms,
    lines: u64,
    steps: u32,
) -> Option<Finding> {
    let is_open = mechanisms.best.is_none() && mechanisms.constant.is_none();
    if !is_open || mechanisms.rejected.contains(&Mechanism::Real) {
        return None;
    }
    let ln = |wanted: Mechanism| {
        mechanisms.log_likelihood.iter().find(|(law, _)| *law == wanted).map(|(_, ln)| *ln)
    };
    let apart = ln(Mechanism::MatchExpected)? - ln(Mechanism::Real)?;
    let more = (REJECTED.ln() - apart).max(0.0) / (apart / float(lines.max(1)));
    let more = (more > 0.0 && more < MOST_LINES).then(|| whole(more.ceil()).max(1));
    let steady = format!("about {STEADY_LINES} lines of a batch that does not change");
    let what = match more {
        Some(more) => format!("about {more} more lines like these, or {steady}, would show that"),
        None => format!("{steady} would show that"),
    };
    let interval = if steps == 40 { "" } else { ", best with --decode-log-interval 40 on the server" };
    Some(warning(
        FindingCode::ShortRun,
        None,
        format!(
            "these lines do not tell a simulated {} from real acceptance with the same mean: the verdict says that the mean \
             is right, and not that it was simulated; {what}{interval}",
            target.accept_length()
        ),
    ))
}

/// What speaks against the target where all lines are looked at once, and a growing log does not decide yet.
pub(crate) fn while_growing(mut finding: Finding) -> Finding {
    finding.severity = finding.severity.min(Severity::Warning);
    finding.message.push_str(
        "; so it looks at this length, which decides where a log is looked at once (`accsim audit` without --follow); while it \
         grows only a mean off the target or an impossible line decides",
    );
    finding
}
