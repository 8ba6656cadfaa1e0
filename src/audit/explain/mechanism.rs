//! What the identified law means, and what to do about it.

use crate::engine::Drafter;
use crate::evidence::Place;
use crate::golden::Target;

use super::super::finding::{Finding, FindingCode};
use super::super::mechanism::{Mechanism, Mechanisms, Other};
use super::super::observed::Observed;
use super::super::options::RivalCell;
use super::super::server::drafter;
use super::super::stretches::Stretch;
use super::{count, error};

/// The finding of a simulated length one token beside the target, unless there is one.
///
/// A golden cell that lies one token beside the target has two: the other cell may have been set, or the target with the
/// bonus token counted wrong.
pub(crate) fn one_off_too(
    place: Option<Place>,
    target: Option<&Target>,
    findings: &[Finding],
    shown: f64,
) -> Option<Finding> {
    let target = target?;
    let is_one_off = ((target.accept_length().get() - shown).abs() - 1.0).abs() < 1e-9;
    let is_new = !findings.iter().any(|finding| finding.code == FindingCode::OffByOne);
    (is_one_off && is_new).then(|| one_off(place, target, shown))
}

/// The finding that belongs to the mechanism of a point with a target.
pub(crate) fn about_mechanism(
    seen: &Observed,
    target: Option<&Target>,
    mechanisms: &Mechanisms,
) -> Option<Finding> {
    let target = target?;
    let length = target.accept_length();
    let max = target.max_accept_length();
    let all_at_max = mechanisms.constant == Some(max);
    if target.is_above_max() && all_at_max {
        return Some(error(
            FindingCode::Clamped,
            seen.first_line,
            format!(
                "every line shows {max}.00: the target {length} lies above the most that a step can emit, and the server \
                 cut it; raise the draft length, or take the cell of this one"
            ),
        ));
    }
    match mechanisms.best? {
        // A simulation by requests is not SGLang's, yet it has no code of its own: the verdict's reason says it.
        Mechanism::MatchExpected | Mechanism::PerRequest | Mechanism::PerPosition | Mechanism::Geometric => {
            None
        }
        Mechanism::Rounded => Some(rounded(seen, target, mechanisms.constant)),
        Mechanism::Multinomial => Some(error(
            FindingCode::MultinomialBias,
            seen.first_line,
            format!(
                "the lines scatter as method `multinomial` does, more widely than the target's, and its mean is another \
                 one where lengths are cut at 1 and {max}; set SGLANG_SIMULATE_ACC_METHOD=match-expected (the default only from 0.5.11 on)"
            ),
        )),
        Mechanism::Constant => constant(seen, target, mechanisms.constant),
        Mechanism::Real => Some(error(
            FindingCode::RealAcceptance,
            seen.first_line,
            if mechanisms.constant == Some(1) {
                format!(
                    "every line shows 1.00: no draft was accepted, and nothing was simulated at {length}; check that \
                     SGLANG_SIMULATE_ACC_LEN reaches the scheduler process and that the version honours it"
                )
            } else {
                format!(
                    "the lines look like real acceptance, not like a simulated {length}: the server did not see or did \
                     not honour the setting; check that SGLANG_SIMULATE_ACC_LEN reaches the scheduler process and that \
                     the version honours it for this algorithm"
                )
            },
        )),
        Mechanism::OtherCell => other(seen.first_line, target, mechanisms),
        Mechanism::Mixed => changed(seen, mechanisms),
    }
}

fn rounded(seen: &Observed, target: &Target, constant: Option<u32>) -> Finding {
    let shown = constant.map_or_else(String::new, |length| format!("{length}.00 "));
    let is_dspark = seen.servers.first().and_then(drafter) == Some(Drafter::DSpark);
    let next = if is_dspark {
        "SGLang 0.5.16 and 0.5.17 do this with DSPARK; use 0.5.18 or later (sgl-project/sglang#33463)"
    } else {
        "SGLang 0.5.16 and 0.5.17 do this with DSPARK (fixed in 0.5.18, sgl-project/sglang#33463); check the image \
         and the value that was set"
    };
    error(
        FindingCode::TargetRounded,
        seen.first_line,
        format!(
            "every line shows {shown}exactly: the target {} was rounded once; {next}",
            target.accept_length()
        ),
    )
}

fn constant(seen: &Observed, target: &Target, constant: Option<u32>) -> Option<Finding> {
    let length = target.accept_length().get();
    let shown = constant?;
    let is_one_off = (length - f64::from(shown)).abs() - 1.0;
    (is_one_off.abs() < 1e-9).then(|| one_off(seen.first_line, target, f64::from(shown)))
}

fn one_off(place: Option<Place>, target: &Target, value: f64) -> Finding {
    let length = target.accept_length();
    let (direction, why) = if value < length.get() {
        ("one token below", "someone set the number of accepted drafts, which is the accept length minus 1")
    } else {
        ("one token above", "someone added the bonus token to a value that holds it already")
    };
    error(
        FindingCode::OffByOne,
        place,
        format!(
            "the lines show a simulated {value:.2}, {direction} the target {length}: {why}; set {length} itself"
        ),
    )
}

/// The law changes within the log, and the server's arguments do not say so already.
fn changed(seen: &Observed, mechanisms: &Mechanisms) -> Option<Finding> {
    let change = mechanisms.change.filter(|_| seen.servers.change().is_none())?;
    Some(error(
        FindingCode::ConfigChangedMidRun,
        Some(change.place),
        format!(
            "the lines change here: {} before it {}, from it on {}; settings changed during the run, or two runs were \
             joined; audit the parts apart (--since, --until, --point-by segment)",
            count(change.before.lines, "line"),
            stretch(&change.before),
            stretch(&change.after)
        ),
    ))
}

/// `like a simulated 3.51`, `like real acceptance (mean 2.41)`.
fn stretch(stretch: &Stretch) -> String {
    let length = stretch.accept_length;
    match stretch.mechanism {
        Mechanism::Real => format!("like real acceptance (mean {length:.2})"),
        Mechanism::Multinomial => format!("drawn by `multinomial` (mean {length:.2})"),
        Mechanism::PerRequest => format!("with a draw for each request (mean {length:.2})"),
        Mechanism::Rounded | Mechanism::Constant => format!("at {length:.2} throughout"),
        Mechanism::MatchExpected
        | Mechanism::OtherCell
        | Mechanism::Mixed
        | Mechanism::PerPosition
        | Mechanism::Geometric => {
            format!("like a simulated {length:.2}")
        }
    }
}

fn other(place: Option<Place>, target: &Target, mechanisms: &Mechanisms) -> Option<Finding> {
    match mechanisms.other.as_ref()? {
        Other::OneOff(value) => Some(one_off(place, target, *value)),
        Other::Cell(cell) => {
            let values = other_values(cell, &mechanisms.cells_alike);
            let also =
                if values.is_empty() { String::new() } else { format!(" ({values} would fit as well)") };
            Some(error(
                FindingCode::OtherGoldenCell,
                place,
                format!(
                    "the lines show a simulated {}{also}, not {}: that is the value of {}; another cell was set",
                    cell.accept_length,
                    target.accept_length(),
                    named(cell)
                ),
            ))
        }
    }
}

/// Values of other cells, each once: `3.51, 3.53`.
fn other_values(cell: &RivalCell, cells: &[RivalCell]) -> String {
    let own = cell.accept_length.to_string();
    let mut values: Vec<String> =
        cells.iter().map(|cell| cell.accept_length.to_string()).filter(|value| *value != own).collect();
    values.sort_unstable();
    values.dedup();
    values.join(", ")
}

/// `dsv41flash_dspark thinking_on, draft length 5`.
fn named(cell: &RivalCell) -> String {
    format!("{} {}, draft length {}", cell.curve, cell.thinking, cell.draft_length)
}
