//! Settings that a run was given, against what its log will show.

use std::io::Write;

use anyhow::{anyhow, bail, ensure};

use super::args::SimulateArgs;
use crate::cli::found::{FoundFile, read};
use crate::cli::{Exit, catalogue, global::Global};
use crate::engine::{Engine, Prediction, PredictionNote};
use crate::golden::Severity;
use crate::report::json::{self, CheckDocument};
use crate::report::text;
use crate::simulate::found::Role;
use crate::simulate::{Check, Holds, Load};

pub(super) fn run(
    args: &SimulateArgs,
    found: &FoundFile,
    global: &Global,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let found = read(found)?;
    let is_text = !args.format.is_json();
    let tell = |severity, message: String, err: &mut dyn Write| {
        if is_text { catalogue::tell(global, severity, &message, err) } else { Ok(()) }
    };
    if !found.unread.is_empty() {
        tell(Severity::Note, format!("the base alone is read, not {}", found.unread.join(", ")), err)?;
    }
    let mut checks = Vec::new();
    let mut told = false;
    for role in &found.roles {
        // A role that drafts nothing and is told nothing has nothing to check.
        if role.name.is_some() && !role.is_speculative() && role.settings.is_empty() {
            continue;
        }
        if let Some(near) = &role.near_miss {
            let message = format!(
                "{}:{}: {} is no setting of simulated acceptance; did you mean {}?",
                found.file, near.line, near.found, near.meant
            );
            tell(Severity::Warning, message, err)?;
        }
        let engine = args.engine.or(role.engine);
        let lookup = args.target(engine, global)?;
        if let Some(lookup) = lookup.as_ref().filter(|_| is_text && !told) {
            told = true;
            catalogue::warn(global, lookup, err)?;
        }
        if let Some(name) = role.name.as_ref().filter(|_| !role.is_speculative()) {
            tell(Severity::Warning, format!("{name} drafts nothing: what is set there has no effect"), err)?;
            continue;
        }
        let golden = lookup.map(|lookup| lookup.target);
        let check =
            check(args, role, engine, golden.as_ref().map(|target| target.accept_length().get()), || {
                golden.as_ref().map(crate::golden::Target::max_accept_length)
            })?;
        checks.push(check);
    }
    ensure!(!checks.is_empty(), "{}: no role drafts, so there is nothing to check", found.file);
    let holds = overall(&checks);
    if is_text {
        text::check::checks(out, &found.file, &checks)?;
        out.flush()?;
        for check in &checks {
            doubts(&check.prediction, global, err)?;
        }
        notes(checks.iter().flat_map(|check| &check.prediction.notes), global, err);
    } else {
        json::write(out, &CheckDocument::new(&found.file, holds, &checks))?;
    }
    Ok(match holds {
        Holds::Yes => Exit::Ok,
        Holds::No => Exit::Wrong,
        Holds::Undecided => Exit::Undecided,
    })
}

fn check(
    args: &SimulateArgs,
    role: &Role,
    engine: Option<Engine>,
    golden: Option<f64>,
    max_of_target: impl Fn() -> Option<u32>,
) -> anyhow::Result<Check> {
    let name = role.name.as_ref().map_or_else(String::new, |name| format!("{name}: "));
    let Some(engine) = engine else {
        bail!("{name}the settings do not tell the engine; name it with --engine");
    };
    let server = args.describe(role.server(engine))?;
    let described = Role { drafter: server.drafter, engine: Some(engine), ..role.clone() };
    let max = args
        .max()
        .or_else(|| described.max_accept_length())
        .or_else(max_of_target)
        .ok_or_else(|| {
            anyhow!(
                "{name}the settings do not tell how many tokens a step can emit; give --max-accept-length, --num-steps or \
                 --block-size"
            )
        })?;
    let load = Load { lines: args.line.lines, interval: args.line.decode_log_interval, batch: args.batch };
    Ok(Check::new(&described, server, max, golden, load))
}

/// One that does not hold decides, then one that cannot be said.
fn overall(checks: &[Check]) -> Holds {
    let any = |holds| checks.iter().any(|check| check.holds == holds);
    if any(Holds::No) {
        Holds::No
    } else if any(Holds::Undecided) {
        Holds::Undecided
    } else {
        Holds::Yes
    }
}

/// Why the version may differ, in the words of `env`.
pub(super) fn doubts(prediction: &Prediction, global: &Global, err: &mut dyn Write) -> anyhow::Result<()> {
    for doubt in prediction.doubts.iter().filter(|_| !global.quiet) {
        writeln!(err, "warning[{}]: {}", doubt.code.name(), doubt.message)?;
    }
    Ok(())
}

/// What engines do besides, each thing once. A stderr that is closed has no reader to miss it.
pub(super) fn notes<'a>(
    notes: impl IntoIterator<Item = &'a PredictionNote>,
    global: &Global,
    err: &mut dyn Write,
) {
    if global.quiet {
        return;
    }
    let mut told: Vec<&PredictionNote> = Vec::new();
    for note in notes {
        if !told.contains(&note) {
            told.push(note);
            let severity = if note.is_warning() { "warning" } else { "note" };
            let _ = writeln!(err, "{severity}[{}]: {note}", note.code());
        }
    }
}
