//! What a replay means, in plain words.

use std::fmt;

use crate::evidence::Hundredths;
use crate::golden::Target;
use crate::replay::{DrawLaw, DrawMethod, Replay, ReplayReason, ReplayStatus};

use super::super::finding::{Finding, FindingCode};
use super::super::options::RivalCell;
use super::{count, error, warning};

/// The finding that belongs to a replay.
pub(crate) fn about_replay(replay: &Replay, target: Option<&Target>, cells: &[RivalCell]) -> Option<Finding> {
    match replay.status {
        ReplayStatus::OtherTarget => Some(other_target(replay, target?, cells)),
        ReplayStatus::Contradicted => Some(contradicted(replay)),
        ReplayStatus::Unavailable => unplaced(replay),
        ReplayStatus::Proved => None,
    }
}

/// Of so many lines some are left without a place by any gap.
const UNPLACED: u64 = 10;

/// The lines of a server among many that are not its own, or of which nobody can tell.
fn unplaced(replay: &Replay) -> Option<Finding> {
    let Some(ReplayReason::Partial { checked, lines }) = replay.reason else { return None };
    let others = lines.saturating_sub(checked);
    let law = replay.law.as_ref().map_or_else(String::new, |law| format!(" for {law}"));
    // More than a quarter: a log that loses a line in ten leaves fewer without a place.
    (others >= UNPLACED && others.saturating_mul(4) > lines).then(|| {
        warning(
            FindingCode::ReplayContradicted,
            None,
            format!(
                "{others} of {} are not this server's draws{law} at any place that could be found, and the other {checked} \
                 are: lines of another server, changed ones, or lines between many missing ones; audit each server's log \
                 alone, or compare the log with the original",
                count(lines, "line")
            ),
        )
    })
}

fn other_target(replay: &Replay, target: &Target, cells: &[RivalCell]) -> Finding {
    let place = replay.first_lines.first().map(|line| line.place);
    let length = target.accept_length();
    let Some(law) = replay.law else { return error(FindingCode::OtherTarget, place, String::new()) };
    let shown = law.accept_length();
    match law.method() {
        DrawMethod::Multinomial => error(
            FindingCode::MultinomialBias,
            place,
            format!(
                "the server's own draws show method `multinomial` at {shown}, which scatters otherwise than the target's \
                 and has another mean where lengths are cut at 1 and {}; set SGLANG_SIMULATE_ACC_METHOD=match-expected (the default only from 0.5.11 on)",
                law.max()
            ),
        ),
        DrawMethod::MatchExpected => {
            let named: Vec<String> = cells
                .iter()
                .filter(|cell| (cell.accept_length.get() - shown).abs() < 1e-9)
                .map(|cell| format!("{} at draft length {}", cell.curve, cell.draft_length))
                .collect();
            if named.is_empty() {
                error(
                    FindingCode::OtherTarget,
                    place,
                    format!(
                        "the server's own draws show {shown}, which is on no golden curve, in place of {length}; check \
                         SGLANG_SIMULATE_ACC_LEN in the environment of the scheduler process"
                    ),
                )
            } else {
                error(
                    FindingCode::OtherGoldenCell,
                    place,
                    format!(
                        "the server's own draws show {shown} in place of {length}: the value of {}; set the one that \
                         belongs to this model, mode and draft length",
                        named.join(", ")
                    ),
                )
            }
        }
    }
}

fn contradicted(replay: &Replay) -> Finding {
    let place = replay.first_mismatch.map(|line| line.place);
    let what = match (replay.first_mismatch, &replay.law) {
        (Some(line), Some(law)) => format!(
            "this line reads {}, where the server's own draws for {law} give {}",
            Hundredths::new(line.printed),
            Hundredths::new(line.expected)
        ),
        _ => "the lines are not what the server's own draws give".to_owned(),
    };
    let fits = if replay.lines_exact > 0 {
        format!(" ({} of {} read as they should)", replay.lines_exact, count(replay.lines_checked, "line"))
    } else {
        String::new()
    };
    warning(
        FindingCode::ReplayContradicted,
        place,
        format!(
            "{what}{fits}: another version, another user of the random generator, a line that was changed, or a log \
             that did not come from this server; compare the log with the original"
        ),
    )
}

/// The chance as people read it, rounded up: `10^-72`.
pub(crate) struct Chance(pub(crate) f64);

impl fmt::Display for Chance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Plus zero: no minus before a zero.
        write!(f, "10^{:.0}", self.0.ceil() + 0.0)
    }
}

/// One sentence.
impl fmt::Display for ReplayReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLines => write!(f, "no line shows an accept length"),
            Self::NoSeed => write!(
                f,
                "the log names no random seed (a `server_args` line does; --random-seed gives one by hand)"
            ),
            Self::ConstantLog => {
                write!(f, "every line reads the same whole number, as it would under any seed")
            }
            Self::ConstantLaw => write!(f, "this target draws nothing: it reads the same under any seed"),
            Self::TooFewLines { log10_chance } => write!(
                f,
                "too few lines: an unrelated sequence would fit with a chance of {}, and 10^-9 is asked for",
                Chance(*log10_chance)
            ),
            Self::NotAlone(laws) => {
                let names: Vec<String> = laws.iter().map(DrawLaw::to_string).collect();
                write!(
                    f,
                    "the lines fit several targets as well: {}; a longer log tells them apart",
                    names.join(", ")
                )
            }
            Self::TooManySlips => {
                write!(f, "too many steps were drawn and not counted, or too many lines are missing")
            }
            Self::NoLawFits => write!(
                f,
                "neither the target nor any other that the server could have had draws these lines, as with real \
                 acceptance"
            ),
            Self::NoTarget => {
                write!(
                    f,
                    "no target that the server could have had draws these lines, as with real acceptance"
                )
            }
            Self::Partial { checked, lines } => write!(
                f,
                "{checked} of {lines} lines are a simulating server's own draws, and the others could not be laid against \
                 draws: another server's lines, changed ones, or too few between lines that are missing"
            ),
            Self::Unplaced => write!(
                f,
                "most lines have no place among the server's draws that can be told: they are not its draws, as with real \
                 acceptance, lines are missing or unreadable that often, or they do not stand for as many steps as was said"
            ),
            Self::TooEntangled => write!(
                f,
                "so many lines stand elsewhere among the draws that to look for their places takes too long"
            ),
            Self::GivenSeed => write!(
                f,
                "the seed that was given draws none of these lines for any target that the server could have had: it is \
                 another server's, or the log begins later than the search for its start reaches"
            ),
            Self::IntervalTooLong => write!(f, "the lines stand for too many steps each"),
            Self::OtherEvidence => {
                write!(f, "what is judged here are sums, which do not show a server's draws in their order")
            }
            Self::Summed => write!(
                f,
                "of the later lines only sums are here, and each draw depends on all draws before it; audit all logs of the \
                 point in one command"
            ),
        }
    }
}

/// What a replay came to, in one plain sentence.
impl fmt::Display for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let server = match self.seeds.as_slice() {
            [] | [_] => {
                format!("a server with seed{}", self.seed.map_or_else(String::new, |seed| format!(" {seed}")))
            }
            [first, second] => format!("two servers with the seeds {first} and {second}"),
            [first, others @ ..] => {
                format!("{} servers with the seed {first} and others", others.len() + 1)
            }
        };
        let print = if self.seeds.len() > 1 { "print" } else { "prints" };
        let chance = self.log10_chance.map_or_else(String::new, |chance| Chance(chance).to_string());
        match (self.status, &self.law) {
            (ReplayStatus::Proved | ReplayStatus::OtherTarget, Some(law)) => {
                write!(
                    f,
                    "these lines are what {server} and {law} {print}: {} of {} exact",
                    self.lines_exact,
                    count(self.lines_checked, "line")
                )?;
                if self.lines_bounded > 0 {
                    write!(f, ", {} as a changing batch can make them", self.lines_bounded)?;
                }
                write!(f, "; chance of an accident below {chance}")
            }
            (ReplayStatus::Contradicted, Some(law)) => write!(
                f,
                "these lines are not what {server} and {law} {print}: {} of {} exact",
                self.lines_exact,
                count(self.lines_checked, "line")
            ),
            _ => match &self.reason {
                Some(reason) => write!(f, "cannot be told: {reason}"),
                None => write!(f, "cannot be told"),
            },
        }
    }
}
