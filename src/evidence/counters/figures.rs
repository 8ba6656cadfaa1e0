//! Records of figures: what one document, or one object of it, says.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::counts::{Contradiction, Counts, float};
use super::snapshot::{ModelCounts, Scrape};
use crate::evidence::RecordKind;

/// One thing that a counter, a request or an endpoint says.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum CounterRecord {
    /// Counters and gauges of one model: Prometheus text, or an export of AIPerf.
    Counters(ModelCounts),
    /// One request's statistics.
    Request(RequestFigures),
    /// One iteration of TensorRT-LLM: a record of its `/metrics`.
    Iteration(IterationStats),
    /// ATOM's `/debug/mtp_stats`.
    Debug(DebugStats),
    /// SGLang's `/get_server_info`.
    ServerInfo(ServerInfo),
}

/// Statistics of one request, as SGLang (`meta_info`), vLLM (`metrics.speculative_decoding`) or TensorRT-LLM gives them.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RequestFigures {
    /// Who gave them, where the names of the fields say so.
    pub exporter: Option<super::Exporter>,
    /// Steps, drafts, histogram.
    pub counts: Counts,
    /// Tokens of the answer. The first one is of the prefill.
    pub completion_tokens: Option<u64>,
    /// The accept length as printed. SGLang divides all tokens by the steps, that of the prefill among them.
    pub accept_len_printed: Option<f64>,
}

impl RequestFigures {
    /// 1 + accepted / steps; without the accepted ones (tokens - 1) / steps, since the prefill gave the first token.
    ///
    /// ```
    /// use accsim::evidence::{Counts, RequestFigures};
    ///
    /// let counts = Counts { steps: Some(188), ..Counts::default() };
    /// let request = RequestFigures { counts, completion_tokens: Some(200), ..RequestFigures::default() };
    /// assert!((request.accept_length().unwrap() - 1.0585).abs() < 5e-5);
    /// ```
    #[must_use]
    pub fn accept_length(&self) -> Option<f64> {
        self.counts.accept_length().or_else(|| self.implied().and_then(|counts| counts.accept_length()))
    }

    /// The sums, accepted tokens from the answer's length where nothing counts them. What the length limit cut is lost
    /// then: at most one step's drafts a request.
    #[must_use]
    pub fn sums(&self) -> Counts {
        if self.counts.accepted.is_some() {
            return self.counts.clone();
        }
        self.implied().unwrap_or_else(|| self.counts.clone())
    }

    fn implied(&self) -> Option<Counts> {
        let (tokens, steps) = (self.completion_tokens?, self.counts.steps?);
        let accepted = tokens.checked_sub(1)?.checked_sub(steps)?;
        Some(Counts { accepted: Some(accepted), ..self.counts.clone() })
    }

    /// What cannot stand together.
    #[must_use]
    pub fn contradictions(&self) -> Vec<Contradiction> {
        let mut found = self.counts.contradictions();
        found.extend(self.printed_contradiction());
        if let (Some(tokens), Some(steps), Some(accepted)) =
            (self.completion_tokens, self.counts.steps, self.counts.accepted)
        {
            let most = steps.saturating_add(accepted).saturating_add(1);
            if tokens > most {
                found.push(Contradiction::TokensOverSteps { tokens, most, steps });
            }
        }
        found
    }
}

impl RequestFigures {
    /// The printed accept length against the counts. That of TensorRT-LLM is tokens by iterations, the context's among them,
    /// and that of SGLang may be tokens by steps, so it is held against both.
    fn printed_contradiction(&self) -> Option<Contradiction> {
        let printed = self.accept_len_printed.filter(|_| self.exporter != Some(super::Exporter::Trtllm))?;
        let by_tokens = self.completion_tokens.zip(self.counts.steps.filter(|steps| *steps > 0));
        let is_by_tokens = self.exporter == Some(super::Exporter::Sglang)
            && by_tokens.is_some_and(|(tokens, steps)| {
                (printed - float(tokens) / float(steps)).abs() <= 0.005 + 1e-6
            });
        self.counts.against_printed(Some(printed)).filter(|_| !is_by_tokens)
    }
}

impl IterationStats {
    /// What cannot stand together, the printed accept length among it.
    #[must_use]
    pub fn contradictions(&self) -> Vec<Contradiction> {
        self.counts.contradictions_with(self.accept_len_printed)
    }
}

impl DebugStats {
    /// What cannot stand together, the printed accept length among it.
    #[must_use]
    pub fn contradictions(&self) -> Vec<Contradiction> {
        self.counts.contradictions_with(self.accept_len_printed)
    }
}

/// One record of TensorRT-LLM's `/metrics`.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct IterationStats {
    /// `iter`.
    pub iteration: Option<u64>,
    /// `attentionDpRank`.
    pub rank: Option<u32>,
    /// `numAcceptedTokens`, `numDraftTokens`, and as steps `numRequestsWithDraftTokens`.
    pub counts: Counts,
    /// `acceptanceLength` of this iteration; 0.0 when no request had drafts.
    pub accept_len_printed: Option<f64>,
    /// `iterLatencyMS` of the record.
    pub latency_ms: Option<f64>,
}

/// ATOM's own statistics, summed over its ranks from the start of the process.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct DebugStats {
    /// `enabled`.
    pub enabled: Option<bool>,
    /// Totals; steps are the sum of the distribution.
    pub counts: Counts,
    /// `average_tokens_per_forward`, as printed; 0.0 without steps.
    pub accept_len_printed: Option<f64>,
    /// `acceptance_rate`, as printed.
    pub draft_accept_rate: Option<f64>,
    /// The same as counters.
    pub scrape: Option<Arc<Scrape>>,
}

/// What a server of SGLang says of itself.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ServerInfo {
    /// `avg_spec_accept_length` of each DP rank since its start or its last flush; `None` before its first decode line.
    pub rank_accept_lens: Vec<Option<f64>>,
    /// Settings of simulated acceptance in the ranks' environments, in order of name.
    pub settings: BTreeMap<String, String>,
}

impl ServerInfo {
    /// The mean over the ranks that say something; how many steps each of them made is not told.
    #[must_use]
    pub fn accept_length(&self) -> Option<f64> {
        let said: Vec<f64> = self.rank_accept_lens.iter().flatten().copied().collect();
        let ranks = u64::try_from(said.len()).ok().filter(|ranks| *ranks > 0)?;
        Some(said.iter().sum::<f64>() / float(ranks))
    }
}

impl CounterRecord {
    /// Which kind of record it is.
    #[must_use]
    pub fn kind(&self) -> RecordKind {
        match self {
            Self::Counters(_) => RecordKind::Counters,
            Self::Request(_) => RecordKind::Request,
            Self::Iteration(_) => RecordKind::IterationJson,
            Self::Debug(_) => RecordKind::DebugStats,
            Self::ServerInfo(_) => RecordKind::ServerInfo,
        }
    }

    /// Who says it, where that is known.
    #[must_use]
    pub fn exporter(&self) -> Option<super::Exporter> {
        match self {
            Self::Counters(counters) => Some(counters.exporter),
            Self::Request(request) => request.exporter,
            Self::Iteration(_) => Some(super::Exporter::Trtllm),
            Self::Debug(_) => Some(super::Exporter::Atom),
            Self::ServerInfo(_) => Some(super::Exporter::Sglang),
        }
    }
}
