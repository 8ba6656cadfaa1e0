//! All series of one scrape, or of one export with many scrapes, and what they add up to for each model.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::counts::{Contradiction, Counts};
use super::difference::{self, Counted};
use super::family::{Exporter, Family, Role};
use super::figures::DebugStats;
use super::series::{SeriesKey, Track};

/// Series of ours that a file may hold: engines times positions, and room.
const MOST_SERIES: usize = 100_000;

/// Endpoints of one export that are looked at one by one.
const MOST_ENDPOINTS: usize = 256;

/// The metric of every Prometheus client that tells one process from the next.
const STARTED: &str = "process_start_time_seconds";

/// The series of one file that are about drafting.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Snapshot {
    series: BTreeMap<SeriesKey, Track>,
    /// What an export says of a series' begin.
    created: BTreeMap<SeriesKey, f64>,
    /// Whose other metrics, not of drafting, are in it.
    others: Option<Exporter>,
    /// When the process of each endpoint was started, in seconds, as `process_start_time_seconds` says.
    started: BTreeMap<String, f64>,
    /// Series that did not fit.
    dropped: u64,
    /// A series that stood twice in one scrape, with two values.
    twice: Option<SeriesKey>,
}

/// What the sums of a snapshot span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Span {
    /// From the server's start on.
    Lifetime,
    /// Between the first and the last scrape of an export.
    Window,
}

impl Span {
    /// The word for it in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Lifetime => "lifetime",
            Self::Window => "window",
        }
    }
}

/// What kind of file counters stand in. One measurement may be exported in several.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub enum Form {
    /// One JSON document, with the sums of the whole run.
    Json,
    /// JSON, one object a scrape.
    JsonLines,
    /// Parquet, one row a sample.
    Parquet,
    /// Prometheus text.
    #[default]
    Text,
}

impl Form {
    /// The word for it in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::JsonLines => "JSON lines",
            Self::Parquet => "Parquet",
            Self::Text => "Prometheus text",
        }
    }
}

/// When a scrape was made, as the name of its file or folder says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Moment {
    /// `before`, `start`, `begin`, `pre`.
    Before,
    /// `after`, `end`, `final`, `post`.
    After,
}

/// The series of one scrape, and what was scraped.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Scrape {
    /// When, where a name says so.
    pub moment: Option<Moment>,
    /// The file's name without the word for the moment: two scrapes of one place are of the same servers.
    pub place: String,
    /// The series.
    pub snapshot: Snapshot,
}

impl Scrape {
    /// A scrape that was read from the file `name`.
    ///
    /// ```
    /// use accsim::evidence::{Moment, Scrape, Snapshot};
    ///
    /// let scrape = Scrape::of("run/node0_before.prom", Snapshot::default());
    /// assert_eq!((scrape.moment, scrape.place.as_str()), (Some(Moment::Before), "run/node0_.prom"));
    /// ```
    #[must_use]
    pub fn of(name: &str, snapshot: Snapshot) -> Self {
        const WORDS: [(&str, Moment); 8] = [
            ("before", Moment::Before),
            ("start", Moment::Before),
            ("begin", Moment::Before),
            ("pre", Moment::Before),
            ("after", Moment::After),
            ("end", Moment::After),
            ("final", Moment::After),
            ("post", Moment::After),
        ];
        let mut moment = None;
        let mut place = String::with_capacity(name.len());
        for piece in name.split_inclusive(|character: char| !character.is_ascii_alphanumeric()) {
            let word = piece.trim_end_matches(|character: char| !character.is_ascii_alphanumeric());
            let found = WORDS.iter().find(|(known, _)| word.eq_ignore_ascii_case(known));
            place.push_str(found.map_or(piece, |_| piece.get(word.len()..).unwrap_or_default()));
            moment = found.map(|(_, moment)| *moment).or(moment);
        }
        Self { moment, place, snapshot }
    }
}

/// What the series of one model add up to.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ModelCounts {
    /// Who exports them.
    pub exporter: Exporter,
    /// The model, where a label names it.
    pub model: Option<String>,
    /// What the sums span.
    pub span: Span,
    /// The sums over all engines, ranks and endpoints.
    pub counts: Counts,
    /// A gauge: the accept length of the last interval, weighed by scrapes. No measurement.
    pub last_accept_length: Option<f64>,
    /// Endpoints that were scraped, where an export names them.
    pub endpoints: u32,
    /// Their addresses, in order; none where nothing names them.
    pub endpoint_urls: Vec<String>,
    /// What kind of file they stand in.
    pub form: Form,
    /// Series in the sums.
    pub series: u32,
    /// A series that fell: its server was started anew between the scrapes, and the sums are wrong.
    pub restarted: Option<String>,
    /// Endpoints whose counters contradict each other, each with what does: they are not in the sums.
    #[serde(default)]
    pub contradicting: Vec<String>,
    /// All series of the scrape, where it is one.
    pub scrape: Option<Arc<Scrape>>,
}

impl Snapshot {
    /// Adds a sample of the scrape at `time`.
    pub(super) fn add<N, V>(
        &mut self,
        endpoint: &str,
        name: &str,
        labels: impl IntoIterator<Item = (N, V)>,
        time: Option<i64>,
        value: f64,
        is_difference: bool,
    ) where
        N: Into<String>,
        V: Into<String>,
    {
        let family = Family::named(name);
        let created = family.is_none().then(|| Family::created(name)).flatten();
        if name == STARTED {
            if self.started.len() < MOST_SERIES {
                self.started.insert(endpoint.to_owned(), value);
            }
            return;
        }
        let Some(family) = family.or(created) else {
            self.others = self.others.or_else(|| super::family::exporter_of(name));
            return;
        };
        let labels = labels.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        let key = SeriesKey { endpoint: endpoint.to_owned(), name: family.name, labels };
        if created.is_some() {
            if self.created.len() < MOST_SERIES {
                self.created.insert(key, value);
            }
            return;
        }
        if self.series.len() >= MOST_SERIES && !self.series.contains_key(&key) {
            self.dropped += 1;
            return;
        }
        let track = self.series.entry(key.clone()).or_insert_with(|| Track::new(family));
        track.is_difference = is_difference;
        if track.was_at(time) {
            if (track.last - value).abs() > 0.0 {
                self.twice.get_or_insert(key);
            }
            return;
        }
        track.add(time, value);
    }

    /// Takes all series of another snapshot, scraped at `endpoint` unless they say where.
    pub(in crate::evidence) fn absorb(&mut self, endpoint: &str, other: Self) {
        let at = |mut key: SeriesKey| {
            if key.endpoint.is_empty() {
                endpoint.clone_into(&mut key.endpoint);
            }
            key
        };
        for (key, track) in other.series {
            if self.series.len() >= MOST_SERIES {
                self.dropped += 1;
            } else if let Some(known) = self.series.insert(at(key.clone()), track)
                && (known.last - track.last).abs() > 0.0
            {
                self.twice.get_or_insert_with(|| at(key));
            }
        }
        let created = other.created.into_iter().take(MOST_SERIES.saturating_sub(self.created.len()));
        self.created.extend(created.map(|(key, time)| (at(key), time)));
        let started = other.started.into_iter().take(MOST_SERIES.saturating_sub(self.started.len()));
        self.started
            .extend(started.map(|(at, time)| (if at.is_empty() { endpoint.to_owned() } else { at }, time)));
        self.others = self.others.or(other.others);
        self.dropped += other.dropped;
        self.twice = self.twice.take().or(other.twice);
    }

    /// Takes ATOM's own statistics as the counters that they are.
    pub(in crate::evidence) fn add_debug(&mut self, endpoint: &str, stats: &DebugStats) {
        let mut add = |name, label: Option<u32>, value: Option<u64>| {
            let labels = label.map(|place| ("accepted_tokens", place.to_string()));
            if let Some(value) = value {
                self.add(endpoint, name, labels, None, super::family::float(value), false);
            }
        };
        add("atom:mtp_draft_tokens", None, stats.counts.drafted);
        add("atom:mtp_accepted_tokens", None, stats.counts.accepted);
        for (accepted, steps) in &stats.counts.histogram {
            add("atom:mtp_decode_steps", Some(*accepted), Some(*steps));
        }
    }

    /// The series, each once.
    #[must_use]
    pub fn series(&self) -> &BTreeMap<SeriesKey, Track> {
        &self.series
    }

    /// When a series began, as its `_created` says.
    #[must_use]
    pub fn created(&self, key: &SeriesKey) -> Option<f64> {
        self.created.get(key).copied()
    }

    /// The one engine whose metrics are in it, be they of drafting or not; `None` where there are several.
    pub(super) fn sole_exporter(&self) -> Option<Exporter> {
        let mut exporters = self.series.values().map(Track::exporter).chain(self.others);
        let first = exporters.next()?;
        exporters.all(|exporter| exporter == first).then_some(first)
    }

    /// An endpoint whose process was started at another time than in an earlier snapshot.
    pub(super) fn started_anew_since(&self, before: &Self) -> Option<&str> {
        let is_other = |(at, time): &(&String, &f64)| {
            before.started.get(*at).is_some_and(|then| (then - *time).abs() > 0.5)
        };
        self.started.iter().find(is_other).map(|(at, _)| at.as_str())
    }

    /// Whether an endpoint's process is known to be that of an earlier snapshot.
    pub(super) fn is_same_process(&self, before: &Self, endpoint: &str) -> bool {
        let times = self.started.get(endpoint).zip(before.started.get(endpoint));
        times.is_some_and(|(now, then)| (now - then).abs() <= 0.5)
    }

    /// Whether nothing of any engine was in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.series.is_empty() && self.others.is_none()
    }

    /// A series that stood twice in one scrape with two values.
    #[must_use]
    pub fn twice(&self) -> Option<&SeriesKey> {
        self.twice.as_ref()
    }

    /// Series that did not fit into the memory they may take.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The models that the series name, in order.
    #[must_use]
    pub fn models(&self) -> Vec<Option<&str>> {
        let mut models: Vec<Option<&str>> = self.series.keys().map(SeriesKey::model).collect();
        models.sort_unstable();
        models.dedup();
        models
    }

    /// What the series of each exporter and model add up to on their own: since the server's start, or between the first
    /// and the last scrape of an export. Metrics without any of drafting give one entry without counts.
    #[must_use]
    pub fn model_counts(&self) -> Vec<ModelCounts> {
        let mut groups: BTreeMap<(Exporter, Option<&str>), Group<'_>> = BTreeMap::new();
        for (key, track) in &self.series {
            groups.entry((track.exporter(), key.model())).or_default().push((key, track));
        }
        if let Some(exporter) = self.others.filter(|_| groups.is_empty()) {
            return vec![sum(exporter, None, &[])];
        }
        groups.into_iter().map(|((exporter, model), series)| sum(exporter, model, &series)).collect()
    }
}

/// The series of one exporter and model.
type Group<'a> = Vec<(&'a SeriesKey, &'a Track)>;

fn sum(exporter: Exporter, model: Option<&str>, series: &[(&SeriesKey, &Track)]) -> ModelCounts {
    let spans = |track: &Track| track.is_difference || track.samples > 1;
    let span = if series.iter().any(|(_, track)| spans(track)) { Span::Window } else { Span::Lifetime };
    let counts_of = |counts: &dyn Fn(&str) -> bool| {
        let counters = series.iter().filter(|(_, track)| track.family.role.is_counter());
        difference::sum(counters.filter(|(key, _)| counts(&key.endpoint)).map(|(key, track)| {
            let from = if track.is_difference || span == Span::Lifetime { 0.0 } else { track.first };
            Counted { key, family: track.family, value: track.last - from }
        }))
    };
    let gauges: Vec<f64> = series
        .iter()
        .filter(|(_, track)| track.family.role == Role::LastAcceptLength)
        .filter_map(|(_, track)| track.mean())
        .collect();
    let gauge_count = super::family::float(u64::try_from(gauges.len()).unwrap_or(u64::MAX));
    let mut endpoints: Vec<&str> = series.iter().map(|(key, _)| key.endpoint.as_str()).collect();
    endpoints.sort_unstable();
    endpoints.dedup();
    let contradicting = contradicting(&endpoints, |endpoint| counts_of(&|other| other == endpoint));
    let is_sound = |endpoint: &str| contradicting.iter().all(|(other, _)| *other != endpoint);
    let restarted = series.iter().find(|(_, track)| track.falls > 0 || track.last < 0.0);
    ModelCounts {
        exporter,
        model: model.map(str::to_owned),
        span,
        counts: counts_of(&is_sound),
        last_accept_length: (!gauges.is_empty()).then(|| gauges.iter().sum::<f64>() / gauge_count),
        endpoints: u32::try_from(endpoints.len()).unwrap_or(u32::MAX),
        endpoint_urls: endpoints.iter().filter(|url| !url.is_empty()).map(|url| (*url).to_owned()).collect(),
        form: Form::default(),
        series: u32::try_from(series.len()).unwrap_or(u32::MAX),
        restarted: restarted.map(|(key, _)| key.shown()),
        contradicting: contradicting.iter().map(|(endpoint, what)| format!("{endpoint}: {what}")).collect(),
        scrape: None,
    }
}

/// Endpoints whose own counters cannot all be right, where others are there that can. One that was started anew while it was
/// scraped shows in nothing else, once a client has cut its negative differences to 0.
fn contradicting<'a>(
    endpoints: &[&'a str],
    counts_of: impl Fn(&str) -> Counts,
) -> Vec<(&'a str, Contradiction)> {
    if endpoints.len() < 2 || endpoints.len() > MOST_ENDPOINTS {
        return Vec::new();
    }
    let counts: Vec<(&str, Counts)> =
        endpoints.iter().map(|endpoint| (*endpoint, counts_of(endpoint))).collect();
    let is_sound = |counts: &Counts| counts.contradictions().is_empty();
    let lengths = counts.iter().filter(|(_, counts)| is_sound(counts));
    let longest = lengths.filter_map(|(_, counts)| counts.draft_length()).max();
    let found: Vec<(&str, Contradiction)> = counts
        .iter()
        .filter_map(|(endpoint, counts)| {
            let own = counts.contradictions().into_iter().next();
            Some((*endpoint, own.or_else(|| counts.against_length(longest?))?))
        })
        .collect();
    if found.len() < endpoints.len() { found } else { Vec::new() }
}
