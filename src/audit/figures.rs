//! Counters, requests and endpoints of a point, while its files are read: what counts, once.

mod cut;
mod exports;
mod scrapes;

use std::collections::BTreeMap;
use std::hash::{Hash as _, Hasher as _};

use rustc_hash::{FxHashMap, FxHasher};

use super::explain::count;
use super::finding::{Finding, FindingCode, Severity};
use super::pooled::{PooledEvidence, PooledRank, PooledSource};
use crate::engine::Engine;
use crate::evidence::{
    CounterRecord, Counts, Exporter, IterationStats, ModelCounts, Place, Pool, RequestFigures, Span,
    StepCount, Tags, Window,
};
pub(super) use cut::Cut;
use exports::Exports;
use scrapes::Scrapes;

/// Ranks that are kept apart.
const MOST_KEPT: usize = 10_000;

/// Iterations that are known, so that a copy is told.
const MOST_ITERATIONS: usize = 1 << 20;

/// Bins of a histogram: more than any draft length.
const MOST_BINS: u32 = 256;

/// What the figures of a point add up to so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures {
    /// Scrapes of servers, by what was scraped.
    scrapes: Scrapes,
    /// Sums over a run that a client kept.
    exports: Exports,
    /// Records of TensorRT-LLM's `/metrics`, by rank.
    iterations: BTreeMap<Option<u32>, Evidence>,
    /// Iterations that were counted, by rank and number, each with what its record says.
    known_iterations: FxHashMap<(Option<u32>, u64), u64>,
    /// Iterations that stand in several dumps, and the first that did.
    repeated: u64,
    first_repeated: Option<Place>,
    /// The first record of an iteration that says nothing of drafts.
    first_bare: Option<Place>,
    requests: BTreeMap<Exporter, Requests>,
    /// Whose figures came first, be they of drafting or not.
    exporter: Option<Exporter>,
    findings: Vec<Finding>,
}

#[derive(Clone, Debug, Default)]
struct Evidence {
    first: Option<Place>,
    pieces: u64,
    pool: Pool,
}

#[derive(Clone, Debug, Default)]
struct Requests {
    evidence: Evidence,
    /// Steps of the longest request: at least so many batches were verified.
    most_steps: u64,
}

impl Figures {
    /// Takes the next record.
    pub(super) fn add(&mut self, place: Place, record: &CounterRecord) {
        self.exporter = self.exporter.or(record.exporter());
        match record {
            CounterRecord::Counters(counters) => self.counters(place, counters),
            CounterRecord::Debug(debug) if debug.enabled == Some(false) && debug.counts.is_empty() => self.say(
                FindingCode::NoSpeculativeFields,
                Severity::Warning,
                place,
                "this is /debug/mtp_stats of ATOM, and it says that its statistics are not enabled: the server ran without \
                 speculative decoding. That is no accept length of 1"
                    .to_owned(),
            ),
            CounterRecord::Debug(debug) => {
                if let Some(contradiction) = debug.counts.against_printed(debug.accept_len_printed) {
                    return self.contradicts(place, &format!("average_tokens_per_forward: {contradiction}"));
                }
                if let Some(scrape) = &debug.scrape {
                    for counters in scrape.snapshot.model_counts() {
                        self.scrape(place, &counters, scrape);
                    }
                }
            }
            CounterRecord::Request(request) => self.request(place, request),
            CounterRecord::Iteration(iteration) => self.iteration(place, iteration),
            CounterRecord::ServerInfo(info) => {
                if let Some(length) = info.accept_length() {
                    let ranks = info.rank_accept_lens.len();
                    self.note(
                        FindingCode::GaugeOnly,
                        place,
                        format!(
                            "the server's own average since its start or its last flush is {length:.3} (mean over {ranks} \
                             DP ranks, not weighed: their steps are not told); it is no sample, warm-up included. Audit \
                             the decode log"
                        ),
                    );
                }
            }
        }
    }

    /// The engine whose figures came first.
    pub(super) fn engine(&self) -> Option<Engine> {
        self.exporter.map(Exporter::engine)
    }

    /// The evidence, each kind by itself, and what is to be said of it.
    pub(super) fn finish(mut self) -> (Vec<PooledEvidence>, Vec<Finding>) {
        let mut found = Vec::new();
        for (exporter, sums) in self.scraped() {
            let first = sums.first().map(|sum| sum.place);
            // One server's whole life and another one's run: neither.
            let spans: Vec<Span> = sums.iter().map(|sum| sum.span).collect();
            let span = spans.first().copied().filter(|first| spans.iter().all(|span| span == first));
            let ranks = sums.into_iter().map(|sum| sum.rank).collect();
            let counters = evidence(exporter.engine(), PooledSource::Counters, ranks, first);
            found.push(PooledEvidence { span, ..counters });
        }
        // The same counters as a client saw them: judged where there is nothing sharper, and compared.
        found.extend(std::mem::take(&mut self.exports).finish());
        if let Some(place) = self.first_bare.filter(|_| self.iterations.is_empty()) {
            self.say(
                FindingCode::NoSpeculativeFields,
                Severity::Warning,
                place,
                "these are records of TensorRT-LLM's /metrics, and none has specDecodingStats, which says what was accepted: the \
                 server ran without speculative decoding, or its build does not tell it. That is no accept length of 1"
                    .to_owned(),
            );
        }
        if let Some(place) = self.first_repeated {
            let message = format!("{} of several dumps counted once", count(self.repeated, "iteration"));
            self.note(FindingCode::DuplicateLines, place, message);
        }
        if !self.iterations.is_empty() {
            let first = self.iterations.values().filter_map(|kept| kept.first).min();
            let ranks = std::mem::take(&mut self.iterations).into_iter().map(|(rank, kept)| PooledRank {
                tags: tags(rank),
                lines: kept.pieces,
                pool: kept.pool,
                max_running_req: None,
            });
            found.push(evidence(Engine::Trtllm, PooledSource::Iterations, ranks.collect(), first));
        }
        for (exporter, requests) in std::mem::take(&mut self.requests) {
            let is_shared = exporter == Exporter::Sglang;
            let mut evidence = requests.evidence.of(exporter.engine(), PooledSource::Requests);
            // Requests of one batch share their draws; the longest one alone is sure to have seen so many.
            evidence.independent_steps = is_shared.then(|| crate::law::float(requests.most_steps));
            found.push(evidence);
        }
        found.retain(|evidence| evidence.total().windows > 0);
        (found, self.findings)
    }

    fn counters(&mut self, place: Place, counters: &ModelCounts) {
        if let Some(series) = &counters.restarted {
            return self.reset(place, &format!("{series} fell"));
        }
        if let Some(first) = counters.contradicting.first() {
            let others = counters.contradicting.len() - 1;
            self.say(
                FindingCode::CountsContradict,
                Severity::Warning,
                place,
                format!(
                    "{first}{}; the counters of this endpoint are left out: it was started anew while it was scraped, and the \
                     client cut what fell to 0. Run again, or read its log",
                    if others > 0 { format!(" (and {others} more endpoints like it)") } else { String::new() }
                ),
            );
        }
        match (&counters.scrape, counters.span) {
            (Some(scrape), Span::Lifetime) => self.scrape(place, counters, scrape),
            _ => self.export(place, counters),
        }
        if let Some(length) = counters.last_accept_length.filter(|_| counters.counts.steps.is_none()) {
            self.note(
                FindingCode::GaugeOnly,
                place,
                format!(
                    "a gauge of {} reads {length:.2}: the last interval before the scrape, weighed by scrapes and not by \
                     tokens. It is no measurement. Audit the log, or counters of accepted drafts",
                    counters.exporter.name()
                ),
            );
        } else if counters.counts.is_empty() {
            self.say(
                FindingCode::NoSpeculativeFields,
                Severity::Warning,
                place,
                format!(
                    "metrics of {} without any of speculative decoding: this port was not that of a worker that drafts, or \
                     the server did not draft. That is no accept length of 1",
                    counters.exporter.engine().title()
                ),
            );
        }
    }

    /// Counters of drafting that count nothing; says whether these do.
    fn is_idle(&mut self, place: Place, exporter: Exporter, counts: &Counts) -> bool {
        let has_drafts = counts.drafted.is_some_and(|drafted| drafted > 0);
        let is_idle =
            (counts.steps == Some(0) && !has_drafts) || (counts.steps.is_none() && counts.drafted == Some(0));
        if is_idle {
            self.say(
                FindingCode::NoSpeculativeFields,
                Severity::Warning,
                place,
                format!(
                    "the counters of {} stand still: not one token was drafted in the time that they cover. That is no \
                     accept length of 1; scrape the worker that drafts, before and after the load",
                    exporter.engine().title()
                ),
            );
        }
        is_idle
    }

    fn request(&mut self, place: Place, request: &RequestFigures) {
        // Whose request it is, a report could only guess.
        let Some(exporter) = request.exporter else { return };
        if let Some(contradiction) = request.contradictions().into_iter().next() {
            return self.contradicts(place, &contradiction.to_string());
        }
        let counts = request.sums();
        if let Some(window) = self.window(place, &counts) {
            let kept = self.requests.entry(exporter).or_default();
            kept.most_steps = kept.most_steps.max(counts.steps.unwrap_or(0));
            kept.evidence.add(place, &window);
        }
    }

    fn iteration(&mut self, place: Place, iteration: &IterationStats) {
        if self.iterations.len() >= MOST_KEPT && !self.iterations.contains_key(&iteration.rank) {
            return;
        }
        if let Some(contradiction) = iteration.counts.against_printed(iteration.accept_len_printed) {
            return self.contradicts(place, &format!("acceptanceLength: {contradiction}"));
        }
        if iteration.counts.is_empty() {
            self.first_bare.get_or_insert(place);
            return;
        }
        if self.is_repeated(iteration) {
            self.repeated += 1;
            self.first_repeated.get_or_insert(place);
            return;
        }
        if let Some(window) = self.window(place, &iteration.counts) {
            self.iterations.entry(iteration.rank).or_default().add(place, &window);
        }
    }

    /// Whether an iteration was counted: its number and all that its record says came before. Another server's iteration of
    /// the same number took another time.
    fn is_repeated(&mut self, iteration: &IterationStats) -> bool {
        let Some(number) = iteration.iteration else { return false };
        let mut hasher = FxHasher::default();
        format!("{iteration:?}").hash(&mut hasher);
        let (key, said) = ((iteration.rank, number), hasher.finish());
        if let Some(known) = self.known_iterations.get(&key) {
            return *known == said;
        }
        if self.known_iterations.len() < MOST_ITERATIONS {
            self.known_iterations.insert(key, said);
        }
        false
    }

    /// The sums as a window; what contradicts itself is none.
    fn window(&mut self, place: Place, counts: &Counts) -> Option<Window> {
        if let Some(contradiction) = counts.contradictions().into_iter().next() {
            self.contradicts(place, &contradiction.to_string());
            return None;
        }
        let (accepted, steps) = (counts.accepted?, counts.steps?);
        let bins = bins(counts, steps);
        let last = bins.keys().last().filter(|last| **last < MOST_BINS);
        let histogram = last
            .map(|last| (0..=*last).map(|bin| bins.get(&bin).copied().unwrap_or(0)).collect::<Vec<u64>>());
        Some(Window {
            accepted,
            steps: StepCount::Exact(steps),
            drafted: counts.drafted,
            draft_length: counts.draft_length(),
            reached: counts.rates(),
            resolution: 0.0,
            histogram: histogram.unwrap_or_default(),
        })
    }

    fn reset(&mut self, place: Place, what: &str) {
        self.say(
            FindingCode::CounterReset,
            Severity::Warning,
            place,
            format!("{what}; these counters are not used. Scrape the same servers before and after a run"),
        );
    }

    fn contradicts(&mut self, place: Place, what: &str) {
        self.say(
            FindingCode::CountsContradict,
            Severity::Warning,
            place,
            format!("{what}; these counts are not used"),
        );
    }

    fn note(&mut self, code: FindingCode, place: Place, message: String) {
        self.say(code, Severity::Note, place, message);
    }

    /// The first of each kind; more of it would say no more.
    fn say(&mut self, code: FindingCode, severity: Severity, place: Place, message: String) {
        if self.findings.iter().all(|known| known.code != code) {
            self.findings.push(Finding { code, severity, message, evidence: Some(place) });
        }
    }
}

/// Steps by accepted drafts: as counted, or as they follow from the places. A place counts the steps in which its draft and
/// all before it were accepted, so what one place has more than the next ended there.
fn bins(counts: &Counts, steps: u64) -> BTreeMap<u32, u64> {
    let is_whole = counts.accepted == Some(counts.accepted_at.iter().sum());
    if !counts.histogram.is_empty() || counts.accepted_at.is_empty() || !is_whole {
        return counts.histogram.clone();
    }
    let reached = std::iter::once(steps).chain(counts.accepted_at.iter().copied());
    let next = counts.accepted_at.iter().copied().chain([0]);
    (0..).zip(reached.zip(next).map(|(reached, next)| reached.saturating_sub(next))).collect()
}

impl Evidence {
    fn add(&mut self, place: Place, window: &Window) {
        self.first.get_or_insert(place);
        self.pieces += 1;
        self.pool.add(window);
    }

    fn of(self, engine: Engine, source: PooledSource) -> PooledEvidence {
        let rank =
            PooledRank { tags: tags(None), lines: self.pieces, pool: self.pool, max_running_req: None };
        evidence(engine, source, vec![rank], self.first)
    }
}

fn evidence(
    engine: Engine,
    source: PooledSource,
    ranks: Vec<PooledRank>,
    first: Option<Place>,
) -> PooledEvidence {
    let mut evidence = PooledEvidence::new(engine, source);
    evidence.ranks = ranks;
    evidence.first = first;
    evidence
}

fn rank(number: Option<u32>, windows: &[Window]) -> PooledRank {
    let mut pool = Pool::default();
    for window in windows {
        pool.add(window);
    }
    let lines = u64::try_from(windows.len()).unwrap_or(u64::MAX);
    PooledRank { tags: tags(number), lines, pool, max_running_req: None }
}

fn tags(rank: Option<u32>) -> Tags {
    rank.map(|rank| Tags::parse(format!("DP{rank}").as_bytes())).unwrap_or_default()
}
