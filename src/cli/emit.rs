//! `simulate --emit-log`: the log that such a server could have written.

use std::fs::{self, File};
use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context as _, bail, ensure};
use clap::Args;

use crate::engine::{Drafter, Engine, EngineVersion};
use crate::law::AcceptanceLaw;
use crate::simulate::log::{
    AtomLog, AtomPlan, Damage, Forced, LawSource, Load, LocalTime, LogPlan, NEWEST, Parallel, Pause, Run, SglangLog,
    SglangPlan, Speculation, Summary, VllmEra, VllmLog, VllmPause, VllmPlan, write_log,
};

const HEADING: &str = "Write a log that the server could have written";

/// Flags about the log.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = HEADING)]
pub(crate) struct EmitArgs {
    /// Write to FILE instead of drawing a sample; - is the standard output
    #[arg(long, value_name = "FILE", requires = "lines")]
    emit_log: Option<PathBuf>,

    /// Decode lines of each rank; windows of vLLM, intervals of ATOM
    #[arg(long, value_name = "L", requires = "emit_log")]
    lines: Option<u64>,

    /// SGLang: verify steps per decode line
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub(crate) decode_log_interval: u32,

    /// When the log begins, local time
    #[arg(long, value_name = "TIME", default_value = "2026-10-12T01:02:03", requires = "emit_log")]
    start: LocalTime,

    /// Requests that run, or how many at least and at most [default: --batch]
    #[arg(long, value_name = "A[-B]", requires = "emit_log")]
    running_req: Option<Span>,

    /// Input tokens of a request
    #[arg(long, value_name = "A[-B]", default_value = "512", requires = "emit_log")]
    input_tokens: Span,

    /// Output tokens of a request
    #[arg(long, value_name = "A[-B]", default_value = "512", requires = "emit_log")]
    output_tokens: Span,

    /// A pause: after so many lines no request for so many seconds (100:60); with :flush the cache is flushed. May be
    /// repeated
    #[arg(long, value_name = "LINES:SECONDS", requires = "emit_log")]
    pause: Vec<PauseFlag>,

    /// SGLang: decode lines in a hundred lines; access-log lines fill up the rest
    #[arg(long, value_name = "PERCENT", requires = "emit_log")]
    decode_share: Option<Percent>,

    /// SGLang: times with milliseconds
    #[arg(long, requires = "emit_log")]
    log_ms: bool,

    /// What happens to the file: truncated=RATE, interleaved=RATE, duplicated=RATE, glued=RATE, ansi=RATE, crlf, and
    /// one of docker, cri[=RATE], srun; separated by commas
    #[arg(long, value_name = "DAMAGE", requires = "emit_log")]
    damage: Option<Damage>,
}

/// A number, or the numbers from one to another.
#[derive(Clone, Debug)]
struct Span(RangeInclusive<u32>);

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |text: &str| {
            text.trim().parse::<u32>().map_err(|_| format!("'{text}' is no number; expected 16 or 1-32"))
        };
        let (low, high) = match text.split_once('-') {
            Some((low, high)) => (number(low)?, number(high)?),
            None => (number(text)?, number(text)?),
        };
        if low > high { Err(format!("{low} is above {high}")) } else { Ok(Self(low..=high)) }
    }
}

/// `--pause`.
#[derive(Clone, Copy, Debug)]
struct PauseFlag {
    after_lines: u64,
    seconds: u32,
    flush_cache: bool,
}

impl FromStr for PauseFlag {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (rest, flush_cache) = text.strip_suffix(":flush").map_or((text, false), |rest| (rest, true));
        let pause = rest.split_once(':').and_then(|(lines, seconds)| {
            let (after_lines, seconds) = (lines.parse().ok()?, seconds.parse().ok()?);
            Some(Self { after_lines, seconds, flush_cache })
        });
        pause.ok_or_else(|| format!("'{text}' is no pause; expected LINES:SECONDS or LINES:SECONDS:flush"))
    }
}

/// `--decode-share`, in thousandths.
#[derive(Clone, Copy, Debug)]
struct Percent(u32);

impl FromStr for Percent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = text.strip_suffix('%').unwrap_or(text);
        let (whole, tenth) = number.split_once('.').unwrap_or((number, "0"));
        let digit = |text: &str| text.parse::<u32>().ok();
        let share = digit(whole).zip(digit(tenth).filter(|_| tenth.len() == 1));
        share
            .and_then(|(whole, tenth)| whole.checked_mul(10)?.checked_add(tenth))
            .filter(|share| (1..=1000).contains(share))
            .map(Self)
            .ok_or_else(|| format!("'{text}' is no share; expected a number from 0.1 to 100, like 25"))
    }
}

/// What the other flags of `simulate` say about the server.
#[derive(Clone, Debug)]
pub(crate) struct Emission {
    /// The engine; SGLang where none was named.
    pub(crate) engine: Engine,
    /// Its version.
    pub(crate) version: Option<EngineVersion>,
    /// The drafting algorithm.
    pub(crate) drafter: Option<Drafter>,
    /// Tokens drafted per verify step.
    pub(crate) draft_length: u32,
    /// What is drawn.
    pub(crate) law: AcceptanceLaw,
    /// The accept length that was asked for.
    pub(crate) accept_length: f64,
    /// `--batch`.
    pub(crate) batch: u32,
    /// `--ranks`.
    pub(crate) ranks: u32,
    /// `--ranks-share-draws`.
    pub(crate) ranks_share_draws: bool,
    /// `--seed`.
    pub(crate) seed: u64,
}

impl EmitArgs {
    /// Whether a log was asked for.
    pub(crate) fn is_asked(&self) -> bool {
        self.emit_log.is_some()
    }

    /// Writes the log; the result is the file, so nothing else is printed but a note on `err`.
    pub(crate) fn run(
        &self,
        server: &Emission,
        quiet: bool,
        out: &mut dyn Write,
        err: &mut dyn Write,
    ) -> anyhow::Result<()> {
        let Some(file) = &self.emit_log else { bail!("--emit-log names no file") };
        let plan = self.plan(server)?;
        let source = LawSource::new(server.law.clone(), server.seed);
        let summary = if file == Path::new("-") {
            write_log(&plan, &source, &mut { out })?
        } else {
            beside(file, |file| write_log(&plan, &source, file))
                .with_context(|| format!("cannot write {}", file.display()))?
        };
        if !quiet {
            let _ = writeln!(err, "note: {}", Told(&summary));
        }
        Ok(())
    }

    fn plan(&self, server: &Emission) -> anyhow::Result<LogPlan> {
        match server.engine {
            Engine::Sglang => self.sglang(server),
            Engine::Vllm => self.vllm(server),
            Engine::Atom => self.atom(server),
            Engine::Trtllm | Engine::Tilert => {
                bail!("{} writes no accept length to its log, so there is no such log to emit", server.engine)
            }
        }
    }

    fn load(&self, server: &Emission) -> Load {
        let running = self.running_req.as_ref().map_or(server.batch..=server.batch, |span| span.0.clone());
        Load {
            running,
            input: self.input_tokens.0.clone(),
            output: self.output_tokens.0.clone(),
            ..Load::constant(server.batch)
        }
    }

    fn sglang(&self, server: &Emission) -> anyhow::Result<LogPlan> {
        let run = Run {
            speculation: Some(Speculation::of(server.drafter.unwrap_or(Drafter::Eagle3), server.draft_length)),
            decode_log_interval: self.decode_log_interval,
            random_seed: server.seed,
            lines: self.lines.unwrap_or(0),
            load: self.load(server),
            pauses: self
                .pause
                .iter()
                .map(|pause| Pause {
                    after_lines: pause.after_lines,
                    seconds: pause.seconds,
                    flush_cache: pause.flush_cache,
                })
                .collect(),
        };
        let version = server.version.clone().unwrap_or_else(|| NEWEST.into());
        let mut log = SglangLog::new(version, self.start, vec![run]);
        log.milliseconds = self.log_ms;
        log.parallel = Parallel {
            tp: server.ranks,
            dp: server.ranks,
            dp_attention: server.ranks > 1,
            ..Parallel::ONE
        };
        log.ranks_share_draws = server.ranks_share_draws;
        log.noise.decode_per_mille = self.decode_share.map(|share| share.0);
        log.damage = self.damage.unwrap_or_default();
        log.seed = server.seed;
        Ok(LogPlan::Sglang(SglangPlan::new(log)?))
    }

    fn vllm(&self, server: &Emission) -> anyhow::Result<LogPlan> {
        self.check_sglang_flags(Engine::Vllm)?;
        let era = VllmEra::of(server.version.as_ref());
        let mut log = VllmLog::new(era, self.start, server.draft_length, self.lines.unwrap_or(0));
        log.engines = server.ranks;
        log.load = self.load(server);
        log.pauses = self
            .pause
            .iter()
            .map(|pause| VllmPause {
                after_windows: pause.after_lines,
                windows: pause.seconds.div_ceil(log.window_seconds),
            })
            .collect();
        log.damage = self.damage.unwrap_or_default();
        log.seed = server.seed;
        Ok(LogPlan::Vllm(VllmPlan::new(log)?))
    }

    fn atom(&self, server: &Emission) -> anyhow::Result<LogPlan> {
        self.check_sglang_flags(Engine::Atom)?;
        ensure!(self.pause.is_empty(), "--pause changes nothing in a log of ATOM, which counts steps and no time");
        let mut log = AtomLog::new(self.start, server.draft_length, self.lines.unwrap_or(0));
        log.schedulers = server.ranks;
        log.running = *self.load(server).running.end();
        log.forced = Some(Forced::at(server.accept_length, server.draft_length));
        log.damage = self.damage.unwrap_or_default();
        log.seed = server.seed;
        Ok(LogPlan::Atom(AtomPlan::new(log)?))
    }

    /// A flag about SGLang must not be passed over in silence by another engine.
    fn check_sglang_flags(&self, engine: Engine) -> anyhow::Result<()> {
        let flags = [
            ("--decode-share", self.decode_share.is_some()),
            ("--log-ms", self.log_ms),
            (":flush", self.pause.iter().any(|pause| pause.flush_cache)),
        ];
        match flags.into_iter().find(|(_, given)| *given) {
            Some((flag, _)) => bail!("{flag} is about SGLang, not {engine}"),
            None => Ok(()),
        }
    }
}

/// Writes a file beside the one that was named and renames it, so that nobody reads half a log.
fn beside<T>(file: &Path, write: impl FnOnce(&mut File) -> io::Result<T>) -> io::Result<T> {
    let mut beside = file.as_os_str().to_owned();
    beside.push(format!(".{}.tmp", std::process::id()));
    let beside = Path::new(&beside);
    let written = File::create(beside)
        .and_then(|mut created| write(&mut created))
        .and_then(|result| fs::rename(beside, file).map(|()| result));
    if written.is_err() {
        // Whatever is left of it is of no use; the error says why.
        let _ = fs::remove_file(beside);
    }
    written
}

/// One line about what was written.
struct Told<'a>(&'a Summary);

impl std::fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let summary = self.0;
        let (accepted, steps) = summary
            .ranks
            .iter()
            .fold((0_u64, 0_u64), |(accepted, steps), rank| (accepted + rank.accepted, steps + rank.request_steps));
        write!(
            f,
            "{} decode lines of {} request-steps, {accepted} tokens accepted, {} bytes",
            summary.decode_lines, steps, summary.bytes
        )?;
        let unreadable = summary.damage.unreadable;
        if unreadable > 0 { write!(f, "; {unreadable} lines cannot be read") } else { Ok(()) }
    }
}
