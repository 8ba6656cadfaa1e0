//! What a shell knows at one point of one way through a script.

use std::sync::Arc;

use crate::recipe::model::{Taken, Unread};
use crate::yaml::Position;

use super::listed::Listed;
use super::shared::Shared;
use super::word::Word;

/// Things not followed that one way keeps in mind; one is enough to say so.
const MOST_UNREAD: usize = 8;

/// Variables that tell what a launch is about, whatever of the environment its process gets.
const CONTEXT: [&str; 4] = ["MODEL", "MODEL_PATH", "MODEL_PREFIX", "IS_AGENTIC"];

/// The value of a variable.
#[derive(Clone, Debug, PartialEq, Hash)]
pub(super) enum Value {
    Scalar(Word),
    /// An array, indexed from 0, or by `[key]=` in front of its items.
    Array(Vec<Word>),
    /// Unset for certain.
    Unset,
}

/// A variable.
#[derive(Clone, Debug, PartialEq, Hash)]
pub(super) struct Var {
    pub(super) value: Value,
    pub(super) is_exported: bool,
}

/// Whether a way still runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Flow {
    Run,
    Return,
    Exit,
}

/// A file that a here-document wrote.
#[derive(Clone, Debug, PartialEq, Hash)]
pub(super) struct Written {
    pub(super) text: String,
    pub(super) at: Position,
}

/// One way through a script, up to here. It is copied at every command and condition: whatever may grow with the script is
/// shared between copies.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) vars: Shared<String, Var>,
    pub(super) files: Shared<String, Written>,
    /// Conditions that only the run decides, as this way took them.
    pub(super) decided: Listed<str, bool>,
    pub(super) positional: Arc<[Word]>,
    pub(super) flow: Flow,
    /// `set -a`.
    pub(super) exports_all: bool,
    /// `export name` before it has a value.
    to_export: Shared<String, ()>,
    /// `declare -n name=target`.
    pub(super) refs: Shared<String, String>,
    /// What is not followed and may have set any variable.
    pub(super) unread: Arc<Vec<Unread>>,
    /// What variables said of the launch before its process was given other ones.
    context: Shared<&'static str, Word>,
    /// What branches said of variables that the caller may know.
    pub(super) taken: Listed<Taken, ()>,
    /// Variables that have their value from a branch: the script itself gives them none.
    pub(super) learnt: Shared<String, ()>,
}

impl State {
    pub(super) fn new() -> Self {
        Self {
            vars: Shared::new(),
            files: Shared::new(),
            decided: Listed::new(),
            positional: Arc::from([]),
            flow: Flow::Run,
            exports_all: false,
            to_export: Shared::new(),
            refs: Shared::new(),
            unread: Arc::default(),
            context: Shared::new(),
            taken: Listed::new(),
            learnt: Shared::new(),
        }
    }

    /// The variable that a name stands for, through references.
    fn target<'n>(&'n self, name: &'n str) -> &'n str {
        let mut name = name;
        // Bash stops at circles; so does this.
        for _ in 0..8 {
            match self.refs.get(name) {
                Some(target) => name = target,
                None => break,
            }
        }
        name
    }

    /// Keeps in mind that something may have set variables unseen.
    pub(super) fn not_followed(&mut self, at: Position, what: &str, is_file: bool) {
        let unread = Unread { at, what: what.to_owned(), is_file };
        if self.unread.len() < MOST_UNREAD && !self.unread.contains(&unread) {
            Arc::make_mut(&mut self.unread).push(unread);
        }
    }

    /// What a variable says of the launch: now, or before its process was given other variables.
    pub(super) fn said(&self, name: &str) -> Option<&Word> {
        match self.get(name) {
            Some(Value::Scalar(word)) => Some(word),
            _ => self.context.get(name),
        }
    }

    fn remember(&mut self) {
        for name in CONTEXT {
            if let Some(Value::Scalar(word)) = self.get(name)
                && self.context.get(name) != Some(word)
            {
                let word = word.clone();
                self.context.insert(name, word);
            }
        }
    }

    /// A process that gets no variable of this shell.
    pub(super) fn forget(&mut self) {
        self.remember();
        self.vars.clear();
        self.refs.clear();
    }

    /// A process of its own gets what is exported.
    pub(super) fn keep_exported(&mut self) {
        self.remember();
        self.vars.retain(|_, var| var.is_exported || var.value == Value::Unset);
        self.refs.clear();
        self.positional = Arc::from([]);
        self.exports_all = false;
    }

    /// A file that a here-document wrote, under either spelling of its name.
    pub(super) fn file(&self, name: &str) -> Option<&Written> {
        let bare = name.strip_prefix("./").unwrap_or(name);
        self.files.get(name).or_else(|| self.files.get(bare)).or_else(|| self.files.get(&format!("./{bare}")))
    }

    pub(super) fn runs(&self) -> bool {
        self.flow == Flow::Run
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.vars.get(self.target(name)).map(|var| &var.value)
    }

    pub(super) fn set(&mut self, name: &str, value: Value, export: bool) {
        let name = self.target(name).to_owned();
        let was = self.vars.get(&name).is_some_and(|var| var.is_exported);
        let is_exported = export || was || self.exports_all || self.to_export.contains(&*name);
        self.learnt.remove(&name);
        self.vars.insert(name, Var { value, is_exported });
    }

    /// A variable as another state has it.
    pub(super) fn put_back(&mut self, name: &str, before: &Self) {
        let name = self.target(name).to_owned();
        match before.vars.get(&name) {
            Some(var) => self.vars.insert(name, var.clone()),
            None => self.vars.remove(&name),
        }
    }

    pub(super) fn export(&mut self, name: &str) {
        let name = self.target(name).to_owned();
        match self.vars.get(&name) {
            Some(var) if var.value != Value::Unset => {
                let var = Var { is_exported: true, ..var.clone() };
                self.vars.insert(name, var);
            }
            _ => self.to_export.insert(name, ()),
        }
    }

    pub(super) fn export_no_more(&mut self, name: &str) {
        let name = self.target(name).to_owned();
        self.to_export.remove(&name);
        if let Some(var) = self.vars.get(&name).cloned() {
            self.vars.insert(name, Var { is_exported: false, ..var });
        }
    }

    pub(super) fn unset(&mut self, name: &str) {
        let name = self.target(name).to_owned();
        self.to_export.remove(&name);
        self.vars.insert(name, Var { value: Value::Unset, is_exported: false });
    }

    /// How this way took a condition, in words; none where every condition could be decided.
    pub(super) fn condition(&self) -> Option<String> {
        let (text, holds) = self.decided.last()?;
        let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(format!("{}{}", if holds { "" } else { "the failing of " }, crate::yaml::quoted(&text)))
    }

    /// One state for several: what they agree on; the rest is unresolved.
    pub(super) fn merged(states: Vec<Self>) -> Option<Self> {
        let mut states = states.into_iter();
        let mut merged = states.next()?;
        for other in states {
            let names: Vec<String> = merged.vars.keys().chain(other.vars.keys()).cloned().collect();
            for name in names {
                if merged.get(&name) == other.get(&name) {
                    continue;
                }
                let at = [&other, &merged].iter().find_map(|state| match state.get(&name) {
                    Some(Value::Scalar(word)) => Some(word.at),
                    Some(Value::Array(words)) => words.first().map(|word| word.at),
                    Some(Value::Unset) | None => None,
                });
                let text = super::word::unresolved(&format!("${name}"));
                let value = Value::Scalar(Word::new(text, at.unwrap_or(Position::START)));
                let is_exported = [&other, &merged]
                    .iter()
                    .any(|state| state.vars.get(&name).is_some_and(|var| var.is_exported));
                merged.vars.insert(name, Var { value, is_exported });
            }
            merged.files.retain(|name, file| other.files.get(name) == Some(file));
            merged.taken.keep_common(&other.taken);
            merged.decided.keep_common(&other.decided);
            for unread in &*other.unread {
                merged.not_followed(unread.at, &unread.what, unread.is_file);
            }
        }
        Some(merged)
    }
}
