//! A law, exactly and as a sample.

use std::io::Write;

use anyhow::{anyhow, bail, ensure};

use super::args::{LawFlag, SimulateArgs};
use super::change::Change;
use super::emit::{Emission, Start, about};
use super::seeded::Seeded;
use crate::cli::output::{is_svg, write_drawing, write_text, write_to};
use crate::cli::{Exit, catalogue, global::Global};
use crate::engine::{
    Engine, Injected, Outcome, Prediction, PredictionNote, RankDraws, Server, SettingKind, law_for,
};
use crate::golden::{Severity, Target, TargetOrigin};
use crate::law::{AcceptanceLaw, Draws, GeometricDecay, PerPosition, RealHead, Setting};
use crate::report::json::{self, SimulateDocument};
use crate::report::{plot, text};
use crate::simulate::{Answer, Plan};

/// What to simulate: a length or rates, and the most tokens of a step.
struct Asked {
    accept_length: f64,
    max: u32,
    rates: Option<PerPosition>,
}

pub(super) fn run(
    args: &SimulateArgs,
    global: &Global,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let lookup = args.target(args.engine, global)?;
    if let Some(lookup) = lookup.as_ref().filter(|_| !args.format.is_json()) {
        catalogue::warn(global, lookup, err)?;
    }
    let cell = lookup.as_ref().and_then(|lookup| match lookup.target.origin() {
        TargetOrigin::Golden(cell) => Some(cell.clone()),
        TargetOrigin::Explicit | TargetOrigin::Injected { .. } => None,
    });
    let golden = lookup.map(|lookup| {
        let target = &lookup.target;
        (target.accept_length().get(), args.max().unwrap_or(target.max_accept_length()))
    });
    let asked = asked(args, golden)?;
    let engine = args.engine.map(|engine| predict(args, engine, &asked)).transpose()?;
    let law = match &engine {
        Some((_, prediction)) => prediction.outcome.law().cloned(),
        None => Some(law(args, &asked)?),
    };
    let exit = engine.as_ref().map_or(Exit::Ok, |(_, prediction)| exit(&prediction.outcome));
    let share = args.ranks_share_draws.or_else(|| {
        engine.as_ref().and_then(|(_, prediction)| match prediction.ranks {
            RankDraws::Alike => Some(true),
            RankDraws::Own => Some(false),
            RankDraws::NotKnown => None,
        })
    });
    let seeded = Seeded::asked(args, law.as_ref(), asked.accept_length, asked.max)?;
    if args.emit.is_asked() {
        ensure!(
            !(args.emit.is_printed() && args.format.is_json()),
            "--emit-log - and --json would both print; give the log a file"
        );
        let Some(law) = law.clone() else {
            bail!("there is no law to draw a log from: such a server refuses, or accepts for real")
        };
        let ranks_share_draws = share.unwrap_or(law.draws() == Draws::Shared);
        let first = started(args, engine.as_ref().map(|(server, _)| server), law, &asked)?;
        let changes = args.emit.changes().iter().map(|change| changed(args, &asked, change));
        let starts = std::iter::once(Ok(first)).chain(changes).collect::<anyhow::Result<_>>()?;
        let emission = Emission { args, starts, ranks_share_draws, seeded: seeded.as_ref() };
        let summary = emission.run(global, out)?;
        if !args.format.is_json() {
            // On a terminal a printed log stands first, what there is to say about it last.
            out.flush()?;
            catalogue::tell(global, Severity::Note, &about(&summary), err)?;
        }
        if args.emit.is_printed() {
            return Ok(exit);
        }
    }
    let drawn = law
        .map(|law| {
            let plan = Plan {
                steps: args.steps,
                batch: args.batch,
                ranks: args.ranks,
                ranks_share_draws: share.unwrap_or(law.draws() == Draws::Shared),
                replicates: args.replicates,
                seed: args.seed,
                interval: args.line.decode_log_interval,
                law,
            };
            let simulation = global.on_threads(|| plan.run())??;
            anyhow::Ok((plan, simulation))
        })
        .transpose()?;
    let (accept_length, max_accept_length) = (asked.accept_length, asked.max);
    let is_clamped = engine.is_none() && accept_length > f64::from(max_accept_length);
    let clamped = PredictionNote::Clamped { asked: accept_length, reach: max_accept_length, short: false };
    let law_notes = if is_clamped { vec![clamped] } else { Vec::new() };
    let seeded = seeded.map(|seeded| seeded.lines(args)).transpose()?;
    let answer = Answer { accept_length, max_accept_length, cell, engine, notes: law_notes, drawn, seeded };
    let output = args.output.as_deref();
    if args.format.is_json() {
        write_to(output, out, |out| json::write(out, &SimulateDocument::new(&answer)))?;
    } else {
        if is_svg(output) {
            let Some((plan, simulation)) = &answer.drawn else {
                bail!("there is no law to draw: such a server refuses, or accepts for real")
            };
            let figures = plot::drawn(plan, simulation);
            write_drawing(output, out, |out| plot::write_svg("Simulated accept lengths", &figures, out))?;
        } else {
            write_text(output, out, |out| text::simulate::simulate(out, &answer))?;
        }
        out.flush()?;
        notes(&answer, global, err)?;
    }
    Ok(exit)
}

/// One start of the server whose log is written.
fn started(
    args: &SimulateArgs,
    server: Option<&Server>,
    law: AcceptanceLaw,
    asked: &Asked,
) -> anyhow::Result<Start> {
    let server = match server {
        Some(server) => server.clone(),
        // Without an engine it is SGLang's newest known.
        None => args.describe(Server::new(Engine::Sglang))?,
    };
    Ok(Start { server, law, accept_length: asked.accept_length, max: asked.max })
}

/// The start that a change leads to.
fn changed(args: &SimulateArgs, asked: &Asked, change: &Change) -> anyhow::Result<Start> {
    let args = change.apply(args, asked.accept_length);
    let asked = Asked {
        accept_length: change.accept_length.unwrap_or(asked.accept_length),
        max: args.max().unwrap_or(asked.max),
        rates: None,
    };
    // Refuses what no target can be.
    Target::explicit(asked.accept_length, asked.max)?;
    let engine = args.engine.map(|engine| predict(&args, engine, &asked)).transpose()?;
    let law = match &engine {
        Some((_, prediction)) => prediction.outcome.law().cloned(),
        None => Some(law(&args, &asked)?),
    };
    let Some(law) = law else {
        bail!(
            "--change-at {change}: there is no law to draw from: such a server refuses, or accepts for real"
        )
    };
    started(&args, engine.as_ref().map(|(server, _)| server), law, &asked)
}

/// What the engine would do besides; a stderr that is closed has no reader to miss it.
fn notes(answer: &Answer, global: &Global, err: &mut dyn Write) -> anyhow::Result<()> {
    if answer.cell.is_none() {
        catalogue::tell(global, Severity::Note, &"an explicit target, not a golden one", err)?;
    }
    if let Some((_, prediction)) = &answer.engine {
        super::check::doubts(prediction, global, err)?;
        super::check::notes(&prediction.notes, global, err);
    }
    super::check::notes(&answer.notes, global, err);
    Ok(())
}

/// A server that refuses or dies is something wrong; one that accepts for real has no law to draw from.
fn exit(outcome: &Outcome) -> Exit {
    match outcome {
        Outcome::Law(_) => Exit::Ok,
        Outcome::RefusesToStart { .. } | Outcome::CrashesAtFirstVerify { .. } => Exit::Wrong,
        Outcome::RealAcceptance { .. } | Outcome::NotKnown { .. } => Exit::Undecided,
    }
}

fn asked(args: &SimulateArgs, golden: Option<(f64, u32)>) -> anyhow::Result<Asked> {
    let rates = if !args.rates.is_empty() {
        Some(PerPosition::new(args.rates.clone())?)
    } else if !args.conditional_rates.is_empty() {
        Some(RealHead::new(&args.conditional_rates)?.positions().clone())
    } else {
        None
    };
    match (golden, rates) {
        (Some((accept_length, max)), None) => Ok(Asked { accept_length, max, rates: None }),
        (None, Some(rates)) => {
            let max = args.max().unwrap_or(rates.max());
            ensure!(
                max == rates.max(),
                "{} rates are for steps of at most {} tokens, not {max}",
                rates.rates().len(),
                rates.max()
            );
            Ok(Asked { accept_length: rates.mean(), max, rates: Some(rates) })
        }
        _ => bail!(
            "no target: give PREFIX METHOD K, --accept-length with --max-accept-length, --num-steps or --block-size, \
             --rates, or a file with --env or --recipe"
        ),
    }
}

/// The law by its own name, of no engine.
fn law(args: &SimulateArgs, asked: &Asked) -> anyhow::Result<AcceptanceLaw> {
    let is_real = !args.conditional_rates.is_empty();
    let default = match &asked.rates {
        Some(_) if is_real => LawFlag::Real,
        Some(_) => LawFlag::PerPosition,
        None => LawFlag::MatchExpected,
    };
    let setting = Setting::new(asked.accept_length, asked.max)?;
    let flag = args.method.unwrap_or(default);
    if asked.rates.is_some() {
        ensure!(flag == default, "rates are the law of --method {}", name(default));
    }
    Ok(match flag {
        LawFlag::MatchExpected => AcceptanceLaw::match_expected(setting),
        LawFlag::Multinomial => AcceptanceLaw::multinomial(setting),
        LawFlag::ClampedShort => AcceptanceLaw::clamped_short(setting),
        LawFlag::Rounded => AcceptanceLaw::rounded(setting),
        LawFlag::PerRequest => AcceptanceLaw::per_request(setting),
        LawFlag::Constant => {
            let law = AcceptanceLaw::match_expected(setting);
            ensure!(
                law.variance() <= 0.0,
                "a constant length is a whole number, found {}",
                asked.accept_length
            );
            AcceptanceLaw::Constant(*law.support().start())
        }
        LawFlag::Geometric => {
            let drafts = asked.max.saturating_sub(1);
            let rate = (setting.clamped() - 1.0) / f64::from(drafts.max(1));
            AcceptanceLaw::Geometric(GeometricDecay::with_mean_rate(rate, drafts)?)
        }
        LawFlag::PerPosition => match &asked.rates {
            Some(rates) => AcceptanceLaw::PerPosition(rates.clone()),
            None => bail!("--method per-position needs --rates P1,P2,.."),
        },
        LawFlag::Real => {
            ensure!(is_real, "--method real needs --conditional-rates C1,C2,..");
            AcceptanceLaw::Real(RealHead::new(&args.conditional_rates)?)
        }
    })
}

/// What an engine does with the target.
fn predict(args: &SimulateArgs, engine: Engine, asked: &Asked) -> anyhow::Result<(Server, Prediction)> {
    let server = args.describe(Server::new(engine))?;
    let injected = match (&asked.rates, args.method) {
        (Some(rates), None | Some(LawFlag::PerPosition)) if engine == Engine::Vllm => {
            let mut injected = Injected::default();
            injected.set(SettingKind::Json, "rejection_sample_method", "synthetic");
            injected.set(SettingKind::Json, "synthetic_acceptance_rates", format!("{:?}", rates.rates()));
            injected
        }
        (Some(_), _) => bail!("{engine} takes no rates; vllm does"),
        (None, method) => {
            let word = method.map(|method| word(engine, method)).transpose()?.flatten();
            Injected::intended(&server, asked.accept_length, word)
        }
    };
    let prediction = law_for(&server, asked.max, &injected);
    Ok((server, prediction))
}

/// The engine's own word for a method; none where it has one method alone.
fn word(engine: Engine, method: LawFlag) -> anyhow::Result<Option<&'static str>> {
    match (engine, method) {
        (Engine::Sglang | Engine::Tilert, LawFlag::MatchExpected) => Ok(Some("match-expected")),
        (Engine::Sglang, LawFlag::Multinomial) => Ok(Some("multinomial")),
        (Engine::Vllm | Engine::Trtllm | Engine::Atom, LawFlag::PerRequest) => Ok(None),
        _ => {
            let known = match engine {
                Engine::Sglang => "match-expected and multinomial",
                Engine::Vllm => "per-request, and per-position by --rates",
                Engine::Trtllm | Engine::Atom => "per-request",
                Engine::Tilert => "match-expected",
            };
            Err(anyhow!("{engine} cannot be told {}; it has {known}", name(method)))
        }
    }
}

/// A method's name as it is typed.
fn name(method: LawFlag) -> String {
    use clap::ValueEnum as _;
    method.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}
