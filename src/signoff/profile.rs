//! Rules as users write them: a TOML file, checked once when it is read.

pub(super) mod check;

use std::collections::HashSet;

use serde::Deserialize;
use toml::Spanned;

use super::launch::LaunchRules;
use super::read::{Asked, underscored};

pub use check::{Axis, Check, Threshold};

/// A set of rules.
///
/// ```
/// use accsim::signoff::Profile;
///
/// let profile = Profile::builtin("agentx").unwrap();
/// assert!(profile.rules.iter().any(|rule| rule.id == "graph-flag"));
/// let error = Profile::parse("name = 'x'\n[[rule]]\nid = 'a'\ntitle = 'b'\ncheck = 'no-such'\n").unwrap_err();
/// assert_eq!(error.line, Some(5));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// The rules, in the order of the report.
    pub rules: Vec<Rule>,
    /// What is expected of two launches that are compared.
    pub launch: LaunchRules,
}

/// One rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Its id: lower-case letters, digits and dashes.
    pub id: String,
    /// What it asks, in a few words.
    pub title: String,
    /// How it is decided.
    pub check: Check,
}

/// Why a profile is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", position(*.line, *.column))]
pub struct ProfileError {
    /// Line, from 1.
    pub line: Option<usize>,
    /// Column, from 1.
    pub column: Option<usize>,
    /// What was found and what was expected.
    pub message: String,
}

fn position(line: Option<usize>, column: Option<usize>) -> String {
    match (line, column) {
        (Some(line), Some(column)) => format!("line {line}, column {column}: "),
        _ => String::new(),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    name: String,
    #[serde(default)]
    rule: Vec<Spanned<Entry>>,
    #[serde(default, rename = "launch-diff")]
    launch: LaunchRules,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: Spanned<String>,
    title: String,
    check: Check,
}

/// The profiles that are compiled in.
const BUILTIN: [(&str, &str); 1] = [("agentx", include_str!("../../profiles/agentx.toml"))];

impl Profile {
    /// Names of the compiled-in profiles.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILTIN.iter().map(|(name, _)| *name)
    }

    /// The text of a compiled-in profile, to be copied and changed.
    #[must_use]
    pub fn text(name: &str) -> Option<&'static str> {
        BUILTIN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
    }

    /// A compiled-in profile.
    #[must_use]
    pub fn builtin(name: &str) -> Option<Self> {
        Self::parse(Self::text(name)?).ok()
    }

    /// Reads a profile.
    pub fn parse(text: &str) -> Result<Self, ProfileError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let page: Page = toml::from_str(text).map_err(|error| refused(text, &error))?;
        let wrong = |at: usize, message: String| {
            let (line, column) = place(text, at);
            ProfileError { line: Some(line), column: Some(column), message }
        };
        let mut known = HashSet::new();
        let mut rules = Vec::new();
        for entry in page.rule {
            let start = entry.span().start;
            let Entry { id, title, check } = entry.into_inner();
            let (at, id) = (id.span().start, id.into_inner());
            let is_sound =
                |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
            if id.is_empty() || !id.chars().all(is_sound) {
                return Err(wrong(
                    at,
                    format!("{id:?} is no id; expected lower-case letters, digits and dashes"),
                ));
            }
            if !known.insert(id.clone()) {
                return Err(wrong(at, format!("a second rule {id:?}; every id stands once")));
            }
            check.verify().map_err(|message| wrong(start, format!("rule {id:?}: {message}")))?;
            rules.push(Rule { id, title, check });
        }
        if rules.is_empty() {
            return Err(wrong(0, "no rule; expected at least one [[rule]]".to_owned()));
        }
        Ok(Self { name: page.name, rules, launch: page.launch })
    }
}

impl Profile {
    /// Whether a rule names an argument, so that its value may be shown.
    #[must_use]
    pub fn names_argument(&self, name: &str) -> bool {
        let name = underscored(name);
        let is_excepted = self.rules.iter().any(|rule| match &rule.check {
            Check::ArgumentsEqual(equal) => equal.except.iter().any(|other| underscored(other) == name),
            _ => false,
        });
        is_excepted || Asked::by(self).is_argument(&name)
    }

    /// Whether a rule names a variable, so that its value may be shown.
    #[must_use]
    pub fn names_variable(&self, name: &str) -> bool {
        Asked::by(self).is_variable(name)
    }

    /// Whether a rule forbids an argument.
    #[must_use]
    pub fn forbids_argument(&self, name: &str) -> bool {
        let name = underscored(name);
        self.rules.iter().any(|rule| match &rule.check {
            Check::ForbiddenArguments(forbidden) => {
                forbidden.names.iter().any(|other| underscored(other) == name)
            }
            _ => false,
        })
    }
}

/// A fault that the TOML reader found.
pub(super) fn refused(text: &str, error: &toml::de::Error) -> ProfileError {
    let at = error.span().map(|span| place(text, span.start));
    ProfileError {
        line: at.map(|(line, _)| line),
        column: at.map(|(_, column)| column),
        message: error.message().trim().replace('\n', " "),
    }
}

/// Line and column of a byte, from 1.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.matches('\n').count() + 1;
    (line, before.get(start..).map_or(0, |rest| rest.chars().count()) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_builtin_profile_reads() {
        for name in Profile::names() {
            let profile = Profile::parse(Profile::text(name).unwrap()).unwrap();
            assert_eq!(profile.name, name);
        }
    }

    #[test]
    fn faults_have_their_place() {
        let rule =
            |id: &str, check: &str| format!("[[rule]]\nid = \"{id}\"\ntitle = \"t\"\ncheck = {check}\n");
        let head = "name = \"x\"\n";
        for (text, line, part) in [
            (format!("{head}other = 1\n"), 2, "unknown field"),
            (
                format!("{head}{}{}", rule("a", "\"graph-flag\""), rule("a", "\"graph-flag\"")),
                7,
                "a second rule",
            ),
            (format!("{head}{}", rule("A b", "\"graph-flag\"")), 3, "no id"),
            (format!("{head}{}", rule("a", "\"graf-flag\"")), 5, "graf-flag"),
            (format!("{head}{}", rule("a", "{ variable = { name = \"X\", equal = [\"1\"] } }")), 5, "equal"),
            (format!("{head}{}", rule("a", "{ forbidden-variables = { names = [] } }")), 2, "names"),
            (head.to_owned(), 1, "no rule"),
            ("name = \n".to_owned(), 1, ""),
        ] {
            let error = Profile::parse(&text).unwrap_err();
            assert_eq!(error.line, Some(line), "{text}{error}");
            assert!(error.message.contains(part), "{text}{error}");
        }
    }
}
