//! Models and logs from files.

use std::fs;
use std::io::{Read as _, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use clap::Args;

use crate::cli::global::Global;
use crate::cli::limits::LimitFlags;
use crate::cli::number::whole;
use crate::cli::progress::ProgressLine;
use crate::evidence::{Input, Limits, Place, PointBy, Reader, Record, RecordSink, point_name};
use crate::throughput::{LogRun, MODEL_KIND, Model, Observer, Options, calibrate, read_model};

/// Largest model file.
const LARGEST_MODEL: u64 = 256 << 20;

/// What the logs do not say.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "About the logs")]
pub(super) struct LogFlags {
    /// Draft tokens a step [default: as the server's arguments in the log say]
    #[arg(long, value_name = "K", value_parser = whole::<u32>(1..=1_000_000))]
    pub(super) draft_length: Option<u32>,

    /// What the servers do: both, or decode alone [default: as the log says]
    #[arg(long, value_name = "ROLE")]
    role: Option<Role>,

    /// Verify steps per decode line [default: as the log says, else 40]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..))]
    decode_log_interval: Option<u32>,

    /// KV tokens that the cache of a vLLM engine holds: `GPU KV cache size` at its start; its lines print a share of them
    #[arg(long, value_name = "TOKENS", value_parser = whole::<u64>(1..=1_000_000_000_000))]
    kv_cache_tokens: Option<u64>,

    /// Mixture of experts: experts of a layer, and those a token is routed to (256:8)
    #[arg(long, value_name = "E:K", value_parser = experts)]
    experts: Option<(u32, u32)>,

    #[command(flatten)]
    limits: LimitFlags,
}

impl LogFlags {
    /// Refuses what a log contradicts.
    fn agree(&self, runs: &[LogRun]) -> anyhow::Result<()> {
        for run in runs {
            let stated = run.server.as_ref().and_then(|server| server.decode_log_interval);
            if let (Some(given), Some(stated)) = (self.decode_log_interval, stated) {
                ensure!(
                    given == stated,
                    "{}: the log says a decode line every {stated} steps, --decode-log-interval {given}; leave the flag out",
                    run.name
                );
            }
            // Decode servers of vLLM compute the last token of a prompt themselves.
            ensure!(
                self.role != Some(Role::Decode) || run.prefill_lines == 0 || run.engine_lines > 0,
                "{}: --role decode, but the log shows {} prefills; leave the flag out",
                run.name,
                run.prefill_lines
            );
        }
        Ok(())
    }

    /// Refuses what is about logs beside a model, which has it already.
    pub(super) fn none_with_model(&self) -> anyhow::Result<()> {
        let flags = [
            ("--role", self.role.is_some()),
            ("--decode-log-interval", self.decode_log_interval.is_some()),
            ("--kv-cache-tokens", self.kv_cache_tokens.is_some()),
            ("--experts", self.experts.is_some()),
        ];
        match flags.into_iter().find(|(_, is_given)| *is_given) {
            Some((flag, _)) => bail!("{flag} is about logs; give it to calibrate, whose model has it then"),
            None => Ok(()),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Role {
    /// Prefill and decode
    Both,
    /// Decode alone: prompts are prefilled by other servers
    Decode,
}

fn experts(text: &str) -> Result<(u32, u32), String> {
    let number = |text: &str| text.trim().parse::<u32>().ok();
    text.split_once(':')
        .and_then(|(all, active)| number(all).zip(number(active)))
        .filter(|(all, active)| *active >= 1 && active <= all)
        .ok_or_else(|| "expected experts and active ones, like 256:8".to_owned())
}

/// Observes the records of every log.
struct Observing(Observer);

impl RecordSink for Observing {
    fn begin(&mut self, _file: u32, name: &str, input: &str) {
        self.0.begin(&point_name(name, input, PointBy::Path));
    }

    fn record(&mut self, place: Place, record: &Record<'_>) {
        self.0.record(place, record);
    }
}

/// Calibrates on logs; whether all could be read.
pub(super) fn from_logs(
    paths: &[PathBuf],
    flags: &LogFlags,
    global: &Global,
    err: &mut dyn Write,
) -> anyhow::Result<(Result<Model, crate::throughput::CalibrateError>, bool)> {
    if let Some(path) = paths.iter().find(|path| names_model(path)) {
        bail!("{} is a model, not a log: give it alone, to predict", path.display());
    }
    let inputs: Vec<Input> = paths.iter().map(|path| Input::from(path.as_path())).collect();
    let mut reader = Reader::new(Limits::from(&flags.limits));
    let mut observing =
        Observing(Observer::new(flags.decode_log_interval).with_kv_cache(flags.kv_cache_tokens));
    let progress = ProgressLine::show(reader.progress(), global.quiet);
    let errors = reader.read_into(&inputs, &mut observing);
    drop(progress);
    for error in &errors {
        let _ = writeln!(err, "error: {error}");
    }
    let runs = observing.0.finish()?;
    flags.agree(&runs)?;
    let options = Options {
        draft_length: flags.draft_length,
        colocated: flags.role.map(|role| role == Role::Both),
        experts: flags.experts,
    };
    Ok((calibrate(&runs, &options), errors.is_empty()))
}

/// Reads a model file.
pub(super) fn model(path: &Path) -> anyhow::Result<Model> {
    let text = bytes(path)?;
    read_model(&text).with_context(|| format!("{}", path.display()))
}

/// A file that begins as JSON does is a model; anything else is a log.
pub(super) fn is_model(path: &Path) -> bool {
    head(path).trim_ascii_start().starts_with(b"{")
}

/// Whether a file says that it is a model; logs may be JSON, too.
fn names_model(path: &Path) -> bool {
    let head = head(path);
    head.trim_ascii_start().starts_with(b"{") && String::from_utf8_lossy(&head).contains(MODEL_KIND)
}

/// The first bytes of a regular file.
fn head(path: &Path) -> Vec<u8> {
    let mut head = Vec::new();
    if let Ok(file) = fs::File::open(path)
        && file.metadata().is_ok_and(|kind| kind.is_file())
        && file.take(512).read_to_end(&mut head).is_err()
    {
        head.clear();
    }
    head
}

/// The whole of a small file.
pub(super) fn bytes(path: &Path) -> anyhow::Result<Vec<u8>> {
    let context = || format!("cannot read {}", path.display());
    let file = fs::File::open(path).with_context(context)?;
    let mut text = Vec::new();
    file.take(LARGEST_MODEL + 1).read_to_end(&mut text).with_context(context)?;
    if u64::try_from(text.len()).unwrap_or(u64::MAX) > LARGEST_MODEL {
        bail!("{} is larger than 256 MiB", path.display());
    }
    Ok(text)
}
