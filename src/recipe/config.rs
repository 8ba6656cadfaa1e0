//! `accsim.toml`: what holds for the files of a repository, so that one short command checks all of it.

use serde::Deserialize;

use crate::golden::Thinking;

use super::allow::{Allowed, Date};
use super::selector::is_match;

/// The scenario that a file is run in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
pub enum Scenario {
    /// An agentic benchmark: acceptance is simulated.
    #[serde(rename = "agentic-coding", alias = "agentic")]
    Agentic,
    /// Fixed sequence lengths: acceptance is real unless an exception is sanctioned.
    #[serde(rename = "fixed-seq-len", alias = "fixed")]
    FixedSeqLen,
    /// An evaluation: acceptance must be real.
    #[serde(rename = "evaluation", alias = "eval")]
    Evaluation,
}

/// What holds for the paths that match.
#[derive(Clone, Debug, PartialEq)]
pub struct PathRule {
    /// Pattern over paths relative to the configuration: `*` within a name, `**` over folders.
    pub path: String,
    /// Model prefix.
    pub model: Option<String>,
    /// Thinking mode.
    pub thinking: Option<Thinking>,
    /// Scenario.
    pub scenario: Option<Scenario>,
}

/// A configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// Paths to check where the command line names none.
    pub paths: Vec<String>,
    /// Paths that are left out.
    pub exclude: Vec<String>,
    /// Master configurations.
    pub master: Vec<String>,
    /// Rules for paths; for each of their fields the last that matches holds.
    pub rules: Vec<PathRule>,
    /// Sanctioned findings.
    pub allow: Vec<Allowed>,
}

/// Why a configuration is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// No TOML, an unknown key, or a value of the wrong type; the message carries line and column.
    #[error("{0}")]
    Toml(String),
    /// An allow-list entry without a reason.
    #[error("an entry of recipe.allow for {path} has no reason; every exception needs one")]
    NoReason {
        /// Its path.
        path: String,
    },
}

#[derive(Deserialize)]
struct File {
    recipe: Option<Table>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(default)]
    paths: Vec<String>,
    #[serde(default)]
    exclude: Vec<String>,
    #[serde(default)]
    master: Vec<String>,
    #[serde(default)]
    rules: Vec<Rule>,
    #[serde(default)]
    allow: Vec<Allow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    path: String,
    model: Option<String>,
    thinking: Option<Mode>,
    scenario: Option<Scenario>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    On,
    Off,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Allow {
    path: String,
    code: String,
    role: Option<String>,
    variant: Option<String>,
    reason: String,
    expires: Date,
}

impl Config {
    /// Reads a configuration: the table `[recipe]` of an `accsim.toml`.
    ///
    /// ```
    /// use accsim::recipe::{Config, Scenario};
    ///
    /// let config = Config::parse(
    ///     "[[recipe.rules]]\npath = 'recipes/**/agentic/*.yaml'\nscenario = 'agentic-coding'\nmodel = 'glm5.2'\n",
    /// )?;
    /// let rule = config.rule("recipes/sglang/agentic/a.yaml");
    /// assert_eq!(rule.scenario, Some(Scenario::Agentic));
    /// assert_eq!(rule.model.as_deref(), Some("glm5.2"));
    /// # Ok::<(), accsim::recipe::ConfigError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let file: File = toml::from_str(text).map_err(|error| ConfigError::Toml(error.to_string()))?;
        let table = file.recipe.unwrap_or_default();
        let mut allow = Vec::with_capacity(table.allow.len());
        for entry in table.allow {
            if entry.reason.trim().is_empty() {
                return Err(ConfigError::NoReason { path: entry.path });
            }
            let code = entry.code.parse().map_err(|code: String| {
                ConfigError::Toml(format!("recipe.allow: unknown code {}", crate::yaml::quoted(&code)))
            })?;
            allow.push(Allowed {
                path: entry.path,
                code,
                role: entry.role,
                variant: entry.variant,
                reason: entry.reason,
                expires: entry.expires,
            });
        }
        let rules = table.rules.into_iter().map(|rule| PathRule {
            path: rule.path,
            model: rule.model,
            thinking: rule.thinking.map(|mode| match mode {
                Mode::On => Thinking::On,
                Mode::Off => Thinking::Off,
            }),
            scenario: rule.scenario,
        });
        Ok(Self {
            paths: table.paths,
            exclude: table.exclude,
            master: table.master,
            rules: rules.collect(),
            allow,
        })
    }

    /// What holds for a path, relative to the configuration.
    #[must_use]
    pub fn rule(&self, path: &str) -> PathRule {
        let mut all = PathRule { path: path.to_owned(), model: None, thinking: None, scenario: None };
        for rule in self.rules.iter().filter(|rule| path_matches(&rule.path, path)) {
            all.model = rule.model.clone().or(all.model);
            all.thinking = rule.thinking.or(all.thinking);
            all.scenario = rule.scenario.or(all.scenario);
        }
        all
    }

    /// Whether a path is left out.
    #[must_use]
    pub fn excludes(&self, path: &str) -> bool {
        self.exclude.iter().any(|pattern| path_matches(pattern, path))
    }
}

/// Whether a path matches a pattern: name by name, `**` for any number of folders; a pattern of a folder matches all
/// below it.
pub(crate) fn path_matches(pattern: &str, path: &str) -> bool {
    let split = |text: &str| -> Vec<String> {
        text.trim_start_matches("./").split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    let (pattern, path) = (split(pattern), split(path));
    // Row by row: whether the first parts of the pattern match the first parts of the path.
    let mut row = vec![false; path.len() + 1];
    if let Some(first) = row.first_mut() {
        *first = true;
    }
    for part in &pattern {
        let mut next = vec![false; path.len() + 1];
        if part == "**" {
            let mut reached = false;
            for (held, cell) in row.iter().zip(next.iter_mut()) {
                reached |= *held;
                *cell = reached;
            }
        } else {
            for ((held, name), cell) in row.iter().zip(&path).zip(next.iter_mut().skip(1)) {
                *cell = *held && is_match(part.as_bytes(), name.as_bytes());
            }
        }
        row = next;
    }
    // A folder stands for what is in it.
    row.iter().skip(1).any(|held| *held)
        && (row.last() == Some(&true)
            || !pattern.last().is_some_and(|last| last.contains('*') && last != "**"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_over_paths() {
        for (pattern, path, holds) in [
            ("recipes/**", "recipes/a/b.yaml", true),
            ("recipes", "recipes/a/b.yaml", true),
            ("recipes/*.yaml", "recipes/a.yaml", true),
            ("recipes/*.yaml", "recipes/a/b.yaml", false),
            ("**/agentic/*.yaml", "recipes/x/agentic/b.yaml", true),
            ("**/agentic/*.yaml", "agentic/b.yaml", true),
            ("**/b.yaml", "b.yaml", true),
            ("recipes/**/b.yaml", "other/b.yaml", false),
            ("a.yaml", "b/a.yaml", false),
        ] {
            assert_eq!(path_matches(pattern, path), holds, "{pattern} {path}");
        }
    }

    #[test]
    fn an_exception_needs_a_reason_and_a_date() {
        let entry = |rest: &str| format!("[[recipe.allow]]\npath = 'a.yaml'\ncode = 'al-mismatch'\n{rest}");
        assert!(Config::parse(&entry("reason = 'sanctioned'\nexpires = '2027-01-31'\n")).is_ok());
        for rest in [
            "reason = ' '\nexpires = '2027-01-31'\n",
            "expires = '2027-01-31'\n",
            "reason = 'x'\n",
            "reason = 'x'\nexpires = '2027-02-30'\n",
            "reason = 'x'\nexpires = '2027-01-31'\nother = 1\n",
        ] {
            assert!(Config::parse(&entry(rest)).is_err(), "{rest}");
        }
    }
}
