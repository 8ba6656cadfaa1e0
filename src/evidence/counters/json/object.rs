//! One object, member by member.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::bounded::{Scalar, Table};
use super::export::Metrics;
use super::parts::Parts;

/// How deep objects of interest are looked for inside each other.
const MOST_LAYERS: u32 = 4;

/// Ranks of a server that are kept.
const MOST_RANKS: usize = 4096;

/// Fills parts from an object; any other value is passed over.
pub(super) struct Object<'a> {
    pub(super) parts: &'a mut Parts,
    pub(super) layer: u32,
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { parts, layer } = self;
        while let Some(key) = map.next_key::<String>()? {
            member(parts, layer, &key, &mut map)?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    pass_over_scalars!();
}

fn member<'de, A: MapAccess<'de>>(
    parts: &mut Parts,
    layer: u32,
    key: &str,
    map: &mut A,
) -> Result<(), A::Error> {
    let layer = layer + 1;
    if layer > MOST_LAYERS {
        return map.next_value::<IgnoredAny>().map(|_| ());
    }
    match key {
        "meta_info" | "speculative_decoding" | "usage" => {
            let nested = parts.nested.get_or_insert_default();
            map.next_value_seed(Object { parts: nested, layer })
        }
        "specDecodingStats" => {
            let mut stats = Parts::default();
            map.next_value_seed(Object { parts: &mut stats, layer })?;
            if stats.has("numAcceptedTokens") {
                parts.iteration = Some(Box::new(stats));
            }
            Ok(())
        }
        "internal_states" => map.next_value_seed(States(parts)),
        "env_vars" => {
            let Table(entries) = map.next_value()?;
            let simulated = entries.into_iter().filter(|(name, _)| name.contains("SIMULATE_ACC"));
            parts.settings.extend(simulated.filter_map(|(name, value)| Some((name, value.text()?))));
            Ok(())
        }
        "metrics" => map.next_value_seed(Metrics(parts)),
        "labels" => {
            parts.labels = map.next_value()?;
            Ok(())
        }
        _ => {
            if let Some(name) = Parts::scalar_name(key) {
                let value: Scalar = map.next_value()?;
                parts.set(name, value);
            } else if let Some(name) = Parts::table_name(key) {
                let table: Table = map.next_value()?;
                parts.set_table(name, table);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
            Ok(())
        }
    }
}

/// `internal_states`: one object a DP rank.
struct States<'a>(&'a mut Parts);

impl<'de> DeserializeSeed<'de> for States<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for States<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of states")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let mut ranks = Vec::new();
        loop {
            let mut state = Parts::default();
            if list.next_element_seed(Object { parts: &mut state, layer: 2 })?.is_none() {
                break;
            }
            if ranks.len() < MOST_RANKS {
                ranks.push(state.number("avg_spec_accept_length"));
                self.0.settings.append(&mut state.settings);
            }
        }
        self.0.ranks = Some(ranks);
        Ok(())
    }
}
