//! `accsim throughput simulate`: a server, event by event.

use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail, ensure};
use clap::{ArgAction, Args, ValueEnum};

use super::calibrate::refusal;
use super::drawn::{draw, shown};
use super::duration::{seconds, seconds_or_none, share};
use super::read::model;
use crate::cli::apart::apart;
use crate::cli::format::{FormatFlags, RESULT};
use crate::cli::number::{finite, whole};
use crate::cli::output::{is_stdout, is_svg, whole_file, write_drawing, write_text, write_to};
use crate::cli::patient::Patient;
use crate::cli::{Exit, global::Global};
use crate::law::{AcceptanceLaw, Draws, GeometricDecay, PerPosition, RealHead, Setting};
use crate::report::json::{self, ThroughputSimulation};
use crate::report::{html, plot, text};
use crate::simulate::log::LocalTime;
use crate::throughput::sim::{
    Arrivals, LogWriter, Point, Pool, Prefilling, Replicates, Requests, Server, Traffic, WhenFull,
    simulate_logged,
};
use crate::throughput::{
    Demand, Ground, Lengths, Model, ServeError, SimulatedPoint, TraceForm, ground_at, open_loop, read_trace,
    server,
};

const ACCEPTANCE: &str = "Acceptance";
const TRAFFIC: &str = "Traffic";
const LIMITS: &str = "The server";
const LOG: &str = "The log that it would write";

/// Flags of `accsim throughput simulate`.
#[derive(Args, Clone, Debug)]
pub(crate) struct SimulateArgs {
    /// A model of calibrate
    #[arg(value_name = "MODEL.json")]
    model: PathBuf,

    /// Tokens per verify step, the target model's own included
    #[arg(long, value_name = "AL", help_heading = ACCEPTANCE, value_parser = finite, allow_negative_numbers = true)]
    #[arg(required_unless_present = "rates")]
    accept_length: Option<f64>,

    /// Draft tokens a step; 0: no speculation [default: the model's, where it holds one]
    #[arg(long, value_name = "K", help_heading = ACCEPTANCE, value_parser = whole::<u32>(..=1_000_000))]
    draft_length: Option<u32>,

    /// How a length is drawn
    #[arg(long, value_name = "METHOD", help_heading = ACCEPTANCE, default_value = "match-expected")]
    method: Method,

    /// per-position: unconditional acceptance rate of each draft position; real: conditional ones
    #[arg(long, value_name = "P1,P2,..", help_heading = ACCEPTANCE, value_delimiter = ',', value_parser = finite)]
    rates: Vec<f64>,

    /// Closed loop: clients, each of which sends its next request when the last is done; several with commas
    #[arg(long, value_name = "C,..", help_heading = TRAFFIC, value_delimiter = ',', conflicts_with = "rate")]
    #[arg(value_parser = whole::<u32>(1..=1_048_576), required_unless_present_any = ["rate", "trace"])]
    concurrency: Vec<u32>,

    /// Open loop: Poisson arrivals, so many requests a second; several with commas
    #[arg(long, value_name = "R,..", help_heading = TRAFFIC, value_delimiter = ',', value_parser = finite)]
    rate: Vec<f64>,

    /// Requests of a trace, CSV or JSON lines, with times, isl and osl as the throughput page names them; with --concurrency their
    /// times do not count
    #[arg(long, value_name = "FILE", help_heading = TRAFFIC, conflicts_with_all = ["isl", "osl", "rate"])]
    trace: Option<PathBuf>,

    /// Input tokens of a request, or a range of them, uniform
    #[arg(long, value_name = "A[-B]", help_heading = TRAFFIC, required_unless_present = "trace")]
    isl: Option<Lengths>,

    /// Output tokens of a request, or a range of them, uniform
    #[arg(long, value_name = "A[-B]", help_heading = TRAFFIC, required_unless_present = "trace")]
    osl: Option<Lengths>,

    /// Seconds in which requests are sent; what runs then is finished [default: a trace's own length]
    #[arg(long, value_name = "S", help_heading = TRAFFIC, value_parser = seconds, required_unless_present = "trace")]
    duration: Option<f64>,

    /// Seconds at the start that the steady figure leaves out [default: a fifth of the duration]
    #[arg(long, value_name = "S", help_heading = TRAFFIC, value_parser = seconds_or_none)]
    warmup: Option<f64>,

    /// Most running requests of a rank [default: as the model's logs say]
    #[arg(long, value_name = "N", help_heading = LIMITS, value_parser = whole::<u32>(1..=1_048_576))]
    max_running: Option<u32>,

    /// How prompts are prefilled [default: as the model's logs show]
    #[arg(long, value_name = "HOW", help_heading = LIMITS)]
    prefill: Option<PrefillFlag>,

    /// Prompt tokens of a prefill batch, or of the chunk that a step takes along [default: the logs' own, else 8192]
    #[arg(long, value_name = "N", help_heading = LIMITS, value_parser = whole::<u32>(1..))]
    prefill_tokens: Option<u32>,

    /// Disaggregated: prompts prefilled at a time [default: no limit]
    #[arg(long, value_name = "N", help_heading = LIMITS, value_parser = whole::<u32>(1..=1_048_576))]
    prefill_workers: Option<u32>,

    /// Share of prompt tokens found in the prefix cache [default: the logs' own]
    #[arg(long, value_name = "SHARE", help_heading = LIMITS, value_parser = share)]
    cache_hit: Option<f64>,

    /// KV tokens that a rank holds [default: no limit]
    #[arg(long, value_name = "N", help_heading = LIMITS, value_parser = whole::<u64>(1..))]
    kv_tokens: Option<u64>,

    /// What a full KV pool does: queue (a request is admitted when its whole length fits) or retract (the youngest goes back)
    #[arg(long, value_name = "WHAT", help_heading = LIMITS, default_value = "queue", requires = "kv_tokens")]
    kv_full: FullFlag,

    /// Data-parallel ranks that step together [default: the model's]
    #[arg(long, value_name = "N", help_heading = LIMITS, value_parser = whole::<u32>(1..=1024))]
    ranks: Option<u32>,

    /// Whether ranks draw one sequence while none is idle
    #[arg(long, value_name = "BOOL", help_heading = LIMITS, action = ArgAction::Set, default_value_t = true)]
    ranks_share_draws: bool,

    /// Whether a step is launched before the results of the last are looked at, so that finished requests stay for one step
    /// more [default: as the model's logs say]
    #[arg(long, value_name = "BOOL", help_heading = LIMITS, action = ArgAction::Set)]
    overlap: Option<bool>,

    /// What all draws follow from: the same seed, the same output
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<u64>(..))]
    seed: u64,

    /// Runs of each point, with draws and requests of their own
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u32>(1..=100_000))]
    replicates: u32,

    /// Write the log of the first point's first run to FILE
    #[arg(long, value_name = "FILE", help_heading = LOG)]
    emit_log: Option<PathBuf>,

    /// Verify steps per decode line
    #[arg(long, value_name = "N", help_heading = LOG, default_value_t = 40, requires = "emit_log")]
    #[arg(value_parser = whole::<u32>(1..))]
    decode_log_interval: u32,

    /// When the log begins, local time
    #[arg(long, value_name = "TIME", help_heading = LOG, default_value = "2026-10-12T01:02:03", requires = "emit_log")]
    start: LocalTime,

    /// Write the result to FILE in place of standard output; as text to a FILE.svg: a drawing
    #[arg(short, long, value_name = "FILE", help_heading = RESULT)]
    output: Option<PathBuf>,

    /// Write a page to look at to FILE, too
    #[arg(long, value_name = "FILE", help_heading = RESULT)]
    html: Option<PathBuf>,

    #[command(flatten)]
    format: FormatFlags,
}

/// `--method`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Method {
    /// Floor or ceiling of the length, one draw a step (SGLang)
    MatchExpected,
    /// A rounded, clamped normal variable, one draw a step (SGLang)
    Multinomial,
    /// The length rounded once (DSPARK of SGLang 0.5.16 and 0.5.17)
    Rounded,
    /// Floor or ceiling of the length, one draw a request (vLLM, ATOM)
    PerRequest,
    /// The same whole length in every step
    Constant,
    /// One conditional rate for all draft positions (older vLLM and ATOM)
    Geometric,
    /// One acceptance rate a draft position (vLLM): needs --rates
    PerPosition,
    /// A real head by conditional rates: needs --rates
    Real,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PrefillFlag {
    /// Decoding waits
    Blocking,
    /// Every step takes a chunk along
    Chunked,
    /// Other servers prefill
    Disaggregated,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FullFlag {
    /// Wait in the queue
    Queue,
    /// Send the youngest back
    Retract,
}

pub(super) fn run(
    args: &SimulateArgs,
    global: &Global,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let outputs = [&args.output, &args.html, &args.emit_log];
    ensure!(
        !args.emit_log.as_deref().is_some_and(is_stdout),
        "--emit-log: a log is written to a file; name one"
    );
    apart([args.model.as_path()].into_iter().chain(args.trace.as_deref()), outputs.map(Option::as_deref))?;
    let model = model(&args.model)?;
    let drafts = args.drafts(&model)?;
    let law = args.law(drafts)?;
    let server = match args.server(&model, drafts, law) {
        Ok(server) => server,
        Err(error) => {
            let refused = error.downcast_ref::<ServeError>().map(|error| refusal(error, err)).transpose()?;
            return refused.flatten().ok_or(error);
        }
    };
    let traffics = args.traffics()?;
    let runs: Vec<(Server, Traffic)> =
        traffics.iter().map(|traffic| (server.clone(), traffic.clone())).collect();
    let replicates = Replicates { count: args.replicates, seed: args.seed };
    let points = global.on_threads(|| replicates.run(&runs))??;
    let points: Vec<SimulatedPoint> = traffics
        .iter()
        .zip(points)
        .map(|(traffic, point)| {
            let ground = ground(&model, &server, traffic, &point);
            SimulatedPoint { arrivals: traffic.arrivals, point, ground }
        })
        .collect();
    if let (Some(file), Some(traffic)) = (&args.emit_log, traffics.first()) {
        args.emit(file, &server, traffic).with_context(|| format!("cannot write {}", file.display()))?;
    }
    if args.html.is_some() {
        let shown = shown(|out| text::throughput::simulation(out, &server, &points))?;
        write_to(args.html.as_deref(), out, |out| html::write_simulation(&points, &shown, out))?;
    }
    let figures = plot::simulation(&points);
    let output = args.output.as_deref();
    if is_svg(output) && !args.format.is_json() {
        write_drawing(output, out, |out| plot::write_svg("Simulated throughput", &figures, out))?;
    } else {
        write_text(output, out, |out| {
            if args.format.is_json() {
                let document = ThroughputSimulation::new(&server, &points, args.seed, args.replicates);
                return json::write(out, &document);
            }
            text::throughput::simulation(out, &server, &points)?;
            draw(global, &figures, out)
        })?;
    }
    if !global.quiet && !args.format.is_json() {
        for traffic in &traffics {
            if let Some(note) = unstable(&server, traffic) {
                writeln!(err, "warning: no steady state: {note}")?;
            }
        }
    }
    Ok(Exit::Ok)
}

/// What a point stands on: a closed loop's clients, or the batch that an open loop came to on average.
fn ground(model: &Model, server: &Server, traffic: &Traffic, point: &Point) -> Ground {
    let running = match traffic.arrivals {
        Arrivals::Closed { concurrency } => concurrency,
        Arrivals::Poisson { .. } | Arrivals::Trace => crate::law::whole32(point.mean_running.ceil()),
    };
    ground_at(model, server, running, &traffic.requests)
}

/// Why an open loop has no steady state.
fn unstable(server: &Server, traffic: &Traffic) -> Option<String> {
    let (Arrivals::Poisson { rate }, Requests::Drawn { input, output }) =
        (traffic.arrivals, &traffic.requests)
    else {
        return None;
    };
    let prefill = if server.prefilling.is_colocated() {
        server.prefill
    } else {
        crate::throughput::PrefillLaw::default()
    };
    let demand = Demand {
        step: &server.step,
        prefill,
        running: 1,
        drafts: server.drafts,
        verified: server.verified,
        accept_length: server.law.mean(),
        variance: server.law.variance(),
        input: *input,
        cached: server.cached,
        output: *output,
        batch_tokens: match server.prefilling {
            Prefilling::Blocking { batch_tokens: tokens } | Prefilling::Chunked { tokens } => tokens,
            Prefilling::Elsewhere { .. } => u32::MAX,
        },
        shares_draws: server.law.draws() == Draws::Shared,
        overlap: server.overlap,
    };
    open_loop(&demand, rate / f64::from(server.ranks), server.most_running)
        .err()
        .map(|error| error.to_string())
}

impl SimulateArgs {
    fn drafts(&self, model: &Model) -> anyhow::Result<u32> {
        let known = model.draft_lengths();
        match (self.draft_length, known.as_slice()) {
            (Some(drafts), _) => Ok(drafts),
            (None, [only]) => Ok(*only),
            (None, []) if model.is_draft_length_unknown() => {
                bail!("the model does not know its draft length; calibrate again with --draft-length")
            }
            (None, []) => Ok(0),
            (None, _) => bail!("the model holds draft lengths {known:?}; pick one with --draft-length"),
        }
    }

    fn law(&self, drafts: u32) -> anyhow::Result<AcceptanceLaw> {
        let most = drafts.saturating_add(1);
        let by_rates = matches!(self.method, Method::PerPosition | Method::Real);
        ensure!(
            by_rates != self.rates.is_empty(),
            "--rates goes with --method per-position and real, which need it"
        );
        if by_rates {
            ensure!(
                self.accept_length.is_none(),
                "--rates give the accept length; leave --accept-length out"
            );
            let law = if self.method == Method::Real {
                AcceptanceLaw::Real(RealHead::new(&self.rates)?)
            } else {
                AcceptanceLaw::PerPosition(PerPosition::new(self.rates.clone())?)
            };
            ensure!(
                u32::try_from(self.rates.len()).is_ok_and(|rates| rates == drafts),
                "{} rates do not fit draft length {drafts}: give one a draft position",
                self.rates.len()
            );
            return Ok(law);
        }
        let Some(length) = self.accept_length else { bail!("--accept-length is missing") };
        ensure!(
            (1.0..=f64::from(most)).contains(&length),
            "accept length {length} is outside [1, {most}]: a step verifies {drafts} drafts and adds one token"
        );
        let setting = Setting::new(length, most)?;
        Ok(match self.method {
            Method::MatchExpected => AcceptanceLaw::match_expected(setting),
            Method::Multinomial => AcceptanceLaw::multinomial(setting),
            Method::Rounded => AcceptanceLaw::rounded(setting),
            Method::PerRequest => AcceptanceLaw::per_request(setting),
            Method::Constant => {
                ensure!(length.fract() <= 0.0, "a constant accept length is a whole number, found {length}");
                AcceptanceLaw::Constant(crate::law::whole32(length))
            }
            Method::Geometric => {
                let rate = (length - 1.0) / f64::from(drafts.max(1));
                AcceptanceLaw::Geometric(GeometricDecay::with_mean_rate(rate, drafts)?)
            }
            Method::PerPosition | Method::Real => bail!("--rates is missing"),
        })
    }

    fn server(&self, model: &Model, drafts: u32, law: AcceptanceLaw) -> anyhow::Result<Server> {
        let mut server = server(model, drafts, law)?;
        let tokens = self.prefill_tokens.or(model.batch_tokens).unwrap_or(8192);
        let workers = self.prefill_workers.unwrap_or(1 << 16);
        server.prefilling = match (self.prefill, server.prefilling) {
            (Some(PrefillFlag::Blocking), _) | (None, Prefilling::Blocking { .. }) => {
                Prefilling::Blocking { batch_tokens: tokens }
            }
            (Some(PrefillFlag::Chunked), _) | (None, Prefilling::Chunked { .. }) => {
                Prefilling::Chunked { tokens }
            }
            (Some(PrefillFlag::Disaggregated), _) | (None, Prefilling::Elsewhere { .. }) => {
                Prefilling::Elsewhere { workers }
            }
        };
        ensure!(
            self.prefill_workers.is_none() || !server.prefilling.is_colocated(),
            "--prefill-workers is about disaggregated prefill; add --prefill disaggregated"
        );
        server.most_running = self.max_running.unwrap_or(server.most_running);
        server.cached = self.cache_hit.unwrap_or(server.cached);
        server.ranks = self.ranks.unwrap_or(server.ranks);
        server.overlap = self.overlap.unwrap_or(server.overlap);
        server.ranks_share_draws = self.ranks_share_draws;
        let when_full = match self.kv_full {
            FullFlag::Queue => WhenFull::Queue,
            FullFlag::Retract => WhenFull::Retract,
        };
        server.pool = self.kv_tokens.map(|tokens| Pool { tokens, when_full });
        Ok(server)
    }

    fn traffics(&self) -> anyhow::Result<Vec<Traffic>> {
        let requests = match (&self.trace, self.isl, self.osl) {
            (Some(file), ..) => Requests::Listed(read(file)?),
            (None, Some(input), Some(output)) => Requests::Drawn { input, output },
            (None, ..) => bail!("--isl and --osl are missing"),
        };
        let duration_s = self.duration.unwrap_or(f64::INFINITY);
        let warmup_s = self.warmup.unwrap_or(if duration_s.is_finite() { duration_s / 5.0 } else { 0.0 });
        let closed =
            self.concurrency.iter().map(|concurrency| Arrivals::Closed { concurrency: *concurrency });
        let open = self.rate.iter().map(|rate| Arrivals::Poisson { rate: *rate });
        let mut arrivals: Vec<Arrivals> = closed.chain(open).collect();
        if arrivals.is_empty() {
            arrivals.push(Arrivals::Trace);
        }
        let traffic = |arrivals| Traffic { arrivals, requests: requests.clone(), duration_s, warmup_s };
        Ok(arrivals.into_iter().map(traffic).collect())
    }

    fn emit(&self, file: &Path, server: &Server, traffic: &Traffic) -> anyhow::Result<()> {
        let mut failed = None;
        whole_file(file, |created| {
            let mut buffer = std::io::BufWriter::new(created);
            let mut writer = LogWriter::new(server, self.decode_log_interval, self.start, &mut buffer);
            let mut sink = |event: &_| writer.event(event);
            let run = simulate_logged(server, traffic, self.seed, 0, self.decode_log_interval, &mut sink);
            failed = run.err();
            writer.finish()?;
            buffer.flush()
        })?;
        failed.map_or(Ok(()), |error| Err(error.into()))
    }
}

/// Reads a trace; one whose first byte opens an object is JSON lines.
fn read(file: &Path) -> anyhow::Result<Arc<[crate::throughput::sim::Request]>> {
    let name = || format!("{}", file.display());
    let opened = std::fs::File::open(file).with_context(|| format!("cannot read {}", file.display()))?;
    let mut reader = BufReader::new(Patient(opened));
    let head = std::io::BufRead::fill_buf(&mut reader).with_context(name)?;
    let form = if head.trim_ascii_start().starts_with(b"{") { TraceForm::JsonLines } else { TraceForm::Csv };
    Ok(read_trace(reader, form).with_context(name)?.into())
}
