//! `metrics` of an export: families with series, as AIPerf writes them at the end of a run, or samples of one scrape.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::bounded::{Scalar, Table};
use super::object::Object;
use super::parts::{MOST_SAMPLES, Parts, Waiting};
use crate::evidence::counters::family::Family;

/// The members of `metrics`.
pub(super) struct Metrics<'a>(pub(super) &'a mut Parts);

/// One family: `{"type": .., "series": [..]}`, or a list of samples.
struct FamilySeed<'a> {
    parts: &'a mut Parts,
    name: &'a str,
    /// Whether the list holds statistics of a whole run.
    is_summary: bool,
}

/// One series with its statistics, or one sample.
struct Entry<'a> {
    parts: &'a mut Parts,
    name: &'a str,
    is_summary: bool,
}

impl<'de> DeserializeSeed<'de> for Metrics<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Metrics<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of metrics")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            if name == "speculative_decoding" {
                let nested = self.0.nested.get_or_insert_default();
                map.next_value_seed(Object { parts: nested, layer: 2 })?;
            } else if Family::named(&name).is_some() {
                map.next_value_seed(FamilySeed { parts: self.0, name: &name, is_summary: false })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    pass_over_scalars!();
}

impl<'de> DeserializeSeed<'de> for FamilySeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for FamilySeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("series")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key == "series" {
                map.next_value_seed(FamilySeed { parts: self.parts, name: self.name, is_summary: true })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self { parts, name, is_summary } = self;
        while list.next_element_seed(Entry { parts, name, is_summary })?.is_some() {}
        Ok(())
    }

    pass_over_scalars!();
}

impl<'de> DeserializeSeed<'de> for Entry<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Entry<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a series")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let (mut endpoint, mut labels, mut value) = (None, Table::default(), None);
        let mut stats = Parts::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "endpoint_url" => endpoint = map.next_value::<Scalar>()?.text(),
                "labels" => labels = map.next_value()?,
                "value" => value = map.next_value::<Scalar>()?.number(),
                "stats" => map.next_value_seed(Object { parts: &mut stats, layer: 2 })?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        // A counter's `total` is what it rose by; a gauge has its mean over scrapes.
        let is_counter = Family::named(self.name).is_some_and(|family| family.role.is_counter());
        let total = if is_counter { stats.number("total") } else { stats.number("avg") };
        let (value, is_difference) = if self.is_summary { (total.or(value), true) } else { (value, false) };
        if let Some(value) = value.filter(|_| self.parts.samples.len() < MOST_SAMPLES) {
            let name = self.name.to_owned();
            self.parts.samples.push(Waiting { endpoint, name, labels: labels.0, value, is_difference });
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    pass_over_scalars!();
}
