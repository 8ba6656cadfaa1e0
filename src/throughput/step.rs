//! The time of one verify step.

use serde::{Deserialize, Serialize};

/// The load of one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Running requests.
    pub running: u32,
    /// Draft tokens a request and step (k); 0 without speculation.
    pub drafts: u32,
    /// Tokens verified a request and step (q): k + 1 but for tree drafts.
    pub verified: u32,
    /// KV tokens of all running requests together (C).
    pub kv_tokens: f64,
    /// KV tokens of the longest of them (L).
    pub longest: f64,
}

/// `t(N, k, C, L) = a + b*N*q + c*max(C, lanes*L) + h(N*q) + d*k`, in seconds.
///
/// a: weights, launches, sampling; b: compute of a verified token; c: one KV token read; d: one draft pass. `lanes` is how
/// many requests the attention kernel reads side by side at no cost: below so many requests a step waits for its longest
/// context and not for the sum of all. At 1 lane the law is `a + b*N*q + c*C + ..`, as C is never below L. With one draft
/// length in the log `a` stands for `a + d*k`, and d is 0.
///
/// CUDA graphs pad the batch: N counts as the next larger captured size, where the list is known.
///
/// ```
/// use accsim::throughput::{Load, StepLaw};
///
/// let law = StepLaw { a_s: 0.012, b_s: 6e-6, c_s: 2e-8, ..StepLaw::default() };
/// let load = Load { running: 64, drafts: 4, verified: 5, kv_tokens: 96_000.0, longest: 1500.0 };
/// assert!((law.step_s(&load) - 0.015_840).abs() < 1e-9);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepLaw {
    /// Seconds of any step.
    pub a_s: f64,
    /// Seconds a verified token.
    pub b_s: f64,
    /// Seconds a KV token.
    pub c_s: f64,
    /// Seconds a draft token of a request's chain (one draft pass).
    #[serde(default)]
    pub d_s: f64,
    /// Requests whose contexts are read side by side; at least 1.
    #[serde(default = "one")]
    pub lanes: f64,
    /// What bends the line in N*q.
    #[serde(default)]
    pub bend: Bend,
    /// Captured batch sizes, ascending; empty where they are not known.
    #[serde(default)]
    pub graph_batches: Vec<u32>,
}

/// The term h of the law.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Bend {
    /// None: a straight line.
    #[default]
    None,
    /// `slope_s * max(0, N*q - from_tokens)`: compute takes over from memory.
    Hinge {
        /// Verified tokens at which the line bends.
        from_tokens: f64,
        /// Seconds a token beyond.
        slope_s: f64,
    },
    /// `per_expert_s * E * (1 - (1 - K/E)^(N*q))`: experts touched under uniform routing; concave, saturating.
    Experts {
        /// Experts of a layer (E).
        experts: u32,
        /// Experts a token is routed to (K).
        active: u32,
        /// Seconds an expert touched.
        per_expert_s: f64,
    },
}

fn one() -> f64 {
    1.0
}

impl Default for StepLaw {
    fn default() -> Self {
        Self {
            a_s: 0.0,
            b_s: 0.0,
            c_s: 0.0,
            d_s: 0.0,
            lanes: 1.0,
            bend: Bend::None,
            graph_batches: Vec::new(),
        }
    }
}

impl StepLaw {
    /// Seconds of a step.
    #[must_use]
    pub fn step_s(&self, load: &Load) -> f64 {
        self.fixed_s(load.running, load.drafts, load.verified) + self.kv_s(load.kv_tokens, load.longest)
    }

    /// The part that does not depend on contexts.
    #[must_use]
    pub fn fixed_s(&self, running: u32, drafts: u32, verified: u32) -> f64 {
        let tokens = f64::from(padded(&self.graph_batches, running)) * f64::from(verified);
        self.a_s + self.b_s * tokens + self.bend.seconds(tokens) + self.d_s * f64::from(drafts)
    }

    /// The part that does.
    #[must_use]
    pub fn kv_s(&self, kv_tokens: f64, longest: f64) -> f64 {
        self.c_s * kv_tokens.max(self.lanes * longest)
    }

    /// Whether every coefficient is a number, none is negative, and none is beyond what any server takes.
    pub(super) fn is_physical(&self) -> bool {
        let bend = match self.bend {
            Bend::None => true,
            Bend::Hinge { from_tokens, slope_s } => (0.0..=1e12).contains(&from_tokens) && is_cost(slope_s),
            Bend::Experts { experts, active, per_expert_s } => {
                is_cost(per_expert_s) && active >= 1 && active <= experts
            }
        };
        let numbers = [self.a_s, self.b_s, self.c_s, self.d_s];
        bend && numbers.into_iter().all(is_cost) && (1.0..=1e6).contains(&self.lanes)
    }
}

/// Most seconds that one step, token or prefill batch costs: an hour.
pub(super) const MOST_COST_S: f64 = 3600.0;

/// Seconds that a law may hold.
pub(super) fn is_cost(value: f64) -> bool {
    (0.0..=MOST_COST_S).contains(&value)
}

impl Bend {
    /// The coefficient of the term: seconds a token beyond, or an expert touched.
    #[must_use]
    pub fn slope_s(self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Hinge { slope_s, .. } => slope_s,
            Self::Experts { per_expert_s, .. } => per_expert_s,
        }
    }

    /// The term for a number of verified tokens.
    #[must_use]
    pub fn seconds(self, tokens: f64) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Hinge { from_tokens, slope_s } => slope_s * (tokens - from_tokens).max(0.0),
            Self::Experts { experts, active, per_expert_s } => {
                per_expert_s * experts_touched(experts, active, tokens)
            }
        }
    }
}

/// Experts of E that `tokens` tokens touch when each is routed to K of them uniformly.
///
/// ```
/// use accsim::throughput::experts_touched;
///
/// assert!((experts_touched(256, 8, 64.0) - 222.44).abs() < 0.005);
/// ```
#[must_use]
pub fn experts_touched(experts: u32, active: u32, tokens: f64) -> f64 {
    let (experts, active) = (f64::from(experts.max(1)), f64::from(active));
    let missed = (1.0 - (active / experts).min(1.0)).max(0.0);
    experts * (1.0 - libm::pow(missed, tokens))
}

/// The batch that is computed for `running` requests: the next captured size, or the batch itself beyond the largest.
#[must_use]
pub fn padded(graph_batches: &[u32], running: u32) -> u32 {
    graph_batches.iter().copied().find(|size| *size >= running).unwrap_or(running)
}

/// The cost of prefill on the server that decodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrefillLaw {
    /// Seconds of a prefill batch (p0).
    pub p0_s: f64,
    /// Seconds a prompt token computed (p1).
    pub p1_s: f64,
}

impl PrefillLaw {
    /// Seconds of a batch with so many prompt tokens.
    #[must_use]
    pub fn seconds(&self, tokens: f64) -> f64 {
        self.p0_s + self.p1_s * tokens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked values 2, 4 and 5 of the model's description.
    #[test]
    fn worked_step_times() {
        let law = StepLaw { a_s: 0.012, b_s: 6e-6, c_s: 2e-8, ..StepLaw::default() };
        for (running, drafts, kv, expected) in [
            (64, 4, 96_000.0, 0.015_840),
            (64, 4, 544_000.0, 0.024_800),
            (256, 4, 2_176_000.0, 0.063_200),
            (1, 5, 768.0, 0.012_051),
        ] {
            let load = Load { running, drafts, verified: drafts + 1, kv_tokens: kv, longest: 0.0 };
            assert!((law.step_s(&load) - expected).abs() < 5e-7, "{running}");
        }
    }

    /// Worked value 9.
    #[test]
    fn experts_saturate() {
        for (tokens, expected) in [(1.0, 8.0), (5.0, 37.58), (16.0, 101.96), (64.0, 222.44), (320.0, 255.99)]
        {
            assert!((experts_touched(256, 8, tokens) - expected).abs() < 0.006, "{tokens}");
        }
        let bend = Bend::Experts { experts: 256, active: 8, per_expert_s: 1e-5 };
        assert!((bend.seconds(1.0) - 8e-5).abs() < 1e-12);
    }

    #[test]
    fn batches_are_padded_to_captured_sizes() {
        let sizes = [1, 2, 4, 8, 16];
        assert_eq!([1, 3, 8, 9, 17].map(|running| padded(&sizes, running)), [1, 4, 8, 16, 17]);
        assert_eq!(padded(&[], 3), 3);
    }

    #[test]
    fn few_requests_wait_for_the_longest_context() {
        let law = StepLaw { c_s: 1e-6, lanes: 4.0, ..StepLaw::default() };
        assert!((law.kv_s(1000.0, 1000.0) - 4e-3).abs() < 1e-12);
        assert!((law.kv_s(9000.0, 1000.0) - 9e-3).abs() < 1e-12);
    }

    #[test]
    fn a_hinge_costs_beyond_its_place_only() {
        let bend = Bend::Hinge { from_tokens: 100.0, slope_s: 1e-6 };
        assert!(bend.seconds(99.0).abs() < 1e-18);
        assert!((bend.seconds(150.0) - 5e-5).abs() < 1e-15);
    }
}
