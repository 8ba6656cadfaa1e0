//! Recipes and configurations: YAML, of which the keys matter that a rule names.

use super::asked::{Asked, Needle};
use super::assign;
use super::line::{see, whole_name};
use crate::evidence::Place;
use crate::recipe::of_node;
use crate::signoff::facts::{Facts, Origin, Seen, Sighting};
use crate::yaml::{Node, Scalar, YamlError, YamlErrorKind, parse};

/// Longest value taken of an argument that is a tree, in characters.
const LONGEST: usize = 512;

/// Reads one document into `facts`; why it could not be read.
pub(super) fn read(
    asked: &Asked,
    text: &str,
    file: u32,
    origin: Origin,
    facts: &mut Facts,
) -> Result<(), String> {
    let root = parse(text).map_err(|error| shown(asked, &error))?;
    let mut walk = Walk { asked, file, origin, facts };
    walk.node(&root, &mut Vec::new());
    facts.recipes.push(file);
    Ok(())
}

/// A fault without the name of a key that no rule names.
pub(super) fn shown(asked: &Asked, error: &YamlError) -> String {
    match &error.kind {
        YamlErrorKind::DuplicateKey { key, first } if asked.key(key).is_none() => {
            format!("{}: duplicate key (not shown: no rule names it); it already stands at {first}", error.at)
        }
        _ => error.to_string(),
    }
}

struct Walk<'a> {
    asked: &'a Asked,
    file: u32,
    origin: Origin,
    facts: &'a mut Facts,
}

impl Walk<'_> {
    fn node<'n>(&mut self, node: &'n Node, path: &mut Vec<&'n str>) {
        match node {
            Node::Mapping(mapping) => {
                for entry in &mapping.entries {
                    path.push(&entry.key.text);
                    match &entry.value {
                        Node::Scalar(scalar) => self.scalar(&entry.key.text, scalar, path),
                        other => {
                            if let Some((Seen::Argument, name)) = self.asked.key(&entry.key.text) {
                                let value = of_node(other).to_string().chars().take(LONGEST).collect();
                                self.see(Seen::Argument, &name, value, &entry.key, path);
                            }
                            self.node(other, path);
                        }
                    }
                    path.pop();
                }
            }
            Node::Sequence(sequence) => {
                for item in &sequence.items {
                    match item {
                        Node::Scalar(scalar) => self.text(scalar, path),
                        other => self.node(other, path),
                    }
                }
            }
            Node::Scalar(scalar) => self.text(scalar, path),
        }
    }

    fn scalar(&mut self, key: &str, scalar: &Scalar, path: &[&str]) {
        // Of a recipe with variants the base decides.
        let own = path.strip_prefix(&["base"]).unwrap_or(path);
        let is_image =
            self.asked.image_keys.iter().any(|key| key.iter().map(String::as_str).eq(own.iter().copied()));
        let found = self.asked.key(key).or_else(|| is_image.then(|| (Seen::Image, own.join("."))));
        match found {
            Some((seen, name)) => {
                let value = if scalar.is_null() { "None".to_owned() } else { scalar.text.to_string() };
                let value = match key.split_once('.') {
                    Some((_, part)) if seen == Seen::Argument => format!("{part}={value}"),
                    _ => value,
                };
                self.see(seen, &name, value, scalar, path);
            }
            None => self.text(scalar, path),
        }
    }

    /// A text may be a command, one `NAME=value`, or JSON.
    fn text(&mut self, scalar: &Scalar, path: &[&str]) {
        for (seen, name, value) in in_text(self.asked, &scalar.text) {
            self.see(seen, &name, value, scalar, path);
        }
    }

    fn see(&mut self, seen: Seen, name: &str, value: String, scalar: &Scalar, path: &[&str]) {
        let is_prefill = path.iter().any(|part| part.starts_with("prefill"));
        let line = u64::try_from(scalar.at.line).unwrap_or(0);
        let place = Place { file: self.file, line };
        let sighting = Sighting::new(seen, name, value, self.origin, place);
        see(self.facts, Sighting { is_prefill, ..sighting });
    }
}

/// The names that a text inside of a document gives values: a command, one `NAME=value`, JSON.
pub(super) fn in_text(asked: &Asked, text: &str) -> Vec<(Seen, String, String)> {
    let bytes = text.as_bytes();
    let found = asked.find(bytes).filter_map(|(start, end, needle)| match needle {
        Needle::Variable(_) => {
            let end = whole_name(bytes, end);
            let name = text.get(start..end)?;
            Some((asked.variable(name)?, name.to_owned(), assign::variable(bytes, start, end)?))
        }
        Needle::Argument(seen, name) => Some((*seen, name.clone(), assign::argument(bytes, start, end)?)),
        Needle::Key(name) => Some((Seen::Argument, name.clone(), assign::key(bytes, start, end)?)),
        Needle::Access | Needle::ServerArguments | Needle::Version => None,
    });
    found.collect()
}
