//! Two snapshots of the same servers: what was counted between them.

use std::collections::BTreeMap;

use super::counts::Counts;
use super::family::{self, Exporter, Family, Role};
use super::series::SeriesKey;
use super::snapshot::Snapshot;

/// How far one series went.
#[derive(Clone, Copy, Debug)]
pub struct Counted<'a> {
    /// The series.
    pub key: &'a SeriesKey,
    /// What it counts.
    pub family: &'static Family,
    /// By how much it rose.
    pub value: f64,
}

/// What was counted between two snapshots.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Who counted.
    pub exporter: Exporter,
    /// The model, where a label names it.
    pub model: Option<String>,
    /// Sums over all engines, ranks and endpoints.
    pub counts: Counts,
    /// Series in the sums.
    pub series: u32,
}

/// Why nothing can be said of two snapshots.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DifferenceError {
    /// No counter of any engine.
    #[error("no counters of drafting in the later snapshot")]
    NoCounters,
    /// Gauges only.
    #[error(
        "SGLang exports no counters of accepted drafts, only gauges of the last interval; audit its decode log, \
         or the answers of its requests"
    )]
    OnlyGauges,
    /// A label names several models.
    #[error("counters of several models: {}; --model picks one", .0.join(", "))]
    SeveralModels(Vec<String>),
    /// No series of that model.
    #[error("no counters of the model {wanted:?}; there are those of {}", .found.join(", "))]
    OtherModel {
        /// The model that was asked for.
        wanted: String,
        /// Those that there are.
        found: Vec<String>,
    },
    /// Counters of several engines.
    #[error("counters of several engines: {0} and {1}")]
    SeveralExporters(&'static str, &'static str),
    /// A counter fell.
    #[error("{series} went backwards, from {before} to {after}: the server was started anew in between")]
    Backwards {
        /// The series.
        series: String,
        /// Its value before.
        before: f64,
        /// Its value after.
        after: f64,
    },
    /// A counter began anew and has overtaken its old value.
    #[error("{0} was created anew between the snapshots: the server was started anew in between")]
    CreatedAnew(String),
    /// Nothing says that a series of the later snapshot alone began after the earlier one.
    #[error(
        "{0} is missing in the earlier snapshot, and nothing proves that it began at 0 after it: not the same servers, or an \
         endpoint that was not scraped before"
    )]
    NotBefore(String),
    /// The process that is scraped is another one.
    #[error("process_start_time_seconds{at} is another one in the later snapshot: the server was started anew in between", at = at(.0))]
    OtherProcess(String),
    /// The snapshots are of different engines.
    #[error("the earlier snapshot is of {before}, the later one of {after}: not the same servers")]
    OtherExporter {
        /// Whose metrics the earlier one holds.
        before: &'static str,
        /// Whose the later one holds.
        after: &'static str,
    },
    /// A series ended.
    #[error("{0} is missing in the later snapshot: not the same servers")]
    Vanished(String),
    /// Two values of one series in one scrape.
    #[error("{0} stands twice in one snapshot, with two values")]
    Twice(String),
    /// A value that cannot be counted.
    #[error("{0} rose by no whole number")]
    NotWhole(String),
    /// The series are too many.
    #[error("more series than a server has; {0} were not read")]
    TooMany(u64),
    /// Needed sums are missing.
    #[error("the counters lack {0}")]
    Lacks(&'static str),
}

/// ` at NAME`, where an endpoint has a name.
fn at(endpoint: &str) -> String {
    if endpoint.is_empty() { String::new() } else { format!(" at {endpoint}") }
}

/// What was counted from `before` to `after`: for each series the later value less the earlier one, summed over series,
/// and only then anything divided.
pub fn difference(
    before: &Snapshot,
    after: &Snapshot,
    model: Option<&str>,
) -> Result<Difference, DifferenceError> {
    for snapshot in [before, after] {
        if let Some(key) = snapshot.twice() {
            return Err(DifferenceError::Twice(key.shown()));
        }
        if snapshot.dropped() > 0 {
            return Err(DifferenceError::TooMany(snapshot.dropped()));
        }
    }
    if let (Some(one), Some(other)) = (before.sole_exporter(), after.sole_exporter())
        && one != other
    {
        return Err(DifferenceError::OtherExporter { before: one.name(), after: other.name() });
    }
    if let Some(endpoint) = after.started_anew_since(before) {
        return Err(DifferenceError::OtherProcess(endpoint.to_owned()));
    }
    let model = pick(before, after, model)?;
    let is_wanted = |key: &SeriesKey| model.as_deref().is_none_or(|model| key.model() == Some(model));
    let ended = before.series().iter().find(|(key, track)| {
        is_wanted(key) && track.family.role.is_counter() && !after.series().contains_key(*key)
    });
    if let Some((key, _)) = ended {
        return Err(DifferenceError::Vanished(key.shown()));
    }
    let mut counted = Vec::new();
    let mut exporter = None;
    for (key, track) in after.series().iter().filter(|(key, _)| is_wanted(key)) {
        if !track.family.role.is_counter() || track.family.role == Role::VerifyCalls {
            continue;
        }
        let old = match before.series().get(key) {
            Some(track) => track.last,
            None if begins_at_zero(before, after, key, track.family) => 0.0,
            None => return Err(DifferenceError::NotBefore(key.shown())),
        };
        let value = track.last - old;
        if value < 0.0 {
            return Err(DifferenceError::Backwards { series: key.shown(), before: old, after: track.last });
        }
        if let (Some(then), Some(now)) = (before.created(key), after.created(key))
            && (then - now).abs() > 0.0
        {
            return Err(DifferenceError::CreatedAnew(key.shown()));
        }
        if family::count(value).is_none() {
            return Err(DifferenceError::NotWhole(key.shown()));
        }
        match exporter.replace(track.exporter()) {
            Some(other) if other != track.exporter() => {
                return Err(DifferenceError::SeveralExporters(other.name(), track.exporter().name()));
            }
            _ => counted.push(Counted { key, family: track.family, value }),
        }
    }
    let Some(exporter) = exporter else {
        let is_sglang = after.series().values().any(|track| track.exporter() == Exporter::Sglang);
        return Err(if is_sglang { DifferenceError::OnlyGauges } else { DifferenceError::NoCounters });
    };
    let series = u32::try_from(counted.len()).unwrap_or(u32::MAX);
    let counts = sum(counted.into_iter());
    if counts.accepted.is_none() {
        return Err(DifferenceError::Lacks("accepted tokens"));
    }
    if counts.steps.is_none() {
        return Err(DifferenceError::Lacks("verify steps"));
    }
    Ok(Difference { exporter, model, counts, series })
}

/// Whether a series that the earlier snapshot lacks began at 0 after it. A label's value shows up with its first count, so it
/// did where the same process was scraped before: another series of it is there, with all other labels alike, or its start
/// time is.
fn begins_at_zero(before: &Snapshot, after: &Snapshot, key: &SeriesKey, family: &Family) -> bool {
    let labels = |key: &SeriesKey, family: &Family| {
        let mut labels = key.labels.clone();
        family.label.map(|label| labels.remove(label));
        labels
    };
    let own = labels(key, family);
    let is_sibling = |(other, track): (&SeriesKey, &super::series::Track)| {
        other.endpoint == key.endpoint
            && track.exporter() == family.exporter
            && track.family.role.is_counter()
            && labels(other, track.family) == own
    };
    // A process that is one in both snapshots, as its start time says, was scraped whole before.
    before.series().iter().any(is_sibling) || after.is_same_process(before, &key.endpoint)
}

/// The one model that is meant.
fn pick(
    before: &Snapshot,
    after: &Snapshot,
    wanted: Option<&str>,
) -> Result<Option<String>, DifferenceError> {
    let counters = |snapshot: &Snapshot| {
        let counters = snapshot.series().iter().filter(|(_, track)| track.family.role.is_counter());
        counters.filter_map(|(key, _)| key.model().map(str::to_owned)).collect::<Vec<_>>()
    };
    let mut models = counters(after);
    models.extend(counters(before));
    models.sort_unstable();
    models.dedup();
    match wanted {
        Some(wanted) if models.iter().any(|model| model == wanted) => Ok(Some(wanted.to_owned())),
        Some(wanted) if !models.is_empty() => {
            Err(DifferenceError::OtherModel { wanted: wanted.to_owned(), found: models })
        }
        None if models.len() > 1 => Err(DifferenceError::SeveralModels(models)),
        _ => Ok(models.pop()),
    }
}

/// Sums over series.
pub(super) fn sum<'a>(counted: impl Iterator<Item = Counted<'a>>) -> Counts {
    let mut sums: BTreeMap<Role, f64> = BTreeMap::new();
    let mut places: BTreeMap<(Role, u32), f64> = BTreeMap::new();
    for Counted { key, family, value } in counted {
        match family.label {
            None => *sums.entry(family.role).or_default() += value,
            Some(label) => {
                // Places beyond any draft length are no places.
                let place = key.labels.get(label).and_then(|place| place.parse().ok());
                if let Some(place) = place.filter(|place: &u32| *place < 4096) {
                    *places.entry((family.role, place)).or_default() += value;
                }
            }
        }
    }
    let total = |role: Role| sums.get(&role).copied().and_then(family::count);
    let by_place = |role: Role| -> BTreeMap<u32, u64> {
        let of_role = places.iter().filter(|((found, _), _)| *found == role);
        of_role.filter_map(|((_, place), value)| Some((*place, family::count(*value)?))).collect()
    };
    let total_of = |places: &BTreeMap<u32, u64>| {
        (!places.is_empty()).then(|| places.values().fold(0_u64, |sum, more| sum.saturating_add(*more)))
    };
    let (accepted_at, drafted_at) = (by_place(Role::AcceptedAt), by_place(Role::DraftedAt));
    let bins = by_place(Role::StepsWith);
    let drafted = total(Role::Drafted).or_else(|| total_of(&drafted_at));
    // Every step with drafts has a first one, and falls into a bin; without drafts there was none.
    let steps = total(Role::Steps)
        .or_else(|| drafted_at.values().next().copied())
        .or_else(|| total_of(&bins))
        .or(drafted.filter(|drafted| *drafted == 0));
    let histogram: BTreeMap<u32, u64> = bins.into_iter().filter(|(_, steps)| *steps > 0).collect();
    Counts {
        accepted: total(Role::Accepted).or_else(|| total_of(&accepted_at)),
        drafted,
        steps,
        accepted_at: dense(&accepted_at),
        histogram,
    }
    .completed()
}

/// Values by place, from the first place on. TensorRT-LLM may count from 1: then there is no place 0.
fn dense(places: &BTreeMap<u32, u64>) -> Vec<u64> {
    let (Some(first), Some(last)) = (places.keys().next(), places.keys().last()) else { return Vec::new() };
    let first = (*first).min(1);
    (first..=*last).map(|place| places.get(&place).copied().unwrap_or(0)).collect()
}
