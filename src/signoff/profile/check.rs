//! The kinds of rules, with what each can be told.

use std::collections::BTreeMap;

use serde::Deserialize;

/// How a rule is decided.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// The accept length that each point was told is the golden cell.
    GoldenLength(Names),
    /// A variable has one of these values at every point.
    Variable(Variable),
    /// The audit: the log of each point shows the target.
    AcceptLength,
    /// No rank ran a larger batch than a graph was captured for.
    LargestBatch(LargestBatch),
    /// Every decode line says that a captured graph was used.
    GraphFlag,
    /// An argument of the server has one of these values at every point.
    Argument(ArgumentIs),
    /// The draft is the model itself, or one that was stated.
    DraftPath(DraftPath),
    /// Variables that nothing may set: recipe, launcher, environment, log.
    ForbiddenVariables(Names),
    /// Arguments that nothing may give.
    ForbiddenArguments(ForbiddenArguments),
    /// Clients called these endpoints and no others.
    Endpoints(Endpoints),
    /// The log of each evaluation run shows that drafts were really judged.
    EvaluationReal,
    /// No evaluation run had one of these settings.
    EvaluationUnset(Knobs),
    /// Scores of evaluations against the least that suffices.
    Scores(Scores),
    /// Requests that ended in an error.
    Requests(Requests),
    /// One image in recipe, configuration and log.
    Image(Image),
    /// The engine's version does what it is told.
    EngineVersion,
    /// How many points the curve has, and how many lie on the frontier.
    Pareto(Pareto),
    /// What recipes and launchers pin is the golden value, or nothing (see `accsim recipe check`).
    RecipePins,
    /// Servers of all points have the same arguments.
    ArgumentsEqual(ArgumentsEqual),
}

/// [`Check::EvaluationUnset`]. A name may end in `*`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Knobs {
    /// Variables, and keys of a server's JSON.
    pub names: Vec<String>,
    /// Arguments of the server.
    #[serde(default)]
    pub arguments: Vec<String>,
}

/// Names of variables. One may end in `*`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Names {
    /// The names.
    pub names: Vec<String>,
}

/// [`Check::Variable`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// What it may be.
    pub equals: Vec<String>,
    /// Drafting algorithms that never read it.
    #[serde(default)]
    pub not_read_by: Vec<String>,
}

/// [`Check::LargestBatch`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LargestBatch {
    /// Arguments that hold the largest captured batch, where the log lists no sizes.
    #[serde(default)]
    pub largest: Vec<String>,
}

/// [`Check::Argument`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ArgumentIs {
    /// Its name, with underscores.
    pub name: String,
    /// What it may be, as the log prints it, without quotes.
    pub equals: Vec<String>,
    /// Versions that do not have it are right too.
    #[serde(default)]
    pub may_be_absent: bool,
}

/// [`Check::DraftPath`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct DraftPath {
    /// The draft's argument.
    pub draft: String,
    /// The model's argument.
    pub model: String,
    /// Drafts that may differ from the model.
    #[serde(default)]
    pub stated: Vec<String>,
}

/// [`Check::ForbiddenArguments`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ForbiddenArguments {
    /// The names, with underscores.
    pub names: Vec<String>,
    /// Values that change nothing.
    #[serde(default)]
    pub harmless: Vec<String>,
}

/// [`Check::Endpoints`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Endpoints {
    /// What clients may call: `POST /v1/chat/completions`.
    pub allow: Vec<String>,
    /// The harness's own calls, listed apart. One may end in `*`: `GET *`.
    #[serde(default)]
    pub harness: Vec<String>,
}

/// [`Check::Scores`].
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Scores {
    /// By task.
    #[serde(default)]
    pub thresholds: BTreeMap<String, Threshold>,
}

/// What a score must reach.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Threshold {
    /// The metric; without it every metric of the task that is no error bar.
    pub metric: Option<String>,
    /// The least that suffices.
    pub least: f64,
    /// Scores and the least are percentages, not shares of 1.
    #[serde(default)]
    pub percent: bool,
}

/// [`Check::Requests`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Requests {
    /// Errors of one point that are let pass.
    #[serde(default)]
    pub most_errors: u64,
}

/// [`Check::Image`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Image {
    /// Keys of recipes and configurations, from the outermost: `model.container`.
    pub keys: Vec<String>,
    /// Variables.
    #[serde(default)]
    pub variables: Vec<String>,
    /// Arguments of launchers: `container_image`.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// A tag alone suffices: nobody has to name the image's digest.
    #[serde(default)]
    pub tag_suffices: bool,
}

/// [`Check::Pareto`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Pareto {
    /// What should be small, each judged for itself.
    pub x: Vec<Axis>,
    /// The column that should be large.
    pub y: String,
    /// Points that a curve must have.
    #[serde(default)]
    pub least_points: usize,
    /// Points that must lie on each frontier.
    #[serde(default)]
    pub least_frontier: usize,
}

/// One axis.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// What reports call it: `P90`.
    pub label: String,
    /// The column.
    pub column: String,
}

/// [`Check::ArgumentsEqual`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ArgumentsEqual {
    /// Arguments that may differ.
    pub except: Vec<String>,
}

impl Threshold {
    /// The least as people write it.
    #[must_use]
    pub fn shown(&self) -> String {
        let percent = if self.percent { "%" } else { "" };
        format!("{}{percent}", self.least)
    }
}

impl Check {
    /// What no check can be decided with.
    pub(super) fn verify(&self) -> Result<(), String> {
        let (names, arguments): (&[String], &[String]) = match self {
            Self::GoldenLength(names) | Self::ForbiddenVariables(names) => (&names.names, &[]),
            Self::EvaluationUnset(knobs) => (&knobs.names, &knobs.arguments),
            Self::Endpoints(endpoints) => (&endpoints.allow, &endpoints.harness),
            _ => (&[], &[]),
        };
        let is_odd = |name: &&String| name.strip_suffix('*').unwrap_or(name).contains('*');
        if let Some(name) = names.iter().chain(arguments).find(is_odd) {
            return Err(format!("{name:?} has a * that does not stand at its end; only there it is read"));
        }
        let some = |what: &str, list: &[String]| {
            if list.is_empty() { Err(format!("{what} is empty; expected at least one")) } else { Ok(()) }
        };
        match self {
            Self::GoldenLength(names) | Self::ForbiddenVariables(names) => some("names", &names.names),
            Self::EvaluationUnset(knobs) => some("names", &knobs.names),
            Self::Variable(variable) => some("equals", &variable.equals),
            Self::Argument(argument) => some("equals", &argument.equals),
            Self::ForbiddenArguments(arguments) => some("names", &arguments.names),
            Self::Endpoints(endpoints) => some("allow", &endpoints.allow),
            Self::Image(image) => some("keys", &image.keys),
            Self::Pareto(pareto) if pareto.x.is_empty() => {
                Err("x is empty; expected at least one".to_owned())
            }
            Self::Scores(scores)
                if scores.thresholds.values().any(|threshold| !threshold.least.is_finite()) =>
            {
                Err("a threshold is not finite".to_owned())
            }
            _ => Ok(()),
        }
    }
}
