//! A file as its servers see it.

use std::fmt;

use crate::engine::Engine;
use crate::yaml::{Node, Position, Scalar, ScalarStyle};

/// What a server does in its deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Prefill and decode in one.
    Agg,
    /// Prefill alone.
    Prefill,
    /// Decode alone.
    Decode,
}

impl Role {
    /// Every role, in the order in which findings name them.
    pub const ALL: [Self; 3] = [Self::Agg, Self::Prefill, Self::Decode];

    /// `agg`, `prefill` or `decode`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Agg => "agg",
            Self::Prefill => "prefill",
            Self::Decode => "decode",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What kind of file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// An srt-slurm recipe.
    Recipe,
    /// A shell script, a Slurm batch file among them.
    Launcher,
    /// A docker-compose file.
    Compose,
    /// A Dockerfile.
    Dockerfile,
    /// Lines of `NAME=value`.
    Dotenv,
    /// The JSON of vLLM's `--speculative-config`.
    Json,
    /// A master configuration, which names recipes.
    Master,
}

impl Kind {
    /// The kind in words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Recipe => "recipe",
            Self::Launcher => "launcher",
            Self::Compose => "compose file",
            Self::Dockerfile => "Dockerfile",
            Self::Dotenv => "environment file",
            Self::Json => "speculative configuration",
            Self::Master => "master configuration",
        }
    }
}

/// One file, read.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Its kind.
    pub kind: Kind,
    /// Its variants; one without a name where the file has none.
    pub(crate) variants: Vec<Variant>,
    /// What the reader has to say: what it did not follow, what it judged at a default.
    pub(crate) notes: Vec<(Position, String)>,
    /// What cannot be decided: the variants may not be all that there are, or not be what runs.
    pub(crate) undecided: Vec<(Position, String)>,
}

impl Document {
    pub(crate) fn new(kind: Kind, variants: Vec<Variant>) -> Self {
        Self { kind, variants, notes: Vec::new(), undecided: Vec::new() }
    }

    /// Whether a server, or a setting of simulated acceptance, was found.
    #[must_use]
    pub fn is_of_interest(&self) -> bool {
        self.kind == Kind::Master
            || !self.undecided.is_empty()
            || self.variants.iter().any(|variant| !variant.launches.is_empty())
    }

    /// Names of its variants; none where it has no variants.
    #[must_use]
    pub fn variant_names(&self) -> Vec<String> {
        self.variants.iter().filter_map(|variant| variant.name.clone()).collect()
    }

    /// How many servers it starts, over all variants.
    #[must_use]
    pub fn servers(&self) -> usize {
        self.variants.iter().map(|variant| variant.launches.len()).sum()
    }
}

/// One way to run a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Variant {
    /// `base`, `override_x`, `zip_override_x[i]`; none where the file has no variants.
    pub(crate) name: Option<String>,
    /// The servers that it starts.
    pub(crate) launches: Vec<Launch>,
    /// Variables applied after each role's own.
    pub(crate) global: Vec<Variable>,
    /// Names that may tell the model prefix, the strongest first.
    pub(crate) models: Vec<Scalar>,
    /// `MODEL_PREFIX`.
    pub(crate) prefix: Option<Scalar>,
    /// Variables of the benchmark's client.
    pub(crate) client: Vec<Variable>,
    /// Whether the benchmark is an agentic one, where the file tells.
    pub(crate) agentic: Option<bool>,
    /// Whether it is an evaluation: simulated acceptance would spoil it.
    pub(crate) evaluation: bool,
    /// What the branches on the way to it say of the model and the thinking mode.
    pub(crate) taken: Vec<Taken>,
}

/// What a branch that led to a variant says of a variable of the environment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Taken {
    pub(crate) name: String,
    pub(crate) value: String,
    /// Whether the variable has this value; else it has another.
    pub(crate) is_so: bool,
}

/// One server as it is started.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Launch {
    pub(crate) role: Role,
    /// The engine and where the file says so.
    pub(crate) engine: Option<(Engine, Position)>,
    /// Name of an engine that is not known.
    pub(crate) unknown_engine: Option<Scalar>,
    /// Arguments; the last of a name holds.
    pub(crate) args: Vec<Argument>,
    /// Its own environment.
    pub(crate) env: Vec<Variable>,
    /// Where it is started, or its block begins.
    pub(crate) at: Position,
    /// No server is named: nothing says whether it drafts.
    pub(crate) is_bare: bool,
    /// Set where a condition that only the run decides led here.
    pub(crate) condition: Option<String>,
    /// What was not followed before it and may have set its variables.
    pub(crate) unread: Vec<Unread>,
    /// Arguments of its that only the run has, or that stand in a file that is not read: whether it drafts may be among them.
    pub(crate) open: Vec<Unread>,
    /// The words of its command behind the server's name; none where the file has no command.
    pub(crate) words: Vec<String>,
}

/// Something that may set variables and is not followed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Unread {
    pub(crate) at: Position,
    /// As it is written.
    pub(crate) what: String,
    /// A file that is sourced, which a launcher does as a rule; else a name or a command that only the run knows.
    pub(crate) is_file: bool,
}

/// One argument.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Argument {
    /// Without dashes in front, words joined by dashes.
    pub(crate) name: String,
    pub(crate) value: Node,
    pub(crate) at: Position,
}

/// One variable of an environment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) value: Scalar,
}

impl Variable {
    /// A variable whose value is a text: an empty one is a value, where YAML's empty scalar is none.
    pub(crate) fn of_text(name: &str, value: Scalar) -> Self {
        let style = if value.text.is_empty() { ScalarStyle::Quoted } else { value.style };
        Self { name: name.to_owned(), value: Scalar { style, ..value } }
    }
}

impl Launch {
    pub(crate) fn new(role: Role, at: Position) -> Self {
        Self {
            role,
            engine: None,
            unknown_engine: None,
            args: Vec::new(),
            env: Vec::new(),
            at,
            is_bare: false,
            condition: None,
            unread: Vec::new(),
            open: Vec::new(),
            words: Vec::new(),
        }
    }

    /// The value of an argument; one without a value is none.
    pub(crate) fn arg(&self, name: &str) -> Option<&Argument> {
        let argument = self.args.iter().rev().find(|argument| argument.name == name)?;
        let is_null = matches!(&argument.value, Node::Scalar(scalar) if scalar.is_null());
        (!is_null).then_some(argument)
    }
}

/// The value of a variable, the last of a name.
pub(crate) fn variable<'a>(variables: &'a [Variable], name: &str) -> Option<&'a Scalar> {
    variables.iter().rev().find(|variable| variable.name == name).map(|variable| &variable.value)
}
