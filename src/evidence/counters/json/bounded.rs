//! Values that are read leniently and within bounds: what has another type than expected counts as absent, and no list
//! grows without end.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::evidence::counters::family;

/// Entries of a list or an object that are kept: more than any draft length, rank or label set has.
const MOST: usize = 4096;

/// A value of any type, as far as we want it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Scalar {
    #[default]
    Other,
    Bool(bool),
    Number(f64),
    Text(String),
}

impl Scalar {
    /// A finite number, or a text that holds one.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => text.trim().trim_end_matches('%').parse().ok(),
            Self::Bool(_) | Self::Other => None,
        }
        .filter(|number| number.is_finite())
    }

    pub(super) fn count(&self) -> Option<u64> {
        self.number().and_then(family::count)
    }

    pub(super) fn text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            Self::Number(number) => Some(number.to_string()),
            Self::Bool(is) => Some(is.to_string()),
            Self::Other => None,
        }
    }

    pub(super) fn bool(&self) -> Option<bool> {
        match self {
            Self::Bool(is) => Some(*is),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Scalar;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_bool<E>(self, value: bool) -> Result<Scalar, E> {
                Ok(Scalar::Bool(value))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Scalar, E> {
                Ok(Scalar::Number(family::float(value)))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Scalar, E> {
                let size = family::float(value.unsigned_abs());
                Ok(Scalar::Number(if value < 0 { -size } else { size }))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Scalar, E> {
                Ok(Scalar::Number(value))
            }

            fn visit_str<E>(self, value: &str) -> Result<Scalar, E> {
                Ok(Scalar::Text(value.to_owned()))
            }

            fn visit_unit<E>(self) -> Result<Scalar, E> {
                Ok(Scalar::Other)
            }

            fn visit_none<E>(self) -> Result<Scalar, E> {
                Ok(Scalar::Other)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Scalar, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Scalar::Other)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scalar, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Scalar::Other)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// A list or an object of scalars, the first entries of it; anything else is empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Table(pub(super) Vec<(String, Scalar)>);

impl Table {
    /// Steps by accepted drafts: a list by index, or an object with the numbers as keys.
    pub(super) fn histogram(&self) -> BTreeMap<u32, u64> {
        let bins = self.0.iter().filter_map(|(key, value)| Some((key.parse().ok()?, value.count()?)));
        bins.filter(|(_, steps)| *steps > 0).collect()
    }
}

impl<'de> Deserialize<'de> for Table {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Table;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list or an object")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Table, A::Error> {
                let mut entries = Vec::new();
                while let Some(value) = list.next_element()? {
                    if entries.len() < MOST {
                        entries.push((entries.len().to_string(), value));
                    }
                }
                Ok(Table(entries))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Table, A::Error> {
                let mut entries = Vec::new();
                while let Some((key, value)) = map.next_entry()? {
                    if entries.len() < MOST {
                        entries.push((key, value));
                    }
                }
                Ok(Table(entries))
            }

            fn visit_bool<E>(self, _: bool) -> Result<Table, E> {
                Ok(Table::default())
            }

            fn visit_u64<E>(self, _: u64) -> Result<Table, E> {
                Ok(Table::default())
            }

            fn visit_i64<E>(self, _: i64) -> Result<Table, E> {
                Ok(Table::default())
            }

            fn visit_f64<E>(self, _: f64) -> Result<Table, E> {
                Ok(Table::default())
            }

            fn visit_str<E>(self, _: &str) -> Result<Table, E> {
                Ok(Table::default())
            }

            fn visit_unit<E>(self) -> Result<Table, E> {
                Ok(Table::default())
            }

            fn visit_none<E>(self) -> Result<Table, E> {
                Ok(Table::default())
            }
        }
        deserializer.deserialize_any(Entries)
    }
}
