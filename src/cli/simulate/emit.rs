//! `simulate --emit-log`: the log that such a server could have written.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use anyhow::{Context as _, bail, ensure};
use clap::Args;

use super::args::SimulateArgs;
use super::change::Change;
use super::seeded::Seeded;
use crate::cli::global::Global;
use crate::cli::output::whole_file;
use crate::engine::{Drafter, Engine, Server};
use crate::law::AcceptanceLaw;
use crate::simulate::log::{
    AtomLog, AtomPlan, Damage, DrawSource, Forced, LawSource, Load, LocalTime, LogPlan, NEWEST, Parallel,
    Pause, Run, SglangLog, SglangPlan, Speculation, Summary, VllmEra, VllmLog, VllmPause, VllmPlan,
    write_log,
};

const HEADING: &str = "A log that the server could have written";

/// Blocks of text that may wait for a slow standard output.
const WAITING_BLOCKS: usize = 16;

/// Flags about the log.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = HEADING)]
pub(super) struct EmitFlags {
    /// Write a log of --lines lines to FILE; - prints it, and nothing else
    #[arg(long, value_name = "FILE", conflicts_with_all = ["env", "recipe"])]
    emit_log: Option<PathBuf>,

    /// When the log begins, local time
    #[arg(
        long,
        value_name = "TIME",
        allow_hyphen_values = true,
        default_value = "2026-10-12T01:02:03",
        requires = "emit_log"
    )]
    start: LocalTime,

    /// Requests that run, or how many at least and at most [default: --batch]
    #[arg(long, value_name = "A[-B]", allow_hyphen_values = true, requires = "emit_log")]
    running_req: Option<Span>,

    /// Input tokens of a request
    #[arg(
        long,
        value_name = "A[-B]",
        allow_hyphen_values = true,
        default_value = "512",
        requires = "emit_log"
    )]
    input_tokens: Span,

    /// Output tokens of a request
    #[arg(
        long,
        value_name = "A[-B]",
        allow_hyphen_values = true,
        default_value = "512",
        requires = "emit_log"
    )]
    output_tokens: Span,

    /// A pause: after so many lines no request for so many seconds (100:60); with :flush the cache is flushed. May be
    /// repeated
    #[arg(long, value_name = "LINES:SECONDS", allow_hyphen_values = true, requires = "emit_log")]
    pause: Vec<PauseFlag>,

    /// SGLang: after so many lines of each rank the server is started again with another accept length, num-steps,
    /// block-size or max-accept-length (30:accept-length=2.5,num-steps=3). May be repeated
    #[arg(long, value_name = "LINE:KEY=VALUE,..", requires = "emit_log", allow_hyphen_values = true)]
    change_at: Vec<Change>,

    /// SGLang: decode lines in a hundred lines; access-log lines fill up the rest
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true, requires = "emit_log")]
    decode_share: Option<Percent>,

    /// SGLang: times with milliseconds
    #[arg(long, requires = "emit_log")]
    log_ms: bool,

    /// What happens to the file: truncated=RATE, interleaved=RATE, duplicated=RATE, glued=RATE, ansi=RATE, crlf, and
    /// one of docker, cri[=RATE], srun; separated by commas
    #[arg(long, value_name = "DAMAGE", allow_hyphen_values = true, requires = "emit_log")]
    damage: Option<Damage>,
}

/// A number, or the numbers from one to another.
#[derive(Clone, Debug)]
struct Span(RangeInclusive<u32>);

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |part: &str| {
            let read = part.trim().parse::<u32>();
            read.map_err(|_| format!("'{text}' is neither a number nor a range of two; expected 16 or 1-32"))
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
        pause.ok_or_else(|| format!("'{text}' is not a pause; expected LINES:SECONDS or LINES:SECONDS:flush"))
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
            .ok_or_else(|| format!("'{text}' is not a share; expected a number from 0.1 to 100, like 25"))
    }
}

/// What the other flags of `simulate` say about the server.
pub(super) struct Emission<'a> {
    pub(super) args: &'a SimulateArgs,
    /// The start of the server, then one for each change.
    pub(super) starts: Vec<Start>,
    pub(super) ranks_share_draws: bool,
    /// The servers' random seeds, where the draws are their own.
    pub(super) seeded: Option<&'a Seeded>,
}

/// One start of a server.
pub(super) struct Start {
    /// The server; SGLang where no engine was named.
    pub(super) server: Server,
    /// What is drawn.
    pub(super) law: AcceptanceLaw,
    /// The accept length that was asked for, and the most tokens of a step.
    pub(super) accept_length: f64,
    pub(super) max: u32,
}

impl Start {
    /// K: a verify step emits at most one token more than it drafts.
    fn draft_length(&self) -> u32 {
        self.max.saturating_sub(1).max(1)
    }
}

impl EmitFlags {
    /// The file that the log goes to.
    pub(super) fn file(&self) -> Option<&Path> {
        self.emit_log.as_deref().filter(|file| *file != Path::new("-"))
    }

    /// Whether the log goes to the standard output, which then has room for nothing else.
    pub(super) fn is_printed(&self) -> bool {
        self.emit_log.as_deref() == Some(Path::new("-"))
    }

    /// Changes in the middle.
    pub(super) fn changes(&self) -> &[Change] {
        &self.change_at
    }

    /// Whether a log was asked for.
    pub(super) fn is_asked(&self) -> bool {
        self.emit_log.is_some()
    }
}

impl Emission<'_> {
    /// Writes the log to its file or to `out`.
    pub(super) fn run(&self, global: &Global, out: &mut dyn Write) -> anyhow::Result<Summary> {
        let [first, others @ ..] = self.starts.as_slice() else { bail!("no server starts") };
        let plan = self.plan(first)?;
        if let Some(seeded) = self.seeded {
            return self.write(&plan, &seeded.source(), global, out);
        }
        let source = LawSource::new(first.law.clone(), self.args.seed);
        let source = others.iter().fold(source, |source, start| source.then(start.law.clone()));
        self.write(&plan, &source, global, out)
    }

    fn write<S: DrawSource>(
        &self,
        plan: &LogPlan,
        source: &S,
        global: &Global,
        out: &mut dyn Write,
    ) -> anyhow::Result<Summary> {
        match &self.flags().emit_log {
            Some(file) if !self.flags().is_printed() => {
                let write = || whole_file(file, |file| write_log(plan, source, file));
                global.on_threads(write)?.with_context(|| format!("cannot write {}", file.display()))
            }
            _ => print(plan, source, global, out),
        }
    }

    fn flags(&self) -> &EmitFlags {
        &self.args.emit
    }

    fn plan(&self, first: &Start) -> anyhow::Result<LogPlan> {
        match first.server.engine {
            Engine::Sglang => self.sglang(first),
            Engine::Vllm => self.vllm(first),
            Engine::Atom => self.atom(first),
            engine @ (Engine::Trtllm | Engine::Tilert) => {
                bail!("{engine} writes no accept length to its log, so there is no such log to emit")
            }
        }
    }

    fn load(&self) -> Load {
        let (flags, batch) = (self.flags(), self.args.batch);
        Load {
            running: flags.running_req.as_ref().map_or(batch..=batch, |span| span.0.clone()),
            input: flags.input_tokens.0.clone(),
            output: flags.output_tokens.0.clone(),
            ..Load::constant(batch)
        }
    }

    /// The runs of the log, each with the lines up to the next change. Pauses count the lines of the whole log.
    fn runs(&self) -> anyhow::Result<Vec<Run>> {
        let changes = self.flags().changes();
        let ends = changes.iter().map(|change| change.after_lines).chain([self.args.line.lines]);
        let begins = std::iter::once(0).chain(changes.iter().map(|change| change.after_lines));
        let stretches = self.starts.iter().zip(begins.zip(ends));
        stretches
            .map(|(start, (begin, end))| {
                ensure!(
                    begin < end,
                    "--change-at: a change after {begin} lines leaves none before the next one or the end at {end}; \
                     give them in order, below --lines"
                );
                Ok(self.sglang_run(start, begin, end))
            })
            .collect()
    }

    fn sglang_run(&self, start: &Start, begin: u64, end: u64) -> Run {
        let (args, flags) = (self.args, self.flags());
        let drafter = start.server.drafter.unwrap_or(Drafter::Eagle3);
        let mut speculation = Speculation::of(drafter, start.draft_length());
        if speculation.eagle_topk.is_some() && start.server.eagle_topk.is_some() {
            speculation.eagle_topk = start.server.eagle_topk;
        }
        let of_run = |pause: &&PauseFlag| (begin..end).contains(&pause.after_lines);
        let pause = |pause: &PauseFlag| Pause {
            after_lines: pause.after_lines - begin,
            seconds: pause.seconds,
            flush_cache: pause.flush_cache,
        };
        Run {
            speculation: Some(speculation),
            overlap: start.server.overlap,
            decode_log_interval: args.line.decode_log_interval,
            // Only where the draws are those of the engine's generator for that seed.
            random_seed: self.seeded.and_then(|seeded| seeded.seeds.first().copied()),
            lines: end - begin,
            load: self.load(),
            pauses: flags.pause.iter().filter(of_run).map(pause).collect(),
        }
    }

    fn sglang(&self, first: &Start) -> anyhow::Result<LogPlan> {
        let (args, flags) = (self.args, self.flags());
        let version = first.server.version.clone().unwrap_or_else(|| NEWEST.into());
        let mut runs = self.runs()?;
        if let (Some(seeded), [run]) = (self.seeded, runs.as_slice()) {
            let run = run.clone();
            let again = seeded.seeds.iter().skip(1);
            runs.extend(again.map(|seed| Run { random_seed: Some(*seed), ..run.clone() }));
        }
        let mut log = SglangLog::new(version, flags.start, runs);
        log.milliseconds = flags.log_ms;
        log.parallel =
            Parallel { tp: args.ranks, dp: args.ranks, dp_attention: args.ranks > 1, ..Parallel::ONE };
        log.ranks_share_draws = self.ranks_share_draws;
        log.noise.decode_per_mille = flags.decode_share.map(|share| share.0);
        log.damage = flags.damage.unwrap_or_default();
        log.seed = args.seed;
        Ok(LogPlan::Sglang(SglangPlan::new(log)?))
    }

    fn vllm(&self, start: &Start) -> anyhow::Result<LogPlan> {
        self.check_sglang_flags(start)?;
        let (args, flags) = (self.args, self.flags());
        let era = VllmEra::of(start.server.version.as_ref());
        let mut log = VllmLog::new(era, flags.start, start.draft_length(), args.line.lines);
        let pause = |pause: &PauseFlag| VllmPause {
            after_windows: pause.after_lines,
            windows: pause.seconds.div_ceil(log.window_seconds),
        };
        log.pauses = flags.pause.iter().map(pause).collect();
        log.engines = args.ranks;
        log.load = self.load();
        log.damage = flags.damage.unwrap_or_default();
        log.seed = args.seed;
        Ok(LogPlan::Vllm(VllmPlan::new(log)?))
    }

    fn atom(&self, start: &Start) -> anyhow::Result<LogPlan> {
        self.check_sglang_flags(start)?;
        let (args, flags) = (self.args, self.flags());
        ensure!(
            flags.pause.is_empty(),
            "--pause changes nothing in a log of ATOM, which counts steps and no time"
        );
        let mut log = AtomLog::new(flags.start, start.draft_length(), args.line.lines);
        log.schedulers = args.ranks;
        log.running = *self.load().running.end();
        log.forced = Some(Forced::at(start.accept_length, start.draft_length()));
        log.damage = flags.damage.unwrap_or_default();
        log.seed = args.seed;
        Ok(LogPlan::Atom(AtomPlan::new(log)?))
    }

    /// A flag about SGLang must not be passed over in silence by another engine.
    fn check_sglang_flags(&self, start: &Start) -> anyhow::Result<()> {
        let flags = self.flags();
        let given = [
            ("--change-at", !flags.change_at.is_empty()),
            ("--decode-share", flags.decode_share.is_some()),
            ("--log-ms", flags.log_ms),
            (":flush", flags.pause.iter().any(|pause| pause.flush_cache)),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            Some((flag, _)) => bail!("{flag} is about SGLang, not {}", start.server.engine),
            None => Ok(()),
        }
    }
}

/// Prints a log while it is made: the standard output stays on this thread, the work goes to the others.
fn print<S: DrawSource>(
    plan: &LogPlan,
    source: &S,
    global: &Global,
    out: &mut dyn Write,
) -> anyhow::Result<Summary> {
    let (sender, blocks) = sync_channel(WAITING_BLOCKS);
    thread::scope(|scope| {
        let maker = scope.spawn(move || global.on_threads(|| write_log(plan, source, &mut Blocks(sender))));
        // The channel closes when the log is done; an error here closes it, and the maker stops.
        let printed = blocks.into_iter().try_for_each(|block: Vec<u8>| out.write_all(&block));
        let made = maker.join();
        printed?;
        match made {
            Ok(made) => Ok(made??),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// The writing end of the blocks that are printed.
struct Blocks(SyncSender<Vec<u8>>);

impl Write for Blocks {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.send(bytes.to_vec()) {
            Ok(()) => Ok(bytes.len()),
            Err(_) => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// One line about a log that was written.
pub(super) fn about(summary: &Summary) -> String {
    let total =
        |of: fn(&crate::simulate::log::RankSummary) -> u64| -> u64 { summary.ranks.iter().map(of).sum() };
    let mut text = format!(
        "{} bytes; decode lines: {}, tokens: {}, request-steps: {}",
        summary.bytes,
        summary.decode_lines,
        total(|rank| rank.accepted),
        total(|rank| rank.request_steps)
    );
    if summary.damage.unreadable > 0 {
        // Writing to a string cannot fail.
        let _ = write!(text, ", unreadable lines: {}", summary.damage.unreadable);
    }
    text
}
