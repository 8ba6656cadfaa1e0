//! The names under which engines export what drafting came to. Whole names, never parts of them: the series by
//! position begins with the name of the total.

use crate::engine::Engine;

/// Who exports a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub enum Exporter {
    /// SGLang.
    Sglang,
    /// vLLM.
    Vllm,
    /// TensorRT-LLM.
    Trtllm,
    /// ATOM.
    Atom,
}

impl Exporter {
    /// The engine.
    #[must_use]
    pub fn engine(self) -> Engine {
        match self {
            Self::Sglang => Engine::Sglang,
            Self::Vllm => Engine::Vllm,
            Self::Trtllm => Engine::Trtllm,
            Self::Atom => Engine::Atom,
        }
    }

    /// The name that flags and JSON use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sglang => "sglang",
            Self::Vllm => "vllm",
            Self::Trtllm => "trtllm",
            Self::Atom => "atom",
        }
    }
}

/// What a metric counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Verify steps that had drafts.
    Steps,
    /// Drafted tokens.
    Drafted,
    /// Accepted draft tokens.
    Accepted,
    /// Accepted draft tokens at the place that a label names.
    AcceptedAt,
    /// Drafted tokens at the place that a label names.
    DraftedAt,
    /// Steps with the number of accepted drafts that a label names.
    StepsWith,
    /// Calls of the verifier, whatever their batch: no request-steps.
    VerifyCalls,
    /// Accept length of the last interval, a gauge.
    LastAcceptLength,
    /// Share of drafts accepted in the last interval, a gauge.
    LastAcceptRate,
}

impl Role {
    /// Whether the value only ever rises while the server runs.
    #[must_use]
    pub fn is_counter(self) -> bool {
        !matches!(self, Self::LastAcceptLength | Self::LastAcceptRate)
    }
}

/// One metric that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Family {
    /// Its name without `_total`.
    pub name: &'static str,
    /// Who exports it.
    pub exporter: Exporter,
    /// What it counts.
    pub role: Role,
    /// The label with the place, or with the number of accepted drafts.
    pub label: Option<&'static str>,
}

const fn family(name: &'static str, exporter: Exporter, role: Role) -> Family {
    Family { name, exporter, role, label: None }
}

const fn labelled(name: &'static str, exporter: Exporter, role: Role, label: &'static str) -> Family {
    Family { name, exporter, role, label: Some(label) }
}

/// All of them.
const FAMILIES: [Family; 15] = [
    family("vllm:spec_decode_num_drafts", Exporter::Vllm, Role::Steps),
    family("vllm:spec_decode_num_draft_tokens", Exporter::Vllm, Role::Drafted),
    family("vllm:spec_decode_num_accepted_tokens", Exporter::Vllm, Role::Accepted),
    labelled("vllm:spec_decode_num_accepted_tokens_per_pos", Exporter::Vllm, Role::AcceptedAt, "position"),
    labelled("trtllm_spec_decode_drafted_tokens", Exporter::Trtllm, Role::DraftedAt, "token_position"),
    labelled("trtllm_spec_decode_accepted_tokens", Exporter::Trtllm, Role::AcceptedAt, "token_position"),
    family("trtllm_spec_decode_acceptance_length", Exporter::Trtllm, Role::LastAcceptLength),
    family("atom:mtp_draft_tokens", Exporter::Atom, Role::Drafted),
    family("atom:mtp_accepted_tokens", Exporter::Atom, Role::Accepted),
    labelled("atom:mtp_decode_steps", Exporter::Atom, Role::StepsWith, "accepted_tokens"),
    family("atom:mtp_acceptance_rate", Exporter::Atom, Role::LastAcceptRate),
    family("atom:mtp_average_tokens_per_forward", Exporter::Atom, Role::LastAcceptLength),
    family("sglang:spec_accept_length", Exporter::Sglang, Role::LastAcceptLength),
    family("sglang:spec_accept_rate", Exporter::Sglang, Role::LastAcceptRate),
    family("sglang:spec_verify_calls", Exporter::Sglang, Role::VerifyCalls),
];

/// Beginnings of the names of all four engines' metrics.
const PREFIXES: [(&str, Exporter); 4] = [
    ("vllm:", Exporter::Vllm),
    ("sglang:", Exporter::Sglang),
    ("trtllm_", Exporter::Trtllm),
    ("atom:", Exporter::Atom),
];

impl Family {
    /// The metric with this name, as exposed (`_total`) or as exports write it (without).
    ///
    /// ```
    /// use accsim::evidence::{Family, Role};
    ///
    /// let found = Family::named("vllm:spec_decode_num_accepted_tokens_total").unwrap();
    /// assert_eq!(found.role, Role::Accepted);
    /// let by_position = Family::named("vllm:spec_decode_num_accepted_tokens_per_pos_total").unwrap();
    /// assert_eq!(by_position.role, Role::AcceptedAt);
    /// assert!(Family::named("vllm:spec_decode_num_accepted_tokens_created").is_none());
    /// ```
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        let base = name.strip_suffix("_total").unwrap_or(name);
        FAMILIES.iter().find(|family| family.name == base && (family.role.is_counter() || base == name))
    }

    /// The metric whose series began at the time that `name` holds: `..._created`.
    #[must_use]
    pub fn created(name: &str) -> Option<&'static Self> {
        Self::named(name.strip_suffix("_created")?).filter(|family| family.role.is_counter())
    }
}

/// Which engine exports a metric of this name, be it of drafting or not.
pub(super) fn exporter_of(name: &str) -> Option<Exporter> {
    PREFIXES.iter().find(|(prefix, _)| name.starts_with(prefix)).map(|(_, exporter)| *exporter)
}

/// The nearest double; exact below 2^53.
pub(super) fn float(count: u64) -> f64 {
    let low = u32::try_from(count & u64::from(u32::MAX)).unwrap_or_default();
    let high = u32::try_from(count >> 32).unwrap_or_default();
    f64::from(high) * 4_294_967_296.0 + f64::from(low)
}

/// A count that was written as a number of any form; `None` for what is no count.
pub(super) fn count(number: f64) -> Option<u64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if !(number.is_finite() && (0.0..=EXACT).contains(&number) && number.fract().abs() <= 0.0) {
        return None;
    }
    // Rust writes every double without an exponent.
    format!("{number:.0}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_whole() {
        assert!(Family::named("vllm:spec_decode_num_accepted_tokens_per_pos").is_some());
        for name in [
            "vllm:spec_decode_num_accepted_tokens_per_po",
            "spec_decode_num_drafts_total",
            "my_vllm:spec_decode_num_drafts",
            "vllm:spec_decode_num_drafts_total_total",
            "sglang:spec_accept_length_total",
            "",
        ] {
            assert!(Family::named(name).is_none(), "{name}");
        }
        assert_eq!(
            Family::created("vllm:spec_decode_num_drafts_created").unwrap().name,
            "vllm:spec_decode_num_drafts"
        );
    }

    #[test]
    fn numbers_that_count() {
        assert_eq!(count(1e6), Some(1_000_000));
        assert_eq!(count(9_007_199_254_740_991.0), Some(9_007_199_254_740_991));
        for number in [0.5, -1.0, f64::NAN, f64::INFINITY, 1e17] {
            assert_eq!(count(number), None, "{number}");
        }
        assert!((float(u64::from(u32::MAX) + 1) - 4_294_967_296.0).abs() < 0.5);
    }
}
