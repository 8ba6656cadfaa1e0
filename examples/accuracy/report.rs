//! The accuracy page, measured.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

use accsim::evidence::{Input, Limits, Reader};
use accsim::throughput::{
    Comparison, Model, Observer, Options, PhaseFigures, Question, calibrate, compare, predict, read_client,
};

/// Runs of each phase.
const REPLICATES: u32 = 20;

/// What is calibrated on which log, and compared with which: log, draft length, accept length.
type Case = (&'static [&'static str], &'static [(&'static str, u32, f64)]);

/// The cases.
const CASES: [Case; 5] = [
    (&["var_k5_al351"], &[("var_k5_al351", 5, 3.51), ("e3k5_al351", 5, 3.51), ("e3k5_al200", 5, 2.0)]),
    (&["e3k5_al351"], &[("e3k5_al200", 5, 2.0), ("e3k5_al351", 5, 3.51)]),
    (&["e3k5_al200"], &[("e3k5_al351", 5, 3.51)]),
    (&["e3k5_al351", "e3k3_al299"], &[("e3k3_al299", 3, 2.99)]),
    (&["base"], &[("base", 0, 1.0)]),
];

const HEAD: &str = "# Accuracy

Written by one command, from the logs and client files of `tests/data/h200`; a test compares this page with what the command
writes.

```console
$ cargo run --release --example accuracy
```

How it is measured. A model is calibrated on the named log alone, without its client file. The simulation then serves the
requests that the client sent, in their order, with as many clients, for as long; 20 runs, means of them. Nothing is fitted to the
client's figures.

- *whole*: from the first request to the last token, as the client prints it. The first requests of each phase met kernels that
  had never run at their batch size: on the first decode line of the phases with 4, 16 and 32 clients of `var_k5_al351` the server
  stood still for 1.0, 1.4 and 2.1 s (idle time between the phases included). No model of steady steps has that in it.
- *steady*: the requests behind the first one of each client that ended before the client stopped sending, the same requests on both
  sides. Tokens a second are clients times tokens over seconds, as every client is busy all that time.
- *noise*: the relative standard error of the client's own steady figure, by a bootstrap over these requests. With 6 to 63 requests of
  64 to 1024 tokens it can be larger than the error of the model; with requests of one length it is small. An error below the
  noise says that the two agree, not that the model is that good.

Errors are simulated over measured, less 1. Targets: the run's own client within 3 % of the steady tokens a second, 5 % of the mean
and 10 % of the 90th percentile of latency; another target within 4 % and 6 %. A figure outside its target is marked with `!`, and
with `~` where the noise is larger than the target.
";

/// The page.
pub(crate) fn report(root: &Path) -> Result<String, Box<dyn Error>> {
    let mut page = HEAD.to_owned();
    for (logs, runs) in CASES {
        let model = model(root, logs)?;
        for (run, drafts, accept_length) in runs {
            let own = logs.contains(run);
            write!(page, "\n## Calibrated on {}, compared with {run}\n\n", names(logs))?;
            page.push_str(
                "| clients | requests | whole tokens/s | steady tokens/s | noise | mean latency | noise | p90 latency | noise |\n\
                 |---|---|---|---|---|---|---|---|---|\n",
            );
            for found in compared(root, &model, run, *drafts, *accept_length)? {
                row(&mut page, &found, own)?;
            }
        }
    }
    ratios(root, &mut page)?;
    Ok(page)
}

fn names(logs: &[&str]) -> String {
    logs.join(" and ")
}

/// Calibrates on logs of the test data.
pub(crate) fn model(root: &Path, logs: &[&str]) -> Result<Model, Box<dyn Error>> {
    let mut observer = Observer::new(None);
    for log in logs {
        let name = format!("tests/data/h200/{log}.log");
        observer.begin(&name);
        let mut reader = Reader::new(Limits::default());
        let input = Input::from(root.join(&name).as_path());
        if let Some(error) = reader.read(&input, &mut |place, record| observer.record(place, record)).pop() {
            return Err(error.to_string().into());
        }
    }
    Ok(calibrate(&observer.finish()?, &Options::default())?)
}

/// Simulates what a client did.
pub(crate) fn compared(
    root: &Path,
    model: &Model,
    run: &str,
    drafts: u32,
    accept_length: f64,
) -> Result<Vec<Comparison>, Box<dyn Error>> {
    let client = read_client(&std::fs::read(root.join(format!("tests/data/h200/{run}.json")))?)?;
    Ok(compare(model, drafts, accept_length, &client, REPLICATES)?)
}

fn row(page: &mut String, found: &Comparison, own: bool) -> Result<(), std::fmt::Error> {
    let (measured, simulated) = found.steady.unwrap_or(found.whole);
    let off = |figure: fn(&PhaseFigures) -> f64, pair: (&PhaseFigures, &PhaseFigures)| {
        figure(pair.1) / figure(pair.0) - 1.0
    };
    let limits = if own { [0.03, 0.05, 0.10] } else { [0.04, 0.06, f64::INFINITY] };
    let cell = |figure: fn(&PhaseFigures) -> f64, limit: f64| {
        let error = off(figure, (&measured, &simulated));
        let noise = figure(&found.noise);
        let mark = match (error.abs() > limit, noise > limit) {
            (false, _) => "",
            (true, true) => " ~",
            (true, false) => " !",
        };
        format!("{:+.1} %{mark} | {:.1} %", error * 100.0, noise * 100.0)
    };
    let whole = off(|figures| figures.tps, (&found.whole.0, &found.whole.1));
    writeln!(
        page,
        "| {} | {} | {:+.1} % | {} | {} | {} |",
        found.concurrency,
        found.requests,
        whole * 100.0,
        cell(|figures| figures.tps, limits[0]),
        cell(|figures| figures.mean_s, limits[1]),
        cell(|figures| figures.p90_s, limits[2])
    )
}

/// Tier 0: the ratio of two targets, from the log of one.
fn ratios(root: &Path, page: &mut String) -> Result<(), Box<dyn Error>> {
    page.push_str(
        "\n## `predict` from e3k5_al351 to accept length 2.0, against the decode lines of e3k5_al200\n\n\
         | running | predicted tokens/s | 5-95 % | basis | measured | error |\n|---|---|---|---|---|---|\n",
    );
    let (from, to) = (model(root, &["e3k5_al351"])?, model(root, &["e3k5_al200"])?);
    for level in to.levels.iter().filter(|level| level.drafts == Some(5)) {
        let question = Question::running(2.0, Some(5), level.running);
        let found = predict(&from, &question)?;
        writeln!(
            page,
            "| {} | {:.1} | {:.1}-{:.1} | {} | {:.1} | {:+.1} % |",
            level.running,
            found.tps,
            found.band.0,
            found.band.1,
            found.basis.name(),
            level.tps,
            (found.tps / level.tps - 1.0) * 100.0
        )?;
    }
    Ok(())
}
