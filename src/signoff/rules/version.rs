//! What the engine's version makes of its settings.

use super::image::Name;
use super::settings::{need_points, values};
use crate::engine::sglang::{self, MaxRule};
use crate::engine::{
    Drafter, Engine, EngineVersion, EngineVersionError, Injected, Outcome as Predicted,
    Server as EngineServer, SettingKind, law_for,
};
use crate::evidence::ServerStart;
use crate::signoff::facts::{Point, Run, Seen, Sighting};
use crate::signoff::item::{Evidence, Outcome, Weighing};
use crate::signoff::read::SETTINGS;

/// Means closer than this are the target's.
const SAME: f64 = 0.005;

pub(in crate::signoff) fn engine_version(run: &Run) -> Outcome {
    let mut weighing = Weighing::default();
    need_points(run, &mut weighing);
    let mut said = Vec::new();
    for point in &run.points {
        let label = point.label();
        let Some((version, evidence)) = version(run, point) else {
            weighing.miss(format!(
                "{label}: no release of the engine is named by its image's tag, a list of packages or a server-info document; \
                 give --engine-version"
            ));
            continue;
        };
        if point.generating().next().is_none() {
            weighing.miss(format!("{label}: no server log with decode lines"));
        }
        for server in point.generating() {
            let Some(start) = &server.report.server else {
                weighing.miss(format!("{label}: its log has no server_args line"));
                continue;
            };
            match judge(run, point, &version, start) {
                Judged::Honours(what) => {
                    weighing.show_any(evidence.clone());
                    let what = format!("SGLang {version}: {what}");
                    if !said.contains(&what) {
                        said.push(what);
                    }
                }
                Judged::Fails(why) => {
                    weighing.fail(format!("{label}: SGLang {version} {why}"), evidence.clone());
                }
                Judged::Unknown(what) => weighing.miss(format!("{label}: {what}")),
            }
        }
    }
    weighing.conclude(said.join("; "))
}

enum Judged {
    Honours(String),
    Fails(String),
    Unknown(String),
}

fn judge(run: &Run, point: &Point, version: &EngineVersion, start: &ServerStart) -> Judged {
    let drafter = start.speculative_algorithm.as_deref().and_then(|name| name.parse::<Drafter>().ok());
    let Some(drafter) = drafter else {
        return Judged::Unknown(
            "its server_args line names no drafting algorithm that is known here".to_owned(),
        );
    };
    let rule = MaxRule::of(drafter.family());
    let number = match rule {
        MaxRule::NumStepsPlusOne => start.num_steps,
        MaxRule::DraftTokens => start.num_draft_tokens,
        MaxRule::BlockSizePlusOne | MaxRule::BlockSize => start.block_size,
    };
    let Some(max) = number.map(|number| rule.max(number)) else {
        return Judged::Unknown("its server_args line names no draft length".to_owned());
    };
    if sglang::is_beyond(version) {
        return Judged::Unknown(format!(
            "SGLang {version} is newer than any release that is known here ({} is the last)",
            sglang::LAST_READ
        ));
    }
    let server = EngineServer {
        eagle_topk: start.eagle_topk,
        overlap: start.overlap_disabled.map(|disabled| !disabled),
        ..EngineServer::new(Engine::Sglang).version(version.clone()).drafter(drafter)
    };
    let mut injected = Injected::default();
    for name in SETTINGS {
        let told = values(run, point, &[name.to_owned()]);
        if let Some(seen) = told.found.last() {
            injected.set(SettingKind::Env, name, seen.value.clone());
        } else if let (Some((why, _)), false) = (told.open, drafter == Drafter::DSpark && name == SETTINGS[2])
        {
            return Judged::Unknown(why);
        }
    }
    if injected.is_empty() {
        return Judged::Unknown(
            "its settings are not known; give its environment dump or the launcher's trace".to_owned(),
        );
    }
    let prediction = law_for(&server, max, &injected);
    if let Some(doubt) = prediction.doubts.first() {
        return Judged::Unknown(doubt.message.clone());
    }
    match (&prediction.outcome, prediction.asked) {
        (Predicted::Law(law), Some(asked)) => {
            let warning = prediction.notes.iter().find(|note| note.is_warning());
            if let Some(warning) = warning {
                Judged::Fails(format!("({}) does not hold {asked}: {warning}", drafter.name()))
            } else if (law.mean() - asked).abs() >= SAME {
                Judged::Fails(format!("({}) gives {:.3} for {asked}", drafter.name(), law.mean()))
            } else {
                Judged::Honours(format!("{} holds {asked} ({})", drafter.name(), prediction.source))
            }
        }
        (Predicted::Law(_), None) => Judged::Unknown("its settings ask for no accept length".to_owned()),
        (Predicted::NotKnown { reason }, _) => Judged::Unknown(reason.to_string()),
        (outcome, _) => {
            let reason = outcome.reason().map_or_else(String::new, ToString::to_string);
            Judged::Fails(format!("({}): {}: {reason}", drafter.name(), outcome.name()))
        }
    }
}

/// The release, and the line that names it.
fn version(run: &Run, point: &Point) -> Option<(EngineVersion, Option<Evidence>)> {
    if let Some(version) = &run.stated.version {
        return Some((version.clone(), None));
    }
    let of = |sightings: &[Sighting]| {
        let named = |seen: &Sighting| match seen.seen {
            Seen::Version => seen.value.parse().ok(),
            Seen::Image => Name::of(&seen.value).tag.and_then(|tag| released(&tag)),
            Seen::Variable | Seen::Argument => None,
        };
        // What the server says itself comes before what its image is called.
        let by = |kind: Seen| {
            sightings.iter().filter(|seen| seen.seen == kind).find_map(|seen| {
                let version = named(seen)?;
                let shown = if kind == Seen::Image {
                    Name::of(&seen.value).tag.unwrap_or_default()
                } else {
                    seen.value.clone()
                };
                Some((version, Some(Evidence::at(run, seen.place, shown))))
            })
        };
        by(Seen::Version).or_else(|| by(Seen::Image))
    };
    of(&point.facts.sightings).or_else(|| of(&run.shared.sightings))
}

/// The release that an image's tag begins with: `v0.5.18-cu130`.
fn released(tag: &str) -> Option<EngineVersion> {
    match tag.parse::<EngineVersion>() {
        Ok(version) => Some(version),
        Err(EngineVersionError::Tail { nearest, text }) => {
            // `20260818` is a date, and what follows a nightly build's date is no release.
            let is_release =
                nearest.to_string().contains('.') && !text.contains("nightly") && !text.contains("dev");
            is_release.then_some(nearest)
        }
        Err(EngineVersionError::Invalid(_)) => None,
    }
}
