//! Series of samples over time: the first value, the last, and whether the counter began anew between them.

use std::collections::BTreeMap;

use super::family::{Exporter, Family};

/// What makes a series: labels in any order are one series.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct SeriesKey {
    /// Where it was scraped, where an export says so; else empty.
    pub endpoint: String,
    /// Name of the metric, without `_total`.
    pub name: &'static str,
    /// All labels.
    pub labels: BTreeMap<String, String>,
}

impl SeriesKey {
    /// `model_name`, which all engines give; exports of others call it `model`.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.labels.get("model_name").or_else(|| self.labels.get("model")).map(String::as_str)
    }

    /// The series as Prometheus writes it.
    #[must_use]
    pub fn shown(&self) -> String {
        let labels: Vec<String> =
            self.labels.iter().map(|(name, value)| format!("{name}={value:?}")).collect();
        let at = if self.endpoint.is_empty() { String::new() } else { format!(" at {}", self.endpoint) };
        format!("{}{{{}}}{at}", self.name, labels.join(","))
    }
}

/// A key as it is written down: the name is one of those that are known.
#[derive(serde::Deserialize)]
struct WrittenKey {
    endpoint: String,
    name: String,
    labels: BTreeMap<String, String>,
}

impl<'de> serde::Deserialize<'de> for SeriesKey {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let WrittenKey { endpoint, name, labels } = WrittenKey::deserialize(from)?;
        let name = Family::named(&name).ok_or_else(|| serde::de::Error::custom(UNKNOWN))?.name;
        Ok(Self { endpoint, name, labels })
    }
}

const UNKNOWN: &str = "a metric that is not known";

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands fields out by reference")]
fn write_family<S: serde::Serializer>(family: &&'static Family, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(family.name)
}

fn read_family<'de, D: serde::Deserializer<'de>>(from: D) -> Result<&'static Family, D::Error> {
    let name: String = serde::Deserialize::deserialize(from)?;
    Family::named(&name).ok_or_else(|| serde::de::Error::custom(UNKNOWN))
}

/// A series over time.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Track {
    /// What it counts.
    #[serde(serialize_with = "write_family", deserialize_with = "read_family")]
    pub family: &'static Family,
    /// Its first value.
    pub first: f64,
    /// Its last value.
    pub last: f64,
    /// Samples seen.
    pub samples: u64,
    /// Sum of the finite values: a gauge is weighed by scrapes.
    pub sum: f64,
    /// How often it fell.
    pub falls: u64,
    /// Whether the values are differences already.
    pub is_difference: bool,
    times: Times,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
struct Times {
    first: Option<i64>,
    last: Option<i64>,
    /// That of the sample before, with its value.
    previous: Option<(Option<i64>, f64)>,
}

impl Track {
    pub(super) fn new(family: &'static Family) -> Self {
        Self {
            family,
            first: f64::NAN,
            last: f64::NAN,
            samples: 0,
            sum: 0.0,
            falls: 0,
            is_difference: false,
            times: Times::default(),
        }
    }

    /// Who exports it.
    #[must_use]
    pub fn exporter(&self) -> Exporter {
        self.family.exporter
    }

    /// Adds a sample; without times the samples come in their order.
    pub(super) fn add(&mut self, time: Option<i64>, value: f64) {
        if !value.is_finite() {
            return;
        }
        self.samples += 1;
        self.sum += value;
        if self.samples == 1 || time.zip(self.times.first).is_some_and(|(time, first)| time < first) {
            (self.first, self.times.first) = (value, time);
        }
        if self.samples == 1 || time.zip(self.times.last).is_none_or(|(time, last)| time >= last) {
            (self.last, self.times.last) = (value, time);
        }
        if let Some((before, old)) = self.times.previous {
            let order = time.zip(before).map_or(1, |(time, before)| time.cmp(&before) as i8);
            let fell = (order > 0 && value < old) || (order < 0 && value > old);
            self.falls += u64::from(fell && self.family.role.is_counter());
        }
        self.times.previous = Some((time, value));
    }

    /// Whether its last sample was of the scrape at this time.
    pub(super) fn was_at(&self, time: Option<i64>) -> bool {
        self.times.previous.is_some_and(|(before, _)| before == time)
    }

    /// Mean over scrapes.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.samples > 0).then(|| self.sum / super::family::float(self.samples))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_decide_the_order() {
        let mut track = Track::new(Family::named("vllm:spec_decode_num_drafts").unwrap());
        track.add(Some(3), 30.0);
        track.add(Some(1), 10.0);
        track.add(Some(2), 20.0);
        track.add(Some(9), f64::NAN);
        assert_eq!((track.first, track.last, track.falls, track.samples), (10.0, 30.0, 0, 3));
        track.add(Some(4), 5.0);
        assert_eq!((track.last, track.falls), (5.0, 1));
    }
}
