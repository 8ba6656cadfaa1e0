//! Prefix and method to the name of a curve: the rules of the benchmark's launch resolver, as tables.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{LookupError, is_curve_name};

/// How a draft model samples its proposals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DraftSampler {
    /// From its distribution.
    Probabilistic,
    /// Its likeliest token.
    Greedy,
}

impl DraftSampler {
    /// Every sampler.
    pub const ALL: [Self; 2] = [Self::Probabilistic, Self::Greedy];

    /// The name that engines and flags use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Probabilistic => "probabilistic",
            Self::Greedy => "greedy",
        }
    }
}

impl fmt::Display for DraftSampler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text itself is the error: whoever asks knows the choices.
impl FromStr for DraftSampler {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|sampler| sampler.name() == name).ok_or_else(|| name.to_owned())
    }
}

/// Other names of a method.
#[derive(Clone, Copy, Debug)]
pub struct MethodAlias {
    /// The names, in lower case.
    pub names: &'static [&'static str],
    /// Model prefixes for which the row holds; `None`: every prefix that no earlier row names.
    pub prefixes: Option<&'static [&'static str]>,
    /// The method of the curve.
    pub method: &'static str,
    /// Where the rule comes from.
    pub source: &'static str,
}

/// A pair of prefix and method whose curve is not simply `<prefix>_<method>`.
#[derive(Clone, Copy, Debug)]
pub struct CurveRule {
    /// Model prefixes.
    pub prefixes: &'static [&'static str],
    /// Method, aliases resolved.
    pub method: &'static str,
    /// How the curve is picked.
    pub pick: Pick,
    /// Where the rule comes from.
    pub source: &'static str,
}

/// How a rule picks its curve.
#[derive(Clone, Copy, Debug)]
pub enum Pick {
    /// This one.
    Curve(&'static str),
    /// By a part of the draft model's name, in any letter case.
    DraftModel {
        /// The part.
        part: &'static str,
        /// The curve of draft models with it.
        with: &'static str,
        /// The curve of all others.
        without: &'static str,
    },
    /// By the draft sampler, which must be stated.
    Sampler(&'static [(DraftSampler, &'static str)]),
}

/// Aliases of methods; the first row that matches holds.
pub const METHOD_ALIASES: &[MethodAlias] = &[
    MethodAlias {
        names: &["eagle", "nextn"],
        prefixes: Some(&["minimaxm3", "kimik2.5"]),
        method: "eagle3",
        source: "SemiAnalysisAI/InferenceX, launch resolver",
    },
    MethodAlias {
        names: &["eagle", "nextn"],
        prefixes: None,
        method: "mtp",
        source: "SemiAnalysisAI/InferenceX, launch resolver",
    },
];

/// Exceptions from `<prefix>_<method>`.
pub const CURVE_RULES: &[CurveRule] = &[
    CurveRule {
        prefixes: &["dsv4", "dsv4dspark", "dsv4dsparkprob"],
        method: "dspark",
        pick: Pick::Curve("dsv4-pro-0813-dspark"),
        source: "SemiAnalysisAI/InferenceX#2626",
    },
    CurveRule {
        prefixes: &["minimaxm3"],
        method: "eagle3",
        pick: Pick::DraftModel { part: "gqa", with: "minimaxm3_eagle3_gqa", without: "minimaxm3_eagle3" },
        source: "SemiAnalysisAI/InferenceX#2734",
    },
    CurveRule {
        prefixes: &["kimik3"],
        method: "dspark",
        pick: Pick::Sampler(&[
            (
                DraftSampler::Probabilistic,
                "kimik3_dspark_probabilistic_sample_method_block_rejection_sample_method",
            ),
            (DraftSampler::Greedy, "kimik3_dspark"),
        ]),
        source: "SemiAnalysisAI/InferenceX#2368, #2380",
    },
];

/// What a prefix and a method mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The curve's name.
    pub curve: String,
    /// The method in lower case, aliases resolved.
    pub method: String,
    /// Set when the draft model would have decided and was not given: the part that decides, and the other curve.
    pub undecided_draft_model: Option<(&'static str, &'static str)>,
}

/// The name of the curve for a model prefix and a drafting method. Whether it exists is the catalogue's to say.
///
/// ```
/// use accsim::golden::{DraftSampler, resolve};
///
/// assert_eq!(resolve("dsv41flash", "DSPARK", None, None)?.curve, "dsv41flash_dspark");
/// assert_eq!(resolve("dsv4", "eagle", None, None)?.curve, "dsv4_mtp");
/// assert_eq!(resolve("kimik3", "dspark", None, Some("greedy"))?.curve, "kimik3_dspark");
/// assert!(resolve("kimik3", "dspark", None, None).is_err());
/// # Ok::<(), accsim::golden::LookupError>(())
/// ```
pub fn resolve(
    prefix: &str,
    method: &str,
    draft_model: Option<&str>,
    draft_sample_method: Option<&str>,
) -> Result<Resolved, LookupError> {
    let lower = method.to_lowercase();
    for name in [prefix, &lower] {
        if !is_curve_name(name) {
            return Err(LookupError::InvalidName { name: name.to_owned() });
        }
    }
    let method = canonical_method(prefix, &lower).to_owned();
    let rule = CURVE_RULES.iter().find(|rule| rule.prefixes.contains(&prefix) && rule.method == method);
    let mut undecided_draft_model = None;
    let curve = match rule.map(|rule| rule.pick) {
        None => format!("{prefix}_{method}"),
        Some(Pick::Curve(curve)) => curve.to_owned(),
        Some(Pick::DraftModel { part, with, without }) => match draft_model {
            Some(model) if model.to_lowercase().contains(part) => with.to_owned(),
            Some(_) => without.to_owned(),
            None => {
                undecided_draft_model = Some((part, with));
                without.to_owned()
            }
        },
        Some(Pick::Sampler(choices)) => {
            let sampler = draft_sample_method.and_then(|name| name.parse::<DraftSampler>().ok());
            match choices.iter().find(|(choice, _)| Some(*choice) == sampler) {
                Some((_, curve)) => (*curve).to_owned(),
                None => {
                    return Err(LookupError::Sampler {
                        prefix: prefix.to_owned(),
                        method,
                        found: draft_sample_method.map(str::to_owned),
                        choices,
                    });
                }
            }
        }
    };
    Ok(Resolved { curve, method, undecided_draft_model })
}

fn canonical_method<'a>(prefix: &str, method: &'a str) -> &'a str {
    METHOD_ALIASES
        .iter()
        .find(|alias| {
            alias.names.contains(&method) && alias.prefixes.is_none_or(|prefixes| prefixes.contains(&prefix))
        })
        .map_or(method, |alias| alias.method)
}

/// The curves that the exceptions give to a prefix.
pub(super) fn curves_by_rule(prefix: &str) -> Vec<&'static str> {
    let rules = CURVE_RULES.iter().filter(|rule| rule.prefixes.contains(&prefix));
    rules
        .flat_map(|rule| match rule.pick {
            Pick::Curve(curve) => vec![curve],
            Pick::DraftModel { with, without, .. } => vec![with, without],
            Pick::Sampler(choices) => choices.iter().map(|(_, curve)| *curve).collect(),
        })
        .collect()
}
