//! The model file: read, and checked before anything is computed from it.

use std::fmt;

use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::throughput::json::JsonFault;
use crate::throughput::step::is_cost;

use super::{Model, Outcome};

/// What a model file calls itself.
pub const MODEL_KIND: &str = "accsim-throughput-model";

/// The version of the model file that this program reads and writes.
pub const MODEL_VERSION: u32 = 1;

/// Why a text is no model.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// Not JSON, or fields that a model does not have.
    #[error("not a throughput model of accsim: {0}")]
    Syntax(JsonFault),
    /// JSON of something else.
    #[error("not a throughput model of accsim: \"kind\" is {found}; expected \"{MODEL_KIND}\"")]
    Kind {
        /// What stands there.
        found: String,
    },
    /// A model of another version.
    #[error(
        "the model file has version {found}; this program reads version {MODEL_VERSION}: calibrate again on the logs"
    )]
    Version {
        /// Its version.
        found: String,
    },
    /// A document of another schema.
    #[error(
        "the model file has schema_version {found}; this program reads schema_version 1: calibrate again on the logs"
    )]
    Schema {
        /// What stands there.
        found: String,
    },
    /// Numbers that no calibration gives.
    #[error("the model holds {what}: calibrate again on the logs")]
    Number {
        /// What is wrong.
        what: &'static str,
    },
}

fn syntax(error: serde_json::Error) -> ModelError {
    ModelError::Syntax(error.into())
}

/// Reads a model file, as `accsim throughput calibrate -o` writes it.
///
/// ```
/// use accsim::throughput::read_model;
///
/// let model = read_model(&std::fs::read("tests/data/throughput/h200_k3_k5.json")?)?;
/// assert_eq!(model.draft_lengths(), [3, 5]);
/// assert!(read_model(b"[2026-11-30 07:41:44] Decode batch").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_model(text: &[u8]) -> Result<Model, ModelError> {
    let Unique(mut document) = serde_json::from_slice(text).map_err(syntax)?;
    let field = |name: &str| document.get(name).cloned().unwrap_or(Value::Null);
    let (kind, version) = (field("kind"), field("version"));
    if kind.as_str() != Some(MODEL_KIND) {
        return Err(ModelError::Kind { found: kind.to_string().chars().take(40).collect() });
    }
    if version.as_u64() != Some(u64::from(MODEL_VERSION)) {
        return Err(ModelError::Version { found: version.to_string().chars().take(40).collect() });
    }
    let schema = field("schema_version");
    if !schema.is_null() && schema.as_u64() != Some(1) {
        return Err(ModelError::Schema { found: schema.to_string().chars().take(40).collect() });
    }
    let body = document.get_mut("model").map(Value::take).unwrap_or_default();
    let model: Model = serde_json::from_value(body).map_err(syntax)?;
    model.check()?;
    Ok(model)
}

/// JSON in which no key of an object stands twice: serde's own reader would keep the last one without a word.
struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueVisitor).map(Self)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Unique(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if object.contains_key(&key) {
                let key: String = key.chars().take(40).collect();
                return Err(A::Error::custom(format_args!("key \"{key}\" stands twice")));
            }
            let Unique(value) = entries.next_value()?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

/// Least seconds of a step with one request.
const LEAST_STEP_S: f64 = 1e-9;

/// Longest mean length of a request, in tokens.
const LONGEST: f64 = 1e9;

/// Figures that a calibration gives: finite, not below 0, and far from where sums of them overflow.
fn is_figure(value: f64) -> bool {
    (0.0..=1e15).contains(&value)
}

impl Model {
    /// Whether its numbers are such as a calibration gives.
    fn check(&self) -> Result<(), ModelError> {
        let fault = |what| Err(ModelError::Number { what });
        if self.ranks == 0 || self.ranks > 65_536 {
            return fault("a number of ranks outside 1-65536");
        }
        if self.batch_tokens == Some(0) || self.most_running == Some(0) {
            return fault("a server that prefills no tokens or runs no requests");
        }
        let runs =
            self.sources.iter().flat_map(|source| [source.input, source.output, source.context]).flatten();
        if !runs.into_iter().all(is_figure) {
            return fault("a log with lengths or contexts that are none");
        }
        for law in &self.laws {
            if law.verified.values().any(|tokens| *tokens == 0 || *tokens > 1_000_001) {
                return fault("a step that verifies no token, or more than 1000001");
            }
            if law.ranges.running.0 > law.ranges.running.1 {
                return fault("a covered range that is no range");
            }
            if let Outcome::Refused { slope_s_per_request: Some(slope), .. } = &law.outcome
                && !is_figure(*slope)
            {
                return fault("a merged slope below 0");
            }
            if law.draft_lengths.iter().any(|drafts| *drafts > 1_000_000) {
                return fault("a draft length above 1000000");
            }
            if let Outcome::Fitted(fitted) = &law.outcome {
                let prefill = [fitted.prefill.p0_s, fitted.prefill.p1_s];
                let resampled = fitted.resamples.rows.iter().flatten().copied();
                if !fitted.step.is_physical() || !prefill.into_iter().chain(resampled).all(is_cost) {
                    return fault("a coefficient that is negative, above 3600 s, or no number");
                }
                let quality = &fitted.quality;
                let errors = [quality.median_residual, quality.p90_residual, quality.condition_number];
                let left_out = [quality.left_out_median, quality.left_out_largest].into_iter().flatten();
                if !errors.into_iter().chain(left_out).all(is_figure) {
                    return fault("an error of the fit below 0, or no number");
                }
                let first = fitted.step.fixed_s(1, 0, 1) + fitted.step.kv_s(1.0, 1.0);
                if first < LEAST_STEP_S {
                    return fault("a step that takes no time");
                }
            }
            let ranges = [law.ranges.context, law.ranges.accept_length];
            if ranges.into_iter().any(|(low, high)| !(is_figure(low) && is_figure(high) && low <= high)) {
                return fault("a covered range that is no range");
            }
        }
        for level in &self.levels {
            let positive = [level.accept_length, level.tps, level.context.unwrap_or(1.0)];
            let all = [level.tps_band.0, level.tps_band.1, level.longest, level.step_s.unwrap_or(0.0)];
            let all = all.into_iter().chain([level.output.unwrap_or(1.0)]).chain(positive);
            if level.running == 0 || !all.into_iter().all(is_figure) || positive.contains(&0.0) {
                return fault("a measured level without requests, tokens or context");
            }
            if level.tps_band.0 > level.tps_band.1
                || level.prefill_share_band.is_some_and(|(low, high)| low > high)
            {
                return fault("a band whose ends are the wrong way round");
            }
            let shares = level.prefill_share_band.map_or([0.0; 2], |(low, high)| [low, high]);
            if shares.into_iter().chain(level.prefill_share).any(|share| !(0.0..1.0).contains(&share)) {
                return fault("a prefill share outside 0-1");
            }
        }
        let workload = &self.workload;
        let lengths = [workload.input, workload.output].into_iter().flatten();
        if !(0.0..=1.0).contains(&workload.cached)
            || lengths.into_iter().any(|length| !(1.0..=LONGEST).contains(&length))
        {
            return fault("a workload without tokens");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_no_calibration_gives_are_refused() {
        let model = read_model(&std::fs::read("tests/data/throughput/h200_k3_k5.json").unwrap()).unwrap();
        for (ranks, is_fine) in [(0, false), (1, true), (65_536, true), (65_537, false)] {
            let model = Model { ranks, ..model.clone() };
            assert_eq!(model.check().is_ok(), is_fine, "{ranks}");
        }
        for (drafts, is_fine) in [(3, true), (1_000_001, false), (2_000_000, false)] {
            let mut model = model.clone();
            model.laws[0].draft_lengths = vec![drafts];
            assert_eq!(model.check().is_ok(), is_fine, "{drafts}");
        }
    }
}
