//! The model file.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::throughput::{MODEL_KIND, MODEL_VERSION, Model, NOT_MODELLED};

/// A model as a file: what it is, in which units, what it leaves out, and the model itself.
#[derive(Debug, Serialize)]
pub struct ModelDocument<'a> {
    kind: &'static str,
    version: u32,
    accsim_version: &'static str,
    units: BTreeMap<&'static str, &'static str>,
    not_modelled: &'static [&'static str],
    model: &'a Model,
}

impl<'a> ModelDocument<'a> {
    /// The document.
    #[must_use]
    pub fn new(model: &'a Model) -> Self {
        let units = [
            ("a_s", "seconds a step"),
            ("b_s", "seconds a verified token"),
            ("c_s", "seconds a KV token read in a step"),
            ("d_s", "seconds a draft token of a chain"),
            ("p0_s", "seconds a prefill batch"),
            ("p1_s", "seconds a prompt token computed"),
            ("lanes", "requests whose contexts are read side by side"),
            ("tps", "output tokens a second of a rank"),
            ("context", "KV tokens a request"),
            ("resamples", "a_s, b_s, c_s, d_s, p0_s, p1_s and the slope of the bend of bootstrap resamples"),
        ];
        Self {
            kind: MODEL_KIND,
            version: MODEL_VERSION,
            accsim_version: env!("CARGO_PKG_VERSION"),
            units: BTreeMap::from(units),
            not_modelled: &NOT_MODELLED,
            model,
        }
    }
}
