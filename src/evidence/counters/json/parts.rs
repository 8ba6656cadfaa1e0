//! What one object is gathered into while its members come, in whatever order they do.

use std::collections::BTreeMap;

use super::bounded::{Scalar, Table};
use crate::evidence::counters::family::Exporter;
use crate::evidence::counters::{
    CounterRecord, Counts, DebugStats, IterationStats, RequestFigures, ServerInfo, Snapshot,
};

/// Samples that an object may hold before it says when and where they were taken.
pub(super) const MOST_SAMPLES: usize = 100_000;

/// A sample whose object may still have to say when and where it was taken.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) endpoint: Option<String>,
    pub(super) name: String,
    pub(super) labels: Vec<(String, Scalar)>,
    pub(super) value: f64,
    pub(super) is_difference: bool,
}

/// The members of one object that are known.
#[derive(Debug, Default)]
pub(super) struct Parts {
    scalars: BTreeMap<&'static str, Scalar>,
    tables: BTreeMap<&'static str, Table>,
    pub(super) labels: Table,
    pub(super) iteration: Option<Box<Parts>>,
    pub(super) nested: Option<Box<Parts>>,
    pub(super) ranks: Option<Vec<Option<f64>>>,
    pub(super) settings: BTreeMap<String, String>,
    pub(super) samples: Vec<Waiting>,
}

/// Names of members with a plain value, under the name that is looked for.
const SCALARS: [(&str, &str); 39] = [
    ("completion_tokens", "completion_tokens"),
    ("spec_verify_ct", "sglang_steps"),
    ("num_spec_steps", "steps"),
    ("verify_steps", "steps"),
    ("spec_accept_token_num", "accepted"),
    ("spec_accepted_drafts", "accepted"),
    ("spec_num_correct_drafts", "accepted"),
    ("num_accepted_draft_tokens", "accepted"),
    ("total_accepted_draft_tokens", "accepted"),
    ("accepted_drafts", "accepted"),
    ("spec_draft_token_num", "drafted"),
    ("spec_proposed_drafts", "drafted"),
    ("spec_num_proposed_drafts", "drafted"),
    ("num_draft_tokens", "drafted"),
    ("num_proposed_draft_tokens", "drafted"),
    ("proposed_drafts", "drafted"),
    ("spec_accept_length", "sglang_length"),
    ("mean_acceptance_length", "length"),
    ("avg_decoded_tokens_per_iter", "length"),
    ("num_spec_tokens", "draft_length"),
    ("numDraftTokens", "numDraftTokens"),
    ("numAcceptedTokens", "numAcceptedTokens"),
    ("numRequestsWithDraftTokens", "numRequestsWithDraftTokens"),
    ("acceptanceLength", "acceptanceLength"),
    ("iter", "iter"),
    ("attentionDpRank", "attentionDpRank"),
    ("iterLatencyMS", "iterLatencyMS"),
    ("enabled", "enabled"),
    ("total_draft_tokens", "total_draft_tokens"),
    ("total_accepted_tokens", "total_accepted_tokens"),
    ("acceptance_rate", "acceptance_rate"),
    ("average_tokens_per_forward", "average_tokens_per_forward"),
    ("avg_spec_accept_length", "avg_spec_accept_length"),
    ("endpoint_url", "endpoint"),
    ("timestamp_ns", "time"),
    ("metric_name", "metric_name"),
    ("value", "value"),
    ("total", "total"),
    ("avg", "avg"),
];

const TABLES: [(&str, &str); 4] = [
    ("spec_accept_histogram", "histogram"),
    ("spec_correct_drafts_histogram", "histogram"),
    ("acceptance_histogram", "histogram"),
    ("distribution", "distribution"),
];

fn known(names: &[(&'static str, &'static str)], key: &str) -> Option<&'static str> {
    names.iter().find(|(name, _)| *name == key).map(|(_, known)| *known)
}

impl Parts {
    /// What a member with a plain value is called here.
    pub(super) fn scalar_name(key: &str) -> Option<&'static str> {
        known(&SCALARS, key)
    }

    /// What a member with a table is called here.
    pub(super) fn table_name(key: &str) -> Option<&'static str> {
        known(&TABLES, key)
    }

    /// Keeps the first of several values under one name: aliases say the same.
    pub(super) fn set(&mut self, name: &'static str, value: Scalar) {
        if value != Scalar::Other {
            self.scalars.entry(name).or_insert(value);
        }
    }

    pub(super) fn set_table(&mut self, name: &'static str, table: Table) {
        if !table.0.is_empty() {
            self.tables.entry(name).or_insert(table);
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.scalars.contains_key(name)
    }

    fn count(&self, name: &str) -> Option<u64> {
        self.scalars.get(name).and_then(Scalar::count)
    }

    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.scalars.get(name).and_then(Scalar::number)
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.scalars.get(name).cloned().and_then(Scalar::text)
    }

    fn histogram(&self, name: &str) -> BTreeMap<u32, u64> {
        self.tables.get(name).map(Table::histogram).unwrap_or_default()
    }

    /// The records of the object; samples go to `snapshot`.
    pub(super) fn finish(mut self, snapshot: &mut Snapshot, see: &mut dyn FnMut(CounterRecord)) {
        self.sample_of_row();
        let time = self.time();
        let endpoint = self.text("endpoint").unwrap_or_default();
        for sample in self.samples.drain(..) {
            let labels = sample.labels.into_iter().filter_map(|(name, value)| Some((name, value.text()?)));
            let endpoint = sample.endpoint.as_deref().unwrap_or(&endpoint);
            let time = if sample.is_difference { None } else { time };
            snapshot.add(endpoint, &sample.name, labels, time, sample.value, sample.is_difference);
        }
        if let Some(stats) = &self.iteration {
            see(CounterRecord::Iteration(self.iteration(stats)));
        } else if self.has("iter") && self.has("iterLatencyMS") {
            // A server that does not draft, or does not tell.
            see(CounterRecord::Iteration(self.iteration(&Self::default())));
        } else if let Some(debug) = self.debug() {
            see(CounterRecord::Debug(debug));
        } else if let Some(ranks) =
            self.ranks.take().or_else(|| Some(vec![Some(self.number("avg_spec_accept_length")?)]))
        {
            see(CounterRecord::ServerInfo(ServerInfo { rank_accept_lens: ranks, settings: self.settings }));
        } else if let Some(request) = self.request() {
            see(CounterRecord::Request(request));
        }
    }

    /// A row of its own, with the names of the columns of the Parquet export: `{"metric_name": .., "value": .., "labels": {..}}`.
    fn sample_of_row(&mut self) {
        if let (Some(name), Some(value)) = (self.text("metric_name"), self.number("value"))
            && !self.has("total")
        {
            let labels = std::mem::take(&mut self.labels.0);
            self.samples.push(Waiting { endpoint: None, name, labels, value, is_difference: false });
        }
    }

    /// Nanoseconds; only the order of times matters.
    fn time(&self) -> Option<i64> {
        let number = self.number("time")?;
        format!("{number:.0}").parse().ok()
    }

    fn iteration(&self, stats: &Self) -> IterationStats {
        let counts = Counts {
            accepted: stats.count("numAcceptedTokens"),
            drafted: stats.count("numDraftTokens"),
            steps: stats.count("numRequestsWithDraftTokens"),
            ..Counts::default()
        };
        IterationStats {
            iteration: self.count("iter"),
            rank: self.count("attentionDpRank").and_then(|rank| rank.try_into().ok()),
            counts,
            accept_len_printed: stats.number("acceptanceLength"),
            latency_ms: self.number("iterLatencyMS"),
        }
    }

    fn debug(&self) -> Option<DebugStats> {
        let enabled = self.scalars.get("enabled").and_then(Scalar::bool);
        if self.scalars.len() == 1 && enabled == Some(false) {
            return Some(DebugStats { enabled, ..DebugStats::default() });
        }
        if !(self.has("average_tokens_per_forward") && self.has("total_accepted_tokens")) {
            return None;
        }
        let counts = Counts {
            accepted: self.count("total_accepted_tokens"),
            drafted: self.count("total_draft_tokens"),
            histogram: self.histogram("distribution"),
            ..Counts::default()
        };
        Some(DebugStats {
            enabled,
            counts: counts.completed(),
            accept_len_printed: self.number("average_tokens_per_forward"),
            draft_accept_rate: self.number("acceptance_rate"),
            scrape: None,
        })
    }

    fn request(&self) -> Option<RequestFigures> {
        let own = self.own_request();
        let inner = self.nested.as_ref().and_then(|nested| nested.request());
        let mut request = match (own, inner) {
            (None, Some(inner)) => {
                let tokens = inner.completion_tokens.or_else(|| self.count("completion_tokens"));
                let printed = inner.accept_len_printed.or_else(|| self.number("length"));
                RequestFigures { completion_tokens: tokens, accept_len_printed: printed, ..inner }
            }
            (own, _) => own?,
        };
        request.completion_tokens = request.completion_tokens.or_else(|| self.count("completion_tokens"));
        Some(request)
    }

    fn own_request(&self) -> Option<RequestFigures> {
        let histogram = self.histogram("histogram");
        let steps = self.count("steps").or_else(|| self.count("sglang_steps"));
        if steps.is_none() && histogram.is_empty() {
            return None;
        }
        let exporter = if self.has("sglang_length") || self.has("sglang_steps") {
            Some(Exporter::Sglang)
        } else if self.has("total_draft_tokens") {
            Some(Exporter::Trtllm)
        } else if self.has("length") {
            Some(Exporter::Vllm)
        } else {
            None
        };
        let counts = Counts {
            accepted: self.count("accepted"),
            // TensorRT-LLM names the drafted tokens of a request as ATOM those of a server.
            drafted: self.count("drafted").or_else(|| self.count("total_draft_tokens")),
            steps,
            histogram,
            ..Counts::default()
        };
        Some(RequestFigures {
            exporter,
            counts: counts.completed(),
            completion_tokens: self.count("completion_tokens"),
            accept_len_printed: self.number("sglang_length").or_else(|| self.number("length")),
        })
    }
}
