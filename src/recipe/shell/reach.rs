//! What a script really hands to the servers that it starts: every name, not those of simulated acceptance alone.

use std::collections::{BTreeMap, BTreeSet};

use crate::recipe::file::MOST_BYTES;
use crate::recipe::json::of_node;
use crate::recipe::model::Argument;
use crate::recipe::number::{UNRESOLVED, is_unresolved};
use crate::recipe::unique::Unique;
use crate::yaml::{Node, Position};

use super::exec::Machine;
use super::read::collected;
use super::server::{exported, launch};
use super::state::{State, Value};
use super::word::Word;

/// Which run of a script has something: one that knows `EVAL_ONLY` is two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// Any run: nothing tells them apart.
    Any,
    /// The run that benchmarks.
    Benchmark,
    /// The run with `EVAL_ONLY=true`.
    Evaluation,
}

/// One name that a script gives a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reached {
    /// What kind of name.
    pub kind: ReachedKind,
    /// The name: of an argument without dashes in front, words joined by underscores.
    pub name: String,
    /// Its value; none where only the run resolves it.
    pub value: Option<String>,
    /// Line of the script, from 1.
    pub line: usize,
    /// In which run.
    pub way: Way,
    /// The condition that only the run decides; none where every way to the server has the value.
    pub condition: Option<String>,
    /// The server is told to prefill and nothing else.
    pub is_prefill: bool,
}

/// The kinds of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReachedKind {
    /// A variable that the server inherits or is given.
    Variable,
    /// A variable of the script itself: no server sees it.
    Own,
    /// An argument of the server, or a key of an argument that is JSON.
    Argument,
}

/// All that reaches the servers of a script, or what it exports where it starts none; `None` for a text that cannot be
/// read as shell.
///
/// Comments, text that is printed, here-documents, assignments that are not exported and variables that are unset again
/// reach nobody.
///
/// ```
/// use accsim::recipe::{ReachedKind, reaching};
///
/// let script = "A=1\nexport B=2 C=3\nunset C\necho \"export D=4\"\nsglang serve m --tp 4\n";
/// let found = reaching(script).unwrap();
/// let variables = found.iter().filter(|reached| reached.kind == ReachedKind::Variable);
/// assert_eq!(variables.map(|reached| reached.name.as_str()).collect::<Vec<_>>(), ["B"]);
/// assert!(found.iter().any(|reached| reached.kind == ReachedKind::Argument && reached.name == "tp"));
/// ```
#[must_use]
pub fn reaching(text: &str) -> Option<Vec<Reached>> {
    if text.len() > MOST_BYTES || text.contains(UNRESOLVED) {
        return None;
    }
    let tree = super::parse::tree(text)?;
    let worlds: &[Way] =
        if text.contains("EVAL_ONLY") { &[Way::Benchmark, Way::Evaluation] } else { &[Way::Any] };
    let mut found = Unique::new();
    for way in worlds {
        let mut machine = Machine::new(text, None, 0);
        let mut state = State::new();
        let preset = |text: &str| Value::Scalar(Word::new(text, Position::START));
        state.set("IS_AGENTIC", preset("1"), true);
        if *way == Way::Evaluation {
            state.set("EVAL_ONLY", preset("true"), true);
        }
        let ends = machine.statement(tree.root_node(), vec![state]);
        let mut ways: BTreeMap<Option<(usize, usize)>, Vec<Handed>> = BTreeMap::new();
        for started in &machine.started {
            let (launch, _) = started.launch();
            let at = (started.at.line, started.at.column);
            let handed = Handed::new(&launch.args, &launch.env, &started.state);
            ways.entry(Some(at)).or_default().push(handed);
        }
        if ways.is_empty() {
            for end in &ends {
                let (launch, _) = launch(&collected(end), exported(end), Position::START);
                ways.entry(None).or_default().push(Handed::new(&launch.args, &launch.env, end));
            }
        }
        for handed in ways.values() {
            take(handed, *way, machine.exhausted, &mut found);
        }
    }
    Some(found.into_all())
}

type Name = (ReachedKind, String);

/// What one way through the script hands over.
struct Handed {
    values: BTreeMap<Name, (Option<String>, usize)>,
    condition: Option<String>,
    is_prefill: bool,
}

impl Handed {
    fn new(arguments: &[Argument], environment: &[crate::recipe::model::Variable], state: &State) -> Self {
        let mut values = BTreeMap::new();
        let known = |text: &str| (!is_unresolved(text)).then(|| text.to_owned());
        for (name, var) in state.vars.iter() {
            if let (Value::Scalar(word), false) = (&var.value, state.learnt.contains(name)) {
                let value = (known(&word.text), word.at.line);
                values.insert((ReachedKind::Own, name.clone()), value);
            }
        }
        for variable in environment.iter().filter(|variable| variable.value.at != Position::START) {
            let value = (known(&variable.value.text), variable.value.at.line);
            values.insert((ReachedKind::Variable, variable.name.clone()), value);
        }
        let mut is_prefill = false;
        for argument in arguments {
            let text = match &argument.value {
                Node::Scalar(scalar) => scalar.text.to_string(),
                other => of_node(other).to_string(),
            };
            is_prefill |= argument.name == "disaggregation-mode" && text == "prefill";
            let name = argument.name.replace('-', "_");
            values.insert((ReachedKind::Argument, name), (known(&text), argument.at.line));
            nested(&argument.value, 0, &mut values);
        }
        Self { values, condition: state.condition(), is_prefill }
    }
}

/// Keys inside of an argument.
fn nested(node: &Node, depth: usize, values: &mut BTreeMap<Name, (Option<String>, usize)>) {
    const DEEPEST: usize = 16;
    if depth >= DEEPEST {
        return;
    }
    match node {
        Node::Mapping(mapping) => {
            for entry in &mapping.entries {
                let name = (ReachedKind::Argument, entry.key.text.replace('-', "_"));
                let text = match &entry.value {
                    Node::Scalar(scalar) => scalar.text.to_string(),
                    other => of_node(other).to_string(),
                };
                let known = (!is_unresolved(&text)).then_some(text);
                values.entry(name).or_insert((known, entry.key.at.line));
                nested(&entry.value, depth + 1, values);
            }
        }
        Node::Sequence(sequence) => sequence.items.iter().for_each(|item| nested(item, depth + 1, values)),
        Node::Scalar(_) => {}
    }
}

/// What the ways to one server agree on is certain, the rest hangs on a condition.
fn take(ways: &[Handed], way: Way, is_open: bool, found: &mut Unique<Reached>) {
    let names: BTreeSet<&Name> = ways.iter().flat_map(|handed| handed.values.keys()).collect();
    for name in names {
        let first = ways.iter().find_map(|handed| handed.values.get(name));
        let is_certain = ways
            .iter()
            .all(|handed| handed.values.get(name).map(|held| &held.0) == first.map(|held| &held.0));
        let mut told: BTreeSet<&Option<String>> = BTreeSet::new();
        for handed in ways {
            let Some((value, line)) = handed.values.get(name) else { continue };
            if !told.insert(value) {
                continue;
            }
            let open = || "a condition that only the run decides".to_owned();
            let condition = (!is_certain || is_open).then(|| handed.condition.clone().unwrap_or_else(open));
            found.push(Reached {
                kind: name.0,
                name: name.1.clone(),
                value: value.clone(),
                line: *line,
                way,
                condition,
                is_prefill: handed.is_prefill,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(script: &str) -> Vec<(String, Way, bool)> {
        let found = reaching(script).unwrap();
        let variables = found.into_iter().filter(|reached| reached.kind == ReachedKind::Variable);
        variables
            .map(|reached| {
                let text = format!("{}={}", reached.name, reached.value.unwrap_or_default());
                (text, reached.way, reached.condition.is_none())
            })
            .collect()
    }

    #[test]
    fn only_what_reaches_the_server_counts() {
        let server = "python3 -m sglang.launch_server --model m\n";
        for script in [
            "X=1\n",
            "export X=1\nunset X\n",
            "echo export X=1\n",
            "echo \"X=1\"\n",
            "cat > f <<EOF\nexport X=1\nEOF\n",
            "# export X=1\n",
            "(export X=1)\n",
            "if false; then export X=1; fi\n",
        ] {
            assert_eq!(variables(&format!("{script}{server}")), [], "{script}");
        }
        let certain = |text: &str| vec![(text.to_owned(), Way::Any, true)];
        assert_eq!(variables(&format!("export X=1\n{server}")), certain("X=1"));
        assert_eq!(variables(&format!("X=1 {server}")), certain("X=1"));
        assert_eq!(variables(&format!("V=3\nexport X=$V\n{server}")), certain("X=3"));
        assert_eq!(variables("export X=1\n"), certain("X=1"));
        // What is set behind the server comes too late for it.
        assert_eq!(variables(&format!("{server}export X=1\n")), []);
    }

    #[test]
    fn a_condition_that_only_the_run_decides_is_said() {
        let script = "if [ \"$A\" = 1 ]; then export X=1; fi\nsglang serve m\n";
        assert_eq!(variables(script), [("X=1".to_owned(), Way::Any, false)]);
        // One that has nothing to do with it makes nothing uncertain.
        let script = "export X=1\nif [ -f y ]; then echo; fi\nsglang serve m\n";
        assert_eq!(variables(script), [("X=1".to_owned(), Way::Any, true)]);
    }

    #[test]
    fn evaluations_are_runs_of_their_own() {
        let script = "if [ \"$EVAL_ONLY\" != true ]; then export X=1; fi\nsglang serve m\n";
        assert_eq!(variables(script), [("X=1".to_owned(), Way::Benchmark, true)]);
    }

    #[test]
    fn keys_of_json_arguments_are_found() {
        let script = "vllm serve m --speculative-config '{\"a\": 1, \"hf_overrides\": {\"b\": 2}}'\n";
        let found = reaching(script).unwrap();
        let of = |name: &str| {
            found.iter().find(|reached| reached.name == name).and_then(|reached| reached.value.clone())
        };
        assert_eq!(of("hf_overrides").as_deref(), Some("{\"b\":2}"));
        assert_eq!(of("a").as_deref(), Some("1"));
    }
}
