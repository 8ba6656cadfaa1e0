//! The names that a profile's rules ask for.

use std::collections::BTreeSet;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::signoff::facts::Seen;
use crate::signoff::profile::{Check, Profile};

/// What is looked for in texts.
#[derive(Clone, Debug)]
pub struct Asked {
    /// One may end in `*`.
    variables: BTreeSet<String>,
    /// With underscores.
    arguments: BTreeSet<String>,
    /// Those of the arguments that count wherever they stand, as keys of printed objects too.
    forbidden: BTreeSet<String>,
    image_variables: BTreeSet<String>,
    image_arguments: BTreeSet<String>,
    /// Paths of keys, from the outermost.
    pub(super) image_keys: Vec<Vec<String>>,
    needles: Vec<Needle>,
    searcher: Option<AhoCorasick>,
}

/// What a stretch of text begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Needle {
    /// A variable's name, or what several begin with.
    Variable(Seen),
    /// An argument's name in quotes: a key of a printed object.
    Key(String),
    /// `--name` of an argument: its name with underscores.
    Argument(Seen, String),
    /// ` HTTP/1.1" 200`
    Access,
    /// `server_args=`
    ServerArguments,
    /// `sglang==`
    Version,
}

impl Asked {
    /// What the rules of `profile` ask for.
    #[must_use]
    pub fn by(profile: &Profile) -> Self {
        let (mut variables, mut arguments, mut forbidden_names) =
            (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let (mut image_variables, mut image_arguments, mut image_keys) =
            (BTreeSet::new(), BTreeSet::new(), Vec::new());
        for rule in &profile.rules {
            match &rule.check {
                Check::GoldenLength(names) | Check::ForbiddenVariables(names) => {
                    variables.extend(names.names.iter().cloned());
                }
                Check::EvaluationUnset(knobs) => {
                    variables.extend(knobs.names.iter().cloned());
                    arguments.extend(knobs.arguments.iter().map(|name| underscored(name)));
                }
                Check::Variable(variable) => {
                    variables.insert(variable.name.clone());
                }
                Check::EngineVersion => variables.extend(SETTINGS.map(str::to_owned)),
                Check::LargestBatch(batch) => {
                    arguments.extend(batch.largest.iter().map(|name| underscored(name)));
                }
                Check::Argument(argument) => {
                    arguments.insert(underscored(&argument.name));
                }
                Check::DraftPath(path) => {
                    arguments.extend([underscored(&path.draft), underscored(&path.model)]);
                }
                Check::ForbiddenArguments(forbidden) => {
                    arguments.extend(forbidden.names.iter().map(|name| underscored(name)));
                    forbidden_names.extend(forbidden.names.iter().map(|name| underscored(name)));
                }
                Check::Image(image) => {
                    image_variables.extend(image.variables.iter().cloned());
                    image_arguments.extend(image.arguments.iter().map(|name| underscored(name)));
                    let path = |key: &String| key.split('.').map(str::to_owned).collect();
                    image_keys.extend(image.keys.iter().map(path));
                }
                Check::AcceptLength
                | Check::GraphFlag
                | Check::Endpoints(_)
                | Check::EvaluationReal
                | Check::Scores(_)
                | Check::Requests(_)
                | Check::Pareto(_)
                | Check::RecipePins
                | Check::ArgumentsEqual(_) => {}
            }
        }
        let mut asked = Self {
            variables,
            arguments,
            forbidden: forbidden_names,
            image_variables,
            image_arguments,
            image_keys,
            needles: Vec::new(),
            searcher: None,
        };
        asked.build();
        asked
    }

    fn build(&mut self) {
        let mut patterns: Vec<(String, Needle)> = vec![
            ("HTTP/1.".to_owned(), Needle::Access),
            ("server_args=".to_owned(), Needle::ServerArguments),
            ("sglang==".to_owned(), Needle::Version),
        ];
        for (names, seen) in [(&self.variables, Seen::Variable), (&self.image_variables, Seen::Image)] {
            let text = |name: &String| name.trim_end_matches('*').to_owned();
            patterns.extend(names.iter().map(|name| (text(name), Needle::Variable(seen))));
        }
        for name in &self.forbidden {
            for quote in ['\'', '"'] {
                for spelling in [name.clone(), name.replace('_', "-")] {
                    patterns.push((format!("{quote}{spelling}"), Needle::Key(name.clone())));
                }
            }
        }
        patterns.retain(|(text, _)| !text.is_empty());
        for (names, seen) in [(&self.arguments, Seen::Argument), (&self.image_arguments, Seen::Image)] {
            for name in names {
                let needle = || Needle::Argument(seen, name.clone());
                patterns.push((format!("--{}", name.replace('_', "-")), needle()));
                if name.contains('_') {
                    patterns.push((format!("--{name}"), needle()));
                }
            }
        }
        let texts: Vec<&str> = patterns.iter().map(|(text, _)| text.as_str()).collect();
        // A set of names that is too large to build is searched for nowhere, and every rule says that it found nothing.
        self.searcher = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(texts).ok();
        self.needles = patterns.into_iter().map(|(_, needle)| needle).collect();
    }

    /// The names in a line: where each begins and ends.
    pub(super) fn find<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = (usize, usize, &'a Needle)> {
        let found = self.searcher.iter().flat_map(move |searcher| searcher.find_iter(text));
        found.filter_map(|found| {
            Some((found.start(), found.end(), self.needles.get(found.pattern().as_usize())?))
        })
    }

    /// What a variable's whole name is asked for as.
    pub(super) fn variable(&self, name: &str) -> Option<Seen> {
        if is_any(&self.variables, name) {
            return Some(Seen::Variable);
        }
        is_any(&self.image_variables, name).then_some(Seen::Image)
    }

    /// What a key of a document names. `name.part` is a part of the argument `name`.
    pub(super) fn key(&self, key: &str) -> Option<(Seen, String)> {
        if let Some(seen) = self.variable(key) {
            return Some((seen, key.to_owned()));
        }
        let argument = underscored(key.split_once('.').map_or(key, |(name, _)| name));
        if self.arguments.contains(&argument) {
            return Some((Seen::Argument, argument));
        }
        self.image_arguments.contains(&argument).then_some((Seen::Image, argument))
    }

    /// Whether a variable's value may be read.
    pub(in crate::signoff) fn is_variable(&self, name: &str) -> bool {
        self.variable(name).is_some()
    }

    /// Whether the value of a server's argument may be read.
    pub(in crate::signoff) fn is_argument(&self, name: &str) -> bool {
        self.arguments.contains(name)
    }
}

/// Whether one of the names is this one; `*` at the end of one stands for the rest.
pub(in crate::signoff) fn is_any<'a>(names: impl IntoIterator<Item = &'a String>, name: &str) -> bool {
    names.into_iter().any(|known| match known.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => known == name,
    })
}

/// Variables that decide what a version makes of its settings.
pub(in crate::signoff) const SETTINGS: [&str; 3] =
    ["SGLANG_SIMULATE_ACC_LEN", "SGLANG_SIMULATE_ACC_METHOD", "SGLANG_SIMULATE_ACC_TOKEN_MODE"];

/// A name of an argument as a server's log has it.
pub(in crate::signoff) fn underscored(name: &str) -> String {
    name.trim_start_matches('-').replace('-', "_")
}
